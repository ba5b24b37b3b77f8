// Locale names, as far as they change how bash reads a line.
#pragma once

#include <string_view>

namespace gate {

// Whether `name` is a variable by which the C library chooses the charset:
// LC_ALL, LC_CTYPE or LANG.
bool ChoosesCharset(std::string_view name);

// Whether bash reads every line byte for byte alike under the locale called
// `value`: its charset has no character of several bytes, or only such as hold
// no ASCII byte (UTF-8). In GBK, GB18030, Big5, Shift_JIS, JOHAB and their kin
// a character may end in the byte of a backslash, a backquote or a bar, so that
// bash does not see the backslash that gate sees. True for UTF-8, ASCII,
// ISO-8859, KOI8 and CP125x, for C and POSIX, for no value, and for languages
// of Europe and America without a charset, which the C library gives ISO-8859;
// false for everything else, also what it does not know. Pure.
bool IsSafeLocale(std::string_view value);

}  // namespace gate
