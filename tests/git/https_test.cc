// Commands of git that need a login over https.
#include "git/https.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>

#include "parser/analysis.h"
#include "tests/support/machine.h"
#include "tests/support/servers.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

TEST(GitHttpsTest, TheMachineIsTheOneThatTheCommandAsks) {
  Machine machine;
  machine.Write(machine.project() + "/.git/HEAD", "ref: refs/heads/main\n");
  machine.Write(machine.project() + "/.git/objects/x", "");
  machine.Write(machine.project() + "/.git/refs/x", "");
  machine.Write(machine.project() + "/.git/config",
                "[core]\nrepositoryformatversion = 0\n"
                "[remote \"origin\"]\nurl = https://me:hunter2@one.example/x\n"
                "[remote \"two\"]\nurl = http://two.example:8080/x?a=b\n"
                "[remote \"ssh\"]\nurl = git@three.example:x\n"
                "[remote \"path\"]\nurl = /srv/x\n");
  const struct {
    const char* line;
    const char* host;
  } kRows[] = {
      {"git push", "https://one.example"},
      {"git push origin main", "https://one.example"},
      {"git fetch two", "http://two.example:8080"},
      {"git fetch ssh", ""},
      {"git pull path", ""},
      {"git clone https://a.example/b.git", "https://a.example"},
      {"git clone https://me:hunter2@a.example/b.git", "https://a.example"},
      {"git clone https://a.example", "https://a.example"},
      {"git ls-remote http://a.example:3000/b?c", "http://a.example:3000"},
      {"git -C . push", "https://one.example"},
      {"git clone https:///x", "https://one.example"},
  };
  parser::Context context;
  context.cwd = machine.project();
  for (const auto& row : kRows) {
    const parser::Analysis analysis = parser::Analyze(row.line, context);
    ASSERT_FALSE(analysis.invocations.empty()) << row.line;
    const std::string host = HttpHostOf(analysis.invocations.front());
    EXPECT_EQ(host, row.host) << row.line;
  }
}

TEST(GitHttpsTest, ALineThatNeedsALoginSaysThatItIsWithheld) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox here";
  test::Server server(AF_INET);
  std::thread answers([&] {
    while (true) {
      const Fd one(server.Accept());
      if (!one) return;
      char space[4096];
      (void)!::recv(one.get(), space, sizeof(space), 0);
      constexpr std::string_view kAnswer =
          "HTTP/1.0 401 Unauthorized\r\nWWW-Authenticate: Basic "
          "realm=x\r\nContent-Length: 0\r\n\r\n";
      (void)!::send(one.get(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    }
  });
  const std::string port = std::to_string(server.port());
  machine.Write(
      machine.home() + "/.config/gate/config.json",
      R"({"local_services": [{"port": )" + port + R"(, "program": ")" +
          std::string(
              std::filesystem::read_symlink("/proc/self/exe").filename()) +
          "\"}]}");
  const Done done = machine.Gate(
      {"run", "-c",
       "GIT_TERMINAL_PROMPT=0 git clone -q http://localhost:" + port + "/x y"});
  EXPECT_EQ(done.exit_code, 128) << done.err;
  EXPECT_NE(done.err.find("git's logins for http://localhost:" + port +
                          " (its credential helper) are withheld; instead: "
                          "tell the person"),
            std::string::npos)
      << done.err;
  ::shutdown(server.socket(), SHUT_RDWR);
  answers.join();
}

}  // namespace
}  // namespace gate::app
