// The AWS clients' configuration: `[default]`, `[profile NAME]` and
// `[sso-session NAME]`, `key = value`. Lines that begin with a blank are
// settings below the key before them, of which none is shown.
#include <algorithm>

#include "settings/values.h"

namespace gate::settings {
namespace {

bool IsSection(Text name) {
  if (name == "default") return true;
  const size_t blank = name.find(' ');
  const Text kind = name.substr(0, blank);
  const Text of = blank == Text::npos ? Text() : Trim(name.substr(blank + 1));
  return (kind == "profile" || kind == "sso-session") && IsOf(of, "._-@+") &&
         IsPlainWord(of);
}

}  // namespace

void CopyAws(const rules::SettingsFile& file, Text text, Copy* copy) {
  bool section = false, shown = false;
  EachLine(text, copy, [&](Text raw) {
    const Text line = Trim(raw);
    if (line.empty() || line[0] == '#' || line[0] == ';') return true;
    if (kBlanks.contains(raw[0])) {
      copy->left_out = copy->secret = true;
      return section;
    }
    if (line[0] == '[') {
      if (!line.ends_with(']')) return false;
      const Text name = Trim(line.substr(1, line.size() - 2));
      // What a section of another kind holds belongs to no other.
      section = true;
      shown = IsSection(name);
      if (shown)
        copy->text += "[" + std::string(name) + "]\n";
      else
        copy->left_out = copy->secret = true;
      return true;
    }
    const size_t equals = line.find('=');
    const Text key = Trim(line.substr(0, std::min(equals, line.size())));
    if (equals == Text::npos || !section || !IsOf(key, "._-")) return false;
    const auto value = Value(shown ? KindOfName(file, key) : KeyKind(), key,
                             Trim(line.substr(equals + 1)), copy);
    if (value) copy->text += std::string(key) + " = " + *value + "\n";
    return true;
  });
}

}  // namespace gate::settings
