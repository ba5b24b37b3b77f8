// gate approvals, gate pause, gate resume: answers that hold for a while.
#include <unistd.h>

#include <cstdio>

#include "approvals/pause.h"
#include "approvals/standing_approvals.h"
#include "approvals/terminal.h"
#include "approvals/user_action.h"
#include "base/duration.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/options.h"
#include "gateway/workspace.h"

namespace gate::app {
namespace {

std::string Until(const StandingApproval& approval, uint64_t now_ms) {
  if (approval.expires_ms == 0) return "until it is revoked";
  return "for " + ShowDuration(approval.expires_ms - now_ms) + " more" +
         (approval.scope == "session" ? " of this session" : "");
}

int ListApprovals(const GlobalOptions& globals, const Arguments& arguments) {
  Options app("Lists the approvals that hold, and a pause.",
              "gate approvals list");
  bool json = false;
  app.Flag("--json", json, "print a JSON object a line");
  if (auto code = ParseWith(app, arguments)) return *code;
  const ProcessFacts facts = ReadProcessFacts(globals);
  const uint64_t now = NowMs();
  const auto approvals = ListStandingApprovals(facts.places.state, now);
  if (!approvals) return FailedInternally(approvals.error());
  const bool colour = WantsColour(STDOUT_FILENO);
  for (const StandingApproval& approval : *approvals) {
    if (json) {
      JsonWriter line;
      line.BeginObject().Field("schema", "gate.approval/1");
      line.Field("id", approval.id).Field("scope", approval.scope);
      line.Field("command", approval.command).Field("cwd", approval.cwd);
      line.Field("workspace", approval.workspace);
      line.Field("session", approval.session);
      line.Field("grant", engine::Name(approval.grant));
      line.Field("expires_ms", static_cast<int64_t>(approval.expires_ms));
      line.EndObject();
      std::puts(line.text().c_str());
      continue;
    }
    std::printf("%s  %s, %s, %s\n  %s\n  in %s\n",
                Paint(Colour::kBold, approval.id, colour).c_str(),
                approval.scope.c_str(), Until(approval, now).c_str(),
                engine::Name(approval.grant), Visible(approval.command).c_str(),
                Visible(approval.cwd).c_str());
  }
  if (json) return 0;
  if (approvals->empty()) std::puts("no approval is kept");
  if (const auto pause = FindPause(facts.places.state, now))
    std::printf("paused for %s more in %s; end it with: gate resume\n",
                ShowDuration(pause->until_ms - now).c_str(),
                pause->workspace.empty() ? "every project"
                                         : Visible(pause->workspace).c_str());
  return 0;
}

int RevokeThem(const GlobalOptions& globals, const Arguments& arguments) {
  Options app("Takes approvals back.", "gate approvals revoke");
  std::string id;
  bool all = false;
  app.Add("id", id, "the approval's id");
  app.Flag("--all", all, "all of them");
  if (auto code = ParseWith(app, arguments)) return *code;
  if (all == !id.empty()) {
    Complain("give one id, or --all");
    return kExitUsage;
  }
  if (auto code = RequirePerson("revoking")) return *code;
  const ProcessFacts facts = ReadProcessFacts(globals);
  std::vector<std::string> ids = {id};
  if (all) {
    ids.clear();
    const auto approvals = ListStandingApprovals(facts.places.state, NowMs());
    if (!approvals) return FailedInternally(approvals.error());
    for (const StandingApproval& approval : *approvals)
      ids.push_back(approval.id);
  }
  for (const std::string& one : ids) {
    const auto revoked = Revoke(facts.places.state, one, NowMs());
    if (!revoked) return FailedInternally(revoked.error());
    UserAction act;
    act.mode = "revoke";
    act.parent = revoked->id;
    act.command = revoked->command;
    act.cwd = revoked->cwd;
    act.reason = "a person took an approval back";
    // It is gone already: taking back must not fail for want of a record.
    if (const auto stored = RecordUserAction(facts, act); !stored)
      Complain("not recorded: " + stored.error().message);
    std::printf("revoked %s\n", revoked->id.c_str());
  }
  if (ids.empty()) std::puts("no approval is kept");
  return 0;
}

}  // namespace

int ApprovalsCommand(const GlobalOptions& globals, const Arguments& arguments) {
  const std::string name = arguments.empty() ? "list" : arguments[0];
  const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1),
                       arguments.end());
  if (name == "--help" || name == "-h") {
    std::fputs(
        WithExamples("usage: gate approvals [list | revoke] [OPTIONS]\n\n"
                     "Lists what was approved for longer than once, and takes "
                     "it back.\n\n"
                     "  list    the approvals that hold (the default)\n"
                     "  revoke  take one or all of them back\n\n"
                     "`gate approvals COMMAND --help` shows the options of "
                     "each.\n",
                     "approvals")
            .c_str(),
        stdout);
    return 0;
  }
  if (name == "list") return ListApprovals(globals, rest);
  if (name == "revoke") return RevokeThem(globals, rest);
  Complain("`" + Visible(name) + "` is not a command of gate approvals");
  std::fputs("help: gate approvals list|revoke\n", stderr);
  return kExitUsage;
}

int PauseCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app(
      "Answers every question of this project with yes, for a while. Denials\n"
      "stay, and what runs in a sandbox still does. Ends by itself.",
      "gate pause");
  std::string length;
  bool all = false, end = false;
  app.Add("length", length, "how long: 90s, 15m, 2h; at most 8h");
  app.Flag("--all", all, "in every project");
  app.Flag("--end", end, "end the pause now, as gate resume does");
  if (auto code = ParseWith(app, arguments)) return *code;
  if (end && length.empty()) return ResumeCommand(globals, {});
  const auto ms = ParseDuration(length, kLongestPauseMs);
  if (!ms || end) {
    Complain("say how long: 90s, 15m, 2h; at most 8h");
    return kExitUsage;
  }
  if (auto code = RequirePerson("pausing")) return *code;
  const ProcessFacts facts = ReadProcessFacts(globals);
  Pause pause;
  if (!all) {
    pause.workspace = FindWorkspace(facts, facts.cwd);
    if (pause.workspace.empty()) {
      Complain("`" + Visible(facts.cwd) + "` cannot be a project");
      std::fputs("help: go to the project, or give --all\n", stderr);
      return kExitUsage;
    }
  }
  const std::string where =
      all ? std::string("every project") : Visible(pause.workspace);
  if (!ConfirmByPerson("For " + ShowDuration(*ms) + " nothing is asked in " +
                       where + "; each question counts as a yes. Go on?")) {
    Complain("nothing was paused");
    return kExitRefused;
  }
  UserAction act;
  act.mode = "pause";
  act.cwd = pause.workspace;
  act.reason =
      "a person paused the questions for " + ShowDuration(*ms) + " in " + where;
  if (auto stored = RecordUserAction(facts, act); !stored)
    return FailedInternally(stored.error());
  pause.since_ms = NowMs();
  pause.until_ms = pause.since_ms + *ms;
  if (auto started = StartPause(facts.places.state, pause); !started)
    return FailedInternally(started.error());
  std::printf("paused for %s; end it with: gate resume\n",
              ShowDuration(*ms).c_str());
  return 0;
}

int ResumeCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app("Ends a pause.", "gate resume");
  if (auto code = ParseWith(app, arguments)) return *code;
  if (auto code = RequirePerson("resuming")) return *code;
  const ProcessFacts facts = ReadProcessFacts(globals);
  const bool paused = FindPause(facts.places.state, NowMs()).has_value();
  if (auto ended = EndPause(facts.places.state); !ended)
    return FailedInternally(ended.error());
  if (!paused) {
    std::puts("there was no pause");
    return 0;
  }
  UserAction act;
  act.mode = "resume";
  act.cwd = facts.cwd;
  act.reason = "a person ended the pause";
  if (auto stored = RecordUserAction(facts, act); !stored)
    Complain("not recorded: " + stored.error().message);
  std::puts("questions are asked again");
  return 0;
}

}  // namespace gate::app
