// What a person is shown before a yes: all that the yes is given to.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "approvals/prompt_text.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Count;
using test::Has;
using test::Machine;

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

}  // namespace
}  // namespace gate::app
