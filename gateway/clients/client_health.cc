#include "gateway/client_health.h"

#include "base/text.h"
#include "gateway/client_record.h"
#include "gateway/client_settings.h"
#include "gateway/client_version.h"
#include "gateway/left_to_client.h"
#include "hooks/adapter.h"
#include "hooks/capabilities.h"
#include "hooks/installed.h"

namespace gate::app {
namespace {

using hooks::Entry;
using hooks::Installed;

// One settings file of a client.
struct Level {
  const char* whose;  // "for the user"
  hooks::InstallOptions options;
};

std::vector<Level> LevelsOf(const ProcessFacts& facts,
                            const std::string& project,
                            const std::string& client) {
  std::vector<Level> levels = {{"for the user", HookOptions(facts, client)}};
  // In the home directory that is the same file.
  if (project.empty() || project == facts.home) return levels;
  levels.push_back({"for this project", levels[0].options});
  levels[1].options.project = true;
  levels[1].options.project_dir = project;
  return levels;
}

Finding Describe(const Level& level, const Installed& installed) {
  const std::string& client = level.options.client;
  const std::string where =
      std::string(level.whose) + " (" + Visible(installed.path) + ")";
  const std::string install =
      "gate install " + client + (level.options.project ? " --project" : "");
  const std::string program = Visible(installed.program);
  switch (installed.entry) {
    case Entry::kThis:
      return {Health::kGood, "hook", client + ": installed " + where, ""};
    case Entry::kChanged:
      return {Health::kBad, "hook",
              client + ": installed " + where +
                  ", but not as this gate writes it: " +
                  Visible(installed.why_changed),
              install};
    case Entry::kOther:
      return {Health::kNote, "hook",
              client + ": another gate answers, " + program + ", " + where,
              install + ", to have this one answer"};
    case Entry::kGone:
      return {Health::kBad, "hook",
              client + ": the hook's program is not there, " + program +
                  ", so that it refuses everything, " + where,
              install};
    case Entry::kNone:
      break;
  }
  return {Health::kNote, "hook",
          client + ": not installed; gate does not see it", install};
}

// What stands in a file is worth what the client makes of it.
Finding Weigh(Finding finding, const Level& level, const Installed& installed,
              const std::string& runs_none) {
  hooks::HookReview trust = {true, runs_none};
  const hooks::Capabilities& can = *hooks::CapabilitiesOf(level.options.client);
  const bool reviews = !can.review.empty();
  if (reviews)
    trust = hooks::FindAdapter(can.client)->Review(level.options, installed);
  if (trust.why.empty()) {
    if (installed.entry == Entry::kThis) finding.text += ", fails closed";
    return finding;
  }
  if (trust.certain) {
    finding.text += ", but the client runs no such hook: ";
    finding.health = Health::kBad;
  } else {
    finding.text += "; trust it in " + std::string(can.title) + ": ";
    if (finding.health == Health::kGood) finding.health = Health::kNote;
  }
  finding.text += Visible(trust.why);
  if (reviews && finding.help.empty()) finding.help = can.review_help;
  return finding;
}

}  // namespace

void CheckHooks(const ProcessFacts& facts, const std::string& workspace,
                std::vector<Finding>* findings) {
  const std::string& project = workspace.empty() ? facts.cwd : workspace;
  for (const hooks::Capabilities& can : hooks::AllCapabilities()) {
    const std::string client(can.client);
    const std::string runs_none =
        !can.disabling_settings.empty()
            ? WhyNoHookRuns(facts, client, {project, facts.cwd})
            : "";
    const std::vector<Level> levels = LevelsOf(facts, project, client);
    bool said = false;
    const Installed* contains = nullptr;
    Installed used;
    for (const Level& level : levels) {
      const auto installed = hooks::FindInstalled(level.options);
      if (installed && installed->entry == Entry::kNone) continue;
      said = true;
      if (installed && can.has_own_sandbox &&
          installed->entry != Entry::kGone) {
        // Every entry runs, and one that contains rewrites.
        if (contains == nullptr || !installed->intent) used = *installed;
        contains = &used;
      }
      if (!installed)
        findings->push_back({Health::kBad, "hook",
                             client + ": " + installed.error().message, ""});
      else
        findings->push_back(
            Weigh(Describe(level, *installed), level, *installed, runs_none));
    }
    if (contains != nullptr) {
      SandboxOutlook outlook =
          ForesightOf(can, FindOwnSandbox(facts, can, facts.cwd, {}), facts,
                      contains->intent);
      findings->push_back({outlook.works     ? Health::kGood
                           : outlook.certain ? Health::kBad
                                             : Health::kNote,
                           "hook", client + ": " + std::move(outlook.text),
                           std::move(outlook.help)});
    }
    if (said)
      if (std::string why = WhyTooOld(client, AskVersion(client)); !why.empty())
        findings->push_back(
            {Health::kBad, "hook", std::move(why), "a newer " + client});
    if (!said) findings->push_back(Describe(levels[0], Installed{}));
  }
}

void CheckClients(const ProcessFacts& facts, std::vector<Finding>* findings) {
  for (const ClientRecord& record : ListClients(facts.places.state)) {
    const std::string name = record.client.empty()
                                 ? "a client whose record cannot be read"
                                 : Visible(record.client);
    const std::string drops = std::to_string(record.drops) +
                              (record.drops == 1 ? " command" : " commands");
    switch (record.standing) {
      case Standing::kMarked:
        findings->push_back(
            {Health::kBad, "client",
             name + " ran " + drops +
                 " as the agent wrote them, where gate had put contained ones "
                 "in their place; it is told which line to run instead",
             "gate doctor --prove"});
        break;
      case Standing::kTrial:
        findings->push_back(
            {Health::kNote, "client",
             name + " is on trial: the next rewritten command that it runs as "
                    "it was rewritten ends that, and one that it does not "
                    "marks it again",
             ""});
        break;
      case Standing::kGood:
        findings->push_back(
            {Health::kNote, "client",
             name + " ran " + drops +
                 " as the agent wrote them, where gate had put contained ones "
                 "in their place; after " +
                 std::to_string(kDropsToMark) + " it is rewritten no more",
             ""});
        break;
    }
  }
}

}  // namespace gate::app
