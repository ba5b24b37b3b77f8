// How much of a rule that missed would have held.
#include "rules/match.h"

namespace gate::rules {
namespace {

const char* NameOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kAll:
      return "all";
    case NodeKind::kAny:
      return "any alternative";
    case NodeKind::kUnless:
      return "its `unless`";
    case NodeKind::kNever:
      return "never";
    case NodeKind::kPrefix:
      return "prefix";
    case NodeKind::kGlob:
      return "glob";
    case NodeKind::kRegex:
      return "regex";
    case NodeKind::kProgram:
      return "program";
    case NodeKind::kSubcommand:
      return "subcommand";
    case NodeKind::kOptions:
      return "options";
    case NodeKind::kOperands:
      return "operands";
    case NodeKind::kOnlyDoes:
      return "only_does";
    case NodeKind::kAct:
      return "act";
    case NodeKind::kRedirects:
      return "redirects";
    case NodeKind::kSends:
      return "sends";
    case NodeKind::kEffect:
      return "effect";
    case NodeKind::kFlow:
      return "flow";
    case NodeKind::kEnv:
      return "env";
    case NodeKind::kVia:
      return "via";
    case NodeKind::kUnknown:
      return "unknown";
    case NodeKind::kCwd:
      return "cwd";
    case NodeKind::kProject:
      return "project";
    case NodeKind::kAgent:
      return "agent";
    case NodeKind::kBranch:
      return "branch";
    case NodeKind::kLine:
      return "line";
    case NodeKind::kInteractive:
      return "interactive";
    case NodeKind::kInspected:
      return "inspected";
  }
  return "?";
}

}  // namespace

void Matcher::Count(uint32_t index, NearMiss* out) {
  if (index >= view_->nodes.size()) return;
  const Node& node = view_->nodes[index];
  const auto fails = [out](std::string what) {
    if (!out->failed.empty()) out->failed += ", ";
    out->failed += what;
  };
  if (node.kind == NodeKind::kAll) {
    for (const uint32_t link : view_->In(view_->links, node.a))
      Count(link, out);
    return;
  }
  if (node.kind == NodeKind::kPrefix && invocation_ != nullptr) {
    const auto positions = view_->In(view_->positions, node.a);
    uint32_t held = 0;
    for (size_t i = 0; i < positions.size() && i < invocation_->argv.size();
         ++i) {
      bool same = false;
      for (const FlatText& text : view_->In(view_->strings, positions[i]))
        same =
            same || (i == 0 ? invocation_->program == view_->Text(text)
                            : invocation_->argv[i].text == view_->Text(text));
      if (!same) break;
      ++held;
    }
    out->held += held;
    out->parts += static_cast<uint32_t>(positions.size());
    if (held < positions.size())
      fails("prefix (" + std::to_string(held) + " of " +
            std::to_string(positions.size()) + " words)");
    return;
  }
  ++out->parts;
  if (Eval(index) == Tri::kYes)
    ++out->held;
  else
    fails(NameOf(node.kind));
}

NearMiss Matcher::ExplainMiss(const LoadedLayer& layer, uint32_t rule,
                              const Subject& subject, bool strict) {
  // Sets the matcher to this rule and subject.
  (void)Match(layer, rule, subject, strict);
  NearMiss near;
  Count(layer.view.rules[rule].match, &near);
  return near;
}

}  // namespace gate::rules
