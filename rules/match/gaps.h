// Text of which parts are not known, against the patterns of rules.
//
// For rules that tighten: true when something that could stand in the gaps
// makes the pattern match, and also when that cannot be told (a construct that
// is not followed, a bound). Never false when it could.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gate::rules {

// Characters of a text with gaps beside those of Unicode.
//
// Anything at all, any number of words, also nothing.
inline constexpr char32_t kAnyGap = 0x110000;
// One quoted word or a part of it. As everywhere in rules it is taken for the
// operand that it nearly always is: no dash stands at its start, behind a
// blank, or behind another dash, so it holds no option.
inline constexpr char32_t kOperandGap = 0x110001;

// `text` as UTF-8; what is ill-formed becomes U+FFFD.
void AppendText(std::string_view text, std::u32string* out);

// A text glob that takes the whole text. `*work` grows by what it took.
bool GlobMayMatch(std::string_view pattern, std::u32string_view text,
                  uint64_t* work);
// An RE2 pattern that is found anywhere in it.
bool RegexMayMatch(std::string_view pattern, std::u32string_view text,
                   uint64_t* work);

}  // namespace gate::rules
