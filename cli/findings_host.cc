// Findings that depend on the machine: who can write the rules, and whether
// what they ask for can be had.
#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "cli/findings.h"
#include "rules/list.h"

namespace gate::cli {
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

// Loading looks at the files and their directory; this looks at what is above
// them, where a directory can be exchanged as a whole. (A directory with gate's
// own files in it is never a workspace: cli/workspace.h.)
void Writable(const ProcessFacts& facts, const std::string& directory,
              std::vector<Finding>* found) {
  struct stat info{};
  if (::lstat(directory.c_str(), &info) != 0) return;
  for (std::string path = directory; path.size() > 1;
       path = path.substr(0, path.rfind('/'))) {
    if (::stat(path.c_str(), &info) != 0) continue;
    const bool sticky = (info.st_mode & S_ISVTX) != 0;
    if ((info.st_mode & 022) != 0 && !sticky) {
      found->push_back(Make("lint-file-writable", Severity::kError, path,
                            "others can write this directory, which leads to "
                            "trusted rules"));
      return;
    }
    if (info.st_uid != 0 && info.st_uid != facts.uid) {
      found->push_back(Make("lint-file-writable", Severity::kError, path,
                            "this directory, which leads to trusted rules, "
                            "belongs to another user"));
      return;
    }
  }
}

}  // namespace

std::vector<Finding> HostFindings(Gateway& gateway,
                                  const std::string& workspace) {
  std::vector<Finding> found;
  const ProcessFacts& facts = gateway.facts();
  Writable(facts, facts.places.config + "/rules.d", &found);
  Writable(facts, "/etc/gate/rules.d", &found);

  // A command that no rule knows, under each profile that a rule names.
  std::vector<std::string> tried;
  for (const rules::RuleInfo& rule :
       rules::ListRules(gateway.PolicyFor(workspace))) {
    if (rule.disabled || rule.profile.empty() ||
        rule.profile == "full-access" ||
        std::find(tried.begin(), tried.end(), rule.profile) != tried.end())
      continue;
    tried.push_back(rule.profile);
    Question question;
    question.command = "a-command-that-no-rule-knows";
    question.cwd = facts.cwd;
    question.profile = rule.profile;
    const Judgement judgement = gateway.Judge(question, /*pin=*/false);
    if (judgement.plan_error.empty()) continue;
    const size_t colon = rule.source.rfind(':');
    Finding finding = Make(
        "lint-no-backend", Severity::kWarning, rule.source.substr(0, colon),
        "the profile `" + rule.profile +
            "` cannot be given here: " + Visible(judgement.plan_error));
    finding.diagnostic.line =
        static_cast<size_t>(std::stoul(rule.source.substr(colon + 1)));
    finding.diagnostic.column = 1;
    finding.rule = rule.id;
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace gate::cli
