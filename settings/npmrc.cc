// npm's: `key = value`, a key alone is true; `;` and `#` begin comments.
#include "settings/values.h"

namespace gate::settings {

void CopyNpmrc(const rules::SettingsFile& file, Text text, Copy* copy) {
  EachLine(text, copy, [&](Text raw) {
    const Text line = Trim(raw);
    if (line.empty() || line[0] == ';' || line[0] == '#') return true;
    if (line[0] == '[') return false;
    const size_t equals = std::min(line.find('='), line.size());
    const Text key = Trim(line.substr(0, equals));
    if (!IsOf(key, "@/:._-[]")) return false;
    const Text value =
        equals == line.size() ? "true" : Trim(line.substr(equals + 1));
    // What has no good quotes is no value of any kind.
    const auto written =
        Value(KindOfName(file, key), key, Unquoted(value).value_or("\""), copy);
    if (written) copy->text += std::string(key) + "=" + *written + "\n";
    return true;
  });
}

}  // namespace gate::settings
