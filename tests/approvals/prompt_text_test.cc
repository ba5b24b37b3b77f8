// What a person is shown before a yes: all that the yes is given to.
#include "approvals/prompt_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "approvals/approvals.h"
#include "tests/support/text.h"

namespace gate::app {
namespace {

using test::Count;
using test::Has;

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

}  // namespace
}  // namespace gate::app
