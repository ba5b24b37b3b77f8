// Rules of Gemini CLI and dcg: faithful or refused with the line.
#include <gtest/gtest.h>

#include "rules/data.h"
#include "rules/import.h"
#include "rules/policy.h"
#include "tests/rules/import_support.h"

namespace gate::rules {
namespace {

TEST(ImportGemini, ReadsRulesAboutItsShell) {
  const Imported imported = Import("gemini", R"J(
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git log", "git status"]
decision = "allow"
priority = 200
modes = ["default", "autoEdit", "plan", "yolo"]

[[rule]]
toolName = ["run_shell_command", "other"]
commandPrefix = "git"
decision = "ask_user"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandRegex = "rm .*-rf?"
decision = "deny"
priority = 10
denyMessage = "no"

[[rule]]
toolName = "write_file"
decision = "deny"
priority = 10
)J");
  EXPECT_EQ(Errors(imported), 0u)
      << (imported.diagnostics.empty() ? "" : Render(imported.diagnostics[0]));
  ASSERT_EQ(imported.rules.size(), 3u);
  EXPECT_EQ(imported.rules[0]["action"], "allow");
  EXPECT_EQ(imported.rules[0]["match"]["any"][1]["prefix"],
            Json::parse(R"J(["git", "status"])J"));
  EXPECT_EQ(imported.rules[1]["action"], "ask");
  EXPECT_EQ(imported.rules[1]["match"]["unless"]["any"].size(), 1u)
      << "an allow of higher priority wins over an ask";
  EXPECT_EQ(imported.rules[2]["action"], "deny");
  EXPECT_EQ(imported.rules[2]["reason"], "no");
  EXPECT_FALSE(imported.rules[2]["match"].contains("unless"));
  EXPECT_EQ(imported.diagnostics.size(), 1u) << "a note on the other tool";
  EXPECT_EQ(imported.diagnostics[0].line, 22u);
  ExpectLoads(imported);
}

TEST(ImportGemini, RefusesTheRestWithItsLine) {
  const std::string start = "\n[[rule]]\ntoolName = \"run_shell_command\"\n";
  const std::string good = start + "decision = \"allow\"\npriority = 1\n";
  const std::string kBad[] = {
      good,  // every command
      good + "commandPrefix = \"bash\"\n",
      good + "commandPrefix = \"echo $X\"\n",
      good + "commandPrefix = \"a && b\"\n",
      good + "commandRegex = \"npm test\"\n",
      good + "commandPrefix = \"ls\"\nmodes = [\"yolo\"]\n",
      good + "commandPrefix = \"ls\"\ninteractive = true\n",
      good + "commandPrefix = \"ls\"\nargsPattern = \"x\"\n",
      good + "commandPrefix = \"ls\"\nsubagent = \"x\"\n",
      good + "commandPrefix = \"ls\"\ncommandRegex = \"x\"\n",
      start + "decision = \"deny\"\npriority = 1\ncommandRegex = \"a(?!b)\"\n",
      start + "decision = \"deny\"\npriority = 1\ncommandRegex = \"^a\"\n",
      start + "decision = \"maybe\"\npriority = 1\ncommandPrefix = \"ls\"\n",
      start + "decision = \"deny\"\ncommandPrefix = \"ls\"\n",
      start + "priority = 1\ncommandPrefix = \"ls\"\n",
      "\n[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 1\n",
      "\n[[rule]]\ndecision = \"deny\"\npriority = 1\n",
      "\n[[safety_checker]]\ntoolName = \"run_shell_command\"\n",
      "\n[other]\nx = 1\n",
      "\nx = \n",
  };
  for (const std::string& text : kBad) {
    const Imported imported = Import("gemini", text);
    ASSERT_GE(Errors(imported), 1u) << text;
    EXPECT_GE(imported.diagnostics[0].line, 2u) << text;
    EXPECT_TRUE(imported.rules.empty()) << text;
  }
  EXPECT_EQ(Errors(Import("gemini", "")), 1u);
}

TEST(ImportGemini, ReadsTheListsOfItsSettings) {
  const Imported imported = Import("gemini", R"J({
  "coreTools": ["ReadFileTool", "run_shell_command(git status)",
                "ShellTool(ls)"],
  "tools": {
  "exclude" : ["run_shell_command(rm -rf)"],
              "allowed" : ["run_shell_command(npm run lint)"]}})J");
  EXPECT_EQ(Errors(imported), 0u);
  ASSERT_EQ(imported.rules.size(), 3u);
  EXPECT_EQ(imported.rules[0]["action"], "deny");
  EXPECT_EQ(imported.rules[0]["match"]["unless"]["any"].size(), 2u);
  EXPECT_EQ(imported.rules[1]["match"]["prefix"],
            Json::parse(R"J(["rm", "-rf"])J"));
  EXPECT_EQ(imported.rules[2]["action"], "allow");
  ExpectLoads(imported);
  for (const char* text :
       {R"J({"excludeTools": ["run_shell_command"]})J",
        R"J({"coreTools": ["ReadFileTool"]})J",
        R"J({"allowedTools": ["run_shell_command"]})J",
        R"J({"allowedTools": ["run_shell_command(python3)"]})J",
        R"J({"coreTools": ["run_shell_command(a; b)"]
  })J",
        R"J({"coreTools": "run_shell_command"})J", R"J({"x": 1})J", "{"})
    EXPECT_GE(Errors(Import("gemini", text)), 1u) << text;
}

constexpr char kPack[] = R"J(# a pack
schema_version: 1
id: cloud.acme
name: "Acme"
version: 1.0.0
keywords: [acme, "acmectl"]
destructive_patterns:
  - name: wipe
    pattern: acmectl\s+wipe
    severity: critical
    description: it wipes
    explanation: |
      Two lines
      of text.
  - name: dry
    pattern: '^acmectl drop(?!.*--dry-run)'
  - name: warn
    pattern: acmectl\s+stop
    severity: medium
safe_patterns:
- name: help
  pattern: acmectl\s+.*--help
)J";

TEST(ImportDcg, ReadsAPack) {
  const Imported imported = Import("dcg", kPack);
  EXPECT_EQ(Errors(imported), 0u)
      << (imported.diagnostics.empty() ? "" : Render(imported.diagnostics[0]));
  ASSERT_EQ(imported.rules.size(), 3u);
  EXPECT_EQ(imported.rules[0]["action"], "deny");
  EXPECT_EQ(imported.rules[0]["reason"], "it wipes");
  EXPECT_EQ(imported.rules[0]["match"]["unless"]["any"][0]["regex"],
            "acmectl\\s+.*--help");
  EXPECT_EQ(imported.rules[1]["match"]["regex"], "^acmectl drop");
  EXPECT_EQ(imported.rules[1]["match"]["unless"]["any"][1]["regex"],
            "^acmectl drop(?:.*--dry-run)");
  EXPECT_EQ(imported.rules[2]["mode"], "observe") << "dcg only warns of it";
  ExpectLoads(imported);
}

TEST(ImportDcg, RefusesPatternsThatMeanSomethingElse) {
  const auto pack = [](const std::string& pattern) {
    return "id: a.b\ndestructive_patterns:\n- name: x\n  pattern: '" + pattern +
           "'\n";
  };
  EXPECT_EQ(Errors(Import("dcg", pack("acme x"))), 0u);
  for (const char* pattern :
       {"a(?!b)", "(?<=a)b", "^a+(?!.*b)", "^a(?!.*(?!b))", "a && b", "a > b",
        "a\\|b", "(a)\\1", "a;", ".*", "a\"b"}) {
    const Imported imported = Import("dcg", pack(pattern));
    EXPECT_EQ(Errors(imported), 1u) << pattern;
    EXPECT_EQ(imported.diagnostics[0].line, 3u) << pattern;
    EXPECT_TRUE(imported.rules.empty()) << pattern;
  }
  for (const char* text :
       {"id: a.b\n", "id: a.b\ndestructive_patterns:\n- name: x\n",
        "id: a.b\nextra: 1\ndestructive_patterns:\n- name: x\n  pattern: y\n",
        "id: a.b\ndestructive_patterns:\n- name: x\n  pattern: y\n"
        "  severity: bad\n",
        "id: &a b\n", "id: {a: b}\n", "id: a\nid: b\n", "id: 'open\n",
        "id:\n\tx: 1\n", "id: a\n  b\n"})
    EXPECT_GE(Errors(Import("dcg", text)), 1u) << text;
}

TEST(ImportDcg, BlocksAreCarriedOverAndAllowsAreNot) {
  const Imported imported = Import("dcg", R"J([general]
x = 1
[overrides]
block = [{pattern = "acmectl wipe", reason = "no"}, "acmectl drop"]
)J");
  EXPECT_EQ(Errors(imported), 0u);
  ASSERT_EQ(imported.rules.size(), 2u);
  EXPECT_EQ(imported.rules[0]["reason"], "no");
  ExpectLoads(imported);
  for (const char* text :
       {"[[allow]]\nrule = \"a:b\"\nreason = \"r\"\n",
        "[overrides]\nallow = [\"x\"]\n", "[policy]\ndefault_mode = \"warn\"\n",
        "[unknown]\nx = 1\n", "[overrides]\nblock = [1]\n", "[x\n"})
    EXPECT_GE(Errors(Import("dcg", text)), 1u) << text;
}

TEST(SimpleYaml, EndsAtEveryCutOfItsText) {
  const std::string text = kPack;
  for (size_t i = 0; i <= text.size(); ++i) {
    const auto value = ReadSimpleYaml(std::string_view(text).substr(0, i));
    if (value) continue;
    EXPECT_LE(value.error().line, 30u);
  }
  EXPECT_FALSE(ReadSimpleYaml(std::string(5000, '-')));
  std::string deep;
  for (int i = 0; i < 300; ++i)
    deep += std::string(static_cast<size_t>(i), ' ') + "a:\n";
  EXPECT_FALSE(ReadSimpleYaml(deep));
}

// Texts that gate would never see so: carried over they would be rules that
// stop nothing.
TEST(ImportAll, WhatGateResolvesBeforeItMatchesIsRefused) {
  struct Row {
    const char *format, *text;
  };
  constexpr Row kRows[] = {
      {"claude", R"J({"permissions": {"deny": ["Bash(FOO=1 x *)"]}})J"},
      {"claude", R"J({"permissions": {"deny": ["Bash(time *)"]}})J"},
      {"claude", R"J({"permissions": {"deny": ["Bash(for *)"]}})J"},
      {"claude", R"J({"permissions": {"deny": ["*"]}})J"},
      {"opencode", R"J({"permission": {"*": "deny",
                        "bash": {"git status": "allow"}}})J"},
      {"opencode", R"J({"permission": {"bash": {"rm *": "deny"}},
                        "tools": {"bash": false}})J"},
      {"opencode", R"J({"permission": {"bash": {"rm *": "deny"}},
                        "agent": {"a": {"permission": {"bash": "deny"}}}})J"},
      {"codex", R"J(prefix_rule(pattern=["A=1"], decision="forbidden"))J"},
      {"codex",
       R"J(prefix_rule(pattern=[["x", "time"]], decision="forbidden"))J"},
      {"cc-safety-net", R"J({"version": 1, "rules": [], "x": true})J"},
      {"cc-safety-net", R"J({"version": 1, "rules": [{"name": "n",
                     "command": "x", "block_args": ["--"], "reason": "r"}]})J"},
      {"gemini",
       "[[rule]]\ntoolName = \"run_shell_command\"\n"
       "commandRegex = \"rm -rf ~/x\"\ndecision = \"deny\"\npriority = 1\n"},
      {"gemini",
       "[[rule]]\ntoolName = \"run_shell_command\"\n"
       "commandPrefix = \"A=1 x\"\ndecision = \"deny\"\npriority = 1\n"},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(Errors(Import(row.format, row.text)), 1u) << row.text;
}

TEST(ImportDcg, PatternsOfTextThatGateResolvesAreRefused) {
  const auto errors = [](const char* pattern) {
    return Errors(Import(
        "dcg", std::string("[overrides]\nblock = ['") + pattern + "']\n"));
  };
  for (const char* pattern :
       {"rm \\$HOME", "rm ~/x", "LD_PRELOAD=", "x &", "a[|]b", "f\\(\\)",
        "a\\\\b", "x\\Qy\\E", "[a[bc]]", "[a--b]", "x #"})
    EXPECT_EQ(errors(pattern), 1u) << pattern;
  for (const char* pattern :
       {"git\\s+push\\b.*--force=", "dd .*of=/dev/(sd|nvme)[a-z0-9]+",
        "[]a]x[[:alpha:]]", "rm -rf /(etc|usr)"})
    EXPECT_EQ(errors(pattern), 0u) << pattern;
}

TEST(ImportClaude, AnAllowIsWrittenAsGateQuotesIt) {
  const auto import = [](const char* entry) {
    return Import("claude", std::string(R"({"permissions": {"allow": [")") +
                                entry + "\"]}}");
  };
  const Imported imported = import("Bash(tool CC=gcc *)");
  ASSERT_EQ(imported.rules.size(), 1u);
  EXPECT_EQ(imported.rules[0]["match"]["glob"], "tool 'CC=gcc' *");
  EXPECT_EQ(Errors(import("Bash(tool A=*)")), 1u);
}

}  // namespace
}  // namespace gate::rules
