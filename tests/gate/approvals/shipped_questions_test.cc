// The yes to each shipped question is run, with stand-ins for the programs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "approvals/approvals.h"
#include "approvals/standing_approvals.h"
#include "engine/examples.h"
#include "facts/process_facts.h"
#include "rules/list.h"
#include "tests/engine/rules_without_yes.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using engine::GrantKind;
using rules::Action;
using test::Done;
using test::Machine;

bool IsName(const parser::Invocation& one) {
  return !one.argv.empty() && one.argv.front().known &&
         !one.argv.front().text.empty() &&
         one.argv.front().text.find('/') == std::string::npos;
}

// Whether nothing of the line but stand-ins can do anything: without a sandbox
// only such a line is run. Nothing but stand-ins is on PATH.
bool OnlyStandInsAct(const parser::Analysis& analysis) {
  static const std::set<std::string> kIdle = {"cd", "echo", "printf", "true"};
  return !analysis.hides_commands &&
         std::ranges::all_of(
             analysis.invocations,
             [](const parser::Invocation& one) {
               return IsName(one) &&
                      (!one.builtin || kIdle.contains(one.argv.front().text));
             }) &&
         std::ranges::all_of(analysis.shell_writes,
                             [](const parser::Argument& path) {
                               return path.known && path.text == "/dev/null";
                             });
}

// How many programs stand for others; builtins have none.
size_t PutMountPlaceholders(const Machine& machine,
                            const parser::Analysis& analysis) {
  const std::string bin = machine.root() + "/bin/";
  std::filesystem::create_directories(bin);
  size_t count = 0;
  for (const parser::Invocation& one : analysis.invocations) {
    if (one.builtin || !IsName(one)) continue;
    std::error_code exists;
    std::filesystem::copy_file(GATE_STAND_IN, bin + one.argv.front().text,
                               exists);
    ++count;
  }
  return count;
}

// Asks `command`, says yes, and runs it again: empty when it then ran as the
// question had said, else what went wrong.
std::string RunTheYes(const std::string& rule, const std::string& command) {
  const parser::Analysis analysis = engine::ReadExample(command);
  Machine machine;
  const size_t programs = PutMountPlaceholders(machine, analysis);
  machine.environment = {
      "PATH=" + machine.root() + "/bin",
      "npm_config_prefix=" + machine.home() + "/.npm-global"};
  const auto ran = [&] {
    return std::pair(machine.Exists(machine.root() + "/outside"),
                     machine.Exists(machine.project() + "/inside"));
  };
  const auto questions = [&] {
    return ListQuestions(machine.state(), NowMs())
        .value_or(std::vector<PendingQuestion>{});
  };
  Done done = machine.Gate({"run", "-c", command});
  if (questions().size() != 1) return "no question: " + done.err;
  const PendingQuestion question = questions().front();
  if (std::ranges::find(question.rules, rule) == question.rules.end())
    return "another rule asks";
  if (ran() != std::pair(false, false)) return "it ran before the yes";
  const bool as_is = question.grant == GrantKind::kAsIs;
  if (as_is && !OnlyStandInsAct(analysis)) return "not to be run here";
  if (!Approve(machine.state(), question.id, NowMs())) return "no approval";
  done = machine.Gate({"run", "-c", command});
  if (!questions().empty()) return "it is asked again";
  // What a shell does by itself may fail in the sandbox, where it is known.
  if (programs == 0)
    return done.exit_code == 126 ? "it did not run: " + done.err : "";
  if (done.exit_code != 0)
    return "exit " + std::to_string(done.exit_code) + ": " + done.err;
  return ran() == std::pair(as_is, !as_is)
             ? ""
             : std::string("it did not run ") + engine::Name(question.grant);
}

TEST(YesTest, TheYesToEachShippedQuestionRunsIt) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const rules::Policy policy = rules::MakePolicy({}, true);
  std::set<std::string> asks;
  for (const rules::RuleInfo& rule : rules::ListRules(policy))
    if (rule.action == Action::kAsk) asks.insert(rule.id);
  std::map<std::string, bool> works;
  std::map<std::string, std::string> why;
  for (const engine::ExampleResult& example : engine::RunExamples(policy)) {
    if (!asks.contains(example.rule) || !example.expected ||
        example.action != Action::kAsk || works[example.rule])
      continue;
    const std::string wrong = RunTheYes(example.rule, example.command);
    works[example.rule] = wrong.empty();
    why[example.rule] += "\n    " + example.command + " -> " + wrong;
  }
  EXPECT_GT(works.size(), 100u);
  for (const auto& [rule, any] : works)
    EXPECT_EQ(any, !test::RulesWithoutYes().contains(rule))
        << rule << why[rule];
}

}  // namespace
}  // namespace gate::app
