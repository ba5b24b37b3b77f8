#include "cli/output/render.h"

#include <algorithm>

#include "approvals/prompt_text.h"
#include "approvals/terminal.h"
#include "base/text.h"
#include "gateway/line.h"

namespace gate::app {
namespace {

using parser::Argument;
using parser::Effect;
using parser::EffectKind;
using parser::Invocation;
using rules::Action;

constexpr size_t kShownLine = 160;

Colour ColourOf(Action action) {
  switch (action) {
    case Action::kAllow:
      return Colour::kGreen;
    case Action::kSandbox:
      return Colour::kBlue;
    case Action::kAsk:
      return Colour::kYellow;
    case Action::kDeny:
      return Colour::kRed;
  }
  return Colour::kRed;
}

std::string Shorten(std::string text) {
  if (text.size() <= kShownLine) return text;
  size_t cut = kShownLine;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80)
    --cut;
  return text.substr(0, cut) + "…";
}

std::string Word(const Argument& word) {
  if (word.known) return Visible(word.glob ? word.text : ShellQuote(word.text));
  return Visible(word.text) + "‹?›" + Visible(word.suffix);
}

std::string ViaText(const Invocation& invocation) {
  std::string text;
  for (const parser::Via& via : invocation.via) {
    if (!text.empty()) text += " → ";
    text += Visible(Name(via));
  }
  return text;
}

std::string EffectText(const Effect& effect) {
  std::string text = Name(effect.kind);
  if (effect.kind == EffectKind::kNetwork) {
    text += ' ';
    if (!effect.scheme.empty()) text += effect.scheme + "://";
    text += effect.host.empty() ? "‹?›" : Visible(effect.host);
    if (effect.port != 0) text += ":" + std::to_string(effect.port);
    if (effect.listens) text += " (listens)";
  } else if (!effect.path.known || !effect.path.text.empty()) {
    text += ' ' + Word(effect.path);
  }
  if (effect.kind == EffectKind::kMove) text += " → " + Word(effect.target);
  if (effect.recursive) text += ", recursively";
  if (!effect.certain) text += ", possibly";
  return text;
}

constexpr size_t kLabel = 9;
constexpr size_t kLabelColumns = 2 + kLabel + 1;

std::string Labelled(std::string_view label, std::string_view text,
                     bool colour) {
  std::string padded(label);
  padded.resize(std::max(padded.size(), kLabel), ' ');
  return "  " + Paint(Colour::kDim, padded, colour) + " " + std::string(text) +
         "\n";
}

}  // namespace

std::string CommandText(const Invocation& invocation) {
  std::string text;
  for (const Argument& word : invocation.argv) {
    if (!text.empty()) text += ' ';
    text += Word(word);
  }
  return Shorten(text);
}

namespace {

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts)
    joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

template <class Shown>
std::string RenderHosts(const backends::Profile& profile, const Shown& shown,
                        bool colour) {
  std::string out;
  const backends::DomainFilter& domains = profile.domains;
  if (profile.network == backends::Network::kDomains)
    out += Labelled(
        "reaches",
        domains.allow.empty() ? "no host" : shown(Joined(domains.allow)),
        colour);
  if (!domains.deny.empty())
    out += Labelled("denied", shown(Joined(domains.deny)), colour);
  return out;
}

// What is shown below the command. `columns`: of the person's terminal, 0 where
// nothing is asked.
std::string RenderReasons(const Authorization& authorization, bool colour,
                          size_t columns) {
  const engine::Decision& decision = authorization.decision;
  const auto shown = [columns](std::string_view text) {
    return columns == 0 ? Visible(text)
                        : ShownField(text, kLabelColumns, columns);
  };
  std::string out = Labelled("why", shown(decision.reason), colour);
  if (!decision.rule.id.empty())
    out += Labelled("rule",
                    shown(decision.rule.id + " (" + decision.rule.layer + ", " +
                          decision.rule.source + ")"),
                    colour);
  if (!decision.suggestion.empty() || decision.action >= Action::kAsk ||
      !authorization.plan_error.empty())
    out += Labelled("instead", shown(WayOn(authorization)), colour);
  const router::Plan& plan = authorization.plan;
  if (!authorization.plan_error.empty()) {
    if (decision.code != engine::ReasonCode::kPlan)
      out += Labelled("cannot run", shown(authorization.plan_error), colour);
  } else if (plan.mode == router::Mode::kSandbox) {
    std::string text = plan.backend + ", " + plan.profile.name + ", network " +
                       backends::Name(plan.profile.network);
    out += Labelled("runs in", text, colour);
    out += RenderHosts(plan.profile, shown, colour);
    for (const backends::LocalService& service : plan.profile.services)
      out += Labelled("with",
                      shown("localhost:" + std::to_string(service.port) +
                            " of this machine, " + service.shown),
                      colour);
    for (const credentials::SigningKey& key : authorization.signing.keys)
      out += Labelled("lends",
                      "signatures of commits and tags by the key " +
                          credentials::NameOf(key),
                      colour);
    for (const std::string& lost : plan.lost)
      out += Labelled("but", shown(lost), colour);
  } else if (plan.mode == router::Mode::kDirect) {
    out += Labelled("runs", "as it is", colour);
  } else if (decision.action == Action::kAsk) {
    out +=
        Labelled("after yes", shown("runs " + AfterYes(authorization)), colour);
    if (!authorization.grants.instead.empty())
      out += Labelled("or", shown(authorization.grants.instead), colour);
  }
  for (const Diagnostic& diagnostic : authorization.diagnostics)
    out += Render(diagnostic);
  return out;
}

}  // namespace

std::string RenderDecision(const Authorization& authorization, bool colour) {
  const Action action = authorization.decision.action;
  return Paint(ColourOf(action), Name(action), colour) + "  " +
         Shorten(Visible(LineOf(authorization.request))) + "\n" +
         RenderReasons(authorization, colour, 0);
}

std::string RenderAsked(const Authorization& authorization, bool colour,
                        size_t columns) {
  const Action action = authorization.decision.action;
  const Request& request = authorization.request;
  std::string directory = RealDirectory(request.cwd, request.directory);
  if (directory.empty()) directory = request.cwd;
  return Paint(ColourOf(action), Name(action), colour) + "\n" +
         ShownCommand(LineOf(authorization.request), columns) +
         Labelled("in", ShownField(directory, kLabelColumns, columns), colour) +
         RenderReasons(authorization, colour, columns);
}

std::string RenderCarets(std::string_view source, Span span, bool colour) {
  if (span.begin > source.size()) return "";
  span.end = std::min<uint32_t>(span.end, static_cast<uint32_t>(source.size()));
  const size_t before =
      source.rfind('\n', span.begin == 0 ? 0 : span.begin - 1);
  size_t start =
      before == std::string_view::npos || span.begin == 0 ? 0 : before + 1;
  size_t end = source.find('\n', span.begin);
  if (end == std::string_view::npos) end = source.size();
  std::string prefix = "    ";
  // A long line is shown around the place that matters.
  constexpr size_t kContext = 60;
  if (span.begin - start > kContext) {
    start = span.begin - kContext;
    prefix += "…";
  }
  const size_t shown_end =
      std::min(end, std::max<size_t>(span.end, span.begin) + kContext);
  const auto width = [](std::string_view text) {
    size_t columns = 0;
    for (const char c : Visible(text))
      columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return columns;
  };
  const std::string_view head = source.substr(start, span.begin - start);
  const std::string_view body = source.substr(
      span.begin, std::min<size_t>(span.end, shown_end) - span.begin);
  const std::string_view tail = source.substr(
      span.begin + body.size(), shown_end - span.begin - body.size());
  std::string out = prefix + Visible(head) + Visible(body) + Visible(tail);
  if (shown_end < end) out += "…";
  out += "\n";
  out += std::string(4 + (prefix.size() > 4 ? 1 : 0) + width(head), ' ');
  out +=
      Paint(Colour::kYellow,
            "^" + std::string(body.empty() ? 0 : width(body) - 1, '~'), colour);
  return out + "\n";
}

std::string RenderAnalysis(std::string_view source,
                           const parser::Analysis& analysis, bool colour) {
  std::string out;
  for (size_t i = 0; i < analysis.invocations.size(); ++i) {
    const Invocation& invocation = analysis.invocations[i];
    const std::string indent(2 * invocation.via.size(), ' ');
    out += indent + Paint(Colour::kBold, CommandText(invocation), colour);
    if (!invocation.certain) out += Paint(Colour::kDim, "  (possibly)", colour);
    if (!invocation.via.empty())
      out += Paint(Colour::kDim, "  via " + ViaText(invocation), colour);
    out += "\n";
    for (const parser::EnvironmentSetting& setting : invocation.environment)
      out += indent + "    with " + setting.name + "=" + Word(setting.value) +
             "\n";
    for (const Effect& effect : analysis.effects)
      if (effect.invocation == i)
        out += indent + "    " + EffectText(effect) + "\n";
  }
  for (const Effect& effect : analysis.effects)
    if (effect.invocation == UINT32_MAX) out += EffectText(effect) + "\n";
  for (const parser::Flow& flow : analysis.flows)
    out += std::string("flow ") + Name(flow.kind) + "\n";
  for (const parser::Unknown& unknown : analysis.unknowns) {
    out += Paint(
        parser::HidesCommands(unknown.code) ? Colour::kRed : Colour::kYellow,
        std::string("unknown: ") + Name(unknown.code), colour);
    if (!unknown.text.empty()) out += "  " + Shorten(Visible(unknown.text));
    out += "\n" + RenderCarets(source, unknown.span, colour);
  }
  if (analysis.invocations.empty() && analysis.unknowns.empty())
    out += "nothing runs\n";
  return out;
}

std::string RenderExplanation(const Authorization& authorization,
                              const engine::Trace& trace, bool misses,
                              bool colour) {
  const std::string line = LineOf(authorization.request);
  const auto& actions = authorization.decision.per_invocation;
  std::string out = "\n";
  if (!authorization.decision.matches.empty()) out += "rules that matched\n";
  for (const engine::Match& match : authorization.decision.matches) {
    std::string verdict = Name(match.action);
    verdict.resize(8, ' ');
    out += "  " + Paint(ColourOf(match.action), verdict, colour) +
           match.rule.id + (match.certain ? "" : " (possibly)") +
           (match.observed_only ? " (observed only)" : "") + "  " +
           Visible(match.reason) + "\n";
  }
  if (!authorization.analysis.unknowns.empty()) out += "what is not known\n";
  for (const parser::Unknown& unknown : authorization.analysis.unknowns)
    out += "  " + std::string(Name(unknown.code)) + "  " +
           Shorten(Visible(unknown.text)) + "\n" +
           RenderCarets(line, unknown.span, colour);
  out += "what runs\n";
  for (size_t i = 0; i < authorization.analysis.invocations.size(); ++i) {
    const Action action = i < actions.size() ? actions[i] : Action::kDeny;
    std::string verdict = Name(action);
    verdict.resize(8, ' ');
    const Invocation& invocation = authorization.analysis.invocations[i];
    out += "  " + Paint(ColourOf(action), verdict, colour) +
           CommandText(invocation);
    if (!invocation.via.empty())
      out += Paint(Colour::kDim, "  via " + ViaText(invocation), colour);
    out += "\n";
  }
  if (!authorization.analysis.effects.empty()) out += "what it does\n";
  for (const Effect& effect : authorization.analysis.effects)
    out += "  " + EffectText(effect) + "\n";
  const bool narrowed =
      authorization.plan.profile.network == backends::Network::kDomains &&
      authorization.decision.network == rules::NetworkAccess::kOpen;
  for (const auto& [title, hosts] :
       {std::pair("hosts that the rules name\n",
                  narrowed ? &authorization.decision.hosts_if_narrowed
                           : &authorization.decision.hosts),
        std::pair("hosts that the rules deny\n",
                  &authorization.decision.hosts_deny)}) {
    if (!hosts->empty()) out += title;
    for (const engine::NamedHost& named : *hosts)
      out += "  " + named.host + "  " + named.rule + "\n";
  }
  out += RenderStages(trace);
  out += RenderSetAside(trace);
  if (!misses) return out;
  if (const std::string nearest = RenderNearest(trace, nullptr, 3);
      !nearest.empty())
    out += "nearest misses (rules that would need little more)\n" + nearest;
  return out + RenderTried(authorization, trace, colour);
}

std::string CommandAsked(const Authorization& authorization) {
  // Dialogs of clients are narrow, and break lines by themselves.
  constexpr size_t kColumns = 76;
  const std::string line = LineOf(authorization.request);
  if (line.size() > kMaxAnsweredBytes)
    return "\n  (a command of " + std::to_string(line.size()) + " bytes)";
  std::string text = "\n" + ShownCommand(line, kColumns);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string QuestionText(const Authorization& authorization, bool is_command) {
  const engine::Decision& decision = authorization.decision;
  std::string text = "gate: " + Visible(decision.reason);
  if (!decision.rule.id.empty()) text += " [" + decision.rule.id + "]";
  if (is_command)
    text += CommandAsked(authorization) + "\nAfter a yes it runs " +
            AfterYes(authorization);
  return text;
}

namespace {

// What ends a refusal, once: what not to do.
constexpr const char kNoOtherWay[] = ". Do not try another way";
constexpr const char kElseNoOtherWay[] =
    ". Otherwise do not try another way; tell the person";

// `way`, and what not to do. A way that leads to the person already does not
// name them twice.
std::string WithEnd(std::string way) {
  while (way.ends_with('.') || way.ends_with(' ')) way.pop_back();
  const bool tells = way.find("the person") != std::string::npos;
  return way + (tells ? kNoOtherWay : kElseNoOtherWay);
}

}  // namespace

std::string RefusalText(const Authorization& authorization,
                        std::string_view yes_id) {
  const engine::Decision& decision = authorization.decision;
  std::string text = "gate: ";
  // Of an ask there is such an error only once it was answered.
  if (!authorization.plan_error.empty() && decision.action <= Action::kAsk)
    text += "refused, since it cannot be contained: " +
            Visible(authorization.plan_error);
  else if (authorization.plan.mode == router::Mode::kRefused &&
           !authorization.policy_broken && decision.action <= Action::kSandbox)
    // The rules let it run, the settings do not (never_sandbox).
    return text + "refused: " + Visible(authorization.plan.why) +
           ". Instead: " + WithEnd("ask the person to run `gate doctor`");
  else
    text += std::string(decision.action == Action::kAsk ? "needs a person: "
                                                        : "denied: ") +
            Visible(decision.reason);
  if (!decision.rule.id.empty()) text += " [" + decision.rule.id + "]";
  if (decision.action == Action::kAsk &&
      authorization.grants.kind == engine::GrantKind::kByHand)
    return text + ". gate runs it for nobody" +
           (authorization.grants.why == decision.reason
                ? ""
                : " (" + Visible(authorization.grants.why) + ")") +
           ". Instead: " +
           WithEnd((authorization.grants.instead.empty()
                        ? ""
                        : Visible(authorization.grants.instead) + ", or ") +
                   "tell the person to run it in a terminal of their own");
  const std::string way = Visible(WayOn(authorization));
  if (!yes_id.empty())
    return text + ". Instead: " + way +
           (way.find("the person") == std::string::npos
                ? "; or tell the person, who"
                : "; they") +
           " can allow this exact command with: gate approve " +
           std::string(yes_id) + kNoOtherWay;
  return text + ". Instead: " + WithEnd(way);
}

}  // namespace gate::app
