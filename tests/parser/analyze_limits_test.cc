// Hostile input: bounded, flagged, and the same every time.
#include <gtest/gtest.h>

#include "parser/predict.h"
#include "tests/parser/analyze_support.h"

namespace gate::parser {
namespace {

std::string Repeat(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(AnalyzeLimits, FlagsWhatItDoesNotFinish) {
  const std::string lines[] = {
      ":(){ :|:& };:",
      "f() { g x$1; }; g() { f y$1; }; f",
      "x=a; while :; do x=$x$x; $x; done",
      "for a in 1 2 3 4 5 6 7 8 9; do for b in 1 2 3 4 5 6 7 8 9; do for c "
      "in 1 2 3 4 5 6 7 8 9; do for d in 1 2 3 4 5 6 7 8 9; do for e in 1 2 "
      "3 4 5 6 7 8 9; do a1 $a$b$c$d$e; done; done; done; done; done",
      Repeat("a", 2 << 20),
      Repeat("eval ", 10000) + "$x",
  };
  for (const std::string& line : lines) {
    EXPECT_TRUE(Analyze(line, TestContext()).hides_commands)
        << line.substr(0, 60);
  }
}

TEST(AnalyzeLimits, HandlesManyCommands) {
  Analysis analysis = Analyze(Repeat("a1 b; ", 50000), TestContext());
  EXPECT_TRUE(analysis.hides_commands || analysis.invocations.size() >= 20000);
}

TEST(AnalyzeLimits, IsDeterministicAndKeepsSpansInside) {
  const std::string lines[] = {
      "x=$(a1 | b1) y=${x//a/b}; for i in $x; do eval $i; done",
      "a\"b$(c `d 'e'`)\" <<E | f\n$(g)\nE",
      "a1 \\\n b; \"$@\" *?[",
      "\xff\xfe$( \x01",
      "if then fi ((",
      "a1 \xe2\x80\xae b",
  };
  for (const std::string& line : lines) {
    Analysis first = Analyze(line, TestContext());
    EXPECT_EQ(PredictionToJson(first, "1"),
              PredictionToJson(Analyze(line, TestContext()), "1"));
    for (const Invocation& invocation : first.invocations) {
      EXPECT_LE(invocation.span.end, line.size());
      EXPECT_LE(invocation.span.begin, invocation.span.end);
    }
    for (const Unknown& unknown : first.unknowns) {
      EXPECT_LE(unknown.span.end, line.size());
    }
  }
}

TEST(AnalyzeLimits, ReportsHiddenCharacters) {
  Analysis analysis = Analyze("a1 \xe2\x80\xae b", TestContext());
  bool found = false;
  for (const Unknown& unknown : analysis.unknowns) {
    found = found || unknown.code == UnknownCode::kHiddenText;
  }
  EXPECT_TRUE(found);
}

TEST(AnalyzeArgv, NeverReadsShellSyntax) {
  Analysis analysis =
      AnalyzeArgv({"echo", "$(rm z)", ";", "rm", "*"}, TestContext());
  EXPECT_EQ(Show(analysis), "echo '$(rm z)' ';' rm '*'\n");
  EXPECT_EQ(Show(AnalyzeArgv({"sh", "-c", "rm z"}, TestContext())),
            "sh -c 'rm z'\nrm z [sh -c]\n");
}

TEST(Prediction, IsOneJsonObject) {
  Analysis analysis = Analyze("a1 \"b\" $x *.c > f", TestContext());
  EXPECT_EQ(PredictionToJson(analysis, "\"i\""),
            "{\"id\":\"i\",\"commands\":[{\"argv\":[\"a1\",\"b\",null,"
            "\"*.c\"]}],\"writes\":[\"f\"],\"dynamic\":false,"
            "\"parse_error\":false,\"reasons\":[\"dynamic_argument\"]}");
}

}  // namespace
}  // namespace gate::parser
