// What can be proved of matchers without a command at hand.
//
// Proofs are structural and never guess: "false" and "nothing" mean that no
// proof was found. Cost is bounded by kMaxProofSteps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule.h"

namespace gate::rules {

inline constexpr int kMaxProofSteps = 4000;

// One matcher of one layer.
struct NodeRef {
  const RuleView* view = nullptr;
  uint32_t node = 0;
};

// Every command that `inner` matches is matched by `outer`, and as surely.
// The rule of `inner` must be at least as strict in what it takes for a match
// (an allow), or neither may be an allow.
bool Within(NodeRef inner, NodeRef outer);

// Every command that the text glob `inner` matches is matched by `outer`.
bool GlobWithin(std::string_view inner, std::string_view outer);

// The names of the programs that a command must have one of to match; nothing
// when it may be any, or a name is a pattern.
std::optional<std::vector<std::string_view>> ProgramsOf(NodeRef ref);

// No command matches both.
bool Disjoint(NodeRef a, NodeRef b);

// Why nothing matches, or why nothing matches one branch of it.
std::optional<std::string> WhyNever(NodeRef ref);

// The matcher consists of `kind` nodes and combinations at least once.
bool HasKind(NodeRef ref, NodeKind kind);

// It consists of patterns of a command's text at least once.
bool MatchesText(NodeRef ref);

// Commands that are likely to match, at most `most`: a place to start looking
// for a witness, no more.
std::vector<std::string> Samples(NodeRef ref, size_t most);

}  // namespace gate::rules
