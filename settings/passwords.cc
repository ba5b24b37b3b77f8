#include "settings/passwords.h"

#include <algorithm>
#include <array>

#include "settings/values.h"

namespace gate::settings {
namespace {

constexpr size_t kFields = 5;

// The fields as they stand; a backslash takes the meaning of `:` and of itself.
// False where the line has not as many as it must, or a control character.
bool SplitFields(Text line, std::array<Text, kFields>* fields) {
  size_t field = 0, begin = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (static_cast<unsigned char>(line[i]) < ' ') return false;
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == ':' && field + 1 < kFields) {
      (*fields)[field++] = line.substr(begin, i - begin);
      begin = i + 1;
    }
  }
  (*fields)[field] = line.substr(begin);
  return field + 1 == kFields && !fields->back().empty();
}

bool IsThisMachine(Text host) {
  constexpr std::array<Text, 3> kNames = {"localhost", "127.0.0.1", "\\:\\:1"};
  return std::ranges::find(kNames, host) != kNames.end();
}

}  // namespace

std::string PasswordsFor(std::string_view text,
                         const std::vector<uint16_t>& ports) {
  std::string kept;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    Text line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::array<Text, kFields> fields;
    if (line.starts_with('#') || !SplitFields(line, &fields) ||
        !IsThisMachine(fields[0]))
      continue;
    for (const uint16_t port : ports) {
      const std::string number = std::to_string(port);
      if (fields[1] != "*" && fields[1] != number) continue;
      kept += std::string(fields[0]) + ":" + number;
      for (size_t i = 2; i < kFields; ++i) kept += ":" + std::string(fields[i]);
      kept += '\n';
    }
  }
  return kept;
}

}  // namespace gate::settings
