// What a person is shown before a yes: all that the yes is given to.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "approvals/approvals.h"
#include "approvals/prompt_text.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Count;
using test::Machine;

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST(ShownCommandTest, ShowsAllOfItAndWhatCannotBeSeen) {
  struct Case {
    std::string command, shown;
  };
  const std::string note =
      "  note: it holds invisible or control characters, shown as escapes\n";
  for (const Case& c : std::vector<Case>{
           {"ls -l", "  | ls -l\n"},
           {"a\n  b", "  | a\n  |   b\n"},
           {"a" + std::string(400, ' ') + "; b", "  | a‹400 spaces›; b\n"},
           {"a" + std::string(16, ' ') + "b",
            "  | a" + std::string(16, ' ') + "b\n"},
           {"a" + std::string(80, '\n') + "b",
            "  | a\n  | ‹79 empty lines›\n  | b\n"},
           {"a\n\nb", "  | a\n  | \n  | b\n"},
           {"a\n \t\n  \n\t\n ", "  | a\n  | ‹4 empty lines›\n"},
           {"a\tb", "  | a\\x09b\n"},
           {"a\rb", "  | a\\x0db\n" + note},
           {"a\x1b[2Kb", "  | a\\x1b[2Kb\n" + note},
           {"a\xe2\x80\xae b", "  | a\\u202e b\n" + note},
           {"a\xc2\xa0 b", "  | a\\u00a0 b\n" + note},
           {"\xff", "  | \\xff\n" + note},
           {"", "  | \n"}})
    EXPECT_EQ(ShownCommand(c.command, 80), c.shown) << c.command;
}

// A terminal of any width would break it where gate's own words begin.
TEST(ShownCommandTest, BreaksBeforeTheTerminalWould) {
  const std::string command =
      "echo " + std::string(300, 'a') + "ü—漢\n" + std::string(100, '#');
  for (const size_t columns : {20u, 40u, 80u, 133u}) {
    std::string whole;
    for (const std::string& line : Lines(ShownCommand(command, columns))) {
      const std::string mark = line.substr(0, 4);
      EXPECT_TRUE(mark == "  | " || mark == "  + ") << line;
      EXPECT_LT(line.size(), columns + 6) << line;
      if (mark == "  | " && !whole.empty()) whole += "\n";
      whole += line.substr(4);
    }
    EXPECT_EQ(whole, command);
  }
  EXPECT_EQ(ShownCommand("漢漢漢漢漢漢漢漢漢漢", 20),
            "  | 漢漢漢漢漢漢漢\n  + 漢漢漢\n");
}

TEST(ShownCommandTest, AFieldHasNoLinesOfItsOwn) {
  const std::string shown =
      ShownField("/x\n  why asked: it lists" + std::string(100, ' '), 5, 80);
  EXPECT_EQ(shown, "/x\\x0a  why asked: it lists‹100 spaces›");
  for (const std::string& line :
       Lines(ShownField(std::string(500, 'x') + "\n", 5, 80) + "\n"))
    EXPECT_LT(line.size(), 80u) << line;
}

TEST(ShownCommandTest, AFieldIsBrokenBehindBlanks) {
  EXPECT_EQ(ShownField("it throws away changes that are nowhere else", 12, 40),
            "it throws away changes \n  + that are nowhere else");
  for (const size_t columns : {20u, 33u, 80u})
    for (const std::string& text :
         {std::string(300, 'x'), "a b " + std::string(40, 'y') + " z",
          std::string("ä ö ü 漢字漢字漢字漢字漢字 x y z"),
          std::string("0123456789 0123456789 0123456789 0123456789")}) {
      std::string whole;
      for (const std::string& line :
           Lines(ShownField(text, 5, columns) + "\n")) {
        whole += whole.empty() ? line : line.substr(4);
        EXPECT_LE(line.size(), columns * 2) << line;
        if (text[0] != '\xc3') {
          EXPECT_LT(line.size(), columns) << line;
        }
      }
      EXPECT_EQ(whole, text);
    }
}

TEST(ShownCommandTest, AQuestionCannotForgeItsOwnEnd) {
  PendingQuestion question;
  question.id = "01910000-0000-7000-8000-00000000000a";
  question.agent = "claude\n  | ls\x9b";
  question.cwd = "/srv/x\nwhy";
  question.reason = "r";
  question.command =
      "git stash list\n  in /srv/safe\n  why asked: it lists\nRun it? [y]es "
      "once, [N]o: " +
      std::string(60, '\n') + ": ; git stash drop";
  const std::string shown = RenderQuestion(question, false, 80);
  for (const std::string& line : Lines(shown))
    EXPECT_TRUE(line.starts_with("  | ") || line.starts_with("  in /srv/x") ||
                line.starts_with("  why asked: r") ||
                line.starts_with(question.id))
        << line;
  EXPECT_TRUE(Has(shown, "  |   in /srv/safe\n")) << shown;
  EXPECT_TRUE(Has(shown, "  | : ; git stash drop\n")) << shown;
  EXPECT_FALSE(Has(shown, "note:")) << shown;
}

class QuestionTest : public testing::Test {
 protected:
  void SetUp() override {
    machine_.Write(machine_.home() + "/.config/gate/rules.d/a.json",
                   R"({"schema": 1, "pack": "p", "rules": [{"id": "p.a",
      "action": "ask", "reason": "r", "match": {"prefix": ["touch"]}}]})",
                   0600);
    const auto [code, text] =
        machine_.OnTerminal({"pending", "discard", "00000000"}, "");
    if (Machine::NoPerson(text))
      GATE_SKIP_WITHOUT("person") << "an agent runs this test: " << text;
  }
  bool There(const std::string& name) const {
    return machine_.Exists(machine_.project() + "/" + name);
  }
  Machine machine_;
};

TEST_F(QuestionTest, ShowsTheWholeLineAndWhereItRuns) {
  const std::string command = "touch a" + std::string(400, ' ') + "; touch " +
                              std::string(200, '%') + "; touch evil";
  const auto [code, text] = machine_.OnTerminal({"run", "-c", command}, "n");
  EXPECT_EQ(code, 126) << text;
  EXPECT_TRUE(Has(text, "  | touch a‹400 spaces›; touch %%")) << text;
  EXPECT_TRUE(Has(text, "; touch evil\r\n")) << text;
  EXPECT_EQ(Count(text, "%"), 200u) << text;
  EXPECT_TRUE(Has(text, "in        " + machine_.project())) << text;
  EXPECT_FALSE(There("a"));
}

TEST_F(QuestionTest, OnlyWhatIsOfferedIsAYes) {
  const struct {
    const char* answer;
    bool runs;
    bool told;
  } kRows[] = {{"y", true, false},  {"Y", true, false}, {"n", false, false},
               {"N", false, false}, {"s", false, true}, {"S", false, true},
               {"x", false, true},  {"1", false, true}};
  for (const auto& row : kRows) {
    const std::string name = std::string("made-") + row.answer;
    auto [code, text] =
        machine_.OnTerminal({"run", "-c", "touch " + name}, row.answer);
    EXPECT_EQ(There(name), row.runs) << row.answer << text;
    EXPECT_EQ(Has(text, "was not offered: taken for no"), row.told)
        << row.answer << text;
  }
  // A preview whose question then gets what is not offered is committed not at
  // all.
  auto [code, text] = machine_.OnTerminal({"run", "-c", "touch made-P"}, "Py");
  EXPECT_TRUE(Has(text, "Commit? [a]ll")) << text;
  EXPECT_FALSE(There("made-P")) << text;
}

TEST_F(QuestionTest, SaysWhereAYesLetsItRun) {
  constexpr char kWhere[] = "as the person would run it";
  const auto squeezed = [](const std::string& text) {
    std::string out;
    for (const char c : text)
      if (c != '\r' && c != '\n' && c != '+' &&
          (c != ' ' || !out.ends_with(' ')))
        out += c;
    return out;
  };
  const std::string command = "touch ../../elsewhere";
  auto [code, text] = machine_.OnTerminal({"run", "-c", command}, "n");
  EXPECT_TRUE(Has(squeezed(text), kWhere)) << text;
  const test::Done refused = machine_.Gate({"run", "-c", command});
  const size_t at = refused.err.find("gate approve ");
  ASSERT_NE(at, std::string::npos) << refused.err;
  const std::string id = refused.err.substr(at + 13, 36);
  for (const char* answer : {"s", "y"}) {
    std::tie(code, text) = machine_.OnTerminal({"approve", id}, answer);
    EXPECT_TRUE(Has(squeezed(text), kWhere)) << text;
    EXPECT_FALSE(Has(text, "[s]andbox")) << text;
    EXPECT_EQ(code, *answer == 'y' ? 0 : 126) << text;
  }
  EXPECT_EQ(machine_.Gate({"run", "-c", command}).exit_code, 0);
  EXPECT_TRUE(machine_.Exists(machine_.home() + "/../elsewhere"));
}

TEST_F(QuestionTest, AYesNeedsEveryPageToBeSeen) {
  std::string command = "touch a";
  for (int i = 0; i < 60; ++i) command += "\n: " + std::to_string(i);
  command += "\ntouch evil";
  auto [code, text] = machine_.OnTerminal({"run", "-c", command}, "y");
  EXPECT_EQ(code, 126) << text;
  EXPECT_FALSE(Has(text, "evil")) << "it was not shown, so it was not asked";
  EXPECT_FALSE(There("a"));
  std::tie(code, text) = machine_.OnTerminal({"run", "-c", command}, "   y");
  EXPECT_TRUE(Has(text, "  | touch evil")) << text;
  EXPECT_EQ(code, 0) << text;
  EXPECT_TRUE(There("evil"));
}

TEST_F(QuestionTest, ALineThatIsTooLongIsAnsweredByApproveOnly) {
  const std::string command =
      "touch a; : " + std::string(kMaxAnsweredBytes, 'x') + "; touch evil";
  auto [code, text] = machine_.OnTerminal({"run", "-c", command}, "y");
  EXPECT_EQ(code, 126) << text;
  EXPECT_FALSE(There("a"));
  EXPECT_TRUE(Has(text, "gate pending")) << text;
  const size_t at = text.find("gate approve ");
  ASSERT_NE(at, std::string::npos) << text;
  const std::string id = text.substr(at + 13, 36);
  EXPECT_TRUE(Has(machine_.Gate({"pending"}).out, "; touch evil"));
  std::tie(code, text) = machine_.OnTerminal({"approve", id}, "y");
  EXPECT_EQ(code, 126) << text;
  std::tie(code, text) = machine_.OnTerminal({"approve", id}, "  y");
  EXPECT_EQ(code, 0) << text;
  EXPECT_TRUE(Has(text, "touch evil\r\n")) << text;
}

TEST(UsageTest, WhatIsQuotedCannotDriveTheTerminal) {
  const Machine machine;
  const std::string evil = "\x1b[2J\n\u202ex";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{evil},
        {"--" + evil},
        {"run", "--network", evil, "ls"},
        {"run", "--timeout", evil, "ls"},
        {"run", "--" + evil, "x", "ls"},
        {"sandbox", "--profile", evil, "true"},
        {"sandbox", "--backend", evil, "true"},
        {"sandbox", "--cwd", "/" + evil, "true"},
        {"approve", evil},
        {"pending", "show", evil},
        {"pending", evil},
        {"rules", evil},
        {"rules", "show", evil},
        {"audit", evil},
        {"check", "--why-not", evil, "ls"},
        {"explain", "--cwd", evil, "--" + evil},
        {"install", evil},
        {"trust", "--" + evil},
        {"backends", evil},
        {"doctor", evil},
        {"replay", evil}}) {
    const test::Done done = machine.Gate(words);
    for (const std::string& text : {done.out, done.err}) {
      EXPECT_FALSE(Has(text, "\x1b")) << words[0] << ": " << text;
      EXPECT_FALSE(Has(text, "\u202e")) << words[0] << ": " << text;
    }
  }
}

}  // namespace
}  // namespace gate::app
