// The line that the client's settings run, in the shells that clients use, with
// stand-ins for gate.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "hooks/install.h"

namespace gate::hooks {
namespace {

class GuardLineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        std::filesystem::temp_directory_path().string() + "/gate-guard-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = std::filesystem::canonical(pattern);
    std::filesystem::create_directories(root_ + "/home");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  InstallOptions Options(const char* client) {
    InstallOptions options;
    options.client = client;
    options.gate_path = "/opt/gate dir/gate";
    options.config_dir = "/home/u/.config/gate";
    options.state_dir = "/home/u/.local/state/gate";
    options.timeout_path = "timeout";
    return options;
  }
  void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  std::string Read(const std::string& path) {
    auto text = ReadFile(path, 1 << 20);
    return text ? *text : "";
  }

  std::string root_;
};

TEST_F(GuardLineTest, GuardLineIsWhatTheClientsNeed) {
  EXPECT_EQ(
      GuardLine(Options("claude")),
      "a=$(timeout 10 '/opt/gate dir/gate' --config-dir /home/u/.config/gate "
      "--state-dir /home/u/.local/state/gate hook claude --framed); s=$?; "
      "trap \"\" PIPE; case $s$a in 0gate::gate) ;; 0gate:{*}:gate) "
      "a=${a#gate:}; printf %s\\\\n \"${a%:gate}\" || exit 2;; 2gate::gate) "
      "exit 2;; *) echo \"gate: hook failed (status $s)\" >&2; exit 2;; esac");
  EXPECT_TRUE(GuardLine(Options("codex")).starts_with("/bin/sh -c 'a=$("));
}

// The line run by each shell that clients use, with a stand-in for gate.
TEST_F(GuardLineTest, GuardLetsOnlyGatesOwnAnswersThrough) {
  const std::string big(300'000, 'x');
  const struct {
    std::string script;
    int exit_code;
    std::string out;
    const char* err;
  } cases[] = {
      // gate's answers: silence, an object, a refusal.
      {"echo gate::gate", 0, "", ""},
      {"printf gate::gate", 0, "", ""},
      {"echo 'gate:{}:gate'", 0, "{}\n", ""},
      {"echo 'gate:{\"a\":\":gate\"}:gate'", 0, "{\"a\":\":gate\"}\n", ""},
      {R"(printf '%s\n' 'gate:{"a":"\n %s $x \"}"}:gate')", 0,
       R"({"a":"\n %s $x \"}"})"
       "\n",
       ""},
      {"printf 'gate:{'; head -c 300000 /dev/zero | tr '\\0' x; "
       "echo '}:gate'",
       0, "{" + big + "}\n", ""},
      {"echo no >&2; echo gate::gate; exit 2", 2, "", "no\n"},
      // Another program at gate's path, or one that fails.
      {"exit 0", 2, "", "gate: hook failed (status 0)\n"},
      {"exit 2", 2, "", "gate: hook failed (status 2)\n"},
      {"echo; exit 0", 2, "", "gate: hook failed (status 0)\n"},
      {"echo garbage", 2, "", "gate: hook failed (status 0)\n"},
      {"echo '{}'", 2, "", "gate: hook failed (status 0)\n"},
      {"cat", 2, "", "gate: hook failed (status 0)\n"},
      {"echo \"$@\"", 2, "", "gate: hook failed (status 0)\n"},
      {"echo 'log line'; echo gate::gate", 2, "", "gate: hook failed"},
      {"echo gate::gate; echo gate::gate", 2, "", "gate: hook failed"},
      {"echo 'gate:{\"a\":1'", 2, "", "gate: hook failed"},
      {"echo 'gate:[1]:gate'", 2, "", "gate: hook failed"},
      {"echo 'gate:text:gate'", 2, "", "gate: hook failed"},
      {"echo 'gate:{}:gate'; exit 1", 2, "", "gate: hook failed (status 1)\n"},
      {"echo gate::gate; exit 3", 2, "", "gate: hook failed (status 3)\n"},
      {"echo gate::gate; exit 20", 2, "", "gate: hook failed (status 20)\n"},
      {"echo 'gate:{}:gate'; exit 2", 2, "", "gate: hook failed"},
      {"echo no >&2; exit 2", 2, "", "no\ngate: hook failed (status 2)\n"},
      {"exit 1", 2, "", "gate: hook failed (status 1)\n"},
      {"exit 64", 2, "", "gate: hook failed (status 64)\n"},
      {"exit 127", 2, "", "gate: hook failed (status 127)\n"},
      {"kill -KILL $$", 2, "", "status 137"},
      {"echo gate::gate; kill -KILL $$", 2, "", "status 137"},
      {"kill -SEGV $$", 2, "", "gate: hook failed"},
      {"head -c 100000 /dev/urandom", 2, "", "gate: hook failed"},
  };
  for (const char* client : {"claude", "codex"}) {
    for (const auto& c : cases) {
      InstallOptions options = Options(client);
      options.gate_path = root_ + "/it's gate";
      Write(options.gate_path, "#!/bin/sh\n" + c.script + "\n");
      chmod(options.gate_path.c_str(), 0755);
      Write(root_ + "/line", GuardLine(options));
      for (const char* shell : {"sh", "bash"}) {
        const std::string run = std::string(shell) + " " + root_ + "/line >" +
                                root_ + "/out 2>" + root_ + "/err </dev/null";
        const int status = system(run.c_str());
        EXPECT_EQ(WEXITSTATUS(status), c.exit_code) << client << c.script;
        EXPECT_EQ(Read(root_ + "/out"), c.out) << client << c.script;
        EXPECT_NE(Read(root_ + "/err").find(c.err), std::string::npos)
            << client << c.script << Read(root_ + "/err");
        if (c.exit_code == 2) {
          EXPECT_FALSE(Read(root_ + "/err").empty()) << c.script;
        }
      }
    }
    // Not there, not executable, a directory.
    InstallOptions options = Options(client);
    Write(root_ + "/plain", "echo gate::gate");
    chmod((root_ + "/plain").c_str(), 0644);
    for (const char* name : {"/missing", "/plain", "/home"}) {
      options.gate_path = root_ + name;
      const int status =
          system((GuardLine(options) + " 2>" + root_ + "/err").c_str());
      EXPECT_EQ(WEXITSTATUS(status), 2) << name;
      EXPECT_FALSE(Read(root_ + "/err").empty()) << name;
    }
  }
}

TEST_F(GuardLineTest, AnAnswerThatTheClientDoesNotTakeIsARefusal) {
  InstallOptions options = Options("claude");
  options.gate_path = root_ + "/gate";
  Write(options.gate_path, "#!/bin/sh\necho 'gate:{}:gate'\n");
  chmod(options.gate_path.c_str(), 0755);
  Write(root_ + "/line", GuardLine(options));
  for (const char* shell : {"sh", "bash"})
    for (const char* to : {">/dev/full", ">&-", "1</dev/null"}) {
      const int status = system((std::string(shell) + " " + root_ + "/line " +
                                 to + " 2>" + root_ + "/err")
                                    .c_str());
      EXPECT_EQ(WEXITSTATUS(status), 2) << shell << to;
      EXPECT_FALSE(Read(root_ + "/err").empty()) << shell << to;
    }
}

}  // namespace
}  // namespace gate::hooks
