// The parts of cli/ that are plain functions.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "approvals/approvals.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "gateway/grants/host_tmp_binds.h"
#include "gateway/plan_json.h"
#include "gateway/programs/program_verification.h"
#include "gateway/run_arguments.h"
#include "gateway/workspace.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

TEST(JsonWriterTest, WritesWhatAParserReadsBack) {
  JsonWriter json;
  json.BeginObject().Field("a", "q\"\\\n\x01").Key("b").BeginArray();
  json.Number(-3).Bool(true).Null().BeginObject().EndObject().EndArray();
  json.Field("c", "\xff").Key("d").Raw("{\"x\":1}").EndObject();
  const auto parsed = ParseJson(json.text());
  ASSERT_TRUE(parsed) << json.text();
  EXPECT_EQ((*parsed)["a"], "q\"\\\n\x01");
  EXPECT_EQ((*parsed)["b"].size(), 4u);
  EXPECT_EQ((*parsed)["c"], "\xEF\xBF\xBD");
  EXPECT_EQ((*parsed)["d"]["x"], 1);
}

TEST(JsonWriterTest, EscapesEachByteWhereverItStands) {
  for (int byte = 0; byte < 0x80; ++byte) {
    for (size_t at = 0; at < 19; ++at) {
      std::string value = "0123456789 abcdefgh";
      value[at] = static_cast<char>(byte);
      JsonWriter json;
      json.String(value);
      const auto parsed = ParseJson(json.text());
      ASSERT_TRUE(parsed) << json.text();
      EXPECT_EQ(*parsed, value) << byte << " at " << at;
    }
  }
}

TEST(ShownPlacesTest, AreWhatALineOnlyLooksAtBelowTmp) {
  const struct {
    const char* line;
    std::vector<std::string> places;
  } cases[] = {
      {"cat /tmp/a", {"/tmp/a"}},
      {"tail -n1 /var/tmp/x/../b | grep c /dev/shm/d",
       {"/var/tmp/b", "/dev/shm/d"}},
      {"bash /tmp/s.sh", {"/tmp/s.sh"}},
      {"cat < /tmp/a > /tmp/b", {"/tmp/a"}},
      {"cat /tmp/a; echo x > /tmp/a", {}},
      {"cat /tmp/d/a; rm -rf /tmp/d", {}},
      {"ls /tmp /var/tmp; cat /tmpfile /etc/hosts \"$X\"", {}},
      {"cat /tmp/*.log", {}},
      {"cat /tmp/work/a /tmp/other", {"/tmp/other"}},
      {"cat /tmp/krb5cc_1000 /tmp/x509up_u0 /tmp/ssh-1/a /tmp/sshd",
       {"/tmp/sshd"}},
  };
  parser::Context context;
  context.cwd = "/tmp/work";
  for (const auto& c : cases)
    EXPECT_EQ(HostTmpBinds(parser::Analyze(c.line, context), "/tmp/work"),
              c.places)
        << c.line;
  std::string many = "cat";
  for (size_t i = 0; i < 2 * kMaxHostTmpBinds; ++i)
    many += " /tmp/" + std::to_string(i);
  EXPECT_EQ(HostTmpBinds(parser::Analyze(many, context), "").size(),
            kMaxHostTmpBinds);
}

TEST(RunArgumentsTest, ReadsEveryForm) {
  struct Case {
    std::vector<std::string> words;
    bool ok;
    std::string command;
    size_t argv;
  };
  const Case kCases[] = {
      {{"ls -l"}, true, "ls -l", 0},
      {{"-c", "ls"}, true, "ls", 0},
      {{"--", "ls", "--json"}, true, "", 2},
      {{"--profile", "read-only", "-c", "x"}, true, "x", 0},
      {{"--profile=read-only", "x"}, true, "x", 0},
      {{"--timeout", "1.5", "x"}, true, "x", 0},
      {{}, false, "", 0},
      {{"--ticket", "t"}, true, "", 0},
      {{"--"}, false, "", 0},
      {{"-"}, false, "", 0},
      {{"-", "x"}, false, "", 0},
      {{"--", "-"}, true, "", 1},
      {{"a", "b"}, false, "", 0},
      {{"-c"}, false, "", 0},
      {{"-c", "a", "--", "b"}, false, "", 0},
      {{"--timeout", "0", "x"}, false, "", 0},
      {{"--timeout", "-1", "x"}, false, "", 0},
      {{"--timeout", "nan", "x"}, false, "", 0},
      {{"--timeout", "1e9", "x"}, false, "", 0},
      {{"--timeout", "99999999999999999999", "x"}, false, "", 0},
      {{"--unknown", "1", "x"}, false, "", 0},
      {{"--profile", "readonly", "x"}, false, "", 0},
      {{"--network", "off", "x"}, false, "", 0},
  };
  for (const Case& c : kCases) {
    const auto parsed = ParseRunArguments(c.words);
    ASSERT_EQ(parsed.has_value(), c.ok) << testing::PrintToString(c.words);
    if (!c.ok) continue;
    EXPECT_EQ(parsed->command, c.command);
    EXPECT_EQ(parsed->argv.size(), c.argv);
  }
  EXPECT_EQ(ParseRunArguments({"--timeout", "1.5", "x"})->timeout_ms, 1500u);
  EXPECT_EQ(ParseRunArguments({"-ls"}).error().message.find("`-ls` is not an"),
            0u);
}

TEST(PlanJsonTest, APlanComesBackAsItWas) {
  router::Plan plan;
  plan.mode = router::Mode::kSandbox;
  plan.backend = "native";
  plan.why = "because";
  plan.lost = {"limits"};
  plan.profile.name = "workspace-write";
  plan.profile.write = {"/w", "/c"};
  plan.profile.deny_read = {"/home/a/.ssh"};
  plan.profile.protect = {"/w/.git/hooks"};
  plan.profile.network = backends::Network::kLoopback;
  plan.profile.environment_set = {{"A", "1"}};
  plan.profile.limits.wall_ms = 7;
  plan.profile.limits.written_bytes = 8;
  plan.profile.limits.files = 9;
  plan.profile.watch_execs = true;
  plan.profile.alias_checked_paths = {"/home/a/.bashrc"};
  plan.profile.host_tmp_binds = {"/tmp/a"};
  plan.profile.image = "x@sha256:1";
  plan.profile.required.Add(backends::Feature::kSeccomp);
  const std::string text = PlanToJson(plan);
  const auto back = PlanFromJson(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(PlanToJson(*back), text);
  EXPECT_EQ(back->profile.write, plan.profile.write);
  EXPECT_TRUE(back->profile.watch_execs);
  EXPECT_FALSE(back->profile.report_blocked);
  EXPECT_EQ(back->profile.limits.written_bytes, 8u);
  EXPECT_EQ(back->profile.limits.files, 9u);
  EXPECT_EQ(back->profile.alias_checked_paths,
            plan.profile.alias_checked_paths);
  EXPECT_EQ(back->profile.host_tmp_binds, plan.profile.host_tmp_binds);
  EXPECT_EQ(back->profile.image, plan.profile.image);
  EXPECT_TRUE(back->profile.required.Has(backends::Feature::kSeccomp));
}

TEST(PlanJsonTest, AnythingElseIsRefused) {
  router::Plan plan;
  const std::string good = PlanToJson(plan);
  for (size_t size = 0; size < good.size(); size += 11)
    EXPECT_FALSE(PlanFromJson(good.substr(0, size))) << size;
  auto json = ParseJson(good);
  (*json)["mode"] = "nonsense";
  EXPECT_FALSE(PlanFromJson(Dump(*json)));
  (*json)["mode"] = 7;
  EXPECT_FALSE(PlanFromJson(Dump(*json)));
}

// Of an older version, as a ticket or an approval may still hold it.
TEST(PlanJsonTest, OneThatLacksAnythingIsRefused) {
  const auto whole = ParseJson(PlanToJson(router::Plan()));
  ASSERT_TRUE(whole);
  for (const char* path :
       {"", "/profile", "/profile/limits", "/profile/environment_set"})
    for (const auto& member :
         whole->at(nlohmann::json::json_pointer(path)).items()) {
      auto json = *whole;
      json.at(nlohmann::json::json_pointer(path)).erase(member.key());
      EXPECT_FALSE(PlanFromJson(Dump(json))) << path << "/" << member.key();
    }
}

constexpr const char* kPlace = "1:2 /w";

PendingQuestion Request(const std::string& id) {
  PendingQuestion question;
  question.id = id;
  question.command = "git push \xff";
  question.cwd = "/w";
  question.place = kPlace;
  question.policy_revision = "rev";
  question.asked_ms = 1000;
  return question;
}

TEST(ApprovalsTest, AnApprovalFitsOneCommandOnce) {
  const test::Machine machine;
  const std::string state = machine.state();
  const std::string id = "01234567-89ab-7def-8000-000000000001";
  ASSERT_TRUE(KeepQuestion(state, Request(id)));
  EXPECT_FALSE(TakeApproval(state, "git push \xff", kPlace, "rev", 2000));
  ASSERT_TRUE(Approve(state, id.substr(0, 8), 2000));
  EXPECT_FALSE(TakeApproval(state, "git push", kPlace, "rev", 2001));
  EXPECT_FALSE(TakeApproval(state, "git push \xff", "1:3 /w", "rev", 2001));
  EXPECT_FALSE(TakeApproval(state, "git push \xff", kPlace, "rev2", 2001));
  EXPECT_FALSE(TakeApproval(state, "git push \xff", "", "rev", 2001));
  EXPECT_TRUE(TakeApproval(state, "git push \xff", kPlace, "rev", 2001));
  EXPECT_FALSE(TakeApproval(state, "git push \xff", kPlace, "rev", 2001));
}

TEST(ApprovalsTest, ForgedAndExpiredAnswersCountForNothing) {
  const test::Machine machine;
  const std::string state = machine.state();
  const std::string id = "01234567-89ab-7def-8000-000000000002";
  ASSERT_TRUE(KeepQuestion(state, Request(id)));
  ASSERT_TRUE(Approve(state, id, 2000));
  const std::string file = state + "/pending/" + id;
  std::string text = machine.Read(file);
  const size_t at = text.find("\"rev\"");
  ASSERT_NE(at, std::string::npos);
  text[at + 1] = 'R';
  machine.Write(file, text, 0600);
  EXPECT_FALSE(TakeApproval(state, "git push \xff", kPlace, "Rev", 2001));
  ASSERT_TRUE(KeepQuestion(state, Request(id)));
  ASSERT_TRUE(Approve(state, id, 2000));
  EXPECT_FALSE(TakeApproval(state, "git push \xff", kPlace, "rev",
                            2001 + kApprovalLifetimeMs));
  EXPECT_FALSE(Approve(state, id, 5000 + kPendingLifetimeMs));
  EXPECT_FALSE(Approve(state, "../../x", 1));
}

TEST(WorkspaceTest, SystemAndHomeDirectoriesAreNeverOne) {
  const test::Machine machine;
  ProcessFacts facts;
  facts.uid = ::geteuid();
  facts.home = machine.home();
  facts.places.state = machine.state();
  facts.places.config = machine.home() + "/.config/gate";
  for (const std::string& path :
       {std::string("/"), std::string("/etc"), std::string("/usr/bin"),
        std::string("/home"), std::string("/home/other"), machine.home(),
        machine.root(), std::string("/tmp"), std::string("/proc/self"),
        std::string("/dev/shm"), std::string("/dev/pts"),
        machine.state() + "/x"})
    EXPECT_EQ(FindWorkspace(facts, path), "") << path;
  EXPECT_EQ(FindWorkspace(facts, machine.project()), machine.project());
  struct stat shared{};
  if (::lstat("/dev/shm", &shared) == 0 && S_ISDIR(shared.st_mode)) {
    EXPECT_EQ(FindWorkspace(facts, "/dev/shm/project"), "/dev/shm/project");
  }
  machine.Write(machine.project() + "/Makefile", "");
  machine.Write(machine.project() + "/src/deep/x", "");
  EXPECT_EQ(FindWorkspace(facts, machine.project() + "/src/deep"),
            machine.project());
  // A link that looks like a project does not make its target writable.
  std::filesystem::create_directory_symlink("/etc",
                                            machine.project() + "/link");
  EXPECT_EQ(FindWorkspace(facts, machine.project() + "/link"), "");
}

TEST(WorkspaceTest, WhatAHomeHidesOrObeysIsNeverOne) {
  const test::Machine machine;
  ProcessFacts facts;
  facts.uid = ::geteuid();
  facts.home = machine.home();
  facts.places.state = machine.state();
  facts.places.config = machine.root() + "/elsewhere";
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
    const std::string place = machine.home() + "/" + row.place;
    std::filesystem::create_directories(place);
    const std::string marker = machine.home() + "/" + row.marker;
    if (*row.marker != '\0') std::filesystem::create_directories(marker);
    EXPECT_EQ(!FindWorkspace(facts, place).empty(), row.may) << row.place;
    if (*row.marker != '\0') std::filesystem::remove(marker);
  }
}

TEST(WorkspaceTest, AClosedPlaceStaysClosedByAnyName) {
  const test::Machine machine;
  ProcessFacts facts;
  facts.uid = ::geteuid();
  facts.home = machine.root() + "/me";
  facts.places.state = machine.state();
  namespace fs = std::filesystem;
  const std::string home = machine.home();
  fs::create_directory_symlink(home, facts.home);
  fs::create_directories(home + "/dotfiles/claude/agents");
  fs::create_directories(home + "/.codex/sessions");
  fs::create_directory_symlink("dotfiles/claude", home + "/.claude");
  fs::create_directory_symlink("../.codex", machine.project() + "/link");
  for (const std::string& name :
       {home + "/.codex", facts.home + "/.codex/sessions",
        machine.project() + "/link/sessions", facts.home + "/.claude/agents",
        home + "/dotfiles/claude", home + "/dotfiles/claude/agents"})
    EXPECT_EQ(FindWorkspace(facts, name), "") << name;
  EXPECT_EQ(FindWorkspace(facts, home + "/dotfiles"), home + "/dotfiles");
}

TEST(WorkspaceTest, WhatAVariablePutsElsewhereIsClosedThere) {
  const test::Machine machine;
  ProcessFacts facts;
  facts.uid = ::geteuid();
  facts.home = machine.home();
  facts.places.state = machine.state();
  namespace fs = std::filesystem;
  const std::string x = machine.project() + "/x";
  for (const char* name : {"claude/sub", "gpg", "config/systemd/user",
                           "config/nvim", "kube", "plain"})
    fs::create_directories(x + "/" + name);
  fs::create_directory_symlink(x + "/gpg", x + "/link");
  facts.relocated_dirs = router::RelocatedDirs(
      {"CLAUDE_CONFIG_DIR=" + x + "/claude", "GNUPGHOME=" + x + "/link",
       "XDG_CONFIG_HOME=" + x + "/config", "KUBECONFIG=" + x + "/kube",
       "DOCKER_CONFIG=" + machine.home(), "CODEX_HOME=/"},
      facts.home);
  for (const char* name : {"claude", "claude/sub", "gpg", "link", "config",
                           "config/systemd", "config/systemd/user"})
    EXPECT_EQ(FindWorkspace(facts, x + "/" + name), "") << name;
  for (const char* name : {"config/nvim", "kube", "plain"})
    EXPECT_EQ(FindWorkspace(facts, x + "/" + name), x + "/" + name) << name;
}

TEST(WorkspaceTest, APinOfAClosedPlaceCountsNoMore) {
  const test::Machine machine;
  ProcessFacts facts;
  facts.uid = ::geteuid();
  facts.home = machine.home();
  facts.places.state = machine.state();
  const auto first =
      OpenSession(facts, "s", "", machine.project(), /*write=*/true);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->workspace, machine.project());
  // As an earlier version may have left it.
  const std::string place = machine.home() + "/.claude/agents";
  std::filesystem::create_directories(place);
  machine.Write(machine.state() + "/sessions/" + first->key + "/workspace",
                place, 0600);
  const auto later = OpenSession(facts, "s", "", place, true);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->workspace, "");
}

// A run that may write above it has exchanged it for the link since.
TEST(WorkspaceTest, WhereThisIsCalledBecomesNoOtherPlaceByALink) {
  const test::Machine machine;
  const std::string other = machine.home() + "/other";
  const std::string link = machine.project() + "/sub";
  std::filesystem::create_directories(other + "/deep");
  std::filesystem::create_symlink(other, link);
  ProcessFacts facts;
  facts.uid = ::geteuid();
  facts.home = machine.home();
  facts.places.state = machine.state();
  for (const std::string& cwd : {link, link + "/deep"}) {
    facts.cwd = cwd;
    for (const char* id : {"", "s"}) {
      const auto session = OpenSession(facts, id, "", cwd, /*write=*/true);
      ASSERT_FALSE(session) << cwd << session->workspace;
      EXPECT_EQ(session.error().code, ErrorCode::kUnavailable);
    }
    // A link that a person asks for is one.
    facts.cwd = machine.project();
    const auto asked = OpenSession(facts, "", "", cwd, /*write=*/true);
    ASSERT_TRUE(asked);
    EXPECT_TRUE(asked->workspace.starts_with(other)) << asked->workspace;
  }
}

TEST(WorkspaceTest, ASessionStaysWhereItStarted) {
  const test::Machine machine;
  ProcessFacts facts;
  facts.uid = ::geteuid();
  facts.home = machine.home();
  facts.places.state = machine.state();
  machine.Write(machine.project() + "/Makefile", "");
  machine.Write(machine.home() + "/other/Makefile", "");
  const auto first =
      OpenSession(facts, "s", "", machine.project() + "", /*write=*/true);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->workspace, machine.project());
  const auto later =
      OpenSession(facts, "s", "", machine.home() + "/other", true);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->workspace, machine.project());
}

TEST(WorkspaceTest, ATmpInUseIsNotRemovedHoweverOldItIs) {
  const test::Machine machine;
  ProcessFacts facts;
  facts.places.state = machine.state();
  const std::string sessions = machine.state() + "/sessions/";
  const auto tmp = [&](char c) {
    return sessions + std::string(32, c) + "/tmp";
  };
  const auto used = PrepareSessionTmp(facts, tmp('a'), 1000);
  ASSERT_TRUE(used && *used);
  ASSERT_TRUE(PrepareSessionTmp(facts, tmp('b'), 1000));  // ends at once
  constexpr uint64_t kInYears = 4'000'000'000'000;
  ASSERT_TRUE(PrepareSessionTmp(facts, tmp('c'), kInYears));
  EXPECT_TRUE(machine.Exists(tmp('a')));
  EXPECT_FALSE(machine.Exists(tmp('b')));
  EXPECT_TRUE(machine.Exists(tmp('c')));
  EXPECT_FALSE(PrepareSessionTmp(facts, machine.home() + "/x", 1000));
}

TEST(NamesTest, ProgramsAreFoundAsTheShellFindsThem) {
  const test::Machine machine;
  machine.Write(machine.root() + "/bin/tool", "#!/bin/sh\n", 0755);
  machine.Write(machine.root() + "/none/tool", "not executable", 0644);
  const std::string path = machine.root() + "/none:" + machine.root() + "/bin";
  EXPECT_EQ(ResolveProgram("tool", path, "/").found,
            machine.root() + "/bin/tool");
  EXPECT_EQ(ResolveProgram("./tool", path, machine.root() + "/bin").real,
            machine.root() + "/bin/tool");
  EXPECT_EQ(ResolveProgram("absent", path, "/").real, "");
  // An empty entry is the current directory.
  EXPECT_EQ(ResolveProgram("tool", ":/x", machine.root() + "/bin").real,
            machine.root() + "/bin/tool");
}

}  // namespace
}  // namespace gate::app
