// Globs: over text, and over normalised absolute paths.
//
// In a text glob `*` stands for any characters and `?` for one. In a path glob
// `*` and `?` do not stand for "/", `**` stands for anything, and a final
// "/**" also matches the directory itself: "/etc/**" is /etc and all below it.
// A backslash takes the next character as it is. Everything here is bounded:
// what would take more than kMaxGlobSteps is an error, which callers read as
// the answer that is safe for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rules/match/tri.h"

namespace gate::rules {

inline constexpr size_t kMaxGlobBytes = 1024;
inline constexpr uint32_t kMaxGlobSteps = 1u << 20;

// Whether the whole of `text` matches. kPossible when the budget ran out.
Tri TextGlob(std::string_view pattern, std::string_view text);
Tri PathGlob(std::string_view pattern, std::string_view path);

// True when `pattern` has a character with a meaning of its own.
bool HasWildcard(std::string_view pattern);

// What a shell's word with glob characters, or a path of which only the ends
// are known, may be, against a path glob: kYes when some path matches both.
//
// `shell` is a shell pattern: `*` and `?` stand for no "/" and, at the start
// of a component, for no leading dot; "[…]" stands for one character.
// With `below`, what lies below such a path counts too.
Tri MeetsShell(std::string_view pattern, std::string_view shell, bool below);
// As MeetsShell, for `prefix` + anything + `suffix`.
Tri MeetsUnknown(std::string_view pattern, std::string_view prefix,
                 std::string_view suffix, bool below);

// The first word of everything that a text glob, or with `regex` an RE2
// pattern, matches; empty when that is not one word written out.
std::string_view FirstLiteralWord(std::string_view pattern, bool regex);

// `text` with a backslash before every character that has a meaning.
void AppendEscaped(std::string_view text, std::string* out);

}  // namespace gate::rules
