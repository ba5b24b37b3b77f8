// gate rules list|show|test; the others have files of their own.
#include <unistd.h>

#include <cstdio>

#include "approvals/terminal.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/output/progress.h"
#include "engine/coverage.h"
#include "engine/examples.h"
#include "gateway/gateway.h"
#include "rules/list.h"

namespace gate::app {
namespace {

constexpr int kProblems = 1;

Colour ColourOf(rules::Action action) {
  switch (action) {
    case rules::Action::kAllow:
      return Colour::kGreen;
    case rules::Action::kSandbox:
      return Colour::kBlue;
    case rules::Action::kAsk:
      return Colour::kYellow;
    case rules::Action::kDeny:
      return Colour::kRed;
  }
  return Colour::kRed;
}

void WriteRule(const rules::RuleInfo& rule, JsonWriter* json) {
  json->BeginObject().Field("schema", "gate.rule/1").Field("id", rule.id);
  json->Field("pack", rule.pack).Field("source", rule.source);
  json->Field("layer", Name(rule.layer)).Field("action", Name(rule.action));
  json->Field("reason", rule.reason).Field("suggestion", rule.suggestion);
  json->Field("severity", rule.severity).Flag("locked", rule.locked);
  json->Flag("disabled", rule.disabled).Flag("observed", rule.observed_only);
  json->Key("examples").BeginArray();
  for (const rules::RuleExample& example : rule.examples)
    json->BeginObject()
        .Field("command", example.command)
        .Flag("matches", example.matches)
        .EndObject();
  json->EndArray().EndObject();
}

// Host rules are plain ASCII.
std::string Listed(const std::vector<std::string>& hosts) {
  std::string text;
  for (const std::string& host : hosts)
    text += (text.empty() ? "" : ", ") + host;
  return text;
}

std::string Flags(const rules::RuleInfo& rule) {
  std::string flags;
  if (rule.locked) flags += " locked";
  if (rule.disabled) flags += " disabled";
  if (rule.observed_only) flags += " observed";
  return flags;
}

// What loading found; true when some layer did not load.
bool PrintDiagnostics(const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics)
    std::fputs(Render(diagnostic).c_str(), stderr);
  return HasErrors(diagnostics);
}

int ListAll(const rules::Policy& policy, const Arguments& arguments) {
  Options app("Lists all rules, by layer.", "gate rules list");
  bool json = false;
  std::string action;
  std::string layer;
  app.Flag("--json", json, "a JSON object a line");
  app.Add("--action", action, "allow, sandbox, ask, deny")
      .OneOf({"allow", "sandbox", "ask", "deny"});
  app.Add("--layer", layer, "builtin, user, system, project, session")
      .OneOf({"builtin", "user", "system", "project", "session"});
  if (auto code = ParseWith(app, arguments)) return *code;
  const bool colour = WantsColour(STDOUT_FILENO);
  for (const rules::RuleInfo& rule : rules::ListRules(policy)) {
    if (!action.empty() && action != Name(rule.action)) continue;
    if (!layer.empty() && layer != Name(rule.layer)) continue;
    if (json) {
      JsonWriter line;
      WriteRule(rule, &line);
      std::puts(line.text().c_str());
      continue;
    }
    std::string verdict = Name(rule.action);
    verdict.resize(8, ' ');
    std::printf("%s%s  %s%s\n",
                Paint(ColourOf(rule.action), verdict, colour).c_str(),
                rule.id.c_str(), Visible(rule.reason).c_str(),
                Paint(Colour::kDim, Flags(rule), colour).c_str());
  }
  return PrintDiagnostics(policy.diagnostics()) ? kExitPolicy : 0;
}

// Says so, and which ids have the text in them.
void NoSuchRule(const rules::Policy& policy, const std::string& id) {
  constexpr size_t kMost = 5;
  Complain("no rule is called `" + Visible(id) + "`");
  std::string near;
  size_t found = 0;
  for (const rules::RuleInfo& rule : rules::ListRules(policy)) {
    if (rule.id.find(id) == std::string::npos || ++found > kMost) continue;
    near += (near.empty() ? "" : ", ") + rule.id;
  }
  std::fprintf(stderr, "help: %s\n",
               near.empty() ? "`gate rules list` shows all of them"
                            : ("did you mean " + near + "?").c_str());
}

int ShowRule(const rules::Policy& policy, const Arguments& arguments) {
  Options app("Shows one rule whole.", "gate rules show");
  std::string id;
  bool json = false;
  app.Flag("--json", json, "a JSON object a line");
  app.Add("id", id, "the rule's id").Required();
  if (auto code = ParseWith(app, arguments)) return *code;
  const auto found = rules::FindRules(policy, id);
  if (found.empty()) {
    NoSuchRule(policy, id);
    return kProblems;
  }
  for (const rules::RuleInfo& rule : found) {
    if (json) {
      JsonWriter line;
      WriteRule(rule, &line);
      std::puts(line.text().c_str());
      continue;
    }
    std::printf("%s  %s%s\n", rule.id.c_str(), Name(rule.action),
                Flags(rule).c_str());
    std::printf("  from      %s (%s)\n", Visible(rule.source).c_str(),
                Name(rule.layer));
    std::printf("  reason    %s\n", Visible(rule.reason).c_str());
    if (!rule.suggestion.empty())
      std::printf("  instead   %s\n", Visible(rule.suggestion).c_str());
    if (!rule.severity.empty())
      std::printf("  severity  %s\n", rule.severity.c_str());
    if (rule.profile != rules::ProfileKind::kUnsaid)
      std::printf("  profile   %s\n", Name(rule.profile).data());
    if (rule.network != rules::NetworkAccess::kUnsaid)
      std::printf("  network   %s\n", Name(rule.network).data());
    if (!rule.hosts.empty())
      std::printf("  hosts     %s\n", Listed(rule.hosts).c_str());
    if (!rule.hosts_deny.empty())
      std::printf("  denied    %s\n", Listed(rule.hosts_deny).c_str());
    for (const rules::RuleExample& example : rule.examples)
      std::printf("  %s  %s\n", example.matches ? "matches " : "leaves  ",
                  Visible(example.command).c_str());
  }
  return 0;
}

// Prints what the examples do not reach; false below `least` percent.
bool Coverage(const rules::Policy& policy, double least, bool json) {
  size_t reached = 0, decisive = 0;
  Progress progress("measuring coverage");
  const auto rows = engine::MeasureCoverage(
      policy,
      [&progress](size_t done, size_t total) { progress.At(done, total); });
  progress.Clear();
  for (const engine::RuleCoverage& row : rows) {
    reached += row.matched != 0;
    decisive += row.decisive != 0;
    if (json) {
      JsonWriter line;
      line.BeginObject().Field("schema", "gate.coverage/1");
      line.Field("rule", row.rule).Field("source", row.source);
      line.Flag("matched", row.matched != 0);
      line.Flag("decisive", row.decisive != 0).EndObject();
      std::puts(line.text().c_str());
      continue;
    }
    if (row.matched == 0)
      std::printf("never matched   %s (%s)\n", row.rule.c_str(),
                  row.source.c_str());
    else if (row.decisive == 0)
      std::printf("never decisive  %s (%s)\n", row.rule.c_str(),
                  row.source.c_str());
  }
  const double percent = rows.empty() ? 100.0
                                      : 100.0 * static_cast<double>(reached) /
                                            static_cast<double>(rows.size());
  if (!json)
    std::printf("%zu of %zu rules matched (%.1f %%), %zu decisive\n", reached,
                rows.size(), percent, decisive);
  return percent >= least;
}

int Test(const rules::Policy& policy, const Arguments& arguments) {
  Options app("Runs the examples that stand in the rules.", "gate rules test");
  std::string id;
  bool verbose = false, coverage = false, json = false;
  double least = 0;
  const Option& covers =
      app.Flag("--coverage", coverage,
               "show the rules that no example reaches or lets decide");
  app.Add("--min", least, "with --coverage: fail below so many percent reached")
      .Needs(covers);
  app.Flag("--json", json, "a JSON object for each example, and each rule");
  app.Add("id", id, "only the examples of this rule");
  app.Flag("--verbose", verbose, "show passing examples, too");
  if (auto code = ParseWith(app, arguments)) return *code;
  if (PrintDiagnostics(policy.diagnostics())) return kExitPolicy;
  if (!id.empty() && rules::FindRules(policy, id).empty()) {
    NoSuchRule(policy, id);
    return kProblems;
  }
  Progress progress("running examples");
  const auto results = engine::RunExamples(
      policy, id, true,
      [&progress](size_t done, size_t total) { progress.At(done, total); });
  progress.Clear();
  size_t failed = 0;
  for (const engine::ExampleResult& result : results) {
    failed += result.passed ? 0 : 1;
    if (json) {
      JsonWriter line;
      line.BeginObject().Field("schema", "gate.example/1");
      line.Field("rule", result.rule).Field("file", result.file);
      line.Field("line", int64_t{result.line}).Field("command", result.command);
      line.Flag("expected", result.expected).Flag("passed", result.passed);
      line.Field("action", Name(result.action)).EndObject();
      std::puts(line.text().c_str());
      continue;
    }
    if (result.passed && !verbose) continue;
    std::printf("%s %s:%u: %s must %smatch `%s` (%s)\n",
                result.passed ? "ok  " : "FAIL", result.file.c_str(),
                result.line, result.rule.c_str(), result.expected ? "" : "not ",
                Visible(result.command).c_str(), Name(result.action));
  }
  if (!json)
    std::printf("%zu passed, %zu failed\n", results.size() - failed, failed);
  if (results.empty()) {
    Complain("there is no example to run");
    return kProblems;
  }
  if (coverage && !Coverage(policy, least, json)) return kProblems;
  return failed == 0 ? 0 : kProblems;
}

}  // namespace

int RulesCommand(const GlobalOptions& globals, const Arguments& arguments) {
  struct Row {
    const char* name;
    int (*run)(const rules::Policy&, const Arguments&);
  };
  static constexpr Row kRows[] = {
      {"list", ListAll}, {"show", ShowRule}, {"test", Test}};
  const std::string name = arguments.empty() ? "" : arguments[0];
  if (name == "--help" || name == "-h") {
    std::fputs(
        WithExamples(
            "usage: gate rules COMMAND [OPTIONS]\n\n"
            "Lists, shows, checks and compares rules.\n\n"
            "  list     the rules that hold here, by layer\n"
            "  show     one rule whole\n"
            "  lint     what is wrong or doubtful in the rules\n"
            "  test     run the examples that stand in the rules\n"
            "  fmt      lay rule files out\n"
            "  diff     commands whose decision differs between two policies\n"
            "  import   another tool's rules as a rule file\n"
            "  suggest  rules that would have spared repeated approvals\n\n"
            "`gate rules COMMAND --help` shows the options of each.\n",
            "rules")
            .c_str(),
        stdout);
    return 0;
  }
  if (!arguments.empty()) {
    const Arguments rest(arguments.begin() + 1, arguments.end());
    if (name == "lint") return RulesLintCommand(globals, rest);
    if (name == "fmt") return RulesFmtCommand(globals, rest);
    if (name == "diff") return RulesDiffCommand(rest);
    if (name == "import") return RulesImportCommand(rest);
    if (name == "suggest") return RulesSuggestCommand(globals, rest);
  }
  for (const Row& row : kRows) {
    if (name != row.name) continue;
    Gateway gateway(ReadProcessFacts(globals));
    const ProcessFacts& facts = gateway.facts();
    return row.run(gateway.PolicyFor(FindWorkspace(facts, facts.cwd)),
                   Arguments(arguments.begin() + 1, arguments.end()));
  }
  Complain(name.empty()
               ? "which of them?"
               : "`" + Visible(name) + "` is not a command of gate rules");
  std::fputs("help: gate rules list|show|lint|test|fmt|diff|import|suggest\n",
             stderr);
  return kExitUsage;
}

}  // namespace gate::app
