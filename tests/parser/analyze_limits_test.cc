// Hostile input: bounded, flagged, and the same every time.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

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

// AddressSanitizer keeps freed memory back, so that its build measures the
// sanitizer more than the reader; there the bound only catches a runaway.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// The most memory that this process ever had, in KiB.
long HighWater() {
  long kilobytes = 0;
  char line[256];
  FILE* status = std::fopen("/proc/self/status", "re");
  if (status == nullptr) return -1;
  while (std::fgets(line, sizeof line, status) != nullptr) {
    if (std::sscanf(line, "VmHWM: %ld", &kilobytes) == 1) break;
  }
  std::fclose(status);
  return kilobytes;
}

TEST(AnalyzeLimits, HostileTextHasAReasonAndBoundedMemory) {
  constexpr size_t kMebibyte = (1 << 20) - 64;
  constexpr long kMostKilobytes = kSanitized ? 512 << 10 : 64 << 10;
  struct Case {
    const char* name;
    std::string text;
    bool flagged = true;
  };
  const auto fill = [](std::string_view piece) {
    return Repeat(piece, kMebibyte / piece.size());
  };
  const Case cases[] = {
      {"NUL bytes", std::string(kMebibyte, '\0')},
      {"a NUL byte", std::string("rm a\0b", 6)},
      {"invalid UTF-8", fill("\xff")},
      {"bidirectional", fill("\xe2\x80\xae"), false},
      {"10 MiB", std::string(10 << 20, 'a')},
      {"10 MiB of commands", Repeat("ls\n", 3 << 20)},
      {"100,000 commands", Repeat("ls\n", 100000)},
      {"100,000 varied", Repeat("rm \"$x\" a$y\n", 80000)},
      {"depth 100,000", Repeat("(", 100000) + "ls" + Repeat(")", 100000)},
      {"substitutions", fill("$(")},
      {"parameters", fill("${a:-")},
      {"if", fill("if ")},
      {"open braces", fill("{a,")},
      {"braces", "echo " + fill("{a,b}")},
      {"pipes", fill("ls|") + "ls"},
      {"background", fill("ls & ")},
      {"backquotes", fill("`")},
      {"here-documents", fill("cat <<E\nx\nE\n")},
      {"here-documents without an end", fill("<<a\n")},
      {"a quote", "'" + fill("a")},
      {"a here-document", "cat <<E\n" + fill("a\n"), false},
      {"an expansion", "echo \"" + fill("a$x") + "\""},
      {"arithmetic", "echo $((" + fill("1+") + "1))"},
  };
  for (const Case& c : cases) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const long before = HighWater();
      const Analysis analysis = Analyze(c.text, TestContext());
      const bool reason =
          !c.flagged || (analysis.hides_commands && !analysis.unknowns.empty());
      const bool small = HighWater() - before <= kMostKilobytes;
      ::_exit((reason ? 0 : 1) + (small ? 0 : 2));
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << c.name;
    EXPECT_EQ(WEXITSTATUS(status) & 1, 0) << c.name << ": no reason";
    EXPECT_EQ(WEXITSTATUS(status) & 2, 0) << c.name << ": too much memory";
  }
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
