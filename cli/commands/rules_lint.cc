// gate rules lint: what is wrong or doubtful, for people, editors and CI.
#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/findings.h"
#include "cli/options.h"
#include "cli/output/progress.h"
#include "engine/lint.h"
#include "gateway/gateway.h"
#include "gateway/host_findings.h"
#include "rules/rule_paths.h"

#ifndef GATE_VERSION
#define GATE_VERSION "0"
#endif

namespace gate::app {
namespace {

constexpr int kLintProblems = 1;

std::vector<rules::Finding> FindAll(const rules::Policy& policy) {
  std::vector<rules::Finding> findings;
  for (const Diagnostic& diagnostic : policy.diagnostics())
    findings.push_back({diagnostic, {}, {}, {}, {}});
  Progress progress("checking rules");
  engine::LintOptions options;
  options.now_ms = NowMs();
  options.progress = [&progress](size_t done, size_t total) {
    progress.At(done, total);
  };
  for (rules::Finding& finding : engine::LintPolicy(policy, options))
    findings.push_back(std::move(finding));
  return findings;
}

}  // namespace

int RulesLintCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app(
      "Finds what is wrong or doubtful in the rules and settings: those that\n"
      "hold here, or the rule files of PATH on top of the shipped ones. Exits\n"
      "0 without an error, 1 with one, 78 when a file does not load.",
      "gate rules lint");
  bool json = false, sarif = false, strict = false;
  std::string path;
  const Option& json_flag = app.Flag("--json", json, "a JSON object a line");
  app.Flag("--sarif", sarif, "one SARIF 2.1.0 log").Excludes(json_flag);
  app.Flag("--strict", strict, "a warning counts as an error");
  app.Add("path", path, "a rule file or a directory of them");
  if (auto code = ParseWith(app, arguments)) return *code;

  std::vector<rules::Finding> findings;
  bool broken = false;
  if (path.empty()) {
    Gateway gateway(ReadProcessFacts(globals));
    const std::string workspace =
        FindWorkspace(gateway.facts(), gateway.facts().cwd);
    const rules::Policy& policy = gateway.PolicyFor(workspace);
    broken = policy.floor() != rules::Action::kAllow;
    findings = FindAll(policy);
    // What they refuse is told with the name of this command.
    for (const Diagnostic& problem : gateway.settings().diagnostics)
      findings.push_back({problem, {}, {}, {}, {}});
    if (!broken)
      for (rules::Finding& finding : HostFindings(gateway, workspace))
        findings.push_back(std::move(finding));
    broken = broken || HasErrors(gateway.settings().diagnostics);
  } else {
    const auto policy = rules::ReadPolicy(path);
    if (!policy) {
      Complain(policy.error().message);
      return kExitUsage;
    }
    broken = policy->floor() != rules::Action::kAllow;
    findings = FindAll(*policy);
  }

  const auto count = [&](Severity severity) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const rules::Finding& finding) {
                           return finding.diagnostic.severity == severity &&
                                  finding.accepted.empty();
                         });
  };
  const auto errors = count(Severity::kError);
  const auto warnings = count(Severity::kWarning);
  const auto notes = count(Severity::kNote);
  if (sarif) {
    std::fputs(FindingsAsSarif(findings, GATE_VERSION).c_str(), stdout);
  } else if (json) {
    std::fputs(FindingsAsJson(findings).c_str(), stdout);
  } else {
    std::fputs(FindingsAsText(findings).c_str(), stdout);
    const auto accepted = static_cast<std::ptrdiff_t>(findings.size()) -
                          errors - warnings - notes;
    std::printf(
        "%td errors, %td warnings, %td notes%s\n", errors, warnings, notes,
        accepted == 0
            ? ""
            : (", " + std::to_string(accepted) + " accepted in the rules")
                  .c_str());
  }
  if (broken) return kExitPolicy;
  return errors > 0 || (strict && warnings > 0) ? kLintProblems : 0;
}

}  // namespace gate::app
