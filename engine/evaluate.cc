// The line is judged subject by subject: each command, and the line itself
// (flows, unknowns, redirections that belong to no command). For each subject
// the index names the rules that can match; each says yes, possible or no.
//
//   action of a command = allow        if an allow rule matches it for certain
//                         the default  otherwise
//                  joined with what every other matching rule says
//   action of the line  = the join over all subjects and floors
//
// An allow lifts the default and, where it may, what shipped rules contain.
// What else a rule says is taken back only by an exception that may do so
// (engine/loosening.h).
#include "engine/evaluate.h"

#include <algorithm>
#include <tuple>

#include "base/locale.h"
#include "base/paths.h"
#include "engine/loosening.h"
#include "engine/network.h"
#include "engine/suggestion.h"
#include "parser/programs.h"
#include "rules/index.h"
#include "rules/match.h"
#include "rules/names.h"
#include "rules/policy_impl.h"

namespace gate::engine {
namespace {

using parser::Analysis;
using parser::EffectKind;
using rules::LoadedLayer;
using rules::RuleRecord;
using rules::Subject;
using rules::Tri;

// More commands than this in one line are not judged one by one.
constexpr size_t kMaxInvocations = 20000;
constexpr ProfileKind kDefaultProfile = ProfileKind::kWorkspaceWrite;

// What stands for one subject after its rules were tried.
struct Judged {
  Action action = Action::kDeny;
  bool allowed = false;  // an allow rule lifted the default
  std::vector<Hit> hits;
};

parser::OptionsRead ReadOptions(const parser::Invocation& invocation) {
  return parser::OptionsOf(parser::ReadArguments(invocation.argv));
}

std::string Text(const LoadedLayer& layer, FlatText text) {
  return std::string(layer.view.Text(text));
}

class Evaluation {
 public:
  Evaluation(const rules::Policy& policy, const Analysis& analysis,
             const Request& request, Trace* trace)
      : policy_(policy.impl()),
        analysis_(analysis),
        request_(request),
        trace_(trace),
        facts_(MakeFacts(request)),
        matcher_(policy_, analysis, facts_, &ReadOptions) {
    for (const std::string& word : request.argv) {
      if (!request.command.empty()) break;
      argv_line_ += argv_line_.empty() ? "" : " ";
      argv_line_ += word;
    }
    facts_.line = request.command.empty() ? argv_line_ : request.command;
  }

  Decision Run(const ProgramVerification& trust);

 private:
  static rules::Facts MakeFacts(const Request& request) {
    rules::Facts facts;
    using rules::PathBase;
    const auto set = [&](PathBase base, const std::string& value) {
      facts.bases[static_cast<size_t>(base)] = value;
    };
    set(PathBase::kHome, request.home);
    set(PathBase::kWorkspace, request.workspace);
    set(PathBase::kGateConfig, request.config_dir);
    set(PathBase::kGateState, request.state_dir);
    set(PathBase::kGateCache, request.cache_dir);
    set(PathBase::kGateBinary, request.binary);
    for (size_t i = 0; i < request.client_dirs.size(); ++i)
      set(rules::BaseOfClient(i), request.client_dirs[i]);
    facts.secrets = request.secrets;
    facts.cwd = request.cwd;
    facts.agent = request.agent;
    facts.branch = request.branch;
    facts.branch_known = request.branch_known;
    facts.interactive = request.interactive;
    facts.inspected = request.inspected;
    facts.first_looks = !request.try_every_rule;
    return facts;
  }

  Subject MakeSubject(uint32_t invocation) const;
  Judged Judge(const Subject& subject);
  void Try(const LoadedLayer& layer, uint32_t rule, const Subject& subject,
           Judged* judged);
  Action Base(const Subject& subject, const Judged& judged) const;
  bool HarmlessEnvironment(const parser::Invocation& invocation) const;
  void Join(const Judged& judged, uint32_t invocation, Decision* decision);
  void Place(const std::vector<Judged>& all, Decision* decision);
  void SayYes(const std::vector<Judged>& all, Decision* decision) const;
  void SayOpens(const Hit& hit, uint32_t invocation, Decision* decision) const;
  void Note(uint32_t invocation, const LoadedLayer& layer, uint32_t rule,
            std::string outcome);
  void Floor(Action action, ReasonCode code, std::string reason,
             Decision* decision) const;

  const rules::Policy::Impl& policy_;
  const Analysis& analysis_;
  const Request& request_;
  Trace* trace_;
  rules::Facts facts_;
  rules::Matcher matcher_;
  std::string argv_line_;  // of a request that is no line
  std::vector<uint32_t> candidates_;
  std::vector<uint16_t> effect_kinds_;  // per invocation, then the line
  uint16_t any_kinds_ = 0;              // of all of them
  uint16_t flow_kinds_ = 0;
  uint16_t unknown_codes_ = 0;
};

Subject Evaluation::MakeSubject(uint32_t invocation) const {
  Subject subject;
  subject.flow_kinds = flow_kinds_;
  subject.unknown_codes = unknown_codes_;
  if (invocation == UINT32_MAX) {
    subject.effect_kinds = effect_kinds_.back();
    subject.bits = rules::MakeSubjectBits(subject, any_kinds_);
    return subject;
  }
  subject.number = invocation;
  subject.invocation = &analysis_.invocations[invocation];
  subject.effect_kinds = effect_kinds_[invocation];
  subject.has_env = !subject.invocation->environment.empty();
  for (const std::string_view name :
       {"export", "declare", "typeset", "readonly", "local", "env"})
    subject.has_env = subject.has_env || subject.invocation->program == name;
  subject.bits = rules::MakeSubjectBits(subject, any_kinds_);
  return subject;
}

void Evaluation::Note(uint32_t invocation, const LoadedLayer& layer,
                      uint32_t rule, std::string outcome) {
  if (trace_ == nullptr) return;
  trace_->steps.push_back({invocation,
                           Text(layer, layer.view.rules[rule].id),
                           std::move(outcome),
                           static_cast<Action>(layer.view.rules[rule].action),
                           0,
                           0,
                           {}});
}

void Evaluation::Try(const LoadedLayer& layer, uint32_t rule,
                     const Subject& subject, Judged* judged) {
  const RuleRecord& record = layer.view.rules[rule];
  const auto note = [&](const char* outcome) {
    if (trace_ != nullptr) Note(subject.number, layer, rule, outcome);
  };
  if (layer.State(rule) & LoadedLayer::kDisabled && !layer.Locked(rule))
    return note("disabled");
  const int64_t now = static_cast<int64_t>(request_.now_ms);
  const Action action = static_cast<Action>(record.action);
  const bool loosens = action == Action::kAllow || record.except.count > 0;
  // Without a clock a rule that loosens is over, one that tightens holds.
  if (record.expires_ms != 0 && (now == 0 ? loosens : now >= record.expires_ms))
    return note("expired");
  if (record.since_ms != 0 && (now == 0 ? loosens : now < record.since_ms))
    return note("not yet valid");

  const rules::Verdict verdict =
      matcher_.Match(layer, rule, subject, action == Action::kAllow);
  Tri tri = verdict.tri;
  if (verdict.error) tri = action == Action::kAllow ? Tri::kNo : Tri::kYes;
  if (tri == Tri::kNo) {
    note(verdict.error ? "error" : "missed");
    if (trace_ == nullptr) return;
    rules::NearMiss near =
        matcher_.ExplainMiss(layer, rule, subject, action == Action::kAllow);
    Trace::Step& step = trace_->steps.back();
    step.action = action;
    step.held = near.held;
    step.parts = near.parts;
    step.failed = std::move(near.failed);
    return;
  }
  Hit hit;
  hit.layer = &layer;
  hit.rule = rule;
  hit.action = action;
  hit.certain = tri == Tri::kYes;
  hit.error = verdict.error;
  if (tri == Tri::kPossible) {
    if (action == Action::kAllow) return note("possible, so it does not allow");
    // A mere possibility of a catastrophe is a question, not a refusal.
    hit.action = record.when_unknown != RuleRecord::kUnset
                     ? static_cast<Action>(record.when_unknown)
                     : std::min(action, Action::kAsk);
    // `git push --force $x`: an unknown word beside what is certain may be the
    // --dry-run of the rule's `unless`; that is no reason to ask nobody.
    if (action >= Action::kAsk && hit.action < Action::kAsk &&
        matcher_.HoldsButForOptions(layer, rule, subject))
      hit.action = Action::kAsk;
  }
  note(tri == Tri::kYes
           ? (verdict.error ? "error, taken as a match" : "matched")
           : "possible");
  judged->hits.push_back(hit);
}

// Only settings on the shipped list leave a program what its name says.
bool Evaluation::HarmlessEnvironment(
    const parser::Invocation& invocation) const {
  if (invocation.environment.empty()) return true;
  if (policy_.builtin == nullptr) return false;
  const rules::RuleView& view = policy_.builtin->view;
  for (const rules::ListRecord& list : view.lists) {
    if (view.Text(list.name) != "harmless-env") continue;
    const auto names = view.In(view.strings, list.strings);
    return std::all_of(
        invocation.environment.begin(), invocation.environment.end(),
        [&](const parser::EnvironmentSetting& setting) {
          // A language that is a path has the program take its messages, and
          // the formats in them, from there. Some charsets make bash read
          // another line.
          const bool language = setting.name.starts_with("LANG") ||
                                setting.name.starts_with("LC_");
          if (language && (!setting.value.known ||
                           setting.value.text.find('/') != std::string::npos ||
                           (ChoosesCharset(setting.name) &&
                            !IsSafeLocale(setting.value.text))))
            return false;
          return std::any_of(names.begin(), names.end(), [&](FlatText name) {
            return view.Text(name) == setting.name;
          });
        });
  }
  return false;
}

// What stands before any rule tightens.
Action Evaluation::Base(const Subject& subject, const Judged& judged) const {
  if (judged.allowed) return Action::kAllow;
  // A command that may be none adds what rules say of it and no more: the one
  // whose words they are is judged by itself.
  if (subject.invocation != nullptr && !subject.invocation->guessed)
    return policy_.default_action;
  return Action::kAllow;  // the line adds nothing by itself; see Judge
}

Judged Evaluation::Judge(const Subject& subject) {
  Judged judged;
  for (const auto& layer : policy_.layers) {
    candidates_.clear();
    rules::FindCandidates(layer->view, subject,
                          request_.try_every_rule ? rules::Reach::kAll
                          : trace_ != nullptr     ? rules::Reach::kNear
                                                  : rules::Reach::kMayMatch,
                          &candidates_);
    for (const uint32_t rule : candidates_) {
      if (trace_ == nullptr && facts_.first_looks &&
          layer->view.prefilters[rule].Excludes(subject.bits))
        continue;
      Try(*layer, rule, subject, &judged);
    }
  }
  const auto taken_back = [&](const Hit& hit, const char* how, const Hit& by) {
    if (trace_ != nullptr)
      Note(subject.number, *hit.layer, hit.rule,
           how + Text(*by.layer, by.record().id));
  };
  Except(matcher_, subject, &judged.hits, taken_back);
  if (subject.invocation != nullptr && subject.invocation->guessed) {
    for (Hit& hit : judged.hits) {
      hit.certain = false;
      if (hit.action != Action::kAllow)
        hit.action = std::min(hit.action, Action::kAsk);
    }
  }
  // A person allows words that they wrote down; of words that are only known
  // when it runs the shipped rules know which do no harm.
  const bool settled = IsSettled(subject);
  for (const Hit& hit : judged.hits)
    if (hit.action == Action::kAllow && !hit.excepted &&
        !hit.record().observe && hit.record().names_command &&
        (settled || hit.layer->layer == rules::Layer::kBuiltin))
      judged.allowed = true;
  if (subject.invocation != nullptr && judged.allowed &&
      !HarmlessEnvironment(*subject.invocation))
    judged.allowed = false;
  if (judged.allowed && settled) Lift(subject, &judged.hits, taken_back);
  judged.action = Base(subject, judged);
  for (const Hit& hit : judged.hits)
    if (!hit.excepted && !hit.lifted && !hit.record().observe)
      judged.action = rules::Strictest(judged.action, hit.action);

  // Effects that no allowed command accounts for: what redirections write and
  // reach, and what belongs to no command. They get the default unless an
  // allow rule speaks of just this effect.
  for (const uint32_t i : matcher_.EffectsOf(subject.number)) {
    const parser::Effect& effect = analysis_.effects[i];
    if (effect.kind == EffectKind::kRead) continue;
    if (subject.number != UINT32_MAX && !effect.from_redirect) continue;
    bool covered = false;
    for (const Hit& hit : judged.hits)
      if (hit.action == Action::kAllow && !hit.excepted && !covered &&
          !hit.record().observe)
        covered = matcher_.CoversEffect(*hit.layer, hit.rule, subject, i);
    if (!covered)
      judged.action = rules::Strictest(judged.action, policy_.default_action);
  }
  return judged;
}

void Evaluation::Join(const Judged& judged, uint32_t invocation,
                      Decision* decision) {
  for (const Hit& hit : judged.hits) {
    if (hit.excepted || hit.lifted) continue;
    const RuleRecord& record = hit.record();
    Match match;
    match.rule = {
        Text(*hit.layer, record.id),
        Text(*hit.layer, record.file) + ":" + std::to_string(record.line),
        rules::Name(hit.layer->layer)};
    match.action = hit.action;
    match.certain = hit.certain;
    match.observed_only = record.observe != 0;
    match.invocation = invocation;
    if (hit.error) {
      match.reason =
          "a rule could not be evaluated on this line, so it counts as a match";
      match.suggestion = "shorten the line; put long text into a file";
    } else {
      match.reason = Text(*hit.layer, record.reason);
      match.suggestion =
          std::string(SuggestionFor(hit.layer->view, record,
                                    invocation < analysis_.invocations.size()
                                        ? &analysis_.invocations[invocation]
                                        : nullptr));
    }
    match.severity = rules::SeverityNames()[record.severity & 7u];
    decision->matches.push_back(std::move(match));
  }
}

void Evaluation::Floor(Action action, ReasonCode code, std::string reason,
                       Decision* decision) const {
  if (action <= decision->action) return;
  decision->action = action;
  decision->code = code;
  decision->reason = std::move(reason);
  decision->rule = {};
  decision->suggestion.clear();
  decision->severity.clear();
}

// Profile and network of the line: each command that is not allowed asks for
// what its rules name, else for workspace-write; the strictest profile and the
// widest network stand, and a rule's `network_max` bounds it. A shipped rule
// that nobody is asked about gives more than workspace-write only to a program
// of the system: ./docker is a file of the workspace that has its name. What an
// allow lifted speaks here all the same: a line that is contained for another
// reason loses nothing by it.
void Evaluation::Place(const std::vector<Judged>& all, Decision* decision) {
  ProfileKind profile = ProfileKind::kUnsaid;
  NetworkJoin network(analysis_, matcher_);
  for (const Judged& judged : all) {
    const bool line = &judged == &all.back();
    ProfileKind mine = ProfileKind::kUnsaid;
    const auto index = static_cast<size_t>(&judged - all.data());
    const uint32_t invocation =
        line ? UINT32_MAX : static_cast<uint32_t>(index);
    const bool by_name =
        line || (index < analysis_.invocations.size() &&
                 rules::IsCalledByName(analysis_.invocations[index]));
    for (const Hit& hit : judged.hits) {
      const RuleRecord& record = hit.record();
      if (record.observe) continue;
      // Where the line is contained for another reason, what a rule gave the
      // command stays given: to allow a part makes nothing stricter.
      if (hit.excepted) {
        if (hit.allowed && hit.action == Action::kSandbox && hit.certain &&
            !hit.error)
          network.Give(hit, invocation);
        continue;
      }
      network.Bound(hit);
      if (hit.action == Action::kAllow) continue;
      // What only may match, or could not be evaluated, gives nothing more.
      const bool sure = hit.certain && !hit.error;
      const bool wide = record.profile > kDefaultProfile;
      if (wide && !by_name && hit.action == Action::kSandbox &&
          hit.layer->layer == rules::Layer::kBuiltin)
        continue;
      if (record.profile != ProfileKind::kUnsaid && (sure || !wide))
        mine = mine == ProfileKind::kUnsaid ? record.profile
                                            : std::min(mine, record.profile);
      if (sure) network.Give(hit, invocation);
    }
    if (judged.action == Action::kAllow ||
        (line && mine == ProfileKind::kUnsaid))
      continue;
    if (mine == ProfileKind::kUnsaid) mine = kDefaultProfile;
    profile = profile == ProfileKind::kUnsaid ? mine : std::min(profile, mine);
  }
  decision->profile =
      profile == ProfileKind::kUnsaid ? kDefaultProfile : profile;
  network.Finish(decision);
}

// The places that the rule of `hit` names for a yes. A path that is only known
// when it runs is none: what a place is, is shown before.
void Evaluation::SayOpens(const Hit& hit, uint32_t invocation,
                          Decision* decision) const {
  const auto add = [](std::string place, std::vector<std::string>* places) {
    if (std::ranges::find(*places, place) == places->end())
      places->push_back(std::move(place));
  };
  decision->opened_by.push_back(invocation);
  const rules::RuleView& view = hit.layer->view;
  for (const auto& text : view.In(view.strings, hit.record().opens)) {
    const std::string_view place = view.Text(text);
    if (place != "$WRITES") {
      add(std::string(place), &decision->opens);
      continue;
    }
    for (const parser::Effect& effect : analysis_.effects)
      if (effect.kind == EffectKind::kWrite &&
          effect.invocation == invocation && effect.path.known &&
          !effect.path.glob && effect.path.text.starts_with('/') &&
          (request_.workspace.empty() ||
           !IsWithin(effect.path.text, request_.workspace)))
        add(effect.path.text, &decision->opens_written);
  }
}

// What the rules that ask say of a yes.
void Evaluation::SayYes(const std::vector<Judged>& all,
                        Decision* decision) const {
  for (size_t i = 0; i < all.size(); ++i)
    for (const Hit& hit : all[i].hits) {
      const RuleRecord& record = hit.record();
      if (hit.excepted || record.observe || hit.action != Action::kAsk)
        continue;
      YesNeeds needs = YesNeeds::kSandbox;
      if (record.yes != 0)
        needs = static_cast<YesNeeds>(record.yes - 1);
      else if (record.profile == ProfileKind::kFullAccess)
        needs = YesNeeds::kAsIs;
      // What is only possible, the sandbox keeps from happening elsewhere, and
      // nothing else needs more.
      if (!hit.certain && record.profile == ProfileKind::kUnsaid &&
          record.network == NetworkAccess::kUnsaid && needs == YesNeeds::kAsIs)
        needs = YesNeeds::kSandbox;
      decision->yes = std::max(decision->yes, needs);
      if (record.binds != 0)
        decision->reads_directory.push_back(static_cast<uint32_t>(i));
      if (needs == YesNeeds::kByHand && decision->by_hand.empty()) {
        const rules::RuleView& view = hit.layer->view;
        decision->by_hand = view.Text(record.reason);
        decision->by_hand_instead = SuggestionFor(
            view, record,
            i < analysis_.invocations.size() ? &analysis_.invocations[i]
                                             : nullptr);
      }
      if (needs == YesNeeds::kPlaces)
        SayOpens(hit, static_cast<uint32_t>(i), decision);
    }
  decision->harmless_variables = std::ranges::all_of(
      analysis_.invocations, [&](const parser::Invocation& invocation) {
        return HarmlessEnvironment(invocation);
      });
}

Decision Evaluation::Run(const ProgramVerification& trust) {
  Decision decision;
  const size_t count = analysis_.invocations.size();
  if (count > kMaxInvocations) {
    decision.code = ReasonCode::kLimit;
    decision.reason = "the line has more commands than gate judges";
    return decision;
  }
  effect_kinds_.assign(count + 1, 0);
  for (const parser::Effect& effect : analysis_.effects) {
    uint16_t& kinds = effect_kinds_[std::min<size_t>(effect.invocation, count)];
    kinds = static_cast<uint16_t>(kinds |
                                  (1u << static_cast<unsigned>(effect.kind)));
  }
  for (const uint16_t kinds : effect_kinds_)
    any_kinds_ = static_cast<uint16_t>(any_kinds_ | kinds);
  const uint16_t network =
      static_cast<uint16_t>(1u << static_cast<unsigned>(EffectKind::kNetwork));
  for (uint16_t& kinds : effect_kinds_)
    kinds = static_cast<uint16_t>(kinds | (effect_kinds_.back() & network));
  for (const parser::Flow& flow : analysis_.flows)
    flow_kinds_ = static_cast<uint16_t>(
        flow_kinds_ | (1u << static_cast<unsigned>(flow.kind)));
  for (const parser::Unknown& unknown : analysis_.unknowns)
    unknown_codes_ = static_cast<uint16_t>(
        unknown_codes_ | (1u << static_cast<unsigned>(unknown.code)));

  std::vector<Judged> all;
  all.reserve(count + 1);
  decision.per_invocation.reserve(count);
  Action action = Action::kAllow;
  for (uint32_t i = 0; i <= count; ++i) {
    const uint32_t number = i == count ? UINT32_MAX : i;
    all.push_back(Judge(MakeSubject(number)));
    if (i < count) decision.per_invocation.push_back(all.back().action);
    action = rules::Strictest(action, all.back().action);
    Join(all.back(), number, &decision);
  }
  // By what they say and then by name: the order of files must not decide
  // which of two equally strict rules is shown.
  std::sort(decision.matches.begin(), decision.matches.end(),
            [](const Match& a, const Match& b) {
              if (a.observed_only != b.observed_only) return b.observed_only;
              if (a.action != b.action) return a.action > b.action;
              if (a.certain != b.certain) return a.certain;
              if (a.invocation != b.invocation)
                return a.invocation < b.invocation;
              return std::tie(a.rule.id, a.rule.source) <
                     std::tie(b.rule.id, b.rule.source);
            });

  decision.action = action;
  decision.code = ReasonCode::kDefault;
  decision.reason = action == Action::kAllow
                        ? "nothing is run"
                        : "no rule knows this command; it runs in the sandbox";
  if (!decision.matches.empty() && !decision.matches[0].observed_only &&
      decision.matches[0].action == action) {
    const Match& first = decision.matches[0];
    decision.code = ReasonCode::kRule;
    decision.rule = first.rule;
    decision.reason = first.reason;
    // What is merely possible is not what the line does.
    if (!first.certain)
      decision.reason =
          "possibly, since not all of it is known before it runs: " +
          first.reason;
    decision.suggestion = first.suggestion;
    decision.severity = first.severity;
  } else if (action >= Action::kAsk) {
    decision.reason =
        "no rule knows this command, and the policy's default "
        "is to " +
        std::string(rules::Name(action));
  }

  // Floors. What is not understood whole is never allowed, whatever rules say.
  if (!analysis_.read_whole || analysis_.parse_error)
    Floor(Action::kSandbox, ReasonCode::kUnknown,
          "the line could not be read as the shell would read it", &decision);
  if (analysis_.hides_commands)
    Floor(Action::kSandbox, ReasonCode::kUnknown,
          "the line may run commands that cannot be seen in it", &decision);
  if (!trust.verified)
    Floor(Action::kSandbox, ReasonCode::kNotAsItSeems,
          trust.why.empty() ? "a program may not be what its name says"
                            : trust.why,
          &decision);
  if (policy_.floor > Action::kAllow)
    Floor(policy_.floor, ReasonCode::kPolicyBroken,
          policy_.floor == Action::kDeny
              ? "a rule file did not load, so nothing runs until it does"
              : "a rule file of the project did not load",
          &decision);
  decision.contain = decision.action != Action::kAllow;
  Place(all, &decision);
  if (decision.action == Action::kAsk) SayYes(all, &decision);
  return decision;
}

}  // namespace

Decision Evaluate(const rules::Policy& policy, const Analysis& analysis,
                  const Request& request, const ProgramVerification& trust,
                  Trace* trace) {
  return Evaluation(policy, analysis, request, trace).Run(trust);
}

}  // namespace gate::engine
