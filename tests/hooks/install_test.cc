#include "hooks/install.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "base/file.h"
#include "base/json.h"
#include "hooks/installed.h"
#include "hooks/settings.h"

namespace gate::hooks {
namespace {

class InstallTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path().string() +
                          "/gate-install-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = std::filesystem::canonical(pattern);
    home_ = root_ + "/home";
    std::filesystem::create_directories(home_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  InstallOptions Options(const char* client) {
    InstallOptions options;
    options.client = client;
    options.home = home_;
    options.gate_path = "/opt/gate dir/gate";
    options.config_dir = "/home/u/.config/gate";
    options.state_dir = "/home/u/.local/state/gate";
    options.timeout_path = "timeout";
    return options;
  }
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(
        std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  std::string Read(const std::string& path) {
    auto text = ReadFile(path, 1 << 20);
    return text ? *text : "";
  }
  // Plans and applies.
  void Do(Result<std::vector<FileChange>> changes) {
    ASSERT_TRUE(changes) << changes.error().message;
    auto applied = Apply(*changes, 1795237567000);
    ASSERT_TRUE(applied) << applied.error().message;
  }

  std::string root_, home_;
};

TEST_F(InstallTest, WritesNewSettings) {
  Do(PlanInstall(Options("claude")));
  const auto json = ParseJson(Read(home_ + "/.claude/settings.json"));
  ASSERT_TRUE(json);
  const Json& group = (*json)["hooks"]["PreToolUse"][0];
  EXPECT_EQ(group["matcher"], "*");
  EXPECT_EQ(group["hooks"][0]["type"], "command");
  EXPECT_EQ(group["hooks"][0]["command"], GuardLine(Options("claude")));
  EXPECT_EQ(group["hooks"][0]["timeout"], 15);
  EXPECT_FALSE(group["hooks"][0].contains("onFailure"));
  for (const char* event : {"PostToolUse", "PostToolUseFailure"}) {
    const Json& after = (*json)["hooks"][event][0];
    EXPECT_EQ(after["matcher"], "Bash");
    EXPECT_EQ(after["hooks"][0]["command"], GuardLine(Options("claude")));
  }
  struct stat info{};
  ASSERT_EQ(stat((home_ + "/.claude/settings.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);

  Do(PlanInstall(Options("codex")));
  const auto codex = ParseJson(Read(home_ + "/.codex/hooks.json"));
  ASSERT_TRUE(codex);
  EXPECT_EQ(codex->size(), 1u);  // the root takes no other key
  EXPECT_EQ((*codex)["hooks"]["PreToolUse"][0]["matcher"], "*");
}

TEST_F(InstallTest, PlacesAreTheClients) {
  InstallOptions options = Options("claude");
  options.project = true;
  options.project_dir = root_ + "/project";
  EXPECT_EQ(PlanInstall(options)->front().path,
            root_ + "/project/.claude/settings.json");
  options = Options("codex");
  options.moved_dir = root_ + "/elsewhere";
  EXPECT_EQ(PlanInstall(options)->front().path,
            root_ + "/elsewhere/hooks.json");
  options.moved_dir = "relative";
  EXPECT_EQ(PlanInstall(options)->front().path, home_ + "/.codex/hooks.json");
  options.client = "cursor";
  EXPECT_FALSE(PlanInstall(options));
  options = Options("claude");
  options.moved_dir = root_ + "/elsewhere/";
  EXPECT_EQ(PlanInstall(options)->front().path,
            root_ + "/elsewhere/settings.json");
  options.project = true;
  options.project_dir = root_ + "/project";
  EXPECT_EQ(PlanInstall(options)->front().path,
            root_ + "/project/.claude/settings.json");
  options = Options("claude");
  options.gate_path = "gate";
  EXPECT_FALSE(PlanInstall(options));
  options = Options("claude");
  options.state_dir = "/x\ny";
  EXPECT_FALSE(PlanInstall(options));
  options = Options("claude");
  options.block_on_failure = true;
  EXPECT_NE(
      PlanInstall(options)->front().after.find("\"onFailure\": \"block\""),
      std::string::npos);
}

constexpr const char kSettings[] = R"({
    "model": "opus",
    "env": {"B": "1", "A": "2"},
    "hooks": {
        "PostToolUse": [{"matcher": "Write", "hooks": [
            {"type": "command", "command": "fmt"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": "mine hook claude "}]}]
    },
    "zeta": 1.5,
    "alpha": null
}
)";

TEST_F(InstallTest, MergesAndKeepsTheOrder) {
  const std::string path = home_ + "/.claude/settings.json";
  Write(path, kSettings);
  chmod(path.c_str(), 0640);
  const auto before = ParseJson(kSettings);
  Do(PlanInstall(Options("claude")));
  const std::string text = Read(path);
  const auto after = ParseJson(text);
  ASSERT_TRUE(after);
  EXPECT_EQ((*after)["hooks"]["PreToolUse"].size(), 2u);
  EXPECT_EQ((*after)["hooks"]["PreToolUse"][0],
            (*before)["hooks"]["PreToolUse"][0]);
  EXPECT_LT(text.find("\"model\""), text.find("\"env\""));
  EXPECT_LT(text.find("\"B\""), text.find("\"A\""));
  EXPECT_LT(text.find("PostToolUse"), text.find("PreToolUse"));
  EXPECT_LT(text.find("\"zeta\""), text.find("\"alpha\""));
  EXPECT_NE(text.find("\n    \"env\""), std::string::npos);
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  EXPECT_EQ(Read(path + ".gate-backup-20261121T050607Z"), kSettings);

  // Again: nothing to do.
  EXPECT_TRUE(PlanInstall(Options("claude"))->empty());
  // Another place of gate: replaced, not added.
  InstallOptions moved = Options("claude");
  moved.gate_path = "/usr/bin/gate";
  Do(PlanInstall(moved));
  EXPECT_EQ((*ParseJson(Read(path)))["hooks"]["PreToolUse"].size(), 2u);
  EXPECT_EQ(Read(path).find("/opt/gate dir"), std::string::npos);
  // And out again: as it was.
  Do(PlanUninstall(moved));
  EXPECT_EQ(*ParseJson(Read(path)), *before);
  EXPECT_TRUE(PlanUninstall(moved)->empty());
}

// The client's version cannot always be asked.
TEST_F(InstallTest, WhatMakesTheClientBlockStays) {
  const std::string path = home_ + "/.claude/settings.json";
  const auto block = [&] {
    return (*ParseJson(Read(path)))["hooks"]["PreToolUse"][0]["hooks"][0].value(
        "onFailure", "");
  };
  InstallOptions blocking = Options("claude");
  blocking.block_on_failure = true;
  Do(PlanInstall(Options("claude")));
  EXPECT_EQ(block(), "");
  Do(PlanInstall(blocking));
  EXPECT_EQ(block(), "block");
  EXPECT_TRUE(PlanInstall(Options("claude"))->empty());
  InstallOptions moved = Options("claude");
  moved.gate_path = "/usr/bin/gate";
  Do(PlanInstall(moved));
  EXPECT_EQ(block(), "block");
  EXPECT_TRUE(PlanInstall(moved)->empty());
  Do(PlanUninstall(Options("claude")));
  EXPECT_FALSE(std::filesystem::exists(path));
}

// As gates before 22 November 2026 wrote it.
HookEntry OldEntry(const char* client) {
  HookEntry entry;
  entry.client = client;
  entry.matcher = "Bash|Monitor|PowerShell|Write|Edit|MultiEdit|NotebookEdit";
  entry.command = std::string("timeout 10 '/opt/gate dir/gate' hook ") +
                  client +
                  " || { s=$?; [ $s = 2 ] || echo \"gate: hook failed (status "
                  "$s)\" >&2; exit 2; }";
  return entry;
}

TEST_F(InstallTest, AnOldEntryIsKnownReplacedAndRemoved) {
  const std::string path = home_ + "/.claude/settings.json";
  for (const char* text :
       {"{}", "{\n  \"model\": \"m\"\n}\n", "{\"hooks\": {\"Stop\": []}}"}) {
    const auto old = WithHook(text, OldEntry("claude"));
    ASSERT_TRUE(old);
    Write(path, *old);
    InstallOptions options = Options("claude");
    options.gate_path = std::filesystem::canonical("/proc/self/exe");
    std::string own = *old;
    own.replace(own.find("'/opt/gate dir/gate'"), 20, options.gate_path);
    Write(path, own);
    const auto found = FindInstalled(options);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->entry, Entry::kChanged);
    EXPECT_NE(found->why_changed.find("older gate"), std::string::npos);
    Do(PlanUninstall(options));
    EXPECT_EQ(Read(path), text);

    Write(path, own);
    Do(PlanInstall(options));
    EXPECT_EQ(FindInstalled(options)->entry, Entry::kThis);
    EXPECT_TRUE(PlanInstall(options)->empty());
    Do(PlanUninstall(options));
    EXPECT_EQ(Read(path), text);
  }
}

TEST_F(InstallTest, AnOldMatcherAndAMissingEventAreNamed) {
  InstallOptions options = Options("claude");
  options.gate_path = std::filesystem::canonical("/proc/self/exe");
  std::vector<HookEntry> entries = EntriesFor(options);
  ASSERT_EQ(entries.size(), 3u);
  const std::string path = home_ + "/.claude/settings.json";
  const auto why = [&] {
    Write(path, *WithHooks(std::nullopt, entries));
    const auto found = FindInstalled(options);
    EXPECT_EQ(found->entry, Entry::kChanged);
    return found->why_changed;
  };
  entries[0].matcher = "Bash";
  EXPECT_NE(why().find("its matcher `Bash` is old"), std::string::npos);
  entries = EntriesFor(options);
  entries.pop_back();
  EXPECT_NE(why().find("PostToolUseFailure is missing"), std::string::npos);
}

TEST_F(InstallTest, UninstallLeavesNoEmptyShells) {
  Do(PlanInstall(Options("claude")));
  const auto changes = PlanUninstall(Options("claude"));
  ASSERT_TRUE(changes);
  EXPECT_NE(RenderDiff(changes->front()).find("\n+++ /dev/null\n"),
            std::string::npos);
  Do(changes);
  EXPECT_FALSE(std::filesystem::exists(home_ + "/.claude/settings.json"));
  EXPECT_TRUE(PlanUninstall(Options("codex"))->empty());
}

HookEntry Entry(const std::string& gate, bool block = false) {
  HookEntry entry;
  entry.client = "claude";
  entry.matcher = "Bash|Write";
  entry.command = gate + " hook claude || echo \"gate: hook failed (status\"";
  entry.block_on_failure = block;
  return entry;
}

// The document that `text` should say once gate is in it.
nlohmann::json Expected(const std::string& text, const HookEntry& entry) {
  nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (document.is_discarded()) document = nlohmann::json::object();
  nlohmann::json handler = {{"type", "command"},
                            {"command", entry.command},
                            {"timeout", entry.timeout_s}};
  if (entry.block_on_failure) handler["onFailure"] = "block";
  document["hooks"]["PreToolUse"].push_back(
      {{"matcher", entry.matcher}, {"hooks", {handler}}});
  return document;
}

// In, in again, moved and out: only gate's own bytes come and go.
void ExpectNoTrace(const std::string& text) {
  const auto with = WithHook(text, Entry("/a/gate"));
  ASSERT_TRUE(with) << text << "\n" << with.error().message;
  EXPECT_EQ(nlohmann::json::parse(*with, nullptr, false),
            Expected(text, Entry("/a/gate")))
      << *with;
  EXPECT_EQ(*WithHook(*with, Entry("/a/gate")), *with);
  const auto moved = WithHook(*with, Entry("/b/gate", true));
  ASSERT_TRUE(moved) << *with;
  EXPECT_EQ(*moved, *WithHook(text, Entry("/b/gate", true)));
  // With an entry for each event, and an older entry replaced by them.
  std::vector<HookEntry> entries = {Entry("/a/gate"), Entry("/a/gate"),
                                    Entry("/a/gate")};
  entries[1].event = "PostToolUse";
  entries[2].event = "PostToolUseFailure";
  const auto all = WithHooks(text, entries);
  ASSERT_TRUE(all) << text << "\n" << all.error().message;
  EXPECT_EQ(*WithHooks(*all, entries), *all);
  // An older entry makes place for them.
  entries[0].block_on_failure = true;
  EXPECT_EQ(*WithHooks(*moved, entries), *WithHooks(text, entries));
  EXPECT_EQ(FindHooks(*all, "claude")->size(), 3u);
  for (const std::string& installed : {*with, *moved, *all}) {
    const auto without = WithoutHook(installed, "claude");
    ASSERT_TRUE(without) << installed;
    ASSERT_TRUE(without->has_value()) << installed;
    EXPECT_EQ(**without, text) << installed;
  }
}

TEST_F(InstallTest, EveryOtherByteStays) {
  for (const char* text : {
           "",
           "\n",
           " \n\t",
           "{}",
           "{ }",
           "{\n}\n",
           "{}\n",
           "{\r\n\t\"a\": 1\r\n}\r\n",
           "\xef\xbb\xbf{\"a\": 1}",
           "\xef\xbb\xbf{}\n",
           kSettings,
           "{\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\"], \"deny\": "
           "[]},\n"
           "  \"x\": 1.50, \"u\": \"\\u00e9\",\n  \"hooks\": {}\n}",
           "{\"n\": 12345678901234567890123, \"m\": -0,"
           " \"g\":1E-400}",
           "{\"hooks\": {}}",
           "{\"hooks\": {\n  }}",
           "{\"hooks\":{\"PreToolUse\":[]}}",
           "{\"hooks\":{\"PreToolUse\":[ ]}, \"a\": \"}]\\\"{\"}",
           "{\"hooks\":{\"PreToolUse\":[\n]}\n}\n\n",
           "{\"h\\u006foks\": {\"PreToolUse\": [{\"matcher\": \"\"}]}}",
           "{\"a\": {\"hooks\": {\"PreToolUse\": []}}, \"\\\\\": \"hooks\"}",
       })
    ExpectNoTrace(text);
}

// A text that says the same in many ways of laying it out.
class Layouts {
 public:
  explicit Layouts(unsigned seed) : random_(seed) {}
  std::string File() {
    const std::string mark = Pick({"", "", "", "\xef\xbb\xbf"});
    newline_ = Pick({"\n", "\n", "\r\n", ""});
    return mark + Blank() + Object(0, true) + Blank();
  }

 private:
  std::string Pick(std::initializer_list<const char*> choices) {
    return choices.begin()[random_() % choices.size()];
  }
  std::string Blank() {
    return Pick({"", "", " ", "\t", "  "}) + (random_() % 2 ? newline_ : "") +
           Pick({"", "", " ", "    "});
  }
  std::string Value(int depth) {
    if (depth < 3 && random_() % 3 == 0) return Object(depth, false);
    if (depth < 3 && random_() % 4 == 0) return Array(depth, 3);
    return Pick({"0", "-1.50", "99999999999999999999", "1e5", "true", "null",
                 "\"\"", "\"[{\\\"\"", "\"\\u00e9\\\\\"", "\"é,:}]\""});
  }
  std::string Array(int depth, unsigned most) {
    std::string text = "[" + Blank();
    const unsigned count = random_() % (most + 1);
    for (unsigned i = 0; i < count; ++i)
      text += (i > 0 ? "," + Blank() : "") + Value(depth + 1) + Blank();
    return text + "]";
  }
  std::string Groups() {
    std::string text = "[" + Blank();
    const unsigned count = random_() % 3;
    for (unsigned i = 0; i < count; ++i)
      text += (i > 0 ? "," + Blank() : "") +
              Pick({"{}", "{\"matcher\": \"x\"}", "{ \"hooks\":[ ] }",
                    "{\"hooks\": [{\"command\": \"fmt\"}]}"}) +
              Blank();
    return text + "]";
  }
  std::string Hooks() {
    std::string text = "{" + Blank();
    if (random_() % 2) text += "\"Stop\"" + Blank() + ":" + Groups() + Blank();
    if (random_() % 2)
      text += (text.find('"') == std::string::npos ? "" : "," + Blank()) +
              "\"PreToolUse\"" + Blank() + ":" + Blank() + Groups() + Blank();
    return text + "}";
  }
  std::string Object(int depth, bool root) {
    std::string text = "{" + Blank();
    const unsigned count = random_() % 4;
    for (unsigned i = 0; i < count; ++i)
      text += (i > 0 ? "," + Blank() : "") + "\"k" + std::to_string(i) + "\"" +
              Blank() + ":" + Blank() + Value(depth + 1) + Blank();
    if (root && random_() % 3 != 0)
      text += (count > 0 ? "," : "") + Blank() + "\"hooks\":" + Blank() +
              Hooks() + Blank();
    return text + "}";
  }

  std::mt19937 random_;
  std::string newline_;
};

TEST_F(InstallTest, EveryOtherByteStaysInAnyLayout) {
  for (unsigned seed = 0; seed < 3000 && !HasFailure(); ++seed)
    ExpectNoTrace(Layouts(seed).File());
}

TEST_F(InstallTest, WhatAnotherProgramLaidOutAnewIsTakenOutToo) {
  const auto with = WithHook("{\"a\": 1}", Entry("/a/gate"));
  ASSERT_TRUE(with);
  const std::string anew = nlohmann::ordered_json::parse(*with).dump(2);
  EXPECT_EQ(*WithoutHook(anew, "claude"), "{\n  \"a\": 1\n}");
  const auto created = WithHook(std::nullopt, Entry("/a/gate"));
  ASSERT_TRUE(created);
  EXPECT_EQ(*WithoutHook(*created, "claude"), std::nullopt);
  EXPECT_TRUE(WithoutHook(nlohmann::json::parse(*created).dump(2), "claude") ==
              "{}");
}

TEST_F(InstallTest, UninstallTakesOnlyOursOutOfASharedGroup) {
  const std::string path = home_ + "/.codex/hooks.json";
  Do(PlanInstall(Options("codex")));
  auto json = *ParseJson(Read(path));
  json["hooks"]["PreToolUse"][0]["hooks"].push_back(
      {{"type", "command"}, {"command", "other"}});
  Write(path, Dump(json));
  Do(PlanUninstall(Options("codex")));
  const auto after = *ParseJson(Read(path));
  ASSERT_EQ(after["hooks"]["PreToolUse"][0]["hooks"].size(), 1u);
  EXPECT_EQ(after["hooks"]["PreToolUse"][0]["hooks"][0]["command"], "other");
}

TEST_F(InstallTest, BrokenSettingsAreRefusedAndLeftAlone) {
  const std::string path = home_ + "/.claude/settings.json";
  for (const char* text :
       {"{", "[]", "// comment\n{}", "{\"a\":1,\"a\":2}", "{}x",
        "{\"hooks\":[]}", "{\"hooks\":{\"PreToolUse\":{}}}",
        "{\"hooks\":{\"PreToolUse\":[1]}}",
        "{\"hooks\":{\"PreToolUse\":[{\"hooks\":1}]}}",
        "{\"disableAllHooks\":true}", "{\"a\":\"\xff\"}"}) {
    Write(path, text);
    const auto changes = PlanInstall(Options("claude"));
    ASSERT_FALSE(changes) << text;
    EXPECT_EQ(changes.error().code, ErrorCode::kInvalid) << text;
    EXPECT_EQ(Read(path), text);
  }
  Write(path, " \n");
  EXPECT_TRUE(PlanInstall(Options("claude")));
}

TEST_F(InstallTest, LinksAreFollowedInsideHomeOnly) {
  const std::string path = home_ + "/.claude/settings.json";
  std::filesystem::create_directories(home_ + "/.claude");
  Write(home_ + "/dotfiles/claude.json", "{}");
  std::filesystem::create_symlink(home_ + "/dotfiles/claude.json", path);
  Do(PlanInstall(Options("claude")));
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_NE(Read(home_ + "/dotfiles/claude.json").find("hook claude"),
            std::string::npos);
  std::filesystem::remove(path);
  Write(root_ + "/outside.json", "{}");
  std::filesystem::create_symlink(root_ + "/outside.json", path);
  EXPECT_EQ(PlanInstall(Options("claude")).error().code,
            ErrorCode::kPermission);
  std::filesystem::remove_all(home_ + "/.claude");
  std::filesystem::create_directories(root_ + "/outside");
  std::filesystem::create_symlink(root_ + "/outside", home_ + "/.claude");
  EXPECT_EQ(PlanInstall(Options("claude")).error().code,
            ErrorCode::kPermission);
  std::filesystem::remove(home_ + "/.claude");
  std::filesystem::create_directories(home_ + "/.claude");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(PlanInstall(Options("claude")));
}

TEST_F(InstallTest, ApplyStopsWhenTheFileChangedMeanwhile) {
  const std::string path = home_ + "/.claude/settings.json";
  Write(path, "{}");
  auto changes = PlanInstall(Options("claude"));
  ASSERT_TRUE(changes);
  Write(path, "{\"a\":1}");
  EXPECT_FALSE(Apply(*changes, 0));
  EXPECT_EQ(Read(path), "{\"a\":1}");
}

TEST_F(InstallTest, DiffShowsTheChange) {
  const FileChange change{"/h/s.json", "{\n  \"a\": 1,\n  \"b\": 2\n}\n",
                          "{\n  \"a\": 1,\n  \"n\": 0,\n  \"b\": 2\n}\n", true};
  EXPECT_EQ(RenderDiff(change),
            "--- /h/s.json\n+++ /h/s.json\n@@ -1,4 +1,5 @@\n {\n   \"a\": 1,\n"
            "+  \"n\": 0,\n   \"b\": 2\n }\n");
  const FileChange created{"/h/s.json", "", "{}\n", false};
  EXPECT_EQ(RenderDiff(created),
            "--- /dev/null\n+++ /h/s.json\n@@ -1,0 +1,1 @@\n+{}\n");
}

}  // namespace
}  // namespace gate::hooks
