#include "engine/lint.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_set>

#include "base/text.h"
#include "engine/examples.h"
#include "parser/programs.h"
#include "rules/policy_impl.h"
#include "rules/relations.h"

namespace gate::engine {
namespace {

using rules::Finding;
using rules::LoadedLayer;
using rules::RuleRecord;

constexpr size_t kMaxBases = 2;    // commands of a rule that are built upon
constexpr size_t kMaxSamples = 8;  // of a rule, besides its examples
constexpr size_t kMaxTried = 64;   // commands tried as a witness of a finding

struct RulePlace {
  const LoadedLayer* layer = nullptr;
  uint32_t rule = 0;
  const RuleRecord& record() const { return layer->view.rules[rule]; }
  Action action() const { return static_cast<Action>(record().action); }
  std::string id() const { return std::string(layer->view.Text(record().id)); }
  rules::NodeRef match() const { return {&layer->view, record().match}; }
};

const Match* Find(const Decision& decision, const RulePlace& place) {
  const std::string id = place.id();
  for (const Match& match : decision.matches)
    if (match.rule.id == id && match.rule.layer == Name(place.layer->layer))
      return &match;
  return nullptr;
}

bool Surely(const Decision& decision, const RulePlace& place) {
  const Match* match = Find(decision, place);
  return match != nullptr && match->certain;
}

// What a line does besides reading, as bits of EffectKind, and one more for
// code that gate does not read.
constexpr uint32_t kCode = 1u << 31;

uint32_t Does(const std::string& command) {
  const parser::Analysis analysis = ReadExample(command);
  uint32_t does = 0;
  for (const parser::Effect& effect : analysis.effects)
    if (effect.kind != parser::EffectKind::kRead)
      does |= 1u << static_cast<unsigned>(effect.kind);
  for (const parser::Invocation& invocation : analysis.invocations) {
    const parser::ArgumentAnalysis arguments =
        parser::ReadArguments(invocation.argv);
    for (const parser::ArgumentEffect& effect : arguments.effects)
      switch (effect.role) {
        case parser::Role::kForeignCode:
        case parser::Role::kScriptFile:
        case parser::Role::kStdinCode:
        case parser::Role::kLoadCode:
          does |= kCode;
          break;
        default:
          break;
      }
  }
  return does;
}

class Linter {
 public:
  Linter(const rules::Policy& policy, const LintOptions& options)
      : policy_(policy), options_(options) {}

  std::vector<Finding> Run();

 private:
  Decision Decide(const std::string& command) const {
    return DecideExample(policy_, command);
  }
  std::vector<std::string> Commands(const RulePlace& place) const;
  std::optional<RulePlace> PlaceOf(const std::string& id,
                                   const std::string& source) const;
  void AddWitness(Finding* finding) const;
  void Report(const RulePlace& place, Severity severity, const char* code,
              std::string message, std::string witness);
  bool Has(const RulePlace& place,
           std::initializer_list<const char*> codes) const;
  void One(const RulePlace& place);
  void OwnExamples(const RulePlace& place,
                   const std::vector<std::string>& commands);
  void OpenTail(const RulePlace& place,
                const std::vector<std::string>& commands);
  void InsideArguments(const RulePlace& place,
                       const std::vector<std::string>& commands);
  void CatchAll();

  const rules::Policy& policy_;
  const LintOptions& options_;
  std::vector<Finding> found_;
  std::unordered_set<std::string> known_;  // "RULE CODE" of what was found
};

// The rule's examples, then what its matcher looks like.
std::vector<std::string> Linter::Commands(const RulePlace& place) const {
  const rules::RuleView& view = place.layer->view;
  std::vector<std::string> commands;
  for (const rules::ExampleRecord& example :
       view.In(view.examples, place.record().examples))
    if (example.matches != 0) commands.emplace_back(view.Text(example.command));
  for (std::string& sample : rules::Samples(place.match(), kMaxSamples))
    commands.push_back(std::move(sample));
  return commands;
}

std::optional<RulePlace> Linter::PlaceOf(const std::string& id,
                                         const std::string& source) const {
  std::optional<RulePlace> any;
  for (const auto& layer : policy_.impl().layers)
    for (uint32_t i = 0; i < layer->view.rules.size(); ++i) {
      const RulePlace place{layer.get(), i};
      if (place.id() != id) continue;
      if (source.empty() || std::string(layer->view.Text(place.record().file)) +
                                    ":" + std::to_string(place.record().line) ==
                                source)
        return place;
      any = place;
    }
  return any;
}

void Linter::Report(const RulePlace& place, Severity severity, const char* code,
                    std::string message, std::string witness) {
  found_.push_back(rules::MakeFinding(*place.layer, place.rule, severity, code,
                                      std::move(message), {}));
  found_.back().witness = std::move(witness);
  known_.insert(place.id() + " " + code);
}

bool Linter::Has(const RulePlace& place,
                 std::initializer_list<const char*> codes) const {
  return std::any_of(codes.begin(), codes.end(), [&](const char* code) {
    return known_.contains(place.id() + " " + code);
  });
}

// A command that both rules match.
void Linter::AddWitness(Finding* finding) const {
  if (finding->other.empty() || finding->rule.empty()) return;
  const auto one =
      PlaceOf(finding->rule, finding->diagnostic.file + ":" +
                                 std::to_string(finding->diagnostic.line));
  const auto other = PlaceOf(finding->other, "");
  if (!one || !other) return;
  std::vector<std::string> tried = Commands(*one);
  for (std::string& command : Commands(*other))
    tried.push_back(std::move(command));
  if (tried.size() > kMaxTried) tried.resize(kMaxTried);
  for (const std::string& command : tried) {
    const Decision decision = Decide(command);
    if (Find(decision, *one) == nullptr || Find(decision, *other) == nullptr)
      continue;
    finding->witness = command;
    return;
  }
}

// Rules of which no example, and nothing that looks like them, gets what they
// say.
void Linter::OwnExamples(const RulePlace& place,
                         const std::vector<std::string>& commands) {
  const RuleRecord& record = place.record();
  if (record.except.count > 0 || record.profile != ProfileKind::kUnsaid ||
      record.network != NetworkAccess::kUnsaid ||
      record.network_max != NetworkAccess::kUnsaid ||
      record.hosts_deny.count > 0 || record.yes != 0 || record.observe != 0)
    return;
  if (Has(place, {"lint-shadowed", "lint-weaker", "lint-conflict"})) return;
  const bool shown = place.record().examples.count > 0;
  std::optional<Decision> first;
  std::string witness;
  for (const std::string& command : commands) {
    Decision decision = Decide(command);
    if (!Surely(decision, place)) continue;
    if (decision.action <= place.action() || decision.rule.id.empty() ||
        decision.rule.id == place.id())
      return;
    if (!first) {
      first = std::move(decision);
      witness = command;
    }
  }
  if (!first) return;
  const auto other = PlaceOf(first->rule.id, first->rule.source);
  const bool above = other && other->layer->layer > place.layer->layer;
  // What a user makes stricter is no fault of the shipped rules.
  if (above && place.layer->layer == rules::Layer::kBuiltin) return;
  Report(place, shown ? Severity::kWarning : Severity::kNote,
         above ? "lint-weaker" : "lint-shadowed",
         (shown ? "none of the examples of `" : "nothing tried of `") +
             place.id() + "` gets " + Name(place.action()) + ": `" +
             first->rule.id + "` (" + first->rule.source + ") says " +
             Name(first->action),
         witness);
  found_.back().other = first->rule.id;
}

// What an allow lets through behind the command that it means.
void Linter::OpenTail(const RulePlace& place,
                      const std::vector<std::string>& commands) {
  size_t bases = 0;
  bool code = false, tail = false;
  for (const std::string& base : commands) {
    if (bases >= kMaxBases || (code && tail)) break;
    const Decision before = Decide(base);
    if (!Surely(before, place)) continue;
    ++bases;
    const uint32_t usual = Does(base);
    const parser::Analysis analysis = ReadExample(base);
    const std::string program = analysis.invocations.empty()
                                    ? std::string()
                                    : analysis.invocations[0].program;
    std::vector<std::string_view> tails;
    for (const std::string_view of :
         {std::string_view(program), std::string_view()})
      for (const std::string_view more : RiskyTails(of)) tails.push_back(more);
    for (const std::string_view more : tails) {
      if (code && tail) break;
      // Behind the words of the example, then behind its program alone.
      for (const std::string& start : {base, program}) {
        const std::string line = start + " " + std::string(more);
        const Decision decision = Decide(line);
        if (decision.action != Action::kAllow || !Surely(decision, place))
          continue;
        const uint32_t all = Does(line), does = all & ~usual;
        const bool runner = Has(place, {"lint-allow-interpreter"});
        if (((runner ? all : does) & kCode) != 0 && !code) {
          code = true;
          if (runner) {
            for (Finding& finding : found_)
              if (finding.rule == place.id() &&
                  finding.diagnostic.code == "lint-allow-interpreter")
                finding.witness = line;
            continue;
          }
          Report(place, Severity::kError, "lint-allow-interpreter",
                 "the rule `" + place.id() +
                     "` allows a command that runs code of its arguments or "
                     "files",
                 line);
        } else if ((does & ~kCode) != 0 && !tail) {
          tail = true;
          Report(place, Severity::kWarning, "lint-open-tail",
                 "the rule `" + place.id() +
                     "` allows arguments that do more than its examples",
                 line);
        }
      }
    }
  }
}

// Patterns that are found in the text of an argument.
void Linter::InsideArguments(const RulePlace& place,
                             const std::vector<std::string>& commands) {
  if (!rules::MatchesText(place.match())) return;
  if (rules::ProgramsOf(place.match())) return;
  for (const std::string& command : commands) {
    if (!Surely(Decide(command), place)) continue;
    const std::string inside = "mytool --note " + ShellQuote(command);
    const std::string plain = "mytool " + command;
    for (const std::string& line : {plain, inside}) {
      const Decision decision = Decide(line);
      if (!Surely(decision, place)) continue;
      const bool loosens = place.action() == Action::kAllow;
      if (loosens && decision.action != Action::kAllow) continue;
      if (ReadExample(line).invocations.size() != 1) continue;
      Report(place, loosens ? Severity::kError : Severity::kNote,
             "lint-unanchored",
             "the rule `" + place.id() +
                 "` also matches another program with that text among its "
                 "arguments",
             line);
      return;
    }
    return;
  }
}

void Linter::CatchAll() {
  struct Count {
    RulePlace place;
    size_t commands = 0;
  };
  std::vector<Count> counts;
  const auto commands = UnlikeCommands();
  for (const std::string_view command : commands) {
    const Decision decision = Decide(std::string(command));
    std::vector<std::string> seen;
    for (const Match& match : decision.matches) {
      const std::string key = match.rule.id + " " + match.rule.source;
      if (!match.certain ||
          std::find(seen.begin(), seen.end(), key) != seen.end())
        continue;
      seen.push_back(key);
      const auto place = PlaceOf(match.rule.id, match.rule.source);
      if (!place) continue;
      const auto row =
          std::find_if(counts.begin(), counts.end(), [&](const Count& count) {
            return count.place.layer == place->layer &&
                   count.place.rule == place->rule;
          });
      if (row == counts.end())
        counts.push_back({*place, 1});
      else
        ++row->commands;
    }
  }
  for (const Count& count : counts) {
    if (count.commands + 1 < commands.size()) continue;
    const bool allows = count.place.action() == Action::kAllow;
    if (allows && Has(count.place, {"lint-broad-allow"})) continue;
    Report(count.place, allows ? Severity::kError : Severity::kWarning,
           allows ? "lint-broad-allow" : "lint-catch-all",
           "the rule `" + count.place.id() + "` matches " +
               std::to_string(count.commands) + " of " +
               std::to_string(commands.size()) +
               " commands that have nothing in common",
           std::string(commands.front()));
  }
}

void Linter::One(const RulePlace& place) {
  if ((place.layer->State(place.rule) & LoadedLayer::kDisabled) != 0) return;
  const RuleRecord& record = place.record();
  const auto now = static_cast<int64_t>(options_.now_ms);
  if ((record.expires_ms != 0 && record.expires_ms <= now) ||
      record.since_ms > now)
    return;
  const std::vector<std::string> commands = Commands(place);
  OwnExamples(place, commands);
  if (place.action() == Action::kAllow) OpenTail(place, commands);
  InsideArguments(place, commands);
}

std::vector<Finding> Linter::Run() {
  found_ = rules::Lint(policy_, options_.now_ms);
  for (Finding& finding : found_) {
    AddWitness(&finding);
    known_.insert(finding.rule + " " + finding.diagnostic.code);
  }
  for (const Diagnostic& diagnostic :
       ExampleDiagnostics(RunExamples(policy_, {}, options_.shipped))) {
    Finding finding;
    finding.diagnostic = diagnostic;
    found_.push_back(std::move(finding));
  }
  size_t total = 0, done = 0;
  for (const auto& layer : policy_.impl().layers)
    total += layer->view.rules.size();
  for (const auto& layer : policy_.impl().layers)
    for (uint32_t i = 0; i < layer->view.rules.size(); ++i) {
      if (options_.shipped || layer->layer != rules::Layer::kBuiltin)
        One({layer.get(), i});
      if (options_.progress) options_.progress(++done, total);
    }
  CatchAll();
  std::stable_sort(found_.begin(), found_.end(),
                   [](const Finding& a, const Finding& b) {
                     const auto key = [](const Finding& f) {
                       return std::tie(f.diagnostic.file, f.diagnostic.line,
                                       f.diagnostic.column, f.diagnostic.code,
                                       f.diagnostic.message);
                     };
                     return key(a) < key(b);
                   });
  return std::move(found_);
}

}  // namespace

std::vector<Finding> LintPolicy(const rules::Policy& policy,
                                const LintOptions& options) {
  return Linter(policy, options).Run();
}

}  // namespace gate::engine
