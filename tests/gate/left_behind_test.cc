// What an earlier line of a session left looks for what a later one is given.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>
#include <string>

#include "approvals/approvals.h"
#include "credentials/signing_agent.h"
#include "credentials/ssh_stub.h"
#include "facts/process_facts.h"
#include "tests/gate/approvals/answers.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

// Goes round until the later line, which reads the FIFO `there`, has what it is
// given, and three times more. Then it writes what it saw, and a word into the
// FIFO, by which the later line ends.
constexpr char kWatch[] = R"(
import ctypes, errno, os, socket, sys
sockets = sys.argv[1:]
key, place = (os.path.expanduser(p) for p in ("~/.ssh/key", "~/tools/list.txt"))
libc = ctypes.CDLL(None, use_errno=True)
def processes(): return {p for p in os.listdir("/proc") if p.isdigit()}
def mounts(): return set(open("/proc/self/mountinfo"))
def names(): return {l.split()[-1] for l in open("/proc/net/unix")}
before = processes(), mounts(), names()
seen = set()
def go_round():
  if processes() - before[0]: seen.add("process")
  # Those of removed places go: what covered another run's socket, say.
  if mounts() - before[1]: seen.add("mount")
  if names() - before[2]: seen.add("socket of its network")
  for p in processes():
    try: text = open("/proc/" + p + "/environ", "rb").read()
    except OSError: continue
    if b"GIT_SSH_COMMAND" in text or b"SSH_AUTH_SOCK" in text:
      seen.add("environment")
  for path in sockets:
    if os.path.lexists(path): seen.add("socket")
    # Once is enough: who listens there serves the line's own as well.
    if "connection" in seen: continue
    try: socket.socket(socket.AF_UNIX).connect(path); seen.add("connection")
    except OSError: pass
  try: open(key).read(); seen.add("key")
  except OSError: pass
  for path in (place, os.path.dirname(place) + "/x"):
    try: open(path, "a").close(); seen.add("place")
    except OSError: pass
  for pid in range(2, 400):
    if str(pid) in before[0]: continue
    if libc.ptrace(16, pid, 0, 0) == 0: seen.add("traced")
    try: os.kill(pid, 0); seen.add("signal")
    except OSError: pass
while True:
  go_round()
  try: there = os.open("there", os.O_WRONLY | os.O_NONBLOCK)
  except OSError as error:
    if error.errno == errno.ENXIO: continue
    raise
  break
for i in range(3): go_round()
with open("seen", "w") as f: f.write("seen: " + " ".join(sorted(seen)))
os.write(there, b"word\n")
)";

// A later line that is given more, and what shows that it was.
struct Given {
  const char* what;
  std::string line;
  std::function<void(const Machine&)> prepare;
  std::function<Done(const Machine&, const std::string& line)> run;
  std::function<bool(const Machine&, const Done&)> worked;
  // What its own processes see of it; null: the line must stand alone.
  const char* own;
};

Done InSession(const Machine& machine, const std::string& line) {
  return machine.Gate(
      {"run", "--backend", "native", "--session", "A", "-c", line});
}

void Outside(const Machine& machine, const std::string& line) {
  const Done done = machine.Run({"/bin/sh", "-c", line});
  ASSERT_EQ(done.exit_code, 0) << line << "\n" << done.out << done.err;
}

std::string Server(const Machine& machine) {
  return machine.root() + "/server.git";
}

const Given kGiven[] = {
    {"the ssh login of git, by a socket", "git fetch -q",
     [](const Machine& machine) {
       // Its ssh stays until the process that was left has looked.
       machine.Write(machine.root() + "/bin/ssh",
                     "#!/bin/sh\nread word <" + machine.project() +
                         "/there\nwhile [ \"$1\" != -- ]; do shift; done\n"
                         "exec sh -c \"$3\"\n",
                     0755);
       Outside(machine, "git init -q --bare " + Server(machine) +
                            " && git remote add origin git@host.example:" +
                            Server(machine) + " && git push -q " +
                            Server(machine) + " HEAD:refs/heads/new");
     },
     InSession,
     [](const Machine& machine, const Done&) {
       return machine.Run({"git", "rev-parse", "-q", "--verify", "origin/new"})
                  .exit_code == 0;
     },
     "connection"},
    {"a signature, by a socket", "git commit -q --allow-empty -F there",
     [](const Machine& machine) {
       Outside(machine,
               "mkdir -m 700 ~/.ssh && ssh-keygen -q -t ed25519 -N '' -f "
               "~/.ssh/key && git config --global user.signingKey "
               "~/.ssh/key.pub && git config --global commit.gpgSign true && "
               "git config --global gpg.format ssh");
     },
     InSession,
     [](const Machine& machine, const Done&) {
       return machine.Run({"git", "cat-file", "-p", "HEAD"})
                  .out.find("BEGIN SSH SIGNATURE") != std::string::npos;
     },
     "connection"},
    {"a place, by a yes", "cp there ~/tools/list.txt",
     [](const Machine& machine) {
       machine.Write(machine.home() + "/.config/gate/rules.d/a.json",
                     R"({"schema": 1, "pack": "p", "rules": [{"id": "p.a",
      "action": "ask", "yes": "places", "reason": "r",
      "opens": ["$HOME/tools/list.txt"], "match": {"program": ["cp"]}}]})",
                     0600);
     },
     [](const Machine& machine, const std::string& line) {
       EXPECT_EQ(InSession(machine, line).exit_code, 126);
       EXPECT_TRUE(Approve(machine.state(), WaitingQuestion(machine).id,
                           NowMs(), /*in_sandbox=*/false));
       return InSession(machine, line);
     },
     [](const Machine& machine, const Done&) {
       return machine.Read(machine.home() + "/tools/list.txt") == "word\n";
     },
     nullptr},
};

class LeftBehindTest : public testing::Test {
 protected:
  // A machine for `given`, or false where no native sandbox works.
  static bool Prepare(const Given& given, Machine* machine) {
    machine->environment = {"PATH=" + machine->root() + "/bin:/usr/bin:/bin"};
    Outside(*machine,
            "git init -q . && git config --global user.name n && "
            "git config --global user.email n@example.org && "
            "git commit -q --allow-empty -m 0");
    given.prepare(*machine);
    EXPECT_EQ(mkfifo((machine->project() + "/there").c_str(), 0666), 0);
    machine->Write(machine->project() + "/watch.py", kWatch);
    // A run: what it could have changed before is pinned no more.
    return test::HasSandbox(*machine) &&
           (test::MustWork("native") ||
            InSession(*machine, "true").exit_code == 0);
  }
  static std::string Watch() {
    return std::string("python3 watch.py ") + credentials::kTransportSocket +
           " " + credentials::kSigningSocket + " >/dev/null 2>log &";
  }
  static std::string Seen(const Machine& machine) {
    return machine.Read(machine.project() + "/seen");
  }
};

TEST_F(LeftBehindTest, ReachesNothingThatALaterLineIsGiven) {
  for (const Given& given : kGiven) {
    SCOPED_TRACE(given.what);
    Machine machine;
    if (!Prepare(given, &machine)) GTEST_SKIP() << "no sandbox works here";
    const Done left = InSession(machine, Watch());
    ASSERT_EQ(left.exit_code, 0) << left.err;
    const Done later = given.run(machine, given.line);
    EXPECT_TRUE(given.worked(machine, later)) << later.out << later.err;
    EXPECT_EQ(Seen(machine), "seen: ")
        << machine.Read(machine.project() + "/log");
  }
}

// The same process finds it where it is one of the line's own.
TEST_F(LeftBehindTest, ALinesOwnProcessesAreGivenIt) {
  for (const Given& given : kGiven) {
    if (given.own == nullptr) continue;
    SCOPED_TRACE(given.what);
    Machine machine;
    if (!Prepare(given, &machine)) GTEST_SKIP() << "no sandbox works here";
    const Done done = given.run(machine, Watch() + " " + given.line + "; wait");
    EXPECT_TRUE(given.worked(machine, done)) << done.out << done.err;
    EXPECT_NE(Seen(machine).find(given.own), std::string::npos)
        << Seen(machine) << machine.Read(machine.project() + "/log");
  }
}

}  // namespace
}  // namespace gate::app
