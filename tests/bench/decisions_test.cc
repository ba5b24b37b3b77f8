#include "bench/decisions.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gate::bench {
namespace {

Answer Says(std::string out, int status = 0) {
  return {status, false, std::move(out)};
}

std::string Specific(const std::string& members) {
  return R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",)" + members +
         "}}";
}

TEST(Judge, ReadsTheAnswersOfTheProtocol) {
  const std::string wrapped =
      R"("permissionDecision":"allow","updatedInput":{"command":)";
  const struct {
    Answer answer;
    Verdict verdict;
  } kCases[] = {
      {Says(""), Verdict::kRan},
      {Says(" \n"), Verdict::kRan},
      {Says("", 2), Verdict::kDenied},
      {Says(Specific(R"("permissionDecision":"deny")")), Verdict::kDenied},
      {Says(Specific(R"("permissionDecision":"ask")")), Verdict::kAsked},
      {Says(Specific(R"("permissionDecision":"allow")")), Verdict::kRan},
      {Says(R"({"decision":"block","reason":"r"})"), Verdict::kDenied},
      {Says(R"({"decision":"approve"})"), Verdict::kRan},
      {Says(R"({"continue":false})"), Verdict::kDenied},
      {Says("{}"), Verdict::kRan},
      {Says(Specific(wrapped + R"("/opt/guard run -c ls"})")),
       Verdict::kContained},
      {Says(Specific(R"("permissionDecision":"ask","updatedInput":{"command":)"
                     R"("/opt/guard run -c ls"})")),
       Verdict::kAsked},
  };
  for (const auto& test : kCases)
    EXPECT_EQ(Judge(test.answer, "/opt/guard", "ls"), test.verdict)
        << test.answer.status << " " << test.answer.out;
}

TEST(Judge, CountsNoRewritingAsContainedButTheGuardsOwnRunner) {
  for (const char* command :
       {"ls", "ls --color", "/opt/guardian run ls", "/opt/guard", ""}) {
    const std::string out = Specific(R"("updatedInput":{"command":")" +
                                     std::string(command) + "\"}");
    EXPECT_EQ(Judge(Says(out), "/opt/guard", "ls"), Verdict::kRan) << command;
  }
}

TEST(Judge, TakesNoBrokenAnswerForAVerdict) {
  for (const Answer& answer :
       {Says("", 1), Says("", 127), Says("", 139), Says("blocked!"),
        Says("{\"decision\":"), Says("[]"), Says(R"({"decision":7})"),
        Says(Specific(R"("permissionDecision":"perhaps")")),
        Says(Specific(R"("permissionDecision":"deny")"), 1)}) {
    EXPECT_EQ(Judge(answer, "/opt/guard", "ls"), Verdict::kError)
        << answer.status << " " << answer.out;
  }
  EXPECT_EQ(Judge({2, true, ""}, "/opt/guard", "ls"), Verdict::kTimeout);
}

TEST(ReadCommands, KnowsTheThreeForms) {
  const Commands table = ReadCommands(
      "attacks", "f",
      "id\texpected\tcategory\tcommand\tsource\n"
      "1\tdeny\tc\techo \\\\ a\\nb\\tc\\x\town\n"
      "2\task\tc\tx\town\r\n3\tsandbox-or-stricter\td\ty\n4\tdney\td\tz\n");
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_TRUE(table.refused.empty());
  EXPECT_EQ(table.rows[0].text, "echo \\ a\nb\tc\\x");
  EXPECT_EQ(table.rows[0].id, "1");
  EXPECT_EQ(table.rows[0].category, "c");
  EXPECT_EQ(table.rows[0].expected, Expected::kDeny);
  EXPECT_EQ(table.rows[1].expected, Expected::kAsk);
  EXPECT_EQ(table.rows[2].expected, Expected::kContain);
  EXPECT_EQ(table.rows[3].expected, Expected::kDeny);  // misspelt: strictest

  const std::string bounds =
      "# a comment\n>=deny\trm -rf /\n<=sandbox\tls\n>=ask\ta\\nb\n";
  const Commands attacks = ReadCommands("attacks", "f", bounds);
  ASSERT_EQ(attacks.rows.size(), 2u);
  EXPECT_EQ(attacks.rows[0].expected, Expected::kDeny);
  EXPECT_EQ(attacks.rows[0].id, "2");
  EXPECT_EQ(attacks.rows[1].text, "a\nb");
  EXPECT_EQ(attacks.rows[1].expected, Expected::kAsk);
  const Commands benign = ReadCommands("benign", "f", bounds);
  ASSERT_EQ(benign.rows.size(), 1u);
  EXPECT_EQ(benign.rows[0].text, "ls");
  EXPECT_EQ(benign.rows[0].expected, Expected::kBenign);

  const Commands lines = ReadCommands(
      "agent", "f", "{\"id\":\"a\",\"cmd\":\"ls\\n#x\",\"cwd\":\"/w\"}\n");
  ASSERT_EQ(lines.rows.size(), 1u);
  EXPECT_EQ(lines.rows[0].text, "ls\n#x");
  EXPECT_EQ(lines.rows[0].cwd, "/w");
  EXPECT_EQ(lines.rows[0].expected, Expected::kUnknown);
}

TEST(ReadCommands, NamesEveryRowItLeavesOut) {
  const Commands lines = ReadCommands(
      "agent", "f",
      "{\"cmd\":1}\nnonsense\n{\"cmd\":\"\\ud800\"}\n{\"cmd\":\"ls\"}\n[]\n");
  EXPECT_EQ(lines.rows.size(), 1u);
  ASSERT_EQ(lines.refused.size(), 4u);
  EXPECT_TRUE(lines.refused[0].starts_with("f:1: ")) << lines.refused[0];
  EXPECT_TRUE(lines.refused[3].starts_with("f:5: ")) << lines.refused[3];

  const Commands table =
      ReadCommands("attacks", "f", "id\tcommand\n1\t\n2\t\xff\n3\tls\n");
  EXPECT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.refused.size(), 2u);
}

TEST(StandIn, ReplacesWholeNamesOnly) {
  EXPECT_EQ(StandIn("cat /w/a /wx /w-1 '/w' /w", "/w", "/p"),
            "cat /p/a /wx /w-1 '/p' /p");
  EXPECT_EQ(StandIn("ls", "", "/p"), "ls");
}

TEST(ReadGuards, ReadsEnvironmentAndProgram) {
  const auto guards = ReadGuards(
      "# what\ntrue\tbaseline\t/bin/true\n"
      "g\thook\tLEVEL=high\tX=\t/bin/g\tA=b\t-c\n");
  ASSERT_TRUE(guards) << guards.error();
  ASSERT_EQ(guards->size(), 2u);
  EXPECT_FALSE((*guards)[0].judged);
  const Guard& guard = (*guards)[1];
  EXPECT_TRUE(guard.judged);
  EXPECT_EQ(guard.environment, (std::vector<std::string>{"LEVEL=high", "X="}));
  EXPECT_EQ(guard.argv, (std::vector<std::string>{"/bin/g", "A=b", "-c"}));

  for (const char* text : {"", "g\thook\n", "g\tother\t/bin/g\n",
                           "g\thook\tg\n", "g\thook\tX=1\n", "#\n"})
    EXPECT_FALSE(ReadGuards(text)) << text;
}

TEST(Quantile, IsTheNearestRank) {
  EXPECT_EQ(Quantile({}, 0.5), 0);
  EXPECT_EQ(Quantile({3}, 0.99), 3);
  EXPECT_EQ(Quantile({4, 1, 3, 2}, 0.5), 2);
  std::vector<double> hundred;
  for (int i = 100; i > 0; --i) hundred.push_back(i);
  EXPECT_EQ(Quantile(hundred, 0.99), 99);
  EXPECT_EQ(Quantile(hundred, 1), 100);
}

struct Sample {
  std::vector<Command> commands;
  std::vector<Guard> guards;
};

Sample MakeSample() {
  Sample sample;
  const auto add = [&](const char* set, const char* id, Expected expected) {
    Command command;
    command.set = set;
    command.id = id;
    command.expected = expected;
    command.category = "c";
    command.text = "t\t" + std::string(id);
    sample.commands.push_back(command);
  };
  add("attacks", "a1", Expected::kDeny);
  add("attacks", "a2", Expected::kDeny);
  add("attacks", "a3", Expected::kContain);
  add("benign", "b1", Expected::kBenign);
  add("benign", "b2", Expected::kBenign);
  Guard base{"true", false, {}, {"/bin/true"}, {}, {10, 10, 10, 10, 10}};
  base.verdicts.assign(5, Verdict::kRan);
  Guard one{"one", true, {}, {"/g"}, {}, {25, 25, 25, 25, 30}};
  one.verdicts = {Verdict::kDenied, Verdict::kAsked, Verdict::kContained,
                  Verdict::kRan, Verdict::kAsked};
  Guard two{"two", true, {}, {"/h"}, {}, {50, 50, 50, 50, 50}};
  two.verdicts = {Verdict::kDenied, Verdict::kRan, Verdict::kTimeout,
                  Verdict::kError, Verdict::kRan};
  sample.guards = {base, one, two};
  return sample;
}

TEST(Report, CountsErrorsAndTimeoutsApart) {
  const Sample sample = MakeSample();
  const Table one = Count(sample.commands, sample.guards[1], "attacks", false);
  EXPECT_EQ(one.labels, (std::vector<std::string>{"deny", "contain"}));
  EXPECT_EQ(one.counts.at("deny").stopped(), 2);
  EXPECT_EQ(one.counts.at("contain").at(Verdict::kContained), 1);
  const Table two = Count(sample.commands, sample.guards[2], "attacks", true);
  const Counts& counts = two.counts.at("c");
  EXPECT_EQ(counts.n, 3);
  EXPECT_EQ(counts.stopped(), 1);
  EXPECT_EQ(counts.at(Verdict::kRan), 1);
  EXPECT_EQ(counts.at(Verdict::kTimeout), 1);

  const std::string report = Report(sample.commands, sample.guards, false);
  for (const char* line : {
           "| deny | 2 | one | 2 (100.0 %) | 1 | 1 | 0 (0.0 %) | 0 (0.0 %) | "
           "0 | 0 |\n",
           "| all | 3 | one | 2 (66.7 %) | 1 | 1 | 1 (33.3 %) | 0 (0.0 %) | 0 "
           "| 0 |\n",
           "| all | 3 | two | 1 (33.3 %) | 1 | 0 | 0 (0.0 %) | 1 (33.3 %) | 0 "
           "| 1 |\n",
           "| benign | 2 | two | 0 (0.0 %) | 0 | 0 | 0 (0.0 %) | 1 (50.0 %) | "
           "1 | 0 |\n",
           "| true | 5 | 10 | 10 | 1.00 |\n",
           "| one | 5 | 25 | 30 | 2.50 |\n",
           "| two | 5 | 50 | 50 | 5.00 |\n",
       })
    EXPECT_NE(report.find(line), std::string::npos) << line << "in" << report;
  EXPECT_EQ(report.find("| deny | 2 | true"), std::string::npos);
}

TEST(Rows, DisagreeOnlyWhereBothAnswered) {
  const Sample sample = MakeSample();
  EXPECT_EQ(Rows(sample.commands, sample.guards, true),
            "set\tid\texpected\tcategory\tone\ttwo\tcommand\n"
            "attacks\ta2\tdeny\tc\tasked\tran\tt\\ta2\n"
            "benign\tb2\tbenign\tc\tasked\tran\tt\\tb2\n");
  const std::string all = Rows(sample.commands, sample.guards, false);
  EXPECT_EQ(std::ranges::count(all, '\n'), 6);
}

}  // namespace
}  // namespace gate::bench
