// gate approve, gate pending: questions that wait for a person.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/text.h"
#include "cli/approvals.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/json_writer.h"
#include "cli/person_act.h"
#include "cli/terminal.h"
#include "hooks/person.h"

namespace gate::cli {
namespace {

std::string Render(const PendingQuestion& question, bool colour) {
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

PersonAct ActOf(const PendingQuestion& question) {
  PersonAct act;
  act.mode = "approve";
  act.parent = question.id;
  act.command = question.command;
  act.cwd = question.cwd;
  act.agent = question.agent;
  act.reason = "a person approved this command once";
  act.policy_revision = question.policy_revision;
  return act;
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

int PendingCommand(const GlobalOptions& globals, const Arguments& arguments) {
  CLI::App app("Lists the questions that wait for a person.", "gate pending");
  bool json = false;
  app.add_flag("--json", json, "print a JSON object a line");
  if (auto code = ParseWith(app, arguments)) return *code;
  const ProcessFacts facts = ReadProcessFacts(globals);
  auto questions = ListQuestions(facts.places.state, NowMs());
  if (!questions) {
    Complain(questions.error().message);
    return kExitInternal;
  }
  for (const PendingQuestion& question : *questions) {
    if (!json) {
      std::fputs(Render(question, WantsColour(STDOUT_FILENO)).c_str(), stdout);
      continue;
    }
    JsonWriter line;
    line.BeginObject().Field("schema", "gate.pending/1");
    line.Field("id", question.id).Field("command", question.command);
    line.Field("cwd", question.cwd).Field("agent", question.agent);
    line.Field("reason", question.reason);
    line.Field("asked_ms", static_cast<int64_t>(question.asked_ms));
    line.Flag("approved", question.approved_ms != 0).EndObject();
    std::puts(line.text().c_str());
  }
  if (questions->empty() && !json) std::puts("nothing waits");
  return 0;
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
        Render(question, WantsColour(STDOUT_FILENO)) +
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
    if (auto stored = RecordAct(facts, ActOf(question)); !stored) {
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
