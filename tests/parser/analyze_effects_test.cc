// What a line touches, with paths resolved.
#include <gtest/gtest.h>

#include "tests/parser/analyze_support.h"

namespace gate::parser {
namespace {

std::string Effects(std::string_view line) {
  std::string out;
  for (const Effect& effect : Analyze(line, TestContext()).effects) {
    if (effect.kind == EffectKind::kExecuteFile) continue;
    out += Name(effect.kind);
    out += ' ';
    if (effect.kind == EffectKind::kNetwork) {
      out += effect.host + ":" + std::to_string(effect.port);
    } else {
      out += Show(effect.path);
      if (effect.kind == EffectKind::kMove) out += " " + Show(effect.target);
    }
    if (effect.recursive) out += " -r";
    out += '\n';
  }
  return out;
}

TEST(AnalyzeEffects, NohupWritesWhereNoFileTakesItsOutput) {
  static constexpr Case kCases[] = {
      {"nohup a1", "write /w/nohup.out\n"},
      {"cd /v; nohup a1 &", "write /v/nohup.out\nwrite /w/nohup.out\n"},
      {"nohup a1 | a2", "write /w/nohup.out\n"},
      {"nohup a1 2>/dev/null", "write /w/nohup.out\n"},
      {"nohup a1 >&2", "write /w/nohup.out\n"},
      {"nohup a1 >&-", "write /w/nohup.out\n"},
      {"nohup a1 > /dev/tty", "write /dev/tty\nwrite /w/nohup.out\n"},
      {"nohup a1 1<> /dev/tty",
       "read /dev/tty\nwrite /dev/tty\nwrite /w/nohup.out\n"},
      {"nohup a1 > /dev/null", ""},
      {"nohup a1 > /dev/null 2>&1 &", ""},
      {"nohup a1 >> f 2>&1", "write /w/f\n"},
      {"nohup --help", ""},
  };
  for (const Case& test : kCases) {
    EXPECT_EQ(Effects(test.line), test.expected) << test.line;
  }
}

TEST(AnalyzeEffects, ResolvesRedirections) {
  static constexpr Case kCases[] = {
      {"a1 > f", "write /w/f\n"},
      {"a1 >> ../f 2>/dev/null", "write /f\n"},
      {"a1 < f &> g", "read /w/f\nwrite /w/g\n"},
      {"cd /tmp && a1 > f", "write /tmp/f\n"},
      {"a1 > ~/f", "write /home/u/f\n"},
      {"a1 2>&1", ""},
      {"a1 > $x", "write ?\n"},
      {"a1 > /etc/$x", "write /etc/?\n"},
      {"exec 3<>/dev/tcp/h.example/80", "network h.example:80\n"},
  };
  for (const Case& test : kCases) {
    EXPECT_EQ(Effects(test.line), test.expected) << test.line;
  }
}

TEST(AnalyzeEffects, KnowsTheDirectoryMayNotHaveChanged) {
  EXPECT_EQ(Effects("cd /tmp; a1 > f"), "write /tmp/f\nwrite /w/f\n");
  EXPECT_EQ(Effects("cd /tmp || exit 1; a1 > f"), "write /tmp/f\n");
}

TEST(AnalyzeEffects, ReadsProgramsArguments) {
  EXPECT_NE(Effects("rm -rf /x/../y").find("delete /y -r"), std::string::npos);
  EXPECT_NE(Effects("cp a b").find("write /w/b"), std::string::npos);
  EXPECT_NE(Effects("mv a /b").find("move /w/a /b"), std::string::npos);
  EXPECT_NE(Effects("chmod 777 f").find("permission /w/f"), std::string::npos);
  EXPECT_NE(Effects("sudo sh -c 'echo x > /etc/f'").find("write /etc/f"),
            std::string::npos);
}

TEST(AnalyzeEffects, ListsShellWritesAsWritten) {
  Analysis analysis = Analyze("a1 > f; cd /t; b1 >> ./g", TestContext());
  ASSERT_EQ(analysis.shell_writes.size(), 2u);
  EXPECT_EQ(analysis.shell_writes[0].text, "f");
  EXPECT_EQ(analysis.shell_writes[1].text, "./g");
}

}  // namespace
}  // namespace gate::parser
