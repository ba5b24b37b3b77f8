#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/json.h"
#include "base/paths.h"
#include "known/known.h"
#include "router/plan.h"

namespace gate::router {
namespace {

using backends::Network;
using backends::Profile;
using rules::ProfileKind;

bool Has(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

ProfileInputs Inputs() {
  ProfileInputs inputs;
  inputs.workspace = "/work/project";
  inputs.home = "/home/user";
  inputs.config_dir = "/home/user/.config/gate";
  inputs.state_dir = "/home/user/.local/state/gate";
  inputs.cache_dir = "/home/user/.cache/gate";
  inputs.caches = {"/home/user/.cache/pip"};
  inputs.git_dirs = {"/work/main/.git"};
  return inputs;
}

TEST(MakeProfile, ReadOnlyWritesNowhere) {
  const Profile profile =
      *MakeProfile(ProfileKind::kReadOnly, Inputs(), Network::kNone);
  EXPECT_TRUE(profile.write.empty());
  EXPECT_EQ(profile.workspace, "/work/project");
}

TEST(MakeProfile, WorkspaceWriteWritesTheWorkspaceItsGitDirsAndCaches) {
  const Profile profile =
      *MakeProfile(ProfileKind::kWorkspaceWrite, Inputs(), Network::kLoopback);
  EXPECT_EQ(profile.write,
            (std::vector<std::string>{"/work/project", "/work/main/.git",
                                      "/home/user/.cache/pip"}));
  EXPECT_EQ(profile.network, Network::kLoopback);
}

TEST(MakeProfile, WithoutAWorkspaceNoGitDirIsWritable) {
  ProfileInputs inputs = Inputs();
  inputs.workspace.clear();
  const Profile profile =
      *MakeProfile(ProfileKind::kWorkspaceWrite, inputs, Network::kNone);
  EXPECT_EQ(profile.write, std::vector<std::string>{"/home/user/.cache/pip"});
}

TEST(MakeProfile, ClientsDirectoriesAreKeptWhereTheirVariablesPutThem) {
  ProfileInputs inputs = Inputs();
  inputs.relocated_dirs = {{"/work/project/claude", ".claude"},
                           {"/data/codex", ".codex"}};
  for (const ProfileKind kind :
       {ProfileKind::kReadOnly, ProfileKind::kWorkspaceWrite,
        ProfileKind::kFullAccess}) {
    const Profile profile = *MakeProfile(kind, inputs, Network::kNone);
    for (const char* path :
         {"/work/project/claude/settings.json", "/work/project/claude/commands",
          "/work/project/claude/.claude.json", "/data/codex"})
      EXPECT_EQ(
          Has(profile.protect, path) || Has(profile.alias_checked_paths, path),
          kind != ProfileKind::kReadOnly)
          << rules::Name(kind) << path;
    for (const char* path :
         {"/work/project/claude/.credentials.json",
          "/work/project/claude/projects", "/data/codex/auth.json",
          "/data/codex/sessions", "/home/user/.codex/auth.json"})
      EXPECT_EQ(Has(profile.deny_read, path), kind != ProfileKind::kFullAccess)
          << rules::Name(kind) << path;
  }
  const Profile usual =
      *MakeProfile(ProfileKind::kWorkspaceWrite, Inputs(), Network::kNone);
  for (const auto* paths : {&usual.protect, &usual.deny_read})
    for (const std::string& path : *paths)
      EXPECT_TRUE(path.starts_with("/") && !path.starts_with("//")) << path;
}

TEST(MakeProfile, GatesStateIsHiddenInEveryProfile) {
  for (const ProfileKind kind :
       {ProfileKind::kReadOnly, ProfileKind::kWorkspaceWrite,
        ProfileKind::kFullAccess}) {
    const Profile profile = *MakeProfile(kind, Inputs(), Network::kNone);
    EXPECT_TRUE(Has(profile.deny_read, "/home/user/.local/state/gate"));
    // Hidden alone, a directory above it could be exchanged.
    EXPECT_TRUE(Has(profile.protect, "/home/user/.local/state/gate"));
    EXPECT_TRUE(Has(profile.protect, "/home/user/.config/gate"));
    EXPECT_TRUE(Has(profile.protect_names, ".claude/settings.json"));
    EXPECT_TRUE(Has(profile.protect_names, ".hg/hgrc"));
  }
}

Lending AwsLending() {
  Lending lending;
  lending.program = "aws";
  lending.files = {
      {"/home/user/.aws/config", "/home/user/.aws/config", false, ""},
      {"/home/user/.aws/sso/cache", "", true, ""},
      {"/home/user/.local/state/gate/key", "/home/user/.local/state/gate/key",
       false, ""}};
  lending.variables = {"AWS_SECRET_ACCESS_KEY"};
  lending.path = "/usr/bin:/bin";
  return lending;
}

TEST(MakeProfile, ToolIsWorkspaceWriteAndWhatIsLent) {
  ProfileInputs inputs = Inputs();
  inputs.lending = AwsLending();
  const Profile tool = *MakeProfile(ProfileKind::kTool, inputs, Network::kOpen);
  Profile write =
      *MakeProfile(ProfileKind::kWorkspaceWrite, inputs, Network::kOpen);
  EXPECT_TRUE(write.lend.empty());
  EXPECT_TRUE(write.environment_lend.empty());
  EXPECT_EQ(tool.write, write.write);
  EXPECT_EQ(tool.deny_read, write.deny_read);
  EXPECT_EQ(tool.protect, write.protect);
  EXPECT_EQ(tool.protect_names, write.protect_names);
  EXPECT_EQ(tool.alias_checked_paths, write.alias_checked_paths);
  EXPECT_EQ(tool.environment_lend,
            std::vector<std::string>{"AWS_SECRET_ACCESS_KEY"});
  EXPECT_EQ(tool.environment_set.at("PATH"), "/usr/bin:/bin");
  // Gate's own directory is lent to nobody.
  ASSERT_EQ(tool.lend.size(), 2u);
  EXPECT_EQ(tool.lend[0].path, "/home/user/.aws/config");
  EXPECT_TRUE(tool.lend[1].copy);
}

TEST(MakeProfile, ThereIsNoToolWithoutWhatIsLent) {
  const auto profile =
      MakeProfile(ProfileKind::kTool, Inputs(), Network::kOpen);
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().code, ErrorCode::kInvalid);
  EXPECT_NE(profile.error().message.find("one program"), std::string::npos);
}

TEST(MakeProfile, SecretsAreHiddenUnlessAccessIsFull) {
  for (const ProfileKind kind :
       {ProfileKind::kReadOnly, ProfileKind::kWorkspaceWrite}) {
    const Profile profile = *MakeProfile(kind, Inputs(), Network::kNone);
    EXPECT_TRUE(Has(profile.deny_read, "/home/user/.ssh"));
    EXPECT_TRUE(Has(profile.deny_read, "/home/user/.aws"));
    EXPECT_TRUE(Has(profile.deny_read, "/etc/shadow"));
  }
}

// Of a class of rules.d with its lists written out, what begins with `base`:
// without it and without a final "/**". Not what has another wildcard.
std::vector<std::string> InClass(const char* name, std::string_view base) {
  std::ostringstream text;
  text << std::ifstream(GATE_SOURCE_DIR "/rules.d/00-classes.json").rdbuf();
  const auto classes = ParseJson(text.str(), /*comments=*/true);
  std::vector<std::string> paths;
  if (!classes) return paths;
  const auto add = [&](std::string_view path) {
    if (!path.starts_with(base)) return;
    path.remove_prefix(base.size());
    for (const std::string_view end : {"/**", "/"})
      if (path.ends_with(end)) path.remove_suffix(end.size());
    if (path.find_first_of("*?[") == std::string_view::npos)
      paths.emplace_back(path);
  };
  for (const Json& each : (*classes)["classes"][name]) {
    const auto& path = each.get_ref<const std::string&>();
    constexpr std::string_view kKnown = "@known/";
    const size_t at = path.find(kKnown);
    if (at == std::string::npos)
      add(path);
    else
      for (const std::string_view member :
           known::Members(std::string_view(path).substr(at + kKnown.size())))
        add(path.substr(0, at).append(member));
  }
  return paths;
}

TEST(MakeProfile, WhatRulesCallSecretInAHomeIsHidden) {
  // Whose programs do not start, or take code from elsewhere, when they cannot
  // read them.
  constexpr auto kExempt = std::to_array<std::string_view>(
      {".yarnrc.yml", ".m2/settings.xml", ".gradle/gradle.properties",
       ".bundle/config", ".config/pip/pip.conf", ".pip/pip.conf",
       ".config/nix/nix.conf", ".nuget/NuGet/NuGet.Config",
       ".config/NuGet/NuGet.Config", ".hex/hex.config",
       ".config/helm/repositories.yaml", ".condarc", ".bunfig.toml",
       ".config/pnpm/rc"});
  const Profile profile =
      *MakeProfile(ProfileKind::kWorkspaceWrite, Inputs(), Network::kNone);
  int seen = 0;
  for (const char* name : {"secret", "key-like"}) {
    for (const std::string& path : InClass(name, "$HOME/")) {
      ++seen;
      if (std::find(kExempt.begin(), kExempt.end(), path) != kExempt.end())
        continue;
      const std::string full = "/home/user/" + path;
      EXPECT_TRUE(std::any_of(
          profile.deny_read.begin(), profile.deny_read.end(),
          [&](const std::string& hidden) { return IsWithin(full, hidden); }))
          << path;
    }
  }
  EXPECT_GT(seen, 100);
}

TEST(MakeProfile, WhatRulesCallSecretOfTheSystemIsHidden) {
  // Homes of other people are hidden as such; what is private inside.
  constexpr std::array<std::string_view, 5> kExempt = {
      "/root", "/home", "/run/secrets", "/var/run/secrets", "/proc"};
  const Profile profile =
      *MakeProfile(ProfileKind::kWorkspaceWrite, Inputs(), Network::kNone);
  std::vector<std::string> secrets = InClass("secret", "/");
  ASSERT_GT(secrets.size(), 20u);
  // Of the patterns among them, names that are known.
  for (const char* name :
       {"var/backups/shadow.bak", "var/backups/gshadow.bak",
        "etc/ssh/ssh_host_dsa_key", "etc/ssh/ssh_host_ed25519_key",
        "etc/ppp/chap-secrets"})
    secrets.emplace_back(name);
  for (const std::string& secret : secrets) {
    const std::string path = "/" + secret;
    const auto holds = [&](std::string_view place) {
      return IsWithin(path, place);
    };
    EXPECT_TRUE(std::ranges::any_of(kExempt, holds) ||
                std::ranges::any_of(profile.deny_read, holds))
        << path;
  }
}

TEST(MakeProfile, WhatRulesSayAHomeObeysIsClosedAndNoLinkLeadsToIt) {
  // Directories that people work in: only the start-up files are known.
  constexpr std::array<std::string_view, 2> kEditors = {".config/nvim",
                                                        ".emacs.d"};
  const Profile profile =
      *MakeProfile(ProfileKind::kWorkspaceWrite, Inputs(), Network::kNone);
  const std::vector<RestrictedHomeDir> places = RestrictedHomeDirs();
  int seen = 0;
  for (const char* name : {"agent-config", "persistence", "shell-startup"}) {
    for (const std::string& path : InClass(name, "$HOME/")) {
      ++seen;
      const bool editor = std::ranges::find(kEditors, path) != kEditors.end();
      const auto holds = [&](std::string_view place) {
        return editor ? IsWithin(place, path) : IsWithin(path, place);
      };
      EXPECT_TRUE(std::ranges::any_of(places, holds, &RestrictedHomeDir::name))
          << path;
      EXPECT_TRUE(std::ranges::any_of(
          profile.alias_checked_paths,
          [&](const std::string& sole) {
            return holds(std::string_view(sole).substr(sizeof "/home/user"));
          }))
          << path << " may be a link into a workspace";
    }
  }
  EXPECT_GT(seen, 60);
}

TEST(MakeProfile, WhatAHomeObeysIsInAClassOfTheRules) {
  // Written in ordinary work, or of one program only: contained, not asked.
  constexpr auto kExempt = std::to_array<std::string_view>(
      {".yarnrc", ".ccache/ccache.conf", ".config/ccache/ccache.conf",
       ".local/lib", ".cargo/bin", ".bun/bin", ".deno/bin", "go/bin",
       ".config/git", ".config/Code", ".config/Cursor", ".vscode-server",
       ".cursor-server", ".codex", ".cursor", ".gemini", ".config/pip"});
  const Profile profile =
      *MakeProfile(ProfileKind::kWorkspaceWrite, Inputs(), Network::kNone);
  std::vector<std::string> classes;
  for (const char* name :
       {"agent-config", "persistence", "shell-startup", "vcs-code", "secret"})
    for (std::string& path : InClass(name, "$HOME/"))
      classes.push_back(std::move(path));
  for (const std::string& sole : profile.alias_checked_paths) {
    const std::string_view path =
        std::string_view(sole).substr(sizeof "/home/user");
    if (std::ranges::find(kExempt, path) != kExempt.end()) continue;
    EXPECT_TRUE(std::ranges::any_of(classes, [&](const std::string& name) {
      return IsWithin(path, name);
    })) << path;
  }
}

TEST(MakeProfile, SecretsOfOtherHomesAreHiddenToo) {
  ProfileInputs inputs = Inputs();
  inputs.other_homes = {"/home/owner"};
  const Profile profile =
      *MakeProfile(ProfileKind::kWorkspaceWrite, inputs, Network::kNone);
  for (const char* home : {"/home/user", "/home/owner"}) {
    EXPECT_TRUE(Has(profile.deny_read, home + std::string("/.ssh")));
    EXPECT_TRUE(
        Has(profile.alias_checked_paths, home + std::string("/.bashrc")));
  }
}

TEST(MakeProfile, WhatAHomeRunsIsKnown) {
  const Profile profile =
      *MakeProfile(ProfileKind::kWorkspaceWrite, Inputs(), Network::kNone);
  for (const char* name :
       {".bashrc", ".zlogout", ".vimrc", ".vim/vimrc", ".config/nvim/init.lua",
        ".config/nvim/init.vim", ".emacs", ".emacs.d/init.el", ".tmux.conf",
        ".screenrc", ".config/autostart", ".config/systemd/user",
        ".config/fish/config.fish", ".config/git/config",
        ".claude/settings.json", ".claude/commands", ".ssh/rc",
        // Directories that may be links into a repository of dotfiles.
        ".bashrc.d", ".local/bin", ".local/share/systemd",
        ".local/share/dbus-1", ".oh-my-zsh", ".config/zsh"})
    EXPECT_TRUE(
        Has(profile.alias_checked_paths, std::string("/home/user/") + name))
        << name;
}

TEST(MakeProfile, WhatAHomeRunsIsProtectedInAWorkspaceThatHoldsIt) {
  ProfileInputs inputs = Inputs();
  inputs.home = "/link/user";
  inputs.real_homes = {"/home/user"};
  inputs.workspace = "/home/user/.config/nvim";
  const Profile profile =
      *MakeProfile(ProfileKind::kWorkspaceWrite, inputs, Network::kNone);
  EXPECT_TRUE(Has(profile.protect, "/home/user/.config/nvim/init.lua"));
  EXPECT_FALSE(Has(profile.protect, "/home/user/.vimrc"));
}

TEST(MakeProfile, FullAccessStillProtectsStartUpFiles) {
  const Profile profile =
      *MakeProfile(ProfileKind::kFullAccess, Inputs(), Network::kOpen);
  EXPECT_EQ(profile.write, std::vector<std::string>{"/"});
  EXPECT_TRUE(Has(profile.protect, "/home/user/.bashrc"));
  EXPECT_TRUE(Has(profile.protect, "/etc"));
}

TEST(MakeProfile, FullAccessProtectsNoLessOfHomesThanOtherProfiles) {
  ProfileInputs inputs = Inputs();
  inputs.other_homes = {"/home/owner"};
  inputs.relocated_dirs = {{"/elsewhere", ".config"}};
  const Profile less =
      *MakeProfile(ProfileKind::kWorkspaceWrite, inputs, Network::kNone);
  const Profile full =
      *MakeProfile(ProfileKind::kFullAccess, inputs, Network::kNone);
  for (const auto& list : {less.alias_checked_paths, less.protect})
    for (const std::string& path : list)
      EXPECT_TRUE(std::ranges::any_of(
          full.protect,
          [&](const std::string& place) { return IsWithin(path, place); }))
          << path;
}

TEST(MakeProfile, TheSettingsInACacheAreProtected) {
  ProfileInputs inputs = Inputs();
  inputs.caches = {"/home/user/.ccache", "/home/user/.cache/ccache",
                   "/home/user/.cache/pip"};
  const Profile profile =
      *MakeProfile(ProfileKind::kWorkspaceWrite, inputs, Network::kNone);
  EXPECT_TRUE(Has(profile.protect, "/home/user/.ccache/ccache.conf"));
  EXPECT_TRUE(Has(profile.protect, "/home/user/.cache/ccache/ccache.conf"));
  EXPECT_FALSE(Has(profile.protect, "/home/user/.cache/pip/ccache.conf"));
}

TEST(MakeProfile, WhatProgramsReadWhereTheyAreStartedIsProtected) {
  const Profile profile =
      *MakeProfile(ProfileKind::kWorkspaceWrite, Inputs(), Network::kNone);
  for (const char* name :
       {".irbrc", ".pryrc", ".ghci", ".iex.exs", ".ocamlinit", ".octaverc",
        ".Rprofile", ".Renviron", ".RData", ".hg/sharedpath", ".theia",
        // vim with 'exrc', whichever it finds first, and nvi.
        ".vimrc", "_vimrc", ".exrc", "_exrc", ".gvimrc", "_gvimrc", ".nexrc",
        // irb, the debuggers of perl and java, psysh, valgrind, ug, mc, lazygit
        // and darcs.
        "irb.rc", "_irbrc", "$irbrc", ".perldb", "perldb.ini", ".jdbrc",
        "jdb.ini", ".psysh.php", ".valgrindrc", ".ugrep", ".mc.menu",
        ".lazygit.yml", "_darcs/prefs/defaults"})
    EXPECT_TRUE(Has(profile.protect_names, name)) << name;
}

TEST(MakeProfile, OrdinaryGitIsNotInTheWay) {
  const Profile profile =
      *MakeProfile(ProfileKind::kWorkspaceWrite, Inputs(), Network::kNone);
  EXPECT_FALSE(Has(profile.protect_names, ".gitmodules"));
  EXPECT_FALSE(Has(profile.protect_names, ".gitignore"));
  EXPECT_FALSE(Has(profile.protect_names, ".git"));
}

TEST(MakeProfile, OneThatIsNotSaidIsAnError) {
  const auto profile =
      MakeProfile(ProfileKind::kUnsaid, Inputs(), Network::kNone);
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().code, ErrorCode::kInvalid);
}

// Tools keep them in places of their own; each is one that somebody uses.
TEST(MakeProfile, HidesWhereKnownToolsKeepKeysAndTokens) {
  ProfileInputs inputs;
  inputs.home = "/home/me";
  inputs.workspace = "/work/project";
  const auto profile = MakeProfile(ProfileKind::kWorkspaceWrite, inputs,
                                   backends::Network::kNone);
  ASSERT_TRUE(profile);
  for (const char* place : {".local/share/mkcert",
                            ".step",
                            ".claude.json",
                            ".tsh",
                            ".config/cloudflared",
                            ".cloudflared",
                            ".m2/settings-security.xml",
                            ".lastpass",
                            ".lpass",
                            ".config/sops",
                            ".local/share/gopass",
                            ".config/gopass",
                            ".config/joplin",
                            ".local/share/atuin",
                            ".config/dev.warp",
                            ".config/Slack",
                            ".config/discord",
                            ".config/Code/User/globalStorage/state.vscdb",
                            ".config/Cursor/User/globalStorage/state.vscdb",
                            ".config/Windsurf/User/globalStorage/state.vscdb",
                            ".config/github-copilot",
                            ".config/gh-copilot",
                            ".config/hub",
                            ".config/fly",
                            ".fly",
                            ".composer/auth.json",
                            ".config/composer/auth.json",
                            ".doppler",
                            ".infisical",
                            ".microsoft/usersecrets",
                            ".foundry/keystores",
                            ".dbshell"})
    EXPECT_EQ(std::count(profile->deny_read.begin(), profile->deny_read.end(),
                         std::string("/home/me/") + place),
              1)
        << place;
  // Without these their programs do not start.
  for (const char* needed :
       {".nuget/NuGet/NuGet.Config", ".m2/settings.xml", ".condarc",
        ".config/configstore", ".config/pip/pip.conf"})
    EXPECT_EQ(std::count(profile->deny_read.begin(), profile->deny_read.end(),
                         std::string("/home/me/") + needed),
              0)
        << needed;
}

}  // namespace
}  // namespace gate::router
