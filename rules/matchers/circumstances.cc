// Where and for whom a line runs: `cwd`, `project`, `agent`, `branch`,
// `interactive`, `inspected`.
#include "rules/compile/compiler.h"
#include "rules/match/context.h"
#include "rules/matchers/matcher.h"
#include "rules/matchers/proofs.h"

namespace gate::rules {
namespace circumstances {
namespace {

struct DirectoryNode {
  Range paths;
};

struct NameNode {
  Range names;  // strings
};

struct FlagNode {
  uint32_t wanted = 0;
};

// The project is pinned by the client for the session, and gate itself
// inspects; the other facts are the agent's to choose, and so is what is not
// the case (below `unless`).
void RefuseToLoosen(Compiler& compiler, CompilingFile& file,
                    const TreeNode& node) {
  if (!compiler.loosens()) return;
  compiler.Problem(
      file, node.key_begin, "rule-loosen-condition",
      "a rule that loosens may not stand on what the agent controls",
      compiler.inverted()
          ? "take `" + std::string(node.key) +
                "` out of it; where it should not hold, a rule that denies or "
                "asks can say so"
          : "take `" + std::string(node.key) + "` out of it");
}

CompiledMatch ReadPaths(Compiler& compiler, CompilingFile& file,
                        const TreeNode& node, NodeKind kind) {
  CompiledMatch match;
  match.node = compiler.AddNode(
      kind, DirectoryNode{compiler.AddPaths(file, node, "a place")});
  return match;
}

CompiledMatch ReadNames(Compiler& compiler, CompilingFile& file,
                        const TreeNode& node, NodeKind kind) {
  RefuseToLoosen(compiler, file, node);
  CompiledMatch match;
  match.node = compiler.AddNode(
      kind,
      NameNode{compiler.AddStrings(compiler.StringList(file, node, "a name"))});
  return match;
}

CompiledMatch ReadFlag(Compiler& compiler, CompilingFile& file,
                       const TreeNode& node, NodeKind kind) {
  CompiledMatch match;
  match.node =
      compiler.AddNode(kind, FlagNode{compiler.Flag(file, node) ? 1u : 0u});
  return match;
}

CompiledMatch ReadCwd(Compiler& compiler, CompilingFile& file,
                      const TreeNode& node) {
  RefuseToLoosen(compiler, file, node);
  return ReadPaths(compiler, file, node, NodeKind::kCwd);
}

CompiledMatch ReadProject(Compiler& compiler, CompilingFile& file,
                          const TreeNode& node) {
  return ReadPaths(compiler, file, node, NodeKind::kProject);
}

CompiledMatch ReadAgent(Compiler& compiler, CompilingFile& file,
                        const TreeNode& node) {
  return ReadNames(compiler, file, node, NodeKind::kAgent);
}

CompiledMatch ReadBranch(Compiler& compiler, CompilingFile& file,
                         const TreeNode& node) {
  compiler.AskBranch();
  return ReadNames(compiler, file, node, NodeKind::kBranch);
}

CompiledMatch ReadInteractive(Compiler& compiler, CompilingFile& file,
                              const TreeNode& node) {
  RefuseToLoosen(compiler, file, node);
  return ReadFlag(compiler, file, node, NodeKind::kInteractive);
}

CompiledMatch ReadInspected(Compiler& compiler, CompilingFile& file,
                            const TreeNode& node) {
  return ReadFlag(compiler, file, node, NodeKind::kInspected);
}

Tri InDirectory(MatchContext& context, const Node& node,
                std::string_view directory) {
  if (directory.empty()) return Tri::kPossible;
  parser::Argument path;
  path.text = directory;
  return context.paths.MatchAny(*context.view, node.As<DirectoryNode>().paths,
                                {&path, false, UINT32_MAX});
}

Tri MatchCwd(MatchContext& context, const Node& node) {
  return InDirectory(context, node, context.facts.cwd);
}

Tri MatchProject(MatchContext& context, const Node& node) {
  return InDirectory(
      context, node,
      context.facts.bases[static_cast<size_t>(PathBase::kWorkspace)]);
}

Tri MatchAgent(MatchContext& context, const Node& node) {
  return context.facts.agent.empty() ? Tri::kPossible
                                     : context.Names(node.As<NameNode>().names,
                                                     context.facts.agent, true);
}

Tri MatchBranch(MatchContext& context, const Node& node) {
  return context.facts.branch_known ? context.Names(node.As<NameNode>().names,
                                                    context.facts.branch, true)
                                    : Tri::kPossible;
}

Tri MatchInteractive(MatchContext& context, const Node& node) {
  return Of(context.facts.interactive == (node.As<FlagNode>().wanted != 0));
}

Tri MatchInspected(MatchContext& context, const Node& node) {
  return Of(context.facts.inspected == (node.As<FlagNode>().wanted != 0));
}

bool PathsAreWithin(NodeRef inner, NodeRef outer) {
  return SameKind(inner, outer) &&
         PathsWithin(*inner.view, At(inner).As<DirectoryNode>().paths,
                     *outer.view, At(outer).As<DirectoryNode>().paths);
}

bool NamesAreWithin(NodeRef inner, NodeRef outer) {
  return SameKind(inner, outer) &&
         Subset(TextsOf(*inner.view, At(inner).As<NameNode>().names),
                TextsOf(*outer.view, At(outer).As<NameNode>().names));
}

bool SameFlag(NodeRef inner, NodeRef outer) {
  return SameKind(inner, outer) &&
         At(inner).As<FlagNode>().wanted == At(outer).As<FlagNode>().wanted;
}

}  // namespace
}  // namespace circumstances

constinit const MatcherType kCwdMatcher = {
    .key = "cwd",
    .read = &circumstances::ReadCwd,
    .match = &circumstances::MatchCwd,
    .within = &circumstances::PathsAreWithin};

constinit const MatcherType kProjectMatcher = {
    .key = "project",
    .read = &circumstances::ReadProject,
    .match = &circumstances::MatchProject,
    .within = &circumstances::PathsAreWithin};

constinit const MatcherType kAgentMatcher = {
    .key = "agent",
    .read = &circumstances::ReadAgent,
    .match = &circumstances::MatchAgent,
    .within = &circumstances::NamesAreWithin};

constinit const MatcherType kBranchMatcher = {
    .key = "branch",
    .read = &circumstances::ReadBranch,
    .match = &circumstances::MatchBranch,
    .within = &circumstances::NamesAreWithin};

constinit const MatcherType kInteractiveMatcher = {
    .key = "interactive",
    .read = &circumstances::ReadInteractive,
    .match = &circumstances::MatchInteractive,
    .within = &circumstances::SameFlag};

constinit const MatcherType kInspectedMatcher = {
    .key = "inspected",
    .read = &circumstances::ReadInspected,
    .match = &circumstances::MatchInspected,
    .within = &circumstances::SameFlag};

}  // namespace gate::rules
