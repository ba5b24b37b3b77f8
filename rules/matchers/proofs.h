// What proofs of several matchers need (MatcherType::within). Nothing here
// guesses: false means that no proof was found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/relations.h"
#include "rules/rule.h"

namespace gate::rules {

using Texts = std::vector<std::string_view>;

Texts TextsOf(const RuleView& view, Range strings);

inline const Node& At(NodeRef ref) { return ref.view->nodes[ref.node]; }
inline bool SameKind(NodeRef a, NodeRef b) { return At(a).kind == At(b).kind; }

bool Subset(const Texts& inner, const Texts& outer);

// Each name, or pattern of names, is covered by one of `outer`.
bool NamesWithin(const Texts& inner, const Texts& outer);

// Each path of `inner` is one of `outer`, or lies in a directory of it.
bool PathsWithin(const RuleView& inner_view, Range inner,
                 const RuleView& outer_view, Range outer);

// A word that ShellQuote leaves as it is, so that a prefix and a glob see the
// same text.
bool IsPlain(std::string_view word);

// The alternatives of a glob: "git push *" also is "git push".
std::vector<std::string> GlobForms(std::string_view pattern);

// A text between backquotes, with nothing invisible in it.
std::string Quoted(std::string_view text);

// A word that gate keeps apart from the command that it stands before.
bool IsAssignment(std::string_view word);

}  // namespace gate::rules
