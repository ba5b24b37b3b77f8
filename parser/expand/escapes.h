// Backslash escapes, in the four dialects of bash.
#pragma once

#include <string>
#include <string_view>

namespace gate::parser {

enum class EscapeStyle : unsigned char {
  kEcho,          // echo -e: \0nnn
  kPrintfFormat,  // printf's format: \nnn
  kPrintfB,       // printf %b: \0nnn and \nnn
  kAnsi,          // ${x@E}: as in $'…'
};

// Decodes the escape that `text` begins with (a backslash), appends what it
// stands for and returns its length. `stop`: \c ends the output.
size_t DecodeEscape(std::string_view text, EscapeStyle style, std::string* out,
                    bool* stop);

// `word` in $'…' as printf %q and ${x@Q} write it.
std::string AnsiQuote(std::string_view word);

}  // namespace gate::parser
