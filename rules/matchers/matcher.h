// The matchers of the rule language, one file each.
//
// A file here holds all that gate knows of a matcher: what it keeps in an
// image, how it is read from a rule file and matched, what rules it out at a
// first look, what lint can prove of it and a command that it may match. The
// table at the end is the only place that lists them; rules/schema.json has
// their keys for editors, and tests/rules/schema_test.cc holds both together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/match/prefilter.h"
#include "rules/match/tri.h"
#include "rules/relations.h"
#include "rules/rule.h"

namespace gate::rules {

class Compiler;        // rules/compile/compiler.h
struct CompilingFile;  // rules/compile/compiler.h
struct CompiledMatch;  // rules/compile/compiler.h
struct Draft;          // rules/matchers/samples.h
struct MatchContext;   // rules/match/context.h
struct NearMiss;       // rules/match.h
struct TreeNode;       // rules/files/tree.h
using DraftSink = std::function<void(const Draft&)>;

// Numbers of images: kRuleMagic changes with them.
enum class NodeKind : uint8_t {
  kNever,
  kAll,
  kAny,
  kUnless,
  kPrefix,
  kGlob,
  kRegex,
  kLine,
  kProgram,
  kSubcommand,
  kOptions,
  kOperands,
  kOnlyDoes,
  kAct,
  kRedirects,
  kEffect,
  kAnyEffect,
  kFlow,
  kAnyFlow,
  kSends,
  kEnv,
  kVia,
  kUnknown,
  kCwd,
  kProject,
  kAgent,
  kBranch,
  kInteractive,
  kInspected,
};

// Nodes come from images that may be damaged, so no function trusts more of
// one than that it has the size of its struct: RuleView::In and Text clip what
// lies outside.
struct MatcherType {
  // In rule files; empty for what no file says.
  std::string_view key;
  // For people, where the key is no name for it.
  std::string_view title = {};

  // What stands under `key` -> a node, with diagnostics for what is wrong.
  CompiledMatch (*read)(Compiler&, CompilingFile&, const TreeNode&) = nullptr;
  // What every subject has that it matches. Null: nothing is known.
  Prefilter (*prefilter)(const Compiler&, const Node&) = nullptr;

  // Whether it holds of the context's subject.
  Tri (*match)(MatchContext&, const Node&) = nullptr;
  // How much of it holds, where that is more than all or nothing.
  void (*near_miss)(MatchContext&, const Node&, NearMiss*) = nullptr;

  // Whether `outer`, which is one of these, surely matches all that `inner`
  // does, which is no combination (rules/relations.h). Null: never.
  bool (*within)(NodeRef inner, NodeRef outer) = nullptr;
  // Appends the names of the programs of which a command must have one. False,
  // and null: it may have any.
  bool (*programs)(const RuleView&, const Node&,
                   std::vector<std::string_view>*) = nullptr;
  // Why it matches nothing.
  std::optional<std::string> (*why_never)(const RuleView&,
                                          const Node&) = nullptr;
  // Gives drafts of commands that it may match. Null: the draft as it is.
  void (*sample)(const RuleView&, const Node&, const Draft&,
                 const DraftSink&) = nullptr;
};

// MatcherType::prefilter of what holds of commands only.
Prefilter AnyCommand(const Compiler&, const Node&);

extern const MatcherType kNeverMatcher;
extern const MatcherType kAllMatcher;
extern const MatcherType kAnyMatcher;
extern const MatcherType kUnlessMatcher;
extern const MatcherType kPrefixMatcher;
extern const MatcherType kGlobMatcher;
extern const MatcherType kRegexMatcher;
extern const MatcherType kLineMatcher;
extern const MatcherType kProgramMatcher;
extern const MatcherType kSubcommandMatcher;
extern const MatcherType kOptionsMatcher;
extern const MatcherType kOperandsMatcher;
extern const MatcherType kOnlyDoesMatcher;
extern const MatcherType kActMatcher;
extern const MatcherType kRedirectsMatcher;
extern const MatcherType kEffectMatcher;
extern const MatcherType kAnyEffectMatcher;
extern const MatcherType kFlowMatcher;
extern const MatcherType kAnyFlowMatcher;
extern const MatcherType kSendsMatcher;
extern const MatcherType kEnvMatcher;
extern const MatcherType kViaMatcher;
extern const MatcherType kUnknownMatcher;
extern const MatcherType kCwdMatcher;
extern const MatcherType kProjectMatcher;
extern const MatcherType kAgentMatcher;
extern const MatcherType kBranchMatcher;
extern const MatcherType kInteractiveMatcher;
extern const MatcherType kInspectedMatcher;

// By NodeKind.
inline constexpr std::array kMatchers = {
    &kNeverMatcher,       &kAllMatcher,       &kAnyMatcher,
    &kUnlessMatcher,      &kPrefixMatcher,    &kGlobMatcher,
    &kRegexMatcher,       &kLineMatcher,      &kProgramMatcher,
    &kSubcommandMatcher,  &kOptionsMatcher,   &kOperandsMatcher,
    &kOnlyDoesMatcher,    &kActMatcher,       &kRedirectsMatcher,
    &kEffectMatcher,      &kAnyEffectMatcher, &kFlowMatcher,
    &kAnyFlowMatcher,     &kSendsMatcher,     &kEnvMatcher,
    &kViaMatcher,         &kUnknownMatcher,   &kCwdMatcher,
    &kProjectMatcher,     &kAgentMatcher,     &kBranchMatcher,
    &kInteractiveMatcher, &kInspectedMatcher,
};
static_assert(kMatchers.size() ==
              static_cast<size_t>(NodeKind::kInspected) + 1);

// Null for a number that is no kind, as a damaged image may have.
inline const MatcherType* MatcherOf(NodeKind kind) {
  const auto number = static_cast<size_t>(kind);
  return number < kMatchers.size() ? kMatchers[number] : nullptr;
}

}  // namespace gate::rules
