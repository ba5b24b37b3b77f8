// gate-session by itself.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "base/file.h"
#include "base/paths.h"
#include "base/session_wire.h"
#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Machine;

// gate-session by itself, without a namespace to give.
class Supervisor {
 public:
  // `asks`: what a line has sent before it starts.
  Supervisor(const std::string& path, const std::string& asks) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    const Fd listener(socket(AF_UNIX, SOCK_SEQPACKET, 0));
    EXPECT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address),
                   sizeof(address)),
              0);
    EXPECT_EQ(listen(listener.get(), 8), 0);
    fcntl(listener.get(), F_SETFL, O_NONBLOCK);
    line_ = Fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(line_.get(), reinterpret_cast<sockaddr*>(&address),
                      sizeof(address)),
              0);
    EXPECT_EQ(send(line_.get(), asks.data(), asks.size(), 0),
              static_cast<ssize_t>(asks.size()));
    const std::string program =
        std::string(DirName(test::GateBinary())) + "/gate-session";
    pid_ = fork();
    if (pid_ != 0) return;
    const int network = open("/proc/self/ns/net", O_RDONLY);
    const int high = fcntl(listener.get(), F_DUPFD, 20);
    const int high_network = fcntl(network, F_DUPFD, 20);
    dup2(high, 3);
    dup2(high_network, 4);
    close(high);
    close(high_network);
    execl(program.c_str(), "gate-session", "0", "a label", nullptr);
    _exit(127);
  }
  int line() const { return line_.get(); }
  void Leave() { line_.reset(); }
  int Wait() const {
    int status = -1;
    waitpid(pid_, &status, 0);
    return status;
  }

 private:
  Fd line_;
  pid_t pid_ = -1;
};

TEST(SessionSupervisorTest, EndsWhenNoLineIsLeftAndNotBefore) {
  const Machine machine;
  session_wire::Ask ask;
  ask.request = session_wire::Request::kJoin;
  Supervisor supervisor(
      machine.root() + "/s",
      std::string(reinterpret_cast<char*>(&ask), sizeof(ask)));
  struct {
    session_wire::Answer answer;
    char label[100] = {};
  } got;
  ASSERT_EQ(recv(supervisor.line(), &got, sizeof(got), 0),
            ssize_t{sizeof(got.answer) + 7});
  EXPECT_STREQ(got.label, "a label");
  // Its line is there: it answers another question.
  ask.request = session_wire::Request::kLook;
  ASSERT_EQ(send(supervisor.line(), &ask, sizeof(ask), 0),
            ssize_t{sizeof(ask)});
  ASSERT_GT(recv(supervisor.line(), &got, sizeof(got), 0), 0);
  EXPECT_EQ(got.answer.lines, 1u);
  supervisor.Leave();
  EXPECT_EQ(supervisor.Wait(), 0);
}

TEST(SessionSupervisorTest, TakesNothingThatItDoesNotKnow) {
  for (const std::string& bytes :
       {std::string("x"), std::string(8, '\0'), std::string(8, '\xff'),
        std::string(4096, 'a'), std::string("\1\0\0\0\4\0\0\0", 8)}) {
    const Machine machine;
    Supervisor supervisor(machine.root() + "/s", bytes);
    char none = 0;
    EXPECT_LE(recv(supervisor.line(), &none, 1, 0), 0) << bytes;
    EXPECT_EQ(supervisor.Wait(), 0) << bytes;
  }
}

}  // namespace
}  // namespace gate
