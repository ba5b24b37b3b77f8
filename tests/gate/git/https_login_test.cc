// Commands of git that need a login over https.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <filesystem>
#include <string>
#include <thread>

#include "base/file.h"
#include "tests/support/machine.h"
#include "tests/support/servers.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

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
