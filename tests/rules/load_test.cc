// Files of the layers: who owns them, what they are.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "rules/policy.h"

namespace gate::rules {
namespace {

constexpr char kGood[] =
    R"({"schema": 1, "pack": "p", "rules": [{"id": "a", "action": "deny",
       "reason": "r", "match": {"program": "x"}}]})";

class Load : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/gate-rules-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    user_ = root_ + "/user";
    project_ = root_ + "/project";
    ASSERT_EQ(mkdir(user_.c_str(), 0700), 0);
    ASSERT_EQ(mkdir(project_.c_str(), 0755), 0);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text,
             mode_t mode = 0600) {
    std::ofstream(path) << text;
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
  }
  Policy Read() {
    PolicySources sources;
    sources.user_dir = user_;
    sources.project_dir = project_;
    sources.owner = geteuid();
    sources.builtin = false;
    return LoadPolicy(sources);
  }

  std::string root_, user_, project_;
};

TEST_F(Load, MissingDirectoriesAreFine) {
  PolicySources sources;
  sources.user_dir = root_ + "/nowhere";
  sources.system_dir = root_ + "/nowhere";
  sources.builtin = false;
  EXPECT_EQ(LoadPolicy(sources).floor(), Action::kAllow);
}

TEST_F(Load, AFileWithNearlyTheNameOfARuleFileIsNotLeftOutInSilence) {
  for (const char* name : {"a.jsonc", "a.JSON", "a.json5"}) {
    Write(user_ + "/" + name, kGood);
    const Policy policy = Read();
    EXPECT_EQ(policy.floor(), Action::kDeny) << name;
    EXPECT_FALSE(policy.diagnostics().empty()) << name;
    std::filesystem::remove(user_ + "/" + name);
  }
  Write(project_ + "/a.jsonc", kGood);
  EXPECT_EQ(Read().floor(), Action::kAsk);
}

TEST_F(Load, WhatStandsWhereADirectoryShouldRefuses) {
  PolicySources sources;
  sources.builtin = false;
  Write(root_ + "/file", "x");
  sources.user_dir = root_ + "/file/rules.d";
  EXPECT_EQ(LoadPolicy(sources).floor(), Action::kDeny);
  ASSERT_EQ(symlink("/nowhere/at/all", (root_ + "/link").c_str()), 0);
  sources.user_dir = root_ + "/link/rules.d";
  EXPECT_EQ(LoadPolicy(sources).floor(), Action::kDeny);
}

TEST_F(Load, ReadsJsonFilesOnly) {
  Write(user_ + "/a.json", kGood);
  Write(user_ + "/notes.txt", "not json");
  Write(user_ + "/.a.json.swp", "not json");
  EXPECT_EQ(Read().floor(), Action::kAllow);
}

TEST_F(Load, AUserFileThatOthersCanWriteRefuses) {
  Write(user_ + "/a.json", kGood, 0666);
  EXPECT_EQ(Read().floor(), Action::kDeny);
}

TEST_F(Load, LinksFifosAndDirectoriesAreNotRuleFiles) {
  Write(root_ + "/real.json", kGood);
  ASSERT_EQ(
      symlink((root_ + "/real.json").c_str(), (project_ + "/a.json").c_str()),
      0);
  EXPECT_EQ(Read().floor(), Action::kAsk);
  std::filesystem::remove(project_ + "/a.json");
  ASSERT_EQ(mkfifo((project_ + "/a.json").c_str(), 0644), 0);
  EXPECT_EQ(Read().floor(), Action::kAsk);
  std::filesystem::remove(project_ + "/a.json");
  ASSERT_EQ(mkdir((project_ + "/a.json").c_str(), 0755), 0);
  EXPECT_EQ(Read().floor(), Action::kAsk);
}

TEST_F(Load, TooLargeAFileRaisesTheFloor) {
  Write(project_ + "/a.json", std::string(kMaxRuleFileBytes + 1, ' '));
  EXPECT_EQ(Read().floor(), Action::kAsk);
}

TEST_F(Load, ATrustedHashCountsForTheseBytesOnly) {
  const std::string text =
      R"({"schema": 1, "pack": "p", "rules": [{"id": "a", "action": "allow",
         "reason": "r", "match": {"program": "x"}}]})";
  Write(project_ + "/a.json", text, 0644);
  PolicySources sources;
  sources.project_dir = project_;
  sources.builtin = false;
  sources.trusted_hashes = {FileHash(text)};
  EXPECT_TRUE(LoadPolicy(sources).diagnostics().empty());
  sources.trusted_hashes = {FileHash(text + " ")};
  EXPECT_FALSE(LoadPolicy(sources).diagnostics().empty());
}

TEST_F(Load, TheRevisionNamesTheBytes) {
  Write(user_ + "/a.json", kGood);
  const std::string first = Read().revision();
  EXPECT_EQ(first.size(), 64u);
  EXPECT_EQ(Read().revision(), first);
  Write(user_ + "/a.json", std::string(kGood) + "\n");
  EXPECT_NE(Read().revision(), first);
}

}  // namespace
}  // namespace gate::rules
