// Text that people and machines will see: UTF-8, escaping, positions.
//
// All functions are pure, linear in their input, and accept any bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace gate {

// True when `bytes` is well-formed UTF-8 (no surrogates, no overlong forms).
bool IsUtf8(std::string_view bytes);

// The length of the longest well-formed prefix of `bytes`.
size_t Utf8Prefix(std::string_view bytes);

// `bytes` with every ill-formed sequence replaced by U+FFFD, so that the
// result can stand in a JSON string.
std::string ToUtf8(std::string_view bytes);

// Where `text` holds characters that a person does not see or that change
// what is seen: C0 and C1 controls other than tab and newline, bidirectional
// controls, zero-width and other invisible characters, ill-formed UTF-8. The
// joiners inside an ordinary emoji are not reported. Neighbours share a span.
std::vector<Span> FindHidden(std::string_view text);

// `text` made safe to print on a terminal: newline and tab stay when
// `keep_layout`, every other control or hidden character becomes a visible
// escape (\x1b, \u202e, \xff).
std::string Visible(std::string_view text, bool keep_layout = false);

// `word` as it must be written for a POSIX shell to read it back unchanged:
// as it is when it needs no quoting, else in single quotes.
std::string ShellQuote(std::string_view word);

// 1-based line and 1-based column (in bytes) of `offset` in `text`.
struct LineColumn {
  size_t line = 1;
  size_t column = 1;
};
LineColumn Locate(std::string_view text, size_t offset);

// Standard base64 with padding.
std::string Base64(std::string_view bytes);
// The decoded bytes; nullopt-like empty optional when `text` is not base64.
// White space is skipped; missing padding is accepted.
bool DecodeBase64(std::string_view text, std::string* out);

// Appends the character `code`, at most U+1FFFFF, in UTF-8's way.
void AppendUtf8(uint32_t code, std::string* out);

// Lower-case hexadecimal.
std::string Hex(std::string_view bytes);

}  // namespace gate
