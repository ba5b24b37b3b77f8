// Names that say that their value is secret. Internal to audit/.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace gate::audit {

// Upper case, with - and . as _: DB_PASSWORD for db-password. Of a name longer
// than this only the end counts.
struct PlainName {
  static constexpr size_t kMax = 96;
  std::array<char, kMax> bytes{};
  size_t size = 0;

  explicit PlainName(std::string_view name) {
    while (!name.empty() && name.front() == '-') name.remove_prefix(1);
    if (name.size() > kMax) name.remove_prefix(name.size() - kMax);
    for (const char c : name) {
      bytes[size++] = c >= 'a' && c <= 'z'   ? static_cast<char>(c - 32)
                      : c == '-' || c == '.' ? '_'
                                             : c;
    }
  }
  std::string_view view() const { return {bytes.data(), size}; }
};

// True for GITHUB_TOKEN, db-password, X-Api-Key. `value_name`: the name is of a
// variable, member or header; of an option otherwise, where --key names a file.
bool IsSecret(std::string_view name, bool value_name);

}  // namespace gate::audit
