// Rules of other tools: faithful or refused with the line.
#include <gtest/gtest.h>

#include "rules/import.h"
#include "rules/policy.h"
#include "tests/rules/import_support.h"

namespace gate::rules {
namespace {

TEST(ImportCodex, ReadsCallsWithLiterals) {
  const Imported imported = Import("codex", R"J(# comment
SAFE = ["status", "log"]
prefix_rule(
    pattern = ["git", SAFE + ["diff"]],
    match = ["git status", ["git", "log"]], not_match = ["git push"],
)
prefix_rule(["rm", "-rf"], "forbidden", justification = "no")
prefix_rule(pattern = ["npm", 'publish'], decision = "prompt",)
)J");
  EXPECT_EQ(Errors(imported), 0u);
  ASSERT_EQ(imported.rules.size(), 3u);
  EXPECT_EQ(imported.rules[0]["action"], "allow");
  EXPECT_EQ(imported.rules[0]["match"]["prefix"],
            Json::parse(R"J(["git", ["status", "log", "diff"]])J"));
  EXPECT_EQ(imported.rules[0]["examples"]["match"][1], "git log");
  EXPECT_EQ(imported.rules[1]["action"], "deny");
  EXPECT_EQ(imported.rules[1]["reason"], "no");
  EXPECT_EQ(imported.rules[2]["action"], "ask");
  ExpectLoads(imported);
}

TEST(ImportCodex, RefusesMoreThanThatWithItsLine) {
  const char* const kBad[] = {
      "\nfor x in ['a']:\n  prefix_rule([x])\n",
      "\nprefix_rule([f\"x\"])\n",
      "\nprefix_rule([x for x in y])\n",
      "\nprefix_rule(pattern = [unknown])\n",
      "\nprefix_rule([\"a\"], decision = \"maybe\")\n",
      "\nprefix_rule([])\n",
      "\nprefix_rule([\"a\"], colour = \"red\")\n",
      "\nnetwork_rule(host = \"h\", protocol = \"https\", decision = "
      "\"allow\")\n",
      "\nhost_executable(name = \"git\", paths = [\"/usr/bin/git\"])\n",
      "\nprefix_rule([\"a\"\n",
      "\nprefix_rule([\"a\n",
      "\nprefix_rule([\"@a\"])\n",
      "\nprefix_rule([\"a\"]) if True else None\n",
  };
  for (const char* text : kBad) {
    const Imported imported = Import("codex", text);
    ASSERT_EQ(Errors(imported), 1u) << text;
    EXPECT_GE(imported.diagnostics[0].line, 2u) << text;
    EXPECT_TRUE(imported.rules.empty()) << text;
  }
}

TEST(ImportClaude, ReadsItsForms) {
  const Imported imported = Import("claude", R"J({"permissions": {
    "allow": ["Bash(npm run lint)", "Bash(git log:*)", "Bash(npm * --save)",
              "Read(./src/**)"],
    "ask": ["Bash(git push *)"], "deny": ["Bash(curl:*)"],
    "defaultMode": "plan"}
})J");
  EXPECT_EQ(Errors(imported), 0u);
  ASSERT_EQ(imported.rules.size(), 5u);
  EXPECT_EQ(imported.diagnostics.size(), 2u) << "notes on what stays there";
  bool log = false;
  for (const Json& rule : imported.rules) {
    log = log ||
          (rule["match"]["glob"] == "git log *" && rule["action"] == "allow");
  }
  EXPECT_TRUE(log);
  ExpectLoads(imported);
}

TEST(ImportClaude, RefusesWhatWouldLoosenOrMeanSomethingElse) {
  for (const char* entry :
       {"Bash", "Bash(*)J", "Bash(python3 *)J", "Bash(bash:*)J",
        "Bash(* --help)J", "Bash(echo 'x')J", "Bash(a && b)J", "Bash(echo $X)J",
        "Bash()J", "Bash(x"}) {
    const Imported imported =
        Import("claude", "{\"permissions\": {\n\"allow\": [\n\"" +
                             std::string(entry) + "\"]}}");
    ASSERT_EQ(Errors(imported), 1u) << entry;
    EXPECT_EQ(imported.diagnostics[0].line, 3u) << entry;
    EXPECT_TRUE(imported.rules.empty()) << entry;
  }
  EXPECT_EQ(Errors(Import("claude", "{}")), 1u);
  EXPECT_EQ(Errors(Import("claude", "{")), 1u);
}

TEST(ImportOpencode, TheLastMatchBecomesUnless) {
  const Imported imported = Import("opencode", R"J({"permission": {"bash": {
    "git *": "ask", "git log *": "allow", "git push *": "deny",
    "git push origin *": "allow"}}})J");
  EXPECT_EQ(Errors(imported), 0u);
  ASSERT_EQ(imported.rules.size(), 4u);
  EXPECT_EQ(imported.rules[0]["match"]["glob"], "git *");
  EXPECT_EQ(imported.rules[0]["match"]["unless"]["any"].size(), 2u);
  EXPECT_EQ(imported.rules[2]["action"], "deny");
  EXPECT_EQ(imported.rules[2]["match"]["unless"]["any"].size(), 1u);
}

TEST(ImportOpencode, RefusesABroadAllow) {
  EXPECT_EQ(
      Errors(Import("opencode", R"J({"permission": {"bash": "allow"}})J")), 1u);
  EXPECT_EQ(Errors(Import("opencode", R"J({"permission": {"bash": "ask"}})J")),
            1u);
  EXPECT_EQ(Errors(Import("opencode", R"J({"permission": {"bash": 1}})J")), 1u);
  EXPECT_EQ(Errors(Import("opencode",
                          R"J({"permission": {"bash": {"~/x": "deny"}}})J")),
            1u);
}

TEST(ImportSafetyNet, DeniesTheArgumentsInAnyPlace) {
  const Imported imported =
      Import("cc-safety-net", R"J({"version": 1, "rules": [
    {"name": "no-add-all", "command": "git", "subcommand": "add",
     "block_args": ["-A", "--all", "."], "reason": "stage by name"}]})J");
  EXPECT_EQ(Errors(imported), 0u);
  ASSERT_EQ(imported.rules.size(), 1u);
  EXPECT_EQ(imported.rules[0]["match"]["any"].size(), 2u);
  ExpectLoads(imported);
  for (
      const char* rule :
      {R"J({"name": "x", "command": "git", "block_args": [], "reason": "r"})J",
       R"J({"name": "x", "command": "git", "reason": "r"})J",
       R"J({"name": "x", "command": "git", "block_args": ["a*"], "reason": "r"})J",
       R"J({"name": "x", "command": "git", "block_args": ["a"], "reason": "r",
            "if": "x"})J"})
    EXPECT_EQ(Errors(Import("cc-safety-net", R"J({"version": 1, "rules": [)J" +
                                                 std::string(rule) + "]}")),
              1u)
        << rule;
}

}  // namespace
}  // namespace gate::rules
