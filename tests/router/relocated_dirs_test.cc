#include "router/relocated_dirs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "router/plan.h"
#include "tests/support/temporary_directory.h"

namespace gate::router {
namespace {

constexpr char kHome[] = "/home/user";

std::vector<std::string> Secrets(const std::vector<std::string>& environment,
                                 const std::string& workspace = "") {
  return SecretsAt(RelocatedDirs(environment, kHome), workspace);
}

bool Has(const std::vector<std::string>& list, const std::string& item) {
  return std::ranges::find(list, item) != list.end();
}

TEST(RelocatedDirs, SecretsLieWhereVariablesLead) {
  struct Row {
    const char *entry, *secret;
  };
  for (const Row& row : {
           Row{"XDG_CONFIG_HOME=/x", "/x/gh"},
           Row{"XDG_CONFIG_HOME=/x/", "/x/git/credentials"},
           Row{"XDG_DATA_HOME=/x", "/x/keyrings"},
           Row{"XDG_CACHE_HOME=/x", "/x/huggingface/token"},
           Row{"CLAUDE_CONFIG_DIR=/x", "/x/.credentials.json"},
           Row{"CLAUDE_CONFIG_DIR=/x", "/x/projects"},
           Row{"CODEX_HOME=/x", "/x/auth.json"},
           Row{"CARGO_HOME=/x", "/x/credentials.toml"},
           Row{"GNUPGHOME=/x/gpg", "/x/gpg"},
           Row{"GH_CONFIG_DIR=/x/../y", "/y"},
           Row{"DOCKER_CONFIG=/home/user/other", "/home/user/other"},
           Row{"KUBECONFIG=/x/one:/x/two", "/x/one"},
           Row{"KUBECONFIG=/x/one:relative:/x/two", "/x/two"},
           Row{"AWS_SHARED_CREDENTIALS_FILE=~/aws", "/home/user/aws"},
           Row{"AWS_CONFIG_FILE=/x/aws", "/x/aws"},
           Row{"PGPASSFILE=/x/pg", "/x/pg"},
           Row{"NPM_CONFIG_USERCONFIG=/x/npm", "/x/npm"},
           Row{"npm_config_userconfig=/x/npm", "/x/npm"},
           Row{"GOOGLE_APPLICATION_CREDENTIALS=/x/key", "/x/key"},
       })
    EXPECT_TRUE(Has(Secrets({"A=/z", row.entry}), row.secret)) << row.entry;
}

TEST(RelocatedDirs, AWrongValueHidesNothingThatHoldsOtherThings) {
  for (const char* entry :
       {"GNUPGHOME=", "GNUPGHOME=gpg", "GNUPGHOME=/", "GNUPGHOME=//.",
        "GNUPGHOME=/home/user", "GNUPGHOME=/home", "GNUPGHOME=/home/other",
        "GNUPGHOME=/usr", "GNUPGHOME=/etc", "GNUPGHOME=/var",
        "KUBECONFIG=", "KUBECONFIG=::", "AWS_CONFIG_FILE=/dev/null",
        "HISTFILE=/dev/null", "GNUPGHOME=/work", "GNUPGHOME=/work/project",
        "NOTGNUPGHOME=/x", "GNUPGHOME"})
    EXPECT_EQ(Secrets({entry}, "/work/project"), std::vector<std::string>())
        << entry;
}

TEST(RelocatedDirs, WhatLiesThereAnywayIsNoOther) {
  for (const char* entry :
       {"XDG_CONFIG_HOME=/home/user/.config", "GNUPGHOME=/home/user/.gnupg/",
        "KUBECONFIG=/home/user/.kube/config", "CODEX_HOME=~/.codex"})
    EXPECT_TRUE(RelocatedDirs({entry}, kHome).empty()) << entry;
}

TEST(RelocatedDirs, ALinkToAHomeIsAsWideAsTheHome) {
  const TemporaryDirectory place;
  const std::string home = place.path() + "/home", link = place.path() + "/l";
  std::filesystem::create_directory(home);
  std::filesystem::create_directory_symlink(home, link);
  EXPECT_TRUE(
      SecretsAt(RelocatedDirs({"GNUPGHOME=" + link}, home), "").empty());
}

TEST(RelocatedDirs, WhatIsObeyedThereIsProtected) {
  ProfileInputs inputs;
  inputs.workspace = "/work/project";
  inputs.home = kHome;
  inputs.relocated_dirs = RelocatedDirs(
      {"CLAUDE_CONFIG_DIR=/work/project/c", "CODEX_HOME=/elsewhere",
       "XDG_CONFIG_HOME=/work/project/x"},
      kHome);
  const auto profile = *MakeProfile(rules::ProfileKind::kWorkspaceWrite, inputs,
                                    backends::Network::kNone);
  for (const char* path :
       {"/work/project/c/settings.json", "/work/project/c/hooks",
        "/work/project/x/systemd", "/work/project/x/fish",
        "/work/project/x/git/config"})
    EXPECT_TRUE(Has(profile.protect, path)) << path;
  EXPECT_TRUE(Has(profile.alias_checked_paths, "/elsewhere/config.toml"));
  EXPECT_FALSE(Has(profile.protect, "/work/project/c"));
  EXPECT_TRUE(Has(profile.deny_read, "/work/project/c/.credentials.json"));
}

}  // namespace
}  // namespace gate::router
