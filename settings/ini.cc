// pip's: sections, `key = value` or `key: value`, and further values on lines
// that begin with a blank (Python's configparser). A value is a list of words.
#include <algorithm>

#include "base/ascii.h"
#include "settings/values.h"

namespace gate::settings {

void CopyIni(const rules::SettingsFile& file, Text text, Copy* copy) {
  std::string key;  // of the value that goes on
  bool section = false, begun = false, shown = false;
  const auto add = [&](Text values) {
    if (values.empty()) return;
    const KeyKind kind = KindOfName(file, key);
    while (!(values = Trim(values)).empty()) {
      const size_t end = std::min(values.find_first_of(kBlanks), values.size());
      const auto written = Value(kind, key, values.substr(0, end), copy);
      if (written) {
        copy->text += shown ? "    " : key + " = ";
        copy->text += *written + "\n";
        shown = true;
      }
      values.remove_prefix(end);
    }
  };
  EachLine(text, copy, [&](Text raw) {
    const Text line = Trim(raw);
    if (line.empty() || line[0] == '#' || line[0] == ';') return true;
    if (kBlanks.contains(raw[0])) {
      if (!begun) return false;
      add(line);
      return true;
    }
    if (line[0] == '[') {
      if (!line.ends_with(']')) return false;
      const Text name = line.substr(1, line.size() - 2);
      if (!IsOf(name, "._-") || !IsPlainWord(name)) return false;
      copy->text += "[" + std::string(name) + "]\n";
      section = true;
      begun = false;
      return true;
    }
    const size_t separator = line.find_first_of("=:");
    if (separator == Text::npos || !section) return false;
    key = LowerAscii(Trim(line.substr(0, separator)));
    std::ranges::replace(key, '_', '-');
    if (!IsOf(key, ".-")) return false;
    begun = true;
    shown = false;
    add(Trim(line.substr(separator + 1)));
    return true;
  });
}

}  // namespace gate::settings
