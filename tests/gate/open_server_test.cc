// Servers that a line starts with the network of this machine, where their
// ports are the host's: later lines of the session ask them by name.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "lasting/lasting_runs.h"
#include "services/listeners.h"
#include "tests/support/machine.h"
#include "tests/support/must_work.h"
#include "tests/support/servers.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

class OpenServerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
    const Done probe =
        machine_.Gate({"sandbox", "--backend", "native", "--", "true"});
    if (probe.exit_code != 0 && !test::MustWork("native"))
      GTEST_SKIP() << "native does not work here: " << probe.err;
    // Answers "yes" until it is asked for /end; writes its port into a FIFO.
    machine_.Write(machine_.project() + "/serve.py", R"(
import http.server, sys
class Yes(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    self.send_response(200)
    self.end_headers()
    self.wfile.write(b"yes")
    self.server.ended = self.path == "/end"
  def log_message(self, *words): pass
try:
  number = int(open("number").read())
  open("go").read()
except OSError: number = 0
server = http.server.HTTPServer(("127.0.0.1", number), Yes)
server.ended = False
open("port", "w").write(str(server.server_port))
while not server.ended: server.handle_request()
)");
    machine_.Write(machine_.project() + "/ask.py", R"(
import os, urllib.request
try: print(urllib.request.urlopen(os.environ["URL"], None, 20).read().decode())
except OSError as error: print("no")
)");
    machine_.Write(machine_.project() + "/daemon.py", R"(
import os
if os.fork() == 0: exec(open("serve.py").read())
else: print(open("port").read())
)");
    ASSERT_EQ(::mkfifo(Port().c_str(), 0600), 0);
    machine_.Write(
        machine_.home() + "/.config/gate/rules.d/dev.json",
        R"({"schema": 1, "pack": "dev", "rules": [{"id": "dev.server",
      "action": "sandbox", "reason": "a dev server", "network": "open",
      "match": {"prefix": ["python3", ["serve.py", "daemon.py"]]}}]})");
  }
  void TearDown() override {
    (void)machine_.Gate({"sessions", "end", "--all"});
  }

  std::string Port() const { return machine_.project() + "/port"; }
  Done Run(const std::string& session, const std::string& line) {
    return machine_.Gate(
        {"run", "--backend", "native", "--session", session, "-c", line});
  }
  // What a line of that session that names the port comes to.
  Done Ask(const std::string& session, const std::string& port,
           const std::string& path = "") {
    return Run(session,
               "URL=http://localhost:" + port + "/" + path + " python3 ask.py");
  }

  Machine machine_;
};

TEST_F(OpenServerTest, IsThereForLaterLinesOfTheSessionAndAskedByOthers) {
  const Done started =
      Run("A", "python3 serve.py >/dev/null 2>&1 & timeout 60 cat port");
  ASSERT_EQ(started.exit_code, 0) << started.err;
  const std::string port = started.out;
  for (int i = 0; i < 2; ++i) {
    const Done own = Ask("A", port);
    EXPECT_EQ(own.out, "yes\n") << own.err;
  }
  const Done other = Ask("B", port);
  EXPECT_EQ(other.exit_code, 126) << other.out;
  EXPECT_NE(other.err.find("localhost:" + port), std::string::npos)
      << other.err;
  // A later line cannot signal it, and hears so.
  const Done signal = Run("A", "pkill -x python3-server");
  EXPECT_NE(signal.err.find("out of reach"), std::string::npos) << signal.err;
  EXPECT_EQ(Ask("A", port, "end").out, "yes\n");
}

TEST_F(OpenServerTest, IsThereWhileItsLineRunsInTheForeground) {
  // The one that serves ends when it is asked to; who asks waits for its port.
  const Done done = machine_.Run(
      {"/bin/sh", "-c",
       "'" + test::GateBinary() +
           "' run --backend native --session A -c 'python3 serve.py' & "
           "port=$(timeout 60 cat port); ask() { '" +
           test::GateBinary() +
           "' run --backend native --session $1 -c "
           "\"URL=http://localhost:$port/$2 python3 ask.py\" 2>/dev/null; }; "
           "ask A; ask B; ask A; ask A end; wait"});
  EXPECT_EQ(done.out, "yes\nyes\nyes\n") << done.err;
}

// `sleep 2; curl localhost:3000`: when the line is judged nobody listens yet.
TEST_F(OpenServerTest, IsThereForALineThatWaitsForIt) {
  const std::string number = std::to_string(test::Server(AF_INET).port());
  machine_.Write(machine_.project() + "/number", number);
  ASSERT_EQ(::mkfifo((machine_.project() + "/go").c_str(), 0600), 0);
  const std::string wait =
      "echo go >go; timeout 60 cat port >/dev/null; "
      "URL=http://localhost:" +
      number + "/ python3 ask.py";
  ASSERT_EQ(Run("A", "python3 serve.py >/dev/null 2>&1 &").exit_code, 0);
  const Done done = Run("A", wait);
  EXPECT_EQ(done.out, "yes\n") << done.err;
  EXPECT_EQ(Ask("A", number, "end").out, "yes\n");
}

TEST_F(OpenServerTest, WhatAToolLeavesByItselfEndsWithItsLine) {
  const Done started = Run("A", "python3 daemon.py");
  EXPECT_EQ(started.exit_code, 0) << started.err;
  const auto running = lasting::ListRunning(machine_.state());
  ASSERT_TRUE(running);
  EXPECT_TRUE(running->empty());
}

}  // namespace
}  // namespace gate::app
