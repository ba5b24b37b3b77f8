// What nodes keep that are about the words of a command. Proofs of one matcher
// look at those of others, so they stand together.
#pragma once

#include <cstdint>

#include "rules/matchers/matcher.h"

namespace gate::rules {

// kAll, kAny, kUnless.
struct LinksNode {
  Range links;
};

struct PrefixNode {
  Range positions;
};

// In the text that kGlob, kRegex and kOperands match U+FFFC stands for what is
// not known. `unknown_is_mark`: the pattern speaks of it itself.
struct GlobNode {
  Range globs;  // strings
  uint32_t unknown_is_mark = 0;
};

// kRegex, kLine.
struct RegexNode {
  uint32_t regex = UINT32_MAX;
  uint32_t unknown_is_mark = 0;
};

struct ProgramNode {
  Range names;               // strings
  uint32_t has_pattern = 0;  // some name is one
};

// `options`: the kOptions node of an accept-list in the same object, or
// UINT32_MAX.
struct SubcommandNode {
  Range names;  // strings
  uint32_t options = UINT32_MAX;
};

struct OptionsNode {
  Range any_of, all_of, none_of, only;  // strings
  uint32_t globs_are_harmless = 0;
};

inline std::span<const uint32_t> LinksOf(const RuleView& view,
                                         const Node& node) {
  return view.In(view.links, node.As<LinksNode>().links);
}

// The pattern of a kRegex or kLine; empty when the image has none.
inline std::string_view PatternOf(const RuleView& view, uint32_t regex) {
  return regex < view.regexes.size() ? view.Text(view.regexes[regex].pattern)
                                     : std::string_view();
}

}  // namespace gate::rules
