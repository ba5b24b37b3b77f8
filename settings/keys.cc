// Lines `[@marker] HOSTS TYPE KEY` (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"), or
// `TYPE KEY` of a public key; what is another line is left out, and so are
// comments.
#include "settings/values.h"

namespace gate::settings {
namespace {

std::vector<Text> WordsOf(Text line) {
  std::vector<Text> words;
  while (!(line = Trim(line)).empty()) {
    const size_t end = std::min(line.find_first_of(kBlanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

}  // namespace

void CopyKeys(Text text, bool hosts, Copy* copy) {
  EachLine(text, copy, [&](Text raw) {
    const Text line = Trim(raw);
    if (line.empty() || line[0] == '#') return true;
    const std::vector<Text> words = WordsOf(line);
    const size_t marker =
        hosts && (words[0] == "@cert-authority" || words[0] == "@revoked") ? 1
                                                                           : 0;
    const size_t type = marker + (hosts ? 1 : 0);
    const bool good = words.size() > type + 1 &&
                      IsPublicKey(words[type], words[type + 1]) &&
                      (!hosts || IsOf(words[marker], "|+/=.,:[]*?!_%-"));
    copy->left_out |= !good;
    copy->secret |= !good;
    if (!good) return true;
    for (size_t i = 0; i <= type + 1; ++i)
      copy->text += (i == 0 ? "" : " ") + std::string(words[i]);
    copy->text += '\n';
    return true;
  });
  copy->parsed = !copy->text.empty();
}

}  // namespace gate::settings
