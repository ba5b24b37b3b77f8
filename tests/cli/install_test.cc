// gate install, and what gate doctor says of it.
#include "hooks/install.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/process.h"

namespace gate::cli {
namespace {

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
  static bool Has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  test::Machine machine_;
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
    (client == std::string("claude") ? options.claude_dir
                                     : options.codex_home) = moved;
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
    EXPECT_TRUE(Has(Doctor(), "-   hook      " + name +
                                  ": another gate answers, " + other + ","))
        << Doctor();
    ASSERT_EQ(machine_.Run({"rm", other}).exit_code, 0);
    EXPECT_TRUE(Has(Doctor(), "BAD hook      " + name +
                                  ": everything is refused, because the "
                                  "hook's program " +
                                  other + " is not there"))
        << Doctor();
    options = Options(client);
    options.timeout_path = "timeout";
    Install(options);
    EXPECT_TRUE(Has(Doctor(), "BAD hook      " + name +
                                  ": installed, but not as this gate writes"))
        << Doctor();
  }
  machine_.Write(machine_.home() + "/.claude/settings.json", "{");
  EXPECT_TRUE(Has(Doctor(), "BAD hook      claude: ")) << Doctor();
}

}  // namespace
}  // namespace gate::cli
