// gate approve: yes, once, to a question that waits.
#include <unistd.h>

#include <cstdio>

#include "approvals/approvals.h"
#include "approvals/standing_approvals.h"
#include "approvals/terminal.h"
#include "approvals/user_action.h"
#include "base/duration.h"
#include "base/json_writer.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "gateway/answer_texts.h"
#include "gateway/settings.h"
#include "hooks/person.h"

namespace gate::app {

namespace {

// A session is over by then, whatever its client says.
constexpr uint64_t kSessionApprovalMs = 24ull * 60 * 60 * 1000;

// For how long a yes holds.
struct Scope {
  std::string name = "once";  // once, session, time, project
  uint64_t ms = 0;            // time
  bool in_sandbox = false;    // and no more than that
};

std::string Describe(const Scope& scope) {
  if (scope.name == "session") return "for the rest of this session";
  if (scope.name == "project") return "in this project until it is revoked";
  if (scope.name == "time") return "for " + ShowDuration(scope.ms);
  return "once within the next hour";
}

engine::GrantKind GrantOf(const PendingQuestion& question, const Scope& scope) {
  return scope.in_sandbox ? engine::GrantKind::kSandbox : question.grant;
}

UserAction ActOf(const PendingQuestion& question, const Scope& scope) {
  UserAction act;
  act.mode = "approve";
  act.parent = question.id;
  act.command = question.command;
  act.cwd = question.cwd;
  act.agent = question.agent;
  act.reason = "a person approved this command " + Describe(scope);
  act.policy_revision = question.policy_revision;
  JsonWriter detail;
  detail.BeginObject().Field("scope", scope.name);
  detail.Field("grant", engine::Name(GrantOf(question, scope)));
  detail.Key("rules").BeginArray();
  for (const std::string& rule : question.rules) detail.String(rule);
  detail.EndArray().EndObject();
  act.detail = detail.Take();
  return act;
}

Status StoreApproval(const std::string& state_dir,
                     const PendingQuestion& question, const Scope& scope) {
  const uint64_t now = NowMs();
  if (scope.name == "once") {
    GATE_CHECK(Approve(state_dir, question.id, now, scope.in_sandbox));
    return {};
  }
  StandingApproval approval;
  approval.id = question.id;
  approval.scope = scope.name;
  approval.command = question.command;
  approval.cwd = question.cwd;
  approval.place = question.place;
  approval.workspace = question.workspace;
  approval.session = question.session;
  approval.rules = question.rules;
  approval.grant = GrantOf(question, scope);
  approval.approved_ms = now;
  if (scope.name == "session") approval.expires_ms = now + kSessionApprovalMs;
  if (scope.name == "time") approval.expires_ms = now + scope.ms;
  GATE_CHECK(Remember(state_dir, approval));
  DropQuestion(state_dir, question.id);
  return {};
}

}  // namespace

std::optional<int> RequirePerson(const char* what) {
  const hooks::Person person = hooks::FindUserTerminal(PersonsTerminals);
  if (person.yes) return std::nullopt;
  Complain(std::string(what) + " is a person's act: " + person.why);
  std::fputs("help: run it in a terminal of your own, not through an agent\n",
             stderr);
  return kExitRefused;
}

int ApproveCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app("Says yes to a command that an agent was refused.",
              "gate approve");
  std::string id, length;
  bool session = false, project = false;
  app.Add("id", id, "the id that the refusal named").Required();
  app.Flag("--session", session, "for the rest of the agent's session");
  app.Add("--for", length, "for a time: 90s, 15m, 2h, 3d; at most 30d");
  app.Flag("--project", project, "in this project, until it is revoked");
  Scope scope;
  app.Flag("--sandbox", scope.in_sandbox,
           "in the sandbox, where a yes would give more");
  if (auto code = ParseWith(app, arguments)) return *code;
  if (session) scope.name = "session";
  if (project) scope.name = "project";
  if (!length.empty()) {
    scope.name = "time";
    scope.ms = ParseDuration(length, kLongestApprovalMs).value_or(0);
  }
  if (session + project + !length.empty() > 1 ||
      (scope.name == "time" && scope.ms == 0)) {
    Complain("say one of --session, --for 2h, --project; --for at most 30d");
    return kExitUsage;
  }
  if (auto code = RequirePerson("approving")) return *code;

  const ProcessFacts facts = ReadProcessFacts(globals);
  const std::string& state = facts.places.state;
  auto found = FindQuestion(state, id, NowMs());
  if (!found) {
    Complain(found.error().message);
    return kExitInternal;
  }
  const PendingQuestion& question = *found;
  if ((session && question.session.empty()) ||
      (project && question.workspace.empty())) {
    Complain(session ? "the command came from no session"
                     : "the command ran in no project");
    return kExitUsage;
  }
  const std::string runs = GrantOf(question, scope) == question.grant
                               ? question.runs
                               : kRunsInSandbox;
  const std::string text = RenderQuestion(question, WantsColour(STDOUT_FILENO),
                                          PersonsScreen().columns) +
                           "This very command may then run " + Describe(scope) +
                           (runs.empty() ? "" : ", " + runs) + ".\n";
  if (!AskYesOrNo(text, "Say yes to it?")) {
    Complain("nothing was approved");
    return kExitRefused;
  }
  // The record first: an approval that is not on record does not exist.
  Status stored = RecordUserAction(facts, ActOf(question, scope));
  if (stored) stored = StoreApproval(state, question, scope);
  if (!stored) {
    Complain("nothing was approved: " + stored.error().message);
    return kExitInternal;
  }
  std::printf("approved %s; tell the agent to try again\n",
              Describe(scope).c_str());
  return 0;
}

}  // namespace gate::app
