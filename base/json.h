// JSON with comments, with positions for error messages.
//
// The value type is nlohmann's ordered-by-key json. Parsing never throws;
// numbers that are not finite, integers beyond 64 bits, duplicate keys, invalid
// UTF-8 and nesting deeper than kMaxJsonDepth are refused, so that what a file
// says is what is read.
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate {

using Json = nlohmann::json;

inline constexpr int kMaxJsonDepth = 64;

struct JsonError {
  size_t offset = 0;  // byte in the text where the problem is
  std::string message;
};

// Parses `text`. Comments (// and /* */) are allowed when `comments`.
std::expected<Json, JsonError> ParseJson(std::string_view text,
                                         bool comments = false);

// A comma that stands before the end of an object or array at which reading
// stopped (`offset`, or the byte before): the commonest slip of who writes JSON
// by hand. Nothing where there is none.
std::optional<size_t> TrailingComma(std::string_view text, size_t offset);
inline constexpr const char* kTrailingComma =
    "a comma before the end of an object or array; nothing follows it";

// The byte offset in `text` (valid JSON, comments allowed) of the value that
// JSON pointer `pointer` ("/rules/3/action") names; of the closest enclosing
// value that exists when it names none. With `key`, of the member's key.
size_t LocatePointer(std::string_view text, std::string_view pointer,
                     bool key = false);

// For both `text` is valid JSON; on anything else they end with the text.
// Where the value that begins at or after `begin` ends.
size_t JsonValueEnd(std::string_view text, size_t begin);
// A member of an object, or an element of an array (key == begin).
struct JsonItem {
  std::string name;  // of a member
  size_t key = 0;
  size_t begin = 0, end = 0;  // of the value
};
// What the object or array that begins at `begin` holds, in order.
std::vector<JsonItem> JsonItems(std::string_view text, size_t begin);

// `value` as compact JSON; ill-formed UTF-8 becomes U+FFFD.
std::string Dump(const Json& value);

}  // namespace gate
