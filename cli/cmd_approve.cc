// gate approve: yes, once, to a question that waits.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "audit/log.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/approvals.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/terminal.h"
#include "hooks/person.h"

namespace gate::cli {

std::string RenderQuestion(const PendingQuestion& question, bool colour) {
  std::string text = Paint(Colour::kBold, question.id, colour) + "  " +
                     (question.agent.empty() ? "?" : Visible(question.agent)) +
                     (question.approved_ms != 0 ? "  approved" : "") + "\n";
  text += "  " + Visible(question.command, /*keep_layout=*/true) + "\n";
  text += "  in " + Visible(question.cwd) + "\n";
  text += "  why asked: " + Visible(question.reason) + "\n";
  if (!FindHidden(question.command).empty())
    text +=
        "  note: it holds invisible or control characters, shown as "
        "escapes\n";
  return text;
}

namespace {

Status RecordApproval(const std::string& state_dir,
                      const PendingQuestion& question) {
  GATE_TRY(auto log, audit::Log::Open(state_dir, {}));
  audit::Record record;
  record.kind = audit::Kind::kConfig;
  record.id = NewUuid(NowMs());
  record.parent = question.id;
  record.time_ns = NowNs();
  record.mode = "approve";
  record.command = question.command;
  record.cwd = question.cwd;
  record.agent = question.agent;
  record.reason = "a person approved this command once";
  record.policy_revision = question.policy_revision;
  record.detail = "{}";
  return log.Append(&record);
}

}  // namespace

std::optional<int> RequirePerson(const char* what) {
  const hooks::Person person = hooks::PersonsTerminal();
  if (person.yes) return std::nullopt;
  Complain(std::string(what) + " is a person's act: " + person.why);
  std::fputs("help: run it in a terminal of your own, not through an agent\n",
             stderr);
  return kExitRefused;
}

int ApproveCommand(const GlobalOptions& globals, const Arguments& arguments) {
  CLI::App app("Says yes, once, to a command that an agent was refused.",
               "gate approve");
  std::string id;
  app.add_option("id", id, "the id that the refusal named")->required();
  if (auto code = ParseWith(app, arguments)) return *code;
  if (auto code = RequirePerson("approving")) return *code;

  const ProcessFacts facts = ReadProcessFacts(globals);
  auto questions = ListQuestions(facts.places.state, NowMs());
  if (!questions) {
    Complain(questions.error().message);
    return kExitInternal;
  }
  for (const PendingQuestion& question : *questions) {
    if (!question.id.starts_with(id)) continue;
    const std::string text =
        RenderQuestion(question, WantsColour(STDOUT_FILENO)) +
        "This very command may then run once within the next hour.\n";
    if (AskPerson(text, /*may_run_raw=*/true) != Reply::kOnce) {
      Complain("nothing was approved");
      return kExitRefused;
    }
    break;
  }
  // The record first: an approval that is not on record does not exist.
  for (const PendingQuestion& question : *questions) {
    if (!question.id.starts_with(id)) continue;
    if (auto stored = RecordApproval(facts.places.state, question); !stored) {
      Complain("the approval could not be recorded: " + stored.error().message);
      return kExitInternal;
    }
    break;
  }
  auto approved = Approve(facts.places.state, id, NowMs());
  if (!approved) {
    Complain(approved.error().message);
    return kExitInternal;
  }
  std::puts("approved, once; tell the agent to try again");
  return 0;
}

}  // namespace gate::cli
