// gate install, gate uninstall.
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "audit/log.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "gateway/client_settings.h"
#include "gateway/client_version.h"
#include "gateway/left_to_client.h"
#include "gateway/workspace.h"
#include "hooks/capabilities.h"
#include "hooks/client_rules.h"
#include "hooks/install.h"

namespace gate::app {
namespace {

Status RecordChange(const ProcessFacts& facts, const std::string& what,
                    const std::string& client) {
  GATE_TRY(auto log, audit::Log::Open(facts.places.state, {}));
  audit::Record record;
  record.kind = audit::Kind::kConfig;
  record.id = NewUuid(NowMs());
  record.time_ns = NowNs();
  record.mode = what;
  record.agent = client;
  record.reason = what + " " + client;
  record.detail = "{}";
  return log.Append(&record);
}

int ChangeSettings(const char* what, bool install, const GlobalOptions& globals,
                   const Arguments& arguments) {
  Options app(install ? "Puts gate's hook into a client's settings; shows the "
                        "change, keeps a backup."
                      : "Takes gate's hook out of a client's settings.",
              std::string("gate ") + what);
  std::vector<std::string> clients;
  bool project = false;
  bool dry_run = false;
  app.Add("client", clients, hooks::InstallableClients()).Required();
  app.Flag("--project", project,
           "the settings at the project's top, not the user's");
  std::string mode = "contain";
  if (install)
    app.Add("--mode", mode,
            "contain, or for " + hooks::ClientsWithOwnSandbox() +
                " intent: gate denies and asks, and the client's own sandbox "
                "contains");
  app.Flag("--dry-run", dry_run, "show the change, write nothing");
  if (auto code = ParseWith(app, arguments)) return *code;
  for (const std::string& client : clients)
    if (const Status known = hooks::CheckClient(client); !known) {
      Complain(known.error().message);
      return kExitUsage;
    }
  if (mode != "contain" && mode != "intent") {
    Complain("`" + Visible(mode) + "` is no mode: contain, intent");
    return kExitUsage;
  }
  const bool intent = mode == "intent";
  for (const std::string& client : clients)
    if (intent && !hooks::CapabilitiesOf(client)->has_own_sandbox) {
      Complain("mode intent is for " + hooks::ClientsWithOwnSandbox() +
               " alone: no other client is known to have a sandbox of its own "
               "that is on");
      return kExitUsage;
    }
  if (!dry_run)
    if (auto code = RequirePerson("changing agents' settings")) return *code;

  const ProcessFacts facts = ReadProcessFacts(globals);
  // Clients look for a project's settings at its top, not in between.
  const std::string root = FindWorkspace(facts, facts.cwd);
  for (const std::string& client : clients) {
    hooks::InstallOptions options = HookOptions(facts, client);
    options.project = project;
    options.intent = intent;
    options.project_dir = root.empty() ? facts.cwd : root;
    const hooks::Capabilities& can = *hooks::CapabilitiesOf(client);
    std::optional<hooks::Version> version;
    if (install) version = AskVersion(client);
    if (const std::string why = WhyTooOld(client, version); !why.empty())
      Complain(why);
    options.block_on_failure =
        can.first_that_blocks && version >= can.first_that_blocks;
    auto changes =
        install ? hooks::PlanInstall(options) : hooks::PlanUninstall(options);
    if (!changes) {
      Complain(client + ": " + changes.error().message);
      return kExitInternal;
    }
    if (install && can.has_own_sandbox) {
      const SandboxOutlook outlook = ForesightOf(
          can, FindOwnSandbox(facts, can, facts.cwd, {}), facts, intent);
      std::printf("%s: %s\n", client.c_str(), outlook.text.c_str());
      if (!outlook.help.empty())
        std::printf("%s: what works: %s\n", client.c_str(),
                    outlook.help.c_str());
    }
    if (changes->empty()) {
      std::printf("%s: nothing to change\n", client.c_str());
      continue;
    }
    for (const hooks::FileChange& change : *changes)
      std::fputs(hooks::RenderDiff(change).c_str(), stdout);
    if (install && can.matches_rewritten_lines &&
        hooks::HasCommandRules(changes->front().after))
      std::printf(
          "%s: its own deny and ask rules for Bash see the line that gate has "
          "rewritten; give them to gate as well: gate rules import %s %s\n",
          client.c_str(), client.c_str(),
          Visible(changes->front().path).c_str());
    if (dry_run) continue;
    // The hook's line names both: a directory of settings that is named, and is
    // not there, refuses.
    for (const std::string& place : {facts.places.state, facts.places.config})
      if (auto made = MakeDirectories(place, 0700); !made) {
        Complain(made.error().message);
        return kExitInternal;
      }
    if (auto stored = RecordChange(facts, what, client); !stored) {
      Complain("the change could not be recorded: " + stored.error().message);
      return kExitInternal;
    }
    auto backups = hooks::Apply(*changes, NowMs());
    if (!backups) {
      Complain(client + ": " + backups.error().message);
      return kExitInternal;
    }
    for (const std::string& backup : *backups)
      std::printf("backup: %s\n", backup.c_str());
    if (install)
      std::printf("%s: installed; `gate doctor` shows what is enforced\n",
                  client.c_str());
    if (install && !can.review.empty())
      std::printf("%s: %s\n", client.c_str(), std::string(can.review).c_str());
  }
  return 0;
}

}  // namespace

int InstallCommand(const GlobalOptions& globals, const Arguments& arguments) {
  return ChangeSettings("install", true, globals, arguments);
}

int UninstallCommand(const GlobalOptions& globals, const Arguments& arguments) {
  return ChangeSettings("uninstall", false, globals, arguments);
}

}  // namespace gate::app
