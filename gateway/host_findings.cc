#include "gateway/host_findings.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "rules/list.h"

namespace gate::app {
namespace {

using rules::Finding;

Finding Make(const char* code, Severity severity, const std::string& file,
             std::string message) {
  Finding finding;
  finding.diagnostic = {severity, code, file, 0, 0, std::move(message), {}};
  for (const rules::LintKind& kind : rules::LintKinds())
    if (kind.code == code) finding.diagnostic.help = kind.help;
  return finding;
}

// Loading refuses rules that others can exchange; where there are none yet,
// this says that it would. (A directory with gate's own files in it is never a
// workspace: gateway/workspace.h.)
void Writable(const std::string& directory, uid_t owner,
              std::vector<Finding>* found) {
  const auto trusted = CheckTrustedPlace(directory, owner);
  if (!trusted)
    found->push_back(Make("lint-file-writable", Severity::kError, directory,
                          trusted.error().message));
}

}  // namespace

std::vector<Finding> HostFindings(Gateway& gateway,
                                  const std::string& workspace) {
  std::vector<Finding> found;
  const ProcessFacts& facts = gateway.facts();
  Writable(facts.places.config + "/rules.d", facts.uid, &found);
  Writable(facts.places.system + "/rules.d", 0, &found);

  // A command that no rule knows, under each profile that a rule names.
  std::vector<rules::ProfileKind> tried;
  for (const rules::RuleInfo& rule :
       rules::ListRules(gateway.PolicyFor(workspace))) {
    if (rule.disabled || rule.profile == rules::ProfileKind::kUnsaid ||
        rule.profile > rules::ProfileKind::kWorkspaceWrite ||
        std::find(tried.begin(), tried.end(), rule.profile) != tried.end())
      continue;
    tried.push_back(rule.profile);
    Request request;
    request.command = "a-command-that-no-rule-knows";
    request.cwd = facts.cwd;
    request.profile = rule.profile;
    const Authorization authorization =
        gateway.Authorize(request, /*pin=*/false);
    if (authorization.plan_error.empty()) continue;
    const size_t colon = rule.source.rfind(':');
    Finding finding = Make(
        "lint-no-backend", Severity::kWarning, rule.source.substr(0, colon),
        "the profile `" + std::string(rules::Name(rule.profile)) +
            "` cannot be given here: " + Visible(authorization.plan_error));
    finding.diagnostic.line =
        static_cast<size_t>(std::stoul(rule.source.substr(colon + 1)));
    finding.diagnostic.column = 1;
    finding.rule = rule.id;
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace gate::app
