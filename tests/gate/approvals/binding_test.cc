// A yes holds for the files that the line was to read when it was given.
#include "gateway/grants/yes_binding.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "approvals/approvals.h"
#include "approvals/standing_approvals.h"
#include "facts/process_facts.h"
#include "tests/gate/approvals/answers.h"
#include "tests/support/hook_event.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

// A machine where `cp` is asked, to be run as the person would.
struct Copies : Machine {
  Copies() {
    Write(home() + "/.config/gate/rules.d/a.json",
          R"({"schema": 1, "pack": "p", "rules": [{"id": "p.a",
      "action": "ask", "reason": "r", "yes": "as-is",
      "match": {"program": ["cp"]}}]})",
          0600);
    Put("a.yml", "a");
    Put("conf/b.yml", "b");
    Put("conf/deep/c.yml", "c");
    Put("big", std::string(kMaxBoundFile + 1, 'x'));
    std::filesystem::create_directories(home() + "/out");
  }
  void Put(const std::string& name, const std::string& text) const {
    Write(project() + "/" + name, text);
  }
  Done Run(const std::string& line) const { return Gate({"run", "-c", line}); }
};

using Change = std::function<void(const Copies&)>;

// Whether a yes to `line`, for one run or for a time, is still one after
// `change`.
bool YesHoldsAfter(const std::string& line, const Change& change, bool once) {
  const Copies machine;
  EXPECT_EQ(machine.Run(line).exit_code, 126) << line;
  const PendingQuestion question = WaitingQuestion(machine);
  EXPECT_EQ(question.grant, engine::GrantKind::kAsIs) << line;
  EXPECT_NE(question.runs.find("only with what is in"), std::string::npos)
      << question.runs;
  if (once) {
    EXPECT_TRUE(Approve(machine.state(), question.id, NowMs()));
  } else {
    StandingApproval yes = YesForAnHour(question);
    yes.grant = question.grant;
    EXPECT_TRUE(Remember(machine.state(), yes));
  }
  change(machine);
  return machine.Run(line).exit_code != 126;
}

TEST(YesBindingTest, AYesHoldsForTheContentThatWasThere) {
  const auto put = [](const char* name, const char* text) -> Change {
    return [=](const Copies& machine) { machine.Put(name, text); };
  };
  const struct {
    const char* line;
    Change change;
    bool holds;
  } kRows[] = {
      {"cp a.yml ~/out", put("other.yml", "x"), true},
      {"cp a.yml ~/out", put("a.yml", "a"), true},  // written again
      {"cp a.yml ~/out", put("a.yml", "evil"), false},
      {"cp $PWD/conf/../a.yml ~/out", put("a.yml", "evil"), false},
      {"cat conf/b.yml && cp a.yml ~/out", put("conf/b.yml", "x"), false},
      {"cp a.yml ~/out",
       [](const Copies& machine) {
         const std::string a = machine.project() + "/a.yml";
         ::unlink(a.c_str());
         ASSERT_EQ(::symlink("conf/b.yml", a.c_str()), 0);
       },
       false},
      {"cp a.yml ~/out",
       [](const Copies& machine) {
         ::unlink((machine.project() + "/a.yml").c_str());
       },
       false},
      {"cp missing.yml ~/out", put("missing.yml", "x"), false},
      {"cp big ~/out", put("a.yml", "x"), true},
      {"cp big ~/out",
       [](const Copies& machine) {
         machine.Put("big", std::string(kMaxBoundFile + 1, 'y'));
       },
       false},
      {"cp -r conf ~/out", put("a.yml", "x"), true},
      {"cp -r conf ~/out", put("conf/b.yml", "x"), false},
      {"cp -r conf ~/out", put("conf/deep/c.yml", "x"), false},
      {"cp -r conf ~/out", put("conf/deep/new.yml", "x"), false},
      {"cp conf/*.yml ~/out", put("a.yml", "x"), true},
      {"cp conf/*.yml ~/out", put("conf/new.yml", "x"), false},
      {"cp conf/*.yml ~/out", put("conf/b.yml", "x"), false},
      {"cp conf/*/c.yml ~/out", put("conf/deep/c.yml", "x"), false},
      {"cp < a.yml - ~/out", put("a.yml", "x"), false},
      // What only the program knows it reads.
      {"cp --from=a.yml conf/b.yml ~/out", put("a.yml", "x"), false},
      {"cp --from k=@a.yml conf/b.yml ~/out", put("a.yml", "x"), false},
      {"cp conf/b.yml,a.yml ~/out", put("a.yml", "x"), false},
      {"cp -k conf ~/out", put("conf/deep/c.yml", "x"), false},
  };
  for (const auto& row : kRows)
    for (const bool once : {true, false})
      EXPECT_EQ(YesHoldsAfter(row.line, row.change, once), row.holds)
          << row.line;
}

TEST(YesBindingTest, WhatCannotBeLookedAtIsForThePersonToRun) {
  const Copies machine;
  const auto grants = [&](const char* line) {
    return nlohmann::json::parse(
        machine.Gate({"check", "--json", "-c", line}).out)["grants"];
  };
  EXPECT_EQ(grants("cp -r conf ~/out")["kind"], "as-is");
  for (size_t i = 0; i <= kMaxBoundEntries; ++i)
    machine.Put("conf/many/" + std::to_string(i), "");
  const nlohmann::json many = grants("cp -r conf ~/out");
  EXPECT_EQ(many["kind"], "by-hand") << many;
  EXPECT_NE(many["why"].get<std::string>().find("more files"),
            std::string::npos);
  EXPECT_EQ(grants("cp conf/b.yml ~/out")["kind"], "as-is");
}

// The client's own question: the ticket in its answer is one for the content
// that was there when the person was asked.
TEST(YesBindingTest, ATicketHoldsForTheContentThatWasThere) {
  for (const bool change : {false, true}) {
    const Copies machine;
    const std::string line = "cp a.yml " + machine.home() + "/out/";
    const Done hook = machine.Gate({"hook", "claude"},
                                   test::BashEvent(machine.project(), line));
    const size_t at = hook.out.find("--ticket ");
    ASSERT_NE(at, std::string::npos) << hook.out << hook.err;
    if (change) machine.Put("a.yml", "evil");
    const Done run = machine.Gate(
        {"run", "--ticket", hook.out.substr(at + 9, 32), "-c", line});
    EXPECT_EQ(run.exit_code, change ? 126 : 0) << run.err;
    EXPECT_EQ(machine.Exists(machine.home() + "/out/a.yml"), !change);
    if (change) {
      EXPECT_NE(run.err.find("has changed"), std::string::npos) << run.err;
    }
  }
}

}  // namespace
}  // namespace gate::app
