// A command's words as lines, on which globs and regexes are tried.
#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "rules/match/context.h"

namespace gate::rules {

// Stands for what is not known: U+FFFC.
inline constexpr std::string_view kUnknownText = "\xEF\xBF\xBC";

// The lines of the context's invocation, made when first asked for.
PreparedInvocation& PrepareLines(MatchContext& context);

// The lines that a glob or regex is tried on; some may be null.
std::array<const std::string*, 4> LinesToTry(
    const MatchContext& context, const PreparedInvocation& prepared);

// The lines of LinesToTry with gaps where words are not known.
const std::vector<std::u32string>& Gapped(MatchContext& context,
                                          PreparedInvocation* prepared);

// Whether a pattern is tried on what unknown words may be, in which
// `unknown_is_mark` says that it speaks of them itself.
bool TriesGaps(MatchContext& context, bool unknown_is_mark,
               std::string_view pattern, bool regex,
               PreparedInvocation* prepared);

// Whether a pattern with these atoms is worth compiling and the lines worth
// making.
bool MayMatch(MatchContext& context, const RegexRecord& record,
              PreparedInvocation* prepared);

// Lines of ASCII and kUnknownText in lower case, parted by a line end; empty
// when there is another character among them.
std::string LowerForAtoms(std::initializer_list<std::string_view> lines);

}  // namespace gate::rules
