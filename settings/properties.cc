// Java's properties: `key = value`, `key: value` or `key value`. A line that
// ends with a backslash goes on in the next; what has one is left out.
#include "settings/values.h"

namespace gate::settings {

void CopyProperties(const rules::SettingsFile& file, Text text, Copy* copy) {
  bool goes_on = false;
  EachLine(text, copy, [&](Text raw) {
    if (raw.ends_with('\r')) raw.remove_suffix(1);
    const size_t last = raw.find_last_not_of('\\');
    const bool more =
        (raw.size() - (last == Text::npos ? 0 : last + 1)) % 2 == 1;
    const Text line = Trim(raw);
    const bool begins = !goes_on;
    // Only a line that says something goes on.
    if (begins && (line.empty() || line[0] == '#' || line[0] == '!'))
      return true;
    goes_on = more;
    if (!begins || line.contains('\\')) {
      copy->left_out = true;
      copy->secret = true;
      return true;
    }
    const size_t end = std::min(line.find_first_of("=: \t"), line.size());
    const Text key = line.substr(0, end);
    Text value = Trim(line.substr(end));
    if (value.starts_with('=') || value.starts_with(':'))
      value = Trim(value.substr(1));
    if (!IsOf(key, "._-")) return false;
    const auto written = Value(KindOfName(file, key), key, value, copy);
    if (written) copy->text += std::string(key) + "=" + *written + "\n";
    return true;
  });
}

}  // namespace gate::settings
