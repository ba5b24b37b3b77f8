#include <gtest/gtest.h>

#include "audit/log.h"
#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

TEST(AuditCommandTest, ListShowStatsVerify) {
  const Machine machine;
  machine.Gate({"check", "ls"});
  machine.Gate({"check", "rm -rf /"});
  const Done list = machine.Gate({"audit", "list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_NE(list.out.find("rm -rf /"), std::string::npos) << list.out;
  EXPECT_EQ(
      machine.Gate({"audit", "list", "--action", "allow"}).out.find("rm -rf"),
      std::string::npos);
  EXPECT_EQ(
      machine.Gate({"audit", "list", "--text", "nothing like it"}).exit_code,
      1);
  const std::string shown = machine.Gate({"audit", "show"}).out;
  for (const char* part :
       {"decision 2  20", "\n  command    rm -rf /\n", "\n  decided    deny",
        "\n  rule       files.delete-system\n", "\n  hash       "})
    EXPECT_NE(shown.find(part), std::string::npos) << part << shown;
  EXPECT_NE(machine.Gate({"audit", "stats"}).out.find("2 records"),
            std::string::npos);
  // Ok, but nothing outside vouches for the end of it.
  const Done verify = machine.Gate({"audit", "verify"});
  EXPECT_EQ(verify.exit_code, 0) << verify.out << verify.err;
  EXPECT_NE(verify.out.find("not anchored"), std::string::npos) << verify.out;
  EXPECT_EQ(machine.Gate({"audit", "verify", "--require-anchor"}).exit_code, 3);
}

// Whatever is taken for a secret: text made to mislead the redaction, too.
TEST(AuditCommandTest, WhatARedactedLineDoesIsOnRecord) {
  const Machine machine;
  const struct {
    const char* line;
    const char* effect;
  } kRows[] = {
      {"echo \"$(echo \"a TOKEN='\")\"; rm notes.txt; echo \"'\"",
       "\"delete PROJECT/notes.txt\""},
      {"TOKEN=hunter2 mv a b", "\"move PROJECT/a PROJECT/b\""},
      {"curl -H 'Cookie: hunter2' https://x.example/", "x.example:443\""},
      {"TOKEN=hunter2; echo $TOKEN > f", "\"write PROJECT/f\""},
  };
  for (const auto& row : kRows) {
    machine.Gate({"check", row.line});
    const std::string shown = machine.Gate({"audit", "show", "--json"}).out;
    std::string effect = row.effect;
    for (size_t at; (at = effect.find("PROJECT")) != std::string::npos;)
      effect.replace(at, 7, machine.project());
    EXPECT_NE(shown.find("[redacted:"), std::string::npos) << shown;
    EXPECT_NE(shown.find(effect), std::string::npos) << effect << shown;
    EXPECT_EQ(shown.find("hunter2"), std::string::npos) << shown;
  }
  machine.Gate({"check", "rm notes.txt"});
  EXPECT_EQ(machine.Gate({"audit", "show"}).out.find("effects"),
            std::string::npos);
}

TEST(AuditCommandTest, WrongUsageIsNoAnswer) {
  const Machine machine;
  machine.Gate({"check", "ls"});
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"list", "--since", "foo"},
                                             {"stats", "--until", "foo"},
                                             {"list", "--action", "foo"},
                                             {"list", "--action", "deny,foo"},
                                             {"list", "--nonsense"},
                                             {"verify", "--nonsense"},
                                             {"net", "--nonsense"},
                                             {"verify", "--anchor", "foo"},
                                             {"show", "--nonsense"},
                                             {"nonsense"}}) {
    std::vector<std::string> all = {"audit"};
    all.insert(all.end(), words.begin(), words.end());
    const Done done = machine.Gate(all);
    EXPECT_EQ(done.exit_code, 64) << words[0] << " " << words.back();
    EXPECT_EQ(done.out, "") << words[0];
  }
  EXPECT_EQ(machine.Gate({"audit", "list", "--action", "deny,allow"}).exit_code,
            0);
}

TEST(AuditCommandTest, ADirectoryIsMeantAsItIsWritten) {
  const Machine machine;
  machine.Write(machine.project() + "/below/file", "");
  machine.Gate({"check", "ls"});
  for (const auto& [directory, exit_code] :
       std::vector<std::pair<std::string, int>>{
           {".", 0},
           {"./", 0},
           {"..", 0},
           {"../project", 0},
           {"below/..", 0},
           {machine.project() + "/../project/", 0},
           {machine.project(), 0},
           {"below", 1},
           {machine.project() + "/below", 1}})
    EXPECT_EQ(machine.Gate({"audit", "list", "--cwd", directory}).exit_code,
              exit_code)
        << directory;
}

TEST(AuditCommandTest, NothingFoundIsSaidAndEndsAlikeInEveryForm) {
  const Machine machine;
  machine.Gate({"check", "ls"});
  for (const char* command : {"list", "stats"})
    for (const char* form : {"--reverse", "--json"}) {
      const Done done =
          machine.Gate({"audit", command, "--mode", "chekc", form});
      EXPECT_EQ(done.exit_code, 1) << command << form;
      EXPECT_EQ(done.err, "gate: no record matches\n") << command << form;
    }
}

TEST(AuditCommandTest, VerifyPrintsTheAnchorThatItTakes) {
  const Machine machine;
  machine.Gate({"check", "ls"});
  const std::string out = machine.Gate({"audit", "verify"}).out;
  const size_t at = out.find("\nanchor ");
  ASSERT_NE(at, std::string::npos) << out;
  const std::string anchor =
      out.substr(at + 8, out.find('\n', at + 1) - at - 8);
  EXPECT_EQ(test::Count(anchor, ":"), 2u) << anchor;
  EXPECT_NE(machine.Gate({"audit", "verify", "--json"})
                .out.find("\"anchor\":\"" + anchor + "\""),
            std::string::npos);
  machine.Gate({"check", "ls"});
  const Done later = machine.Gate({"audit", "verify", "--anchor", anchor});
  EXPECT_EQ(later.exit_code, 0) << later.out << later.err;
}

TEST(AuditCommandTest, VerifySaysWhatIsGoneAtTheFront) {
  const Machine machine;
  for (int i = 0; i < 3; ++i) machine.Gate({"check", "ls"});
  std::string anchor;
  {
    auto log = audit::Log::Open(machine.state(), {});
    ASSERT_TRUE(log) << log.error().message;
    anchor = *log->Head();
    ASSERT_EQ(*log->Prune(UINT64_MAX, "older than 90 days"), 3u);
  }
  const struct {
    std::vector<std::string> words;
    const char* says;
  } kRows[] = {
      {{"audit", "verify", "--require-anchor"}, "give it as --anchor"},
      {{"audit", "verify", "--anchor", anchor}, "; unanchored: the anchor's"},
      {{"audit", "verify", "--anchor", anchor.substr(anchor.rfind(':') + 1)},
       "; unanchored: the anchor's"},
  };
  for (const auto& row : kRows) {
    const Done text = machine.Gate(row.words);
    EXPECT_EQ(text.exit_code, 3) << text.out << text.err;
    EXPECT_NE(text.out.find(row.says), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("\nrecords up to 3 were removed by a prune, says "
                            "record 4 of "),
              std::string::npos)
        << text.out;
    std::vector<std::string> words = row.words;
    words.push_back("--json");
    const Done json = machine.Gate(words);
    EXPECT_NE(json.out.find("\"first\":4,\"pruned_through\":3"),
              std::string::npos)
        << json.out;
  }
}

TEST(AuditCommandTest, SecretsAreNotStored) {
  const Machine machine;
  machine.Gate({"check",
                "curl -H 'Authorization: Bearer canary-123' "
                "https://user:canary-456@example.com"});
  for (const char* file : {"/audit.db", "/audit.db-wal"})
    EXPECT_EQ(machine.Read(machine.state() + file).find("canary-"),
              std::string::npos);
  EXPECT_NE(machine.Gate({"audit", "list"}).out.find("[redacted:"),
            std::string::npos);
}

TEST(AuditCommandTest, AForeignFileIsNotALog) {
  const Machine machine;
  machine.Write(machine.state() + "/audit.db", "not a database", 0600);
  EXPECT_EQ(machine.Gate({"check", "ls"}).exit_code, 1);
  EXPECT_EQ(machine.Gate({"audit", "verify"}).exit_code, 2);
}

}  // namespace
}  // namespace gate
