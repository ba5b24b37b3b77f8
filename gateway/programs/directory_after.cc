#include "gateway/directory_after.h"
#include "base/file.h"

#include <algorithm>
#include <vector>

#include "base/paths.h"
#include "gateway/line.h"
#include "parser/ast.h"
#include "parser/read.h"

namespace gate::app {
namespace {

using parser::Analysis;
using parser::Ast;
using parser::Invocation;
using parser::Node;
using parser::NodeId;
using parser::NodeKind;

bool IsMove(const Invocation& one) {
  return one.builtin && (one.program == "cd" || one.program == "pushd" ||
                         one.program == "popd");
}

// `cd DIRECTORY`, in the line's own shell.
bool IsPlainMove(const Invocation& one) {
  return one.program == "cd" && one.via.empty() && one.argv.size() == 2 &&
         one.argv[1].known && !one.argv[1].text.starts_with('-');
}

// The commands of which all have ended with 0 when the line has: `a && b`, or
// what stands last after `;` or a line break. Empty where there is another
// kind of command in it, which may go on after a failure.
std::vector<const Node*> MustSucceed(const Ast& ast) {
  if (ast.root == parser::kNone) return {};
  std::vector<const Node*> found;
  std::vector<NodeId> open = {ast.root};
  while (!open.empty()) {
    const Node& node = ast.nodes[open.back()];
    open.pop_back();
    switch (node.kind) {
      case NodeKind::kList:
        if (node.children.empty() || node.asynchronous.back()) return {};
        open.push_back(node.children.back());
        break;
      case NodeKind::kAnd:
        open.insert(open.end(), node.children.begin(), node.children.end());
        break;
      case NodeKind::kPipeline:
        if (node.negated) return {};
        if (node.children.size() == 1) open.push_back(node.children.front());
        break;  // of more, each is in a shell of its own
      case NodeKind::kSimple:
        found.push_back(&node);
        break;
      case NodeKind::kSubshell:
        break;
      default:
        return {};
    }
  }
  return found;
}

// Where a line that ends with 0 has gone; empty where that is not certain.
std::string AfterSuccess(const Authorization& authorization) {
  const Analysis& analysis = authorization.analysis;
  parser::ReadOptions options;
  options.compare = false;
  const Ast ast = parser::Read(LineOf(authorization.request), options).ast;
  const std::vector<const Node*> must = MustSucceed(ast);
  std::string there;
  for (const Invocation& one : analysis.invocations) {
    if (!IsMove(one)) continue;
    const bool succeeds = std::ranges::any_of(must, [&](const Node* node) {
      return node->span.begin <= one.span.begin &&
             one.span.end <= node->span.end;
    });
    if (!succeeds || !IsPlainMove(one)) return "";
    there = Normalise(one.argv[1].text,
                      there.empty() ? authorization.request.cwd : there);
  }
  return std::ranges::find(analysis.leaves_cwds, there) !=
                 analysis.leaves_cwds.end()
             ? there
             : "";
}

}  // namespace

DirectoryAfter FindDirectoryAfter(const Authorization& authorization) {
  const std::string& here = authorization.request.cwd;
  const Analysis& analysis = authorization.analysis;
  if (analysis.invocations.empty() || analysis.leaves_cwds.empty() ||
      std::ranges::none_of(analysis.invocations, IsMove))
    return {};
  bool may_stay = false;
  std::vector<std::string> ends;
  for (const std::string& end : analysis.leaves_cwds) {
    if (end == here)
      may_stay = true;
    else
      ends.push_back(end);
  }
  if (ends.size() == 1) {
    const std::string& there = ends.front();
    const Invocation& first = analysis.invocations.front();
    const bool goes_first =
        std::ranges::count_if(analysis.invocations, IsMove) == 1 &&
        first.certain && IsPlainMove(first) &&
        Normalise(first.argv[1].text, here) == there;
    if ((!may_stay || goes_first) && IsDirectory(there))
      return {WhenThere::kAnyway, there};
  }
  std::string there = AfterSuccess(authorization);
  if (there.empty() || there == here) return {};
  return {WhenThere::kOnSuccess, std::move(there)};
}

}  // namespace gate::app
