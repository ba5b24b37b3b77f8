// gate install, and what gate doctor says of it.
#include "hooks/install.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "hooks/installed.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Has;
using test::Machine;

class InstallTest : public ::testing::Test {
 protected:
  // As the gate under test would be installed.
  hooks::InstallOptions Options(const char* client) const {
    hooks::InstallOptions options;
    options.client = client;
    options.home = machine_.home();
    options.gate_path = std::filesystem::canonical(test::GateBinary());
    options.config_dir = machine_.home() + "/.config/gate";
    options.state_dir = machine_.state();
    return options;
  }
  void Install(const hooks::InstallOptions& options) const {
    const auto changes = hooks::PlanInstall(options);
    ASSERT_TRUE(changes) << changes.error().message;
    ASSERT_TRUE(hooks::Apply(*changes, 1795237567000));
  }
  // A program called `name`, first in PATH, that prints its version.
  void PutClient(const std::string& name, const std::string& version) {
    machine_.Write(machine_.root() + "/bin/" + name,
                   "#!/bin/sh\necho '" + version + "'\n", 0755);
    machine_.environment = {"PATH=" + machine_.root() + "/bin:/usr/bin:/bin"};
  }
  // The lines of the doctor about hooks, and their help.
  std::string Doctor(const std::string& cwd = "") const {
    const std::string out = machine_.Gate({"doctor"}, "", cwd).out;
    std::string lines;
    bool hook = false;
    for (size_t at = 0; at < out.size();) {
      const size_t end = std::min(out.find('\n', at), out.size());
      const std::string line = out.substr(at, end - at);
      if (!line.starts_with("    ")) hook = line.find("hook ") == 4;
      if (hook) lines += line + "\n";
      at = end + 1;
    }
    return lines;
  }

  Machine machine_;
};

TEST_F(InstallTest, AnEntryThatMakesTheClientBlockIsInstalledToo) {
  hooks::InstallOptions options = Options("claude");
  options.block_on_failure = true;
  Install(options);
  EXPECT_TRUE(Has(Doctor(), "ok  hook      claude: installed")) << Doctor();
  // Where `claude` is not in PATH nothing is taken out.
  EXPECT_EQ(machine_.Gate({"install", "--dry-run", "claude"}).out,
            "claude: nothing to change\n");
}

// What the client runs, and gate behind it.
TEST_F(InstallTest, TheInstalledLineAnswersAsGateDoes) {
  machine_.Write(machine_.project() + "/package.json", "{}");
  machine_.environment = {"SHELL=/bin/bash"};
  const auto event = [&](const char* tool, const std::string& input) {
    return R"({"session_id":"s","cwd":")" + machine_.project() +
           R"(","permission_mode":"default","hook_event_name":"PreToolUse",)" +
           R"("tool_name":")" + tool + R"(","tool_input":)" + input +
           R"(,"tool_use_id":"t"})";
  };
  const std::string quoted(2000, '\'');
  const struct {
    const char* tool;
    std::string input;
    int exit_code;
    const char* out;  // its beginning
  } kRows[] = {
      {"Bash", R"({"command":"ls"})", 0, ""},
      {"TodoWrite", R"({"todos":[]})", 0, ""},
      {"Read", R"({"file_path":"a"})", 0, ""},
      {"Bash", R"({"command":"git push --force origin x"})", 0,
       "{\"hookSpecificOutput\":"},
      {"Bash",
       R"({"command":"git push --force origin x # %s \\n $x \" )" + quoted +
           "\"}",
       0, "{\"hookSpecificOutput\":"},
      {"Bash", R"({"command":"rm -rf /"})", 0,
       R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",)"
       R"("permissionDecision":"deny",)"},
      {"Bash", "{}", 2, ""},
      {"Read", "{}", 2, ""},
  };
  for (const char* client : {"claude", "codex"}) {
    const std::string line = hooks::GuardLine(Options(client));
    for (const auto& row : kRows)
      for (const char* shell : {"/bin/sh", "/bin/bash"}) {
        const std::string text = event(row.tool, row.input);
        const test::Done bare = machine_.Gate({"hook", client}, text);
        const test::Done done = machine_.Run({shell, "-c", line}, text);
        EXPECT_EQ(done.exit_code, bare.exit_code) << client << row.input;
        EXPECT_EQ(done.err.empty(), done.exit_code == 0) << done.err;
        if (std::string(client) == "codex") continue;
        EXPECT_EQ(done.exit_code, row.exit_code) << row.input << done.err;
        EXPECT_TRUE(done.out.starts_with(row.out)) << done.out;
        EXPECT_EQ(done.out.empty(), std::string(row.out).empty()) << done.out;
        if (!done.out.empty()) {
          EXPECT_TRUE(done.out.ends_with("}\n")) << done.out;
        }
      }
  }
}

TEST_F(InstallTest, DryRunShowsWhatTheRealRunMakes) {
  PutClient("claude", "2.1.311 (Claude Code)");
  const std::string blocks = "\"onFailure\": \"block\"";
  EXPECT_TRUE(
      Has(machine_.Gate({"install", "--dry-run", "claude"}).out, blocks));
  PutClient("claude", "2.1.294 (Claude Code)");
  EXPECT_FALSE(
      Has(machine_.Gate({"install", "--dry-run", "claude"}).out, blocks));
}

TEST_F(InstallTest, SettingsAreWhereTheClientsVariablesPutThem) {
  const std::pair<const char*, const char*> cases[] = {
      {"claude", "CLAUDE_CONFIG_DIR"}, {"codex", "CODEX_HOME"}};
  for (const auto& [client, variable] : cases) {
    const std::string moved = machine_.home() + "/moved-" + client;
    hooks::InstallOptions options = Options(client);
    const std::string usual = *hooks::SettingsPath(options);
    // At the usual place, which the client does not read.
    Install(options);
    machine_.environment = {std::string(variable) + "=" + moved};
    const std::string missing =
        std::string("-   hook      ") + client + ": not installed";
    EXPECT_TRUE(Has(Doctor(), missing)) << Doctor();
    const test::Done dry = machine_.Gate({"install", "--dry-run", client});
    EXPECT_TRUE(Has(dry.out, "+++ " + moved + "/")) << dry.out;
    EXPECT_FALSE(Has(dry.out, usual)) << dry.out;
    options.moved_dir = moved;
    Install(options);
    EXPECT_FALSE(Has(Doctor(), missing)) << Doctor();
    EXPECT_TRUE(Has(Doctor(), std::string(client) + ": installed"));
    EXPECT_TRUE(Has(machine_.Gate({"uninstall", "--dry-run", client}).out,
                    "--- " + moved + "/"));
    machine_.environment.clear();
  }
}

TEST_F(InstallTest, AProjectsSettingsAreThoseOfItsTop) {
  machine_.Write(machine_.project() + "/package.json", "{}");
  const std::string deep = machine_.project() + "/src/deep";
  ASSERT_EQ(machine_.Run({"mkdir", "-p", deep}).exit_code, 0);
  for (const char* client : {"claude", "codex"}) {
    const std::string place = machine_.project() + "/." + client + "/";
    const test::Done dry =
        machine_.Gate({"install", "--project", "--dry-run", client}, "", deep);
    EXPECT_TRUE(Has(dry.out, "+++ " + place)) << dry.out;
    hooks::InstallOptions options = Options(client);
    options.project = true;
    options.project_dir = machine_.project();
    Install(options);
    for (const std::string& cwd : {machine_.project(), deep})
      EXPECT_TRUE(Has(Doctor(cwd), "for this project (" + place))
          << Doctor(cwd);
    EXPECT_TRUE(Has(
        machine_.Gate({"uninstall", "--project", "--dry-run", client}, "", deep)
            .out,
        "--- " + place));
  }
  const std::string elsewhere = machine_.home() + "/other";
  ASSERT_EQ(machine_.Run({"mkdir", elsewhere}).exit_code, 0);
  EXPECT_TRUE(Has(Doctor(elsewhere), "claude: not installed"));
  // Without a project it is where one stands.
  const test::Done dry = machine_.Gate(
      {"install", "--project", "--dry-run", "claude"}, "", elsewhere);
  EXPECT_TRUE(Has(dry.out, "+++ " + elsewhere + "/.claude/")) << dry.out;
}

TEST_F(InstallTest, DoctorTellsGatesApart) {
  const std::string other = machine_.root() + "/bin/gate's old";
  for (const char* client : {"claude", "codex"}) {
    const std::string name = client;
    EXPECT_TRUE(Has(Doctor(), "-   hook      " + name + ": not installed"));
    hooks::InstallOptions options = Options(client);
    options.gate_path = other;
    machine_.Write(other, "#!/bin/sh\n", 0755);
    Install(options);
    EXPECT_TRUE(Has(Doctor(), name + ": another gate answers, " + other + ","))
        << Doctor();
    ASSERT_EQ(machine_.Run({"rm", other}).exit_code, 0);
    EXPECT_TRUE(Has(Doctor(), "BAD hook      " + name +
                                  ": the hook's program is not there, " +
                                  other + ","))
        << Doctor();
    options = Options(client);
    options.timeout_path = "timeout";
    Install(options);
    EXPECT_TRUE(Has(Doctor(), ", but not as this gate writes it")) << Doctor();
  }
  machine_.Write(machine_.home() + "/.claude/settings.json", "{");
  EXPECT_TRUE(Has(Doctor(), "BAD hook      claude: ")) << Doctor();
}

TEST_F(InstallTest, AHookThatTheClientDoesNotRunIsNotWell) {
  machine_.Write(machine_.project() + "/package.json", "{}");
  const std::string place = "/.claude/settings";
  ASSERT_EQ(
      machine_.Run({"mkdir", "-p", machine_.project() + "/src"}).exit_code, 0);
  Install(Options("claude"));
  const std::string user = machine_.Read(machine_.home() + place + ".json");
  for (const std::string& path : {machine_.project() + place + ".json",
                                  machine_.project() + place + ".local.json"}) {
    for (const char* text : {"{\"disableAllHooks\": true}", "{"}) {
      machine_.Write(path, text);
      for (const char* below : {"", "/src"}) {
        const std::string said = Doctor(machine_.project() + below);
        EXPECT_TRUE(Has(said, "BAD hook      claude: installed")) << said;
        EXPECT_TRUE(Has(said, path)) << said;
        EXPECT_FALSE(Has(said, "ok  hook")) << said;
      }
    }
    machine_.Write(path, "{\"disableAllHooks\": false}");
    EXPECT_TRUE(Has(Doctor(), "ok  hook      claude: installed")) << Doctor();
  }
  machine_.Write(machine_.home() + place + ".json",
                 "{\"disableAllHooks\": true," + user.substr(1));
  EXPECT_TRUE(Has(Doctor(), "BAD hook      claude: installed")) << Doctor();
}

TEST_F(InstallTest, CodexRunsOnlyWhatItsPersonTrusts) {
  hooks::InstallOptions options = Options("codex");
  Install(options);
  const auto installed = hooks::FindInstalled(options);
  ASSERT_TRUE(installed);
  const std::string key =
      "[hooks.state.\"" + installed->path + installed->review_place + "\"]\n";
  const std::string hash =
      "trusted_hash = \"" + installed->review_hash + "\"\n";
  const std::string config = machine_.home() + "/.codex/config.toml";
  const std::pair<std::string, const char*> cases[] = {
      {"", "BAD"},
      {key + hash, "ok "},
      {"[features]\nhooks = true\n" + key + hash, "ok "},
      {"[features]\nhooks = false\n" + key + hash, "BAD"},
      {"[features]\ncodex_hooks = false\n" + key + hash, "BAD"},
      {key + "enabled = false\n" + hash, "BAD"},
      {key + "enabled = true\n", "BAD"},
      {"[hooks.state.\"" + installed->path + ":pre_tool_use:1:0\"]\n" + hash,
       "BAD"},
      {key + "trusted_hash = \"sha256:00\"\n", "-  "},
      {"[hooks", "-  "}};
  EXPECT_TRUE(Has(Doctor(), "BAD hook      codex: installed")) << Doctor();
  for (const auto& [text, mark] : cases) {
    machine_.Write(config, text);
    const std::string said = Doctor();
    EXPECT_TRUE(Has(said, std::string(mark) + " hook      codex: installed"))
        << text << said;
    EXPECT_EQ(Has(said, "/hooks\n"), std::string(mark) != "ok ") << said;
  }
}

TEST_F(InstallTest, CodexTrustOfAProjectsHookIsInTheUsersFile) {
  machine_.Write(machine_.project() + "/package.json", "{}");
  hooks::InstallOptions options = Options("codex");
  options.project = true;
  options.project_dir = machine_.project();
  Install(options);
  const auto installed = hooks::FindInstalled(options);
  ASSERT_TRUE(installed);
  const std::string trust = "[hooks.state.\"" + installed->path +
                            installed->review_place + "\"]\ntrusted_hash = \"" +
                            installed->review_hash + "\"\n";
  const std::string config = "/.codex/config.toml";
  machine_.Write(machine_.project() + config, trust);
  EXPECT_TRUE(Has(Doctor(), "BAD hook      codex: installed")) << Doctor();
  machine_.Write(machine_.home() + config, trust);
  EXPECT_TRUE(Has(Doctor(), "-   hook      codex: installed")) << Doctor();
  machine_.Write(machine_.home() + config,
                 trust + "[projects.\"" + machine_.project() +
                     "\"]\ntrust_level = \"trusted\"\n");
  EXPECT_TRUE(Has(Doctor(), "ok  hook      codex: installed")) << Doctor();
  machine_.Write(machine_.project() + config, "features.hooks = false\n");
  EXPECT_TRUE(Has(Doctor(), "BAD hook      codex: installed")) << Doctor();
}

// By the rule that several programs have found to give what Codex 0.142 to
// 0.160 writes: sha256 of the compact JSON with sorted names.
TEST_F(InstallTest, CodexHashIsThatOfTheEntry) {
  hooks::InstallOptions options = Options("codex");
  machine_.Write(
      *hooks::SettingsPath(options),
      "{\"hooks\": {\"PreToolUse\": [{\"hooks\": []}, {\"hooks\": [{}, {"
      "\"timeout\": 15, \"type\": \"command\", \"command\": \"t 10 g hook "
      "codex || gate: hook failed (status \\\"é\"}], \"matcher\": \"*\"}]}}");
  const auto installed = hooks::FindInstalled(options);
  ASSERT_TRUE(installed);
  EXPECT_EQ(installed->entry, hooks::Entry::kOther);
  EXPECT_EQ(installed->program, "g");
  EXPECT_EQ(installed->review_place, ":pre_tool_use:1:1");
  EXPECT_EQ(installed->review_hash,
            "sha256:"
            "58c545e14bd072f5048b048e950360a7dcba684c467e638aaf696f59e2d9ab68");
}

TEST_F(InstallTest, InstallSaysThatCodexWantsAReview) {
  const auto [code, shown] = machine_.OnTerminal({"install", "codex"}, "");
  if (test::Machine::NoPerson(shown)) GTEST_SKIP() << shown;
  EXPECT_EQ(code, 0) << shown;
  EXPECT_TRUE(Has(shown, "until it is reviewed in Codex: /hooks")) << shown;
  EXPECT_TRUE(Has(Doctor(), "BAD hook      codex: installed")) << Doctor();
}

TEST_F(InstallTest, ClientsThatRunTheOriginalAreNamed) {
  const struct {
    const char* client;
    const char* version;
    bool old;
  } cases[] = {{"claude", "1.0.17 (Claude Code)", true},
               {"claude", "2.0.9 (Claude Code)", true},
               {"claude", "2.0.10 (Claude Code)", false},
               {"codex", "codex-cli 0.130.0", true},
               {"codex", "codex-cli 0.131.0", false},
               {"codex", "codex-cli 1.0.0", false},
               {"codex", "none", false},
               {"codex", "", false}};
  for (const char* client : {"claude", "codex"}) Install(Options(client));
  for (const auto& c : cases) {
    PutClient(c.client, c.version);
    const std::string bad = std::string("BAD hook      ") + c.client + " ";
    EXPECT_EQ(Has(Doctor(), bad), c.old) << c.version << Doctor();
    const std::string why = " runs uncontained what gate would contain";
    EXPECT_EQ(Has(machine_.Gate({"install", "--dry-run", c.client}).err, why),
              c.old)
        << c.version;
    EXPECT_FALSE(
        Has(machine_.Gate({"uninstall", "--dry-run", c.client}).err, why));
  }
}

TEST(ToolsTest, InstallShowsTheChangeAndNeedsAPerson) {
  const Machine machine;
  const Done dry = machine.Gate({"install", "--dry-run", "claude", "codex"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_NE(dry.out.find("hook claude"), std::string::npos) << dry.out;
  EXPECT_NE(dry.out.find("hook codex"), std::string::npos) << dry.out;
  EXPECT_FALSE(machine.Exists(machine.home() + "/.claude/settings.json"));
  EXPECT_EQ(machine.Gate({"install", "claude"}).exit_code, 126);
  // Said before a person is asked for.
  for (const char* command : {"install", "uninstall"}) {
    const Done unknown = machine.Gate({command, "claude", "cursor"});
    EXPECT_EQ(unknown.exit_code, 64);
    EXPECT_NE(unknown.err.find("`cursor` is not a client"), std::string::npos)
        << unknown.err;
    EXPECT_EQ(unknown.err.find("terminal"), std::string::npos) << unknown.err;
  }
}

}  // namespace
}  // namespace gate::app
