// Why a decision is not another one.
#include <algorithm>
#include <vector>

#include "approvals/terminal.h"
#include "base/text.h"
#include "cli/output/render.h"

namespace gate::app {

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

std::string RenderSetAside(const engine::Trace& trace) {
  std::vector<std::string> lines;
  for (const engine::Trace::Step& step : trace.steps) {
    if (step.outcome == "missed" || step.outcome == "matched") continue;
    std::string line = "  " + step.rule + ": " + Visible(step.outcome) + "\n";
    if (std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  }
  std::string out;
  for (const std::string& line : lines) out += line;
  return out.empty() ? "" : "rules that were set aside\n" + out;
}

std::string RenderStages(const engine::Trace& trace) {
  if (trace.stages.size() < 2) return "";
  std::string out = "how it was decided\n";
  bool first = true;
  for (const engine::Trace::StageStep& step : trace.stages) {
    std::string change = Name(step.after);
    if (!first && step.before != step.after)
      change = std::string(Name(step.before)) + " -> " + change;
    out += "  " + std::string(step.stage) + ": " + change + " (" +
           engine::Name(step.code) + ")  " + Visible(step.reason) + "\n";
    first = false;
  }
  return out;
}

// Command by command, as they stand in the line; what did more than miss
// first.
std::string RenderTried(const Authorization& authorization,
                        const engine::Trace& trace, bool colour) {
  const auto& invocations = authorization.analysis.invocations;
  struct Tried {
    std::string met, missed;
  };
  std::vector<Tried> tried(invocations.size() + 1);  // the last: of the line
  for (const engine::Trace::Step& step : trace.steps) {
    Tried& at = tried[std::min<size_t>(step.invocation, invocations.size())];
    const bool missed = step.outcome == "missed";
    std::string& to = missed ? at.missed : at.met;
    to += "  " + step.rule + ": " + Visible(step.outcome);
    if (missed && !step.failed.empty())
      to += Paint(Colour::kDim,
                  " (" + std::to_string(step.held) + " of " +
                      std::to_string(step.parts) +
                      "; not: " + Visible(step.failed) + ")",
                  colour);
    to += "\n";
  }
  std::string out;
  for (size_t i = 0; i < tried.size(); ++i) {
    if (tried[i].met.empty() && tried[i].missed.empty()) continue;
    out += "rules that were tried on ";
    out += i == invocations.size() ? std::string("the line as a whole")
                                   : CommandText(invocations[i]);
    out += "\n" + tried[i].met + tried[i].missed;
  }
  return out;
}

std::string RenderWhyNot(const Authorization& authorization,
                         const engine::Trace& trace, Action wanted) {
  const engine::Decision& decision = authorization.decision;
  std::string out = std::string("\nwhy not ") + Name(wanted) + "\n";
  if (decision.action == wanted) return out + "  it is " + Name(wanted) + "\n";
  if (decision.action > wanted) {
    // Everything that is stricter would have to go. What a rule of the user can
    // take back (of a less trusted layer, never a refusal) is named for it.
    bool any = false;
    bool refused = false;
    std::string except;
    for (const engine::Match& match : decision.matches) {
      if (match.observed_only || match.action <= wanted) continue;
      any = true;
      out += "  " + match.rule.id + " (" + match.rule.layer + ") says " +
             Name(match.action) + (match.certain ? "" : ", possibly") + ": " +
             Visible(match.reason) + "\n";
      refused = refused || match.action == Action::kDeny;
      if (match.rule.layer != "builtin" && match.rule.layer != "project")
        continue;
      if (except.find('"' + match.rule.id + '"') == std::string::npos)
        except += (except.empty() ? "\"" : ", \"") + match.rule.id + '"';
    }
    if (!except.empty() && !refused)
      out += std::string("  a rule of yours that says ") + Name(wanted) +
             " takes this back by naming it: \"except\": [" + except + "]\n";
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
  std::string already;
  for (const engine::Match& match : decision.matches)
    if (!match.observed_only && match.certain && match.action == wanted &&
        already.find("  " + match.rule.id + " (") == std::string::npos)
      already += "  " + match.rule.id + " (" + match.rule.layer +
                 "): \"except\" in it takes back those above that it may\n";
  if (decision.action > wanted && !already.empty())
    out += std::string("rules of action ") + Name(wanted) +
           " that match already\n" + already;
  const std::string nearest = RenderNearest(trace, &wanted, 5);
  if (!nearest.empty())
    out += std::string("rules of action ") + Name(wanted) +
           " that came nearest\n" + nearest;
  return out;
}

}  // namespace gate::app
