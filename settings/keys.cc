// Lines `[@marker] HOSTS TYPE KEY` (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"),
// `TYPE KEY` of a public key, or `PRINCIPALS [OPTIONS] TYPE KEY`
// (ssh-keygen(1), "ALLOWED SIGNERS"); what is another line is left out, and so
// are comments.
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

// Writes the words of each line up to the key, whose type is the word that
// `type_of` says. A line without one is left out.
template <class TypeOf>
void CopyLines(Text text, Copy* copy, TypeOf type_of) {
  EachLine(text, copy, [&](Text raw) {
    const Text line = Trim(raw);
    if (line.empty() || line[0] == '#') return true;
    const std::vector<Text> words = WordsOf(line);
    const std::optional<size_t> type = type_of(words);
    const bool good = type && words.size() > *type + 1 &&
                      IsPublicKey(words[*type], words[*type + 1]);
    copy->left_out |= !good;
    copy->secret |= !good;
    if (!good) return true;
    for (size_t i = 0; i <= *type + 1; ++i)
      copy->text += (i == 0 ? "" : " ") + std::string(words[i]);
    copy->text += '\n';
    return true;
  });
  copy->parsed = !copy->text.empty();
}

using Place = std::optional<size_t>;

}  // namespace

void CopyKeys(Text text, bool hosts, Copy* copy) {
  CopyLines(text, copy, [&](const std::vector<Text>& words) -> Place {
    if (!hosts) return 0;
    const size_t marker =
        words[0] == "@cert-authority" || words[0] == "@revoked" ? 1 : 0;
    if (words.size() <= marker || !IsOf(words[marker], "|+/=.,:[]*?!_%-"))
      return {};
    return marker + 1;
  });
}

// An option that is no plain word is left out with its line: without its
// options a line would say more.
void CopySigners(Text text, Copy* copy) {
  CopyLines(text, copy, [](const std::vector<Text>& words) -> Place {
    if (words.size() < 3 || !IsOf(words[0], "._-+@*?!,")) return {};
    if (IsPublicKey(words[1], words[2])) return 1;
    return IsOf(words[1], "._-+@*?!,=\"") ? Place(2) : Place();
  });
}

}  // namespace gate::settings
