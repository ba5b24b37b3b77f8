// `only_does`: what a program's arguments make it do, as its description says.
#include <initializer_list>

#include "parser/programs.h"
#include "rules/compile/compiler.h"
#include "rules/match/context.h"
#include "rules/matchers/matcher.h"
#include "rules/matchers/proofs.h"

namespace gate::rules {
namespace only_does_matcher {
namespace {

enum Does : uint16_t {
  kDoesRead = 1,   // reads or lists files, starts in a directory
  kDoesRun = 2,    // runs commands that the line lists and gate judges
  kDoesCode = 4,   // runs text in another language
  kDoesOther = 8,  // anything else
};

struct OnlyDoesNode {
  uint32_t mask = 0;  // Does
};

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  OnlyDoesNode made;
  for (const std::string_view what :
       compiler.StringList(file, node, "only_does")) {
    if (what == "read")
      made.mask |= kDoesRead;
    else if (what == "run")
      made.mask |= kDoesRun;
    else if (what == "code")
      made.mask |= kDoesCode;
    else
      compiler.Problem(file, node.begin, "rule-bad-value",
                       "`only_does` knows read, run and code");
  }
  CompiledMatch match;
  match.scope = kPerInvocation;
  match.node = compiler.AddNode(NodeKind::kOnlyDoes, made);
  return match;
}

// The Does bits of argument effects with these roles.
uint16_t DoesOf(uint32_t roles) {
  using parser::Role;
  constexpr auto kBits = [](std::initializer_list<Role> some) {
    uint32_t bits = 0;
    for (const Role role : some)
      bits |= uint32_t{1} << static_cast<unsigned>(role);
    return bits;
  };
  constexpr uint32_t kReads =
      kBits({Role::kRead, Role::kListRead, Role::kDirectory});
  constexpr uint32_t kRuns =
      kBits({Role::kCommand, Role::kShellCode, Role::kSplitCommand});
  constexpr uint32_t kCode = kBits({Role::kForeignCode});
  return static_cast<uint16_t>(
      ((roles & kReads) != 0 ? kDoesRead : 0) |
      ((roles & kRuns) != 0 ? kDoesRun : 0) |
      ((roles & kCode) != 0 ? kDoesCode : 0) |
      ((roles & ~(kReads | kRuns | kCode)) != 0 ? kDoesOther : 0));
}

Tri Match(MatchContext& context, const Node& node) {
  const auto& own = node.As<OnlyDoesNode>();
  if (context.invocation == nullptr) return Tri::kNo;
  const parser::OptionsRead& read = context.ReadOptions();
  if (!read.known) return Tri::kNo;
  if ((DoesOf(read.roles) & ~own.mask) != 0) return Tri::kNo;
  return read.complete ? Tri::kYes : Tri::kPossible;
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  return SameKind(inner, outer) && (At(inner).As<OnlyDoesNode>().mask &
                                    ~At(outer).As<OnlyDoesNode>().mask) == 0;
}

}  // namespace
}  // namespace only_does_matcher

constinit const MatcherType kOnlyDoesMatcher = {
    .key = "only_does",
    .read = &only_does_matcher::Read,
    .prefilter = &AnyCommand,
    .match = &only_does_matcher::Match,
    .within = &only_does_matcher::IsWithin};

}  // namespace gate::rules
