// Small files in gate's state directory that only a holder of the state key,
// which no sandbox can read, can have written.
//
// A signed text is `HEX-MAC\nBODY`; the MAC covers `domain`, so that one kind
// of file cannot stand in for another.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gate::app {

Result<std::string> Sign(const std::string& state_dir, std::string_view domain,
                         const std::string& body);

// The body. kCorrupt when `text` was not signed so.
Result<std::string> VerifySigned(const std::string& state_dir,
                                 std::string_view domain,
                                 std::string_view text);

// The two with the file: WriteSigned makes the directory (0700) and the file
// (0600) and replaces it at once; ReadSigned takes a regular file, no link.
Status WriteSigned(const std::string& state_dir, std::string_view domain,
                   const std::string& path, const std::string& body);
Result<std::string> ReadSigned(const std::string& state_dir,
                               std::string_view domain,
                               const std::string& path);

// What such a file may be called by, and how much of it a person must type.
inline bool IsStoredId(std::string_view id) {
  return !id.empty() &&
         id.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}
inline constexpr size_t kMinIdPrefix = 8;

}  // namespace gate::app
