// Why a decision is not another one.
#include <algorithm>

#include "base/text.h"
#include "cli/render.h"

namespace gate::cli {

using rules::Action;

std::string RenderNearest(const engine::Trace& trace, const Action* wanted,
                          size_t most) {
  std::vector<const engine::Trace::Step*> misses;
  for (const engine::Trace::Step& step : trace.steps) {
    if (step.outcome != "missed" || step.held == 0 || step.parts < 2 ||
        (wanted != nullptr && step.action != *wanted))
      continue;
    const bool known = std::any_of(
        misses.begin(), misses.end(),
        [&](const auto* other) { return other->rule == step.rule; });
    if (!known) misses.push_back(&step);
  }
  // By how few conditions are wanting, then by how many hold.
  std::stable_sort(misses.begin(), misses.end(),
                   [](const auto* a, const auto* b) {
                     const uint32_t x = a->parts - a->held;
                     const uint32_t y = b->parts - b->held;
                     return x != y ? x < y : a->held > b->held;
                   });
  if (misses.size() > most) misses.resize(most);
  std::string out;
  for (const engine::Trace::Step* step : misses)
    out += "  " + step->rule + " (" + Name(step->action) +
           "): " + std::to_string(step->held) + " of " +
           std::to_string(step->parts) +
           " conditions hold; not: " + Visible(step->failed) + "\n";
  return out;
}

std::string RenderWhyNot(const Judgement& judgement, const engine::Trace& trace,
                         Action wanted) {
  const engine::Decision& decision = judgement.decision;
  std::string out = std::string("\nwhy not ") + Name(wanted) + "\n";
  if (decision.action == wanted) return out + "  it is " + Name(wanted) + "\n";
  if (decision.action > wanted) {
    // Everything that is stricter would have to go.
    bool any = false;
    for (const engine::Match& match : decision.matches) {
      if (match.observed_only || match.action <= wanted) continue;
      any = true;
      out += "  " + match.rule.id + " (" + match.rule.layer + ") says " +
             Name(match.action) + (match.certain ? "" : ", possibly") + ": " +
             Visible(match.reason) + "\n";
    }
    if (decision.code != engine::ReasonCode::kRule)
      out += "  " + Visible(decision.reason) + "\n";
    for (size_t i = 0; i < decision.per_invocation.size() && !any; ++i)
      if (decision.per_invocation[i] > wanted)
        out += "  no rule of action " + std::string(Name(wanted)) +
               " matches command " + std::to_string(i + 1) + " of the line\n";
  } else {
    out += std::string("  no rule that says ") + Name(wanted) +
           " or more matches\n";
  }
  const std::string nearest = RenderNearest(trace, &wanted, 5);
  if (!nearest.empty())
    out += std::string("rules of action ") + Name(wanted) +
           " that came nearest\n" + nearest;
  return out;
}

}  // namespace gate::cli
