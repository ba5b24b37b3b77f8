// ssh_config(5). What follows `Match` belongs to it up to the next `Host`.
#include <algorithm>

#include "base/ascii.h"
#include "settings/values.h"

namespace gate::settings {

void CopySsh(const rules::SettingsFile& file, Text text, Copy* copy) {
  bool shown = true;
  EachLine(text, copy, [&](Text raw) {
    const Text line = Trim(raw);
    if (line.empty() || line[0] == '#') return true;
    const size_t end = std::min(line.find_first_of(" \t="), line.size());
    const Text key = line.substr(0, end);
    if (!std::ranges::all_of(key, IsLetter) || key.empty()) return false;
    Text rest = Trim(line.substr(end));
    if (rest.starts_with('=')) rest = Trim(rest.substr(1));
    if (rest.empty()) return false;
    const std::string lower = LowerAscii(key);
    if (lower == "host" || lower == "match") shown = lower == "host";
    std::string words;
    bool plain =
        shown && lower != "match" && KindOfName(file, key).kind == Kind::kWord;
    copy->secret |= !plain && !IsPlainText(rest);
    while (plain && !(rest = Trim(rest)).empty()) {
      const size_t stop = std::min(rest.find_first_of(kBlanks), rest.size());
      const auto word = Unquoted(rest.substr(0, stop));
      plain = word && IsOf(*word, "._~:,@*?!+%[]-") && IsPlainPath(*word);
      if (plain) words += " " + std::string(*word);
      rest.remove_prefix(stop);
    }
    // Without its `Host` what follows would hold for another one.
    if (lower == "host" && !plain) shown = false;
    copy->left_out |= !plain;
    if (plain) copy->text += std::string(key) + words + "\n";
    return true;
  });
}

}  // namespace gate::settings
