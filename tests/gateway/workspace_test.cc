// Which directory is the workspace of a session, and which never is one.
#include "gateway/workspace.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "router/relocated_dirs.h"
#include "tests/support/agent_home.h"

namespace gate::app {
namespace {

using test::AgentHome;

ProcessFacts FactsOf(const AgentHome& agent) {
  ProcessFacts facts;
  facts.uid = ::geteuid();
  facts.home = agent.home();
  facts.places.state = agent.state();
  return facts;
}

TEST(WorkspaceTest, SystemAndHomeDirectoriesAreNeverOne) {
  const AgentHome agent;
  ProcessFacts facts = FactsOf(agent);
  facts.places.config = agent.home() + "/.config/gate";
  for (const std::string& path :
       {std::string("/"), std::string("/etc"), std::string("/usr/bin"),
        std::string("/home"), std::string("/home/other"), agent.home(),
        agent.root(), std::string("/tmp"), std::string("/proc/self"),
        std::string("/dev/shm"), std::string("/dev/pts"), agent.state() + "/x"})
    EXPECT_EQ(FindWorkspace(facts, path), "") << path;
  EXPECT_EQ(FindWorkspace(facts, agent.project()), agent.project());
  struct stat shared{};
  if (::lstat("/dev/shm", &shared) == 0 && S_ISDIR(shared.st_mode)) {
    EXPECT_EQ(FindWorkspace(facts, "/dev/shm/project"), "/dev/shm/project");
  }
  agent.Write(agent.project() + "/Makefile", "");
  agent.Write(agent.project() + "/src/deep/x", "");
  EXPECT_EQ(FindWorkspace(facts, agent.project() + "/src/deep"),
            agent.project());
  // A link that looks like a project does not make its target writable.
  std::filesystem::create_directory_symlink("/etc", agent.project() + "/link");
  EXPECT_EQ(FindWorkspace(facts, agent.project() + "/link"), "");
}

TEST(WorkspaceTest, WhatAHomeHidesOrObeysIsNeverOne) {
  const AgentHome agent;
  ProcessFacts facts = FactsOf(agent);
  facts.places.config = agent.root() + "/elsewhere";
  struct Row {
    const char* place;
    bool may;
    const char* marker = "";
  };
  constexpr std::array kRows = {
      Row{".ssh", false},
      Row{".ssh/keys", false},
      Row{".gnupg/private-keys-v1.d", false},
      Row{".aws/sso/cache", false},
      Row{".config/gcloud/legacy", false},
      Row{".mozilla/firefox/profile", false},
      Row{".claude", false},
      Row{".claude/projects/p", false},
      Row{".claude/worktrees/w", false, ".claude/worktrees/w/.git"},
      Row{".claude", false, ".claude/.git"},
      Row{".codex/sessions/x", false},
      Row{".cursor/rules", false},
      Row{".config/opencode/plugin", false},
      Row{".copilot", false},
      Row{".config/amp", false},
      Row{".config/crush", false},
      Row{".config/Claude", false},
      Row{".config/zed", false},
      Row{".codeium/windsurf", false},
      Row{".gradle/init.d", false},
      Row{".gradle", false},
      Row{".config/pip", false},
      Row{".config/direnv/lib", false},
      Row{".config/systemd/user", false},
      Row{".config/autostart", false},
      Row{".config/fish/functions", false},
      Row{".local/share/systemd/user", false},
      Row{".local/bin", false},
      Row{".cargo/bin", false},
      Row{"bin/tools", false, "bin/tools/.git"},
      // What holds such places.
      Row{".config", false, ".config/.git"},
      Row{".local", false},
      // Ordinary projects beside them.
      Row{".config/nvim", true},
      Row{".config/nvim/lua", true, ".config/.git"},
      Row{".local/share/chezmoi", true},
      Row{"dotfiles", true, "dotfiles/.git"},
      Row{"sshkeys", true},
      Row{"project/.claude/worktrees/w", true},
      Row{"project/bin", true},
  };
  for (const Row& row : kRows) {
    const std::string place = agent.home() + "/" + row.place;
    std::filesystem::create_directories(place);
    const std::string marker = agent.home() + "/" + row.marker;
    if (*row.marker != '\0') std::filesystem::create_directories(marker);
    EXPECT_EQ(!FindWorkspace(facts, place).empty(), row.may) << row.place;
    if (*row.marker != '\0') std::filesystem::remove(marker);
  }
}

TEST(WorkspaceTest, AClosedPlaceStaysClosedByAnyName) {
  const AgentHome agent;
  ProcessFacts facts;
  facts.uid = ::geteuid();
  facts.home = agent.root() + "/me";
  facts.places.state = agent.state();
  namespace fs = std::filesystem;
  const std::string home = agent.home();
  fs::create_directory_symlink(home, facts.home);
  fs::create_directories(home + "/dotfiles/claude/agents");
  fs::create_directories(home + "/.codex/sessions");
  fs::create_directory_symlink("dotfiles/claude", home + "/.claude");
  fs::create_directory_symlink("../.codex", agent.project() + "/link");
  for (const std::string& name :
       {home + "/.codex", facts.home + "/.codex/sessions",
        agent.project() + "/link/sessions", facts.home + "/.claude/agents",
        home + "/dotfiles/claude", home + "/dotfiles/claude/agents"})
    EXPECT_EQ(FindWorkspace(facts, name), "") << name;
  EXPECT_EQ(FindWorkspace(facts, home + "/dotfiles"), home + "/dotfiles");
}

TEST(WorkspaceTest, WhatAVariablePutsElsewhereIsClosedThere) {
  const AgentHome agent;
  ProcessFacts facts = FactsOf(agent);
  namespace fs = std::filesystem;
  const std::string x = agent.project() + "/x";
  for (const char* name : {"claude/sub", "gpg", "config/systemd/user",
                           "config/nvim", "kube", "plain"})
    fs::create_directories(x + "/" + name);
  fs::create_directory_symlink(x + "/gpg", x + "/link");
  facts.relocated_dirs = router::RelocatedDirs(
      {"CLAUDE_CONFIG_DIR=" + x + "/claude", "GNUPGHOME=" + x + "/link",
       "XDG_CONFIG_HOME=" + x + "/config", "KUBECONFIG=" + x + "/kube",
       "DOCKER_CONFIG=" + agent.home(), "CODEX_HOME=/"},
      facts.home);
  for (const char* name : {"claude", "claude/sub", "gpg", "link", "config",
                           "config/systemd", "config/systemd/user"})
    EXPECT_EQ(FindWorkspace(facts, x + "/" + name), "") << name;
  for (const char* name : {"config/nvim", "kube", "plain"})
    EXPECT_EQ(FindWorkspace(facts, x + "/" + name), x + "/" + name) << name;
}

TEST(WorkspaceTest, APinOfAClosedPlaceCountsNoMore) {
  const AgentHome agent;
  const ProcessFacts facts = FactsOf(agent);
  const auto first =
      OpenSession(facts, "s", "", agent.project(), /*write=*/true);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->workspace, agent.project());
  // As an earlier version may have left it.
  const std::string place = agent.home() + "/.claude/agents";
  std::filesystem::create_directories(place);
  agent.Write(agent.state() + "/sessions/" + first->key + "/workspace", place,
              0600);
  const auto later = OpenSession(facts, "s", "", place, true);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->workspace, "");
}

// A run that may write above it has exchanged it for the link since.
TEST(WorkspaceTest, WhereThisIsCalledBecomesNoOtherPlaceByALink) {
  const AgentHome agent;
  const std::string other = agent.home() + "/other";
  const std::string link = agent.project() + "/sub";
  std::filesystem::create_directories(other + "/deep");
  std::filesystem::create_symlink(other, link);
  ProcessFacts facts = FactsOf(agent);
  for (const std::string& cwd : {link, link + "/deep"}) {
    facts.cwd = cwd;
    for (const char* id : {"", "s"}) {
      const auto session = OpenSession(facts, id, "", cwd, /*write=*/true);
      ASSERT_FALSE(session) << cwd << session->workspace;
      EXPECT_EQ(session.error().code, ErrorCode::kUnavailable);
    }
    // A link that a person asks for is one.
    facts.cwd = agent.project();
    const auto asked = OpenSession(facts, "", "", cwd, /*write=*/true);
    ASSERT_TRUE(asked);
    EXPECT_TRUE(asked->workspace.starts_with(other)) << asked->workspace;
  }
}

TEST(WorkspaceTest, ASessionStaysWhereItStarted) {
  const AgentHome agent;
  const ProcessFacts facts = FactsOf(agent);
  agent.Write(agent.project() + "/Makefile", "");
  agent.Write(agent.home() + "/other/Makefile", "");
  const auto first =
      OpenSession(facts, "s", "", agent.project() + "", /*write=*/true);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->workspace, agent.project());
  const auto later = OpenSession(facts, "s", "", agent.home() + "/other", true);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->workspace, agent.project());
}

TEST(WorkspaceTest, ATmpInUseIsNotRemovedHoweverOldItIs) {
  const AgentHome agent;
  ProcessFacts facts;
  facts.places.state = agent.state();
  const std::string sessions = agent.state() + "/sessions/";
  const auto tmp = [&](char c) {
    return sessions + std::string(32, c) + "/tmp";
  };
  const auto used = PrepareSessionTmp(facts, tmp('a'), 1000);
  ASSERT_TRUE(used && *used);
  ASSERT_TRUE(PrepareSessionTmp(facts, tmp('b'), 1000));  // ends at once
  constexpr uint64_t kInYears = 4'000'000'000'000;
  ASSERT_TRUE(PrepareSessionTmp(facts, tmp('c'), kInYears));
  EXPECT_TRUE(agent.Exists(tmp('a')));
  EXPECT_FALSE(agent.Exists(tmp('b')));
  EXPECT_TRUE(agent.Exists(tmp('c')));
  EXPECT_FALSE(PrepareSessionTmp(facts, agent.home() + "/x", 1000));
}

}  // namespace
}  // namespace gate::app
