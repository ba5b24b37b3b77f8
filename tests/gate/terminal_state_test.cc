// What a contained command does to the caller's terminal ends with it, and
// signals that are news reach it.
#include "gateway/runs/terminal_state.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "base/file.h"
#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Machine;

// gate as the leader of a session on a terminal that outlives it.
class OnTerminal {
 public:
  explicit OnTerminal(const Machine& machine) : machine_(machine) {
    int master = -1, slave = -1;
    if (::openpty(&master, &slave, nullptr, nullptr, nullptr) != 0) return;
    master_ = Fd(master);
    slave_ = Fd(slave);
    ::fcntl(master, F_SETFD, FD_CLOEXEC);
    ::tcgetattr(slave, &before_);
    flags_ = ::fcntl(slave, F_GETFL);
  }

  // All that it showed; `seen` is called once, when it has shown `ready`.
  std::string Run(
      std::vector<std::string> words, const char* term,
      const std::string& ready = "",
      const std::function<void(pid_t gate, int terminal)>& seen = {}) {
    words.insert(words.begin(), test::GateBinary());
    const pid_t gate = ::fork();
    if (gate == 0) {
      ::setenv("HOME", machine_.home().c_str(), 1);
      ::setenv("TERM", term, 1);
      for (const char* name :
           {"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"})
        ::unsetenv(name);
      if (::chdir(machine_.project().c_str()) != 0 ||
          ::login_tty(::dup(slave_.get())) != 0)
        ::_exit(99);
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(98);
    }
    std::string shown;
    bool told = !seen;
    for (bool ended = false;;) {
      pollfd input = {master_.get(), POLLIN, 0};
      if (::poll(&input, 1, ended ? 0 : 5) > 0) {
        char buffer[4096];
        const ssize_t got = ::read(master_.get(), buffer, sizeof buffer);
        if (got <= 0) break;
        shown.append(buffer, static_cast<size_t>(got));
        if (!told && shown.find(ready) != std::string::npos) {
          told = true;
          seen(gate, master_.get());
        }
        continue;
      }
      if (ended) break;
      ended = ::waitpid(gate, &status_, WNOHANG) == gate;
    }
    return shown;
  }

  // Closes the terminal, as the end of its window does.
  void HangUp() { master_.reset(); }

  int status() const { return status_; }
  bool IsAsBefore() const {
    termios now = {};
    return ::tcgetattr(slave_.get(), &now) == 0 &&
           now.c_iflag == before_.c_iflag && now.c_oflag == before_.c_oflag &&
           now.c_lflag == before_.c_lflag && now.c_cflag == before_.c_cflag &&
           memcmp(now.c_cc, before_.c_cc, sizeof now.c_cc) == 0 &&
           ::fcntl(slave_.get(), F_GETFL) == flags_;
  }

 private:
  const Machine& machine_;
  Fd master_, slave_;
  termios before_ = {};
  int flags_ = 0, status_ = -1;
};

std::vector<std::string> Backends(const Machine& machine) {
  std::vector<std::string> works;
  for (const char* name : {"native", "bwrap"})
    if (machine.Gate({"sandbox", "--backend", name, "--", "true"}).exit_code ==
        0)
      works.emplace_back(name);
    else
      EXPECT_FALSE(test::MustWork(name)) << name;
  return works;
}

// No shell above could continue any of these.
TEST(TerminalJob, WhatStopsOnGatesTerminalDoesNotStayStopped) {
  const Machine machine;
  for (const std::string& backend : Backends(machine))
    for (const char* line : {
             "bash -mc 'true; echo end'",
             "exec bash -mc '(true); echo end'",
             "bash --norc -ic 'true; echo end'",
             "sh -mc 'true; echo end'",
             "set -m; true; echo end",
             "kill -STOP $$; echo end",
             "kill -TSTP $$; echo end",
             "kill -TTIN $$; echo end",
             "kill -TTOU $$; echo end",
             "exec bash -mc 'kill -STOP $$; echo end'",
             "exec bash -mc 'kill -STOP $$; kill -STOP $$; echo end'",
             "exec bash --norc -ic 'suspend -f; echo end'",
             "exec perl -e 'use POSIX; setpgid(0, 0); tcsetpgrp(0, getpgrp()); "
             "print \"end\\n\"'",
             "exec perl -e 'use POSIX; setpgid(0, 0); kill 19, $$; print "
             "\"end\\n\"'",
             "exec perl -e 'use POSIX; setpgid(0, 0); system(\"stty -echo\"); "
             "print \"end\\n\"'",
         }) {
      OnTerminal terminal(machine);
      const std::string shown =
          terminal.Run({"sandbox", "--backend", backend, "-c", line}, "dumb");
      EXPECT_NE(shown.find("end"), std::string::npos) << line << shown;
      EXPECT_TRUE(terminal.IsAsBefore()) << line;
    }
}

constexpr const char* kLines[] = {
    "stty raw -echo",
    "stty -icanon min 0 time 0",
    "stty -isig -ixon",
    "stty -opost",
    "stty erase x intr y",
    "stty raw -echo; kill -KILL $$",
    "stty -echo; exit 3",
    "stty raw; kill -SEGV $$",
    "exec 3<&0; (stty raw -echo <&3; sleep 60) & until stty | grep -q -- "
    "-icanon; do :; done",
    "perl -e 'use Fcntl; fcntl(STDIN, F_SETFL, O_RDWR | O_NONBLOCK)'",
    "perl -e 'use POSIX; POSIX::tcflow(1, TCOOFF); exit 0'",
    "perl -e 'use POSIX; setpgid(0, 0); $SIG{TTOU} = \"IGNORE\"; "
    "tcsetpgrp(0, getpgrp()); kill 9, $$'",
    "printf '\\033[?1049h'",
    "printf '\\033[?1000h\\033[?1002h\\033[?1003h\\033[?1006h'",
    "printf '\\033[?2004h\\033[?1004h'",
    "printf '\\033[?25l'",
    "printf '\\033(0\\016'",
    "printf '\\033]0;title\\007'",
    "printf '\\033[5;7r\\033[?6h'",
    "printf '\\033[?5h\\033[4h\\033[?7l\\033[8m'; kill -KILL $$",
    "printf '\\033[?2026h'; stty raw -echo; exit 1",
};

TEST(TerminalStateTest, ATerminalIsAsItWasAfterEveryRun) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  for (const std::string& backend : Backends(machine))
    for (const char* line : kLines) {
      OnTerminal terminal(machine);
      const std::string shown = terminal.Run(
          {"sandbox", "--backend", backend, "--", "bash", "-c", line}, "xterm");
      EXPECT_TRUE(terminal.IsAsBefore()) << backend << ' ' << line;
      const size_t reset = shown.rfind(app::ScreenReset());
      EXPECT_NE(reset, std::string::npos) << backend << ' ' << line << shown;
      // Nothing of the command's comes later.
      for (const char* on : {"\x1b[?1049h", "\x1b[?1003h", "\x1b[?25l"})
        EXPECT_TRUE(shown.rfind(on) == std::string::npos ||
                    shown.rfind(on) < reset)
            << line;
    }
}

TEST(TerminalStateTest, ATerminalIsAsItWasHoweverTheRunIsEnded) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const std::string line =
      "trap '' INT; stty raw -echo; printf '\\033[?1049hready'; "
      "while :; do read -rt 1 -N 1; done";
  const std::string interruptible =
      "stty -icanon -echo; printf '\\033[?1049hready'; sleep 60";
  for (const std::string& backend : Backends(machine)) {
    const std::vector<std::string> run = {"sandbox", "--backend", backend};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), run.begin(), run.end());
      return more;
    };
    struct Ending {
      const char* name;
      std::vector<std::string> words;
      std::function<void(pid_t, int)> how;
    };
    const auto send = [](int signal) {
      return [signal](pid_t gate, int) { ::kill(gate, signal); };
    };
    const std::vector<Ending> endings = {
        {"timeout", with({"--timeout", "0.5", "--", "bash", "-c", line}),
         [](pid_t, int) {}},
        {"SIGTERM", with({"--", "bash", "-c", line}), send(SIGTERM)},
        {"SIGHUP", with({"--", "bash", "-c", line}), send(SIGHUP)},
        {"SIGINT", with({"--", "bash", "-c", interruptible}), send(SIGINT)},
        {"Ctrl-C", with({"--", "bash", "-c", interruptible}),
         [](pid_t, int terminal) { (void)!::write(terminal, "\x03", 1); }},
    };
    for (const Ending& ending : endings) {
      OnTerminal terminal(machine);
      const std::string shown =
          terminal.Run(ending.words, "xterm-256color", "ready", ending.how);
      EXPECT_TRUE(terminal.IsAsBefore()) << backend << ' ' << ending.name;
      EXPECT_GT(shown.rfind(app::ScreenReset()) + 1, shown.find("ready"))
          << backend << ' ' << ending.name << shown;
    }
  }
}

// A stopped process takes no signal but SIGKILL before it goes on, and whoever
// could let it go on does not see it.
TEST(TerminalStateTest, AStoppedRunEndsHoweverItIsToldTo) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  constexpr const char* kStopped[] = {
      // bash finds no foreground group that it could name, and makes its own.
      "echo ready; exec bash -mc 'sleep 60 & wait; ls'",
      "echo ready; exec bash -imc 'sleep 60'",
      "echo ready; kill -STOP $$; sleep 60",
      "echo ready; kill -TTIN $$; sleep 60",
      "sleep 60 & kill -STOP $!; echo ready; wait",
      "echo ready; set -m; sleep 60 | cat; echo $?",
      "exec perl -e 'use POSIX; setpgid(0, 0); syswrite(STDOUT, \"ready\"); "
      "sysread(STDIN, my $a, 1); sleep 60'",
      "exec perl -e 'use POSIX; syswrite(STDOUT, \"ready\"); setpgid(0, 0); "
      "tcsetpgrp(0, getpgrp()); kill STOP => $$; sleep 60'",
  };
  struct Ending {
    const char* name;
    const char* timeout;
    int signal;
  };
  constexpr Ending kEndings[] = {{"SIGTERM", "0", SIGTERM},
                                 {"SIGINT", "0", SIGINT},
                                 {"SIGHUP", "0", SIGHUP},
                                 {"closed", "0", 0},
                                 {"time-out", "0.5", 0}};
  for (const std::string& backend : Backends(machine))
    for (const char* line : kStopped)
      for (const Ending& ending : kEndings) {
        const bool closed = ending.name == std::string("closed");
        // An interactive shell takes SIGINT for the line that it reads.
        if (ending.signal == SIGINT && strstr(line, "-imc") != nullptr)
          continue;
        std::vector<std::string> words = {"sandbox", "--backend", backend};
        if (ending.timeout[0] != '0' || ending.timeout[1] != '\0')
          words.insert(words.end(), {"--timeout", ending.timeout});
        words.insert(words.end(), {"--", "bash", "-c", line});
        OnTerminal terminal(machine);
        terminal.Run(words, "dumb", "ready", [&](pid_t gate, int) {
          if (ending.signal != 0) ::kill(gate, ending.signal);
          if (closed) terminal.HangUp();
        });
        EXPECT_NE(terminal.status(), -1)
            << backend << ' ' << ending.name << ' ' << line;
        EXPECT_FALSE(WIFEXITED(terminal.status()) &&
                     WEXITSTATUS(terminal.status()) == 0)
            << backend << ' ' << ending.name << ' ' << line;
      }
}

TEST(TerminalStateTest, WhatIgnoresItsEndIsKilled) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  for (const std::string& backend : Backends(machine)) {
    OnTerminal terminal(machine);
    terminal.Run({"sandbox", "--backend", backend, "--", "bash", "-c",
                  "trap '' TERM HUP INT; echo ready; kill -STOP $$; "
                  "while :; do sleep 60; done"},
                 "dumb", "ready",
                 [&](pid_t gate, int) { ::kill(gate, SIGTERM); });
    EXPECT_TRUE(WIFEXITED(terminal.status()) &&
                WEXITSTATUS(terminal.status()) == 128 + SIGKILL)
        << backend << ' ' << terminal.status();
  }
}

TEST(TerminalStateTest, ATerminalThatKnowsNoSequencesGetsNone) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  for (const char* term : {"dumb", "", "unknown"}) {
    OnTerminal terminal(machine);
    EXPECT_EQ(terminal.Run({"sandbox", "--", "echo", "text"}, term), "text\r\n")
        << term;
  }
  EXPECT_EQ(machine.Gate({"sandbox", "--", "echo", "text"}).out, "text\n");
}

TEST(TerminalStateTest, SignalsThatAreNewsReachTheCommandAndNothingElse) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  // The sleeping child has no handler: it would die of them.
  const std::string line =
      "trap 'echo got1' USR1; trap 'echo got2; kill -0 $! && exit 7' USR2; "
      "sleep 60 & echo ready; while :; do wait; done";
  for (const std::string& backend : Backends(machine)) {
    OnTerminal terminal(machine);
    const std::string shown = terminal.Run(
        {"sandbox", "--backend", backend, "--", "bash", "-c", line}, "dumb",
        "ready", [&](pid_t gate, int master) {
          ::kill(gate, SIGUSR1);
          std::string answer;
          char byte = 0;
          while (answer.find("got1") == std::string::npos &&
                 ::read(master, &byte, 1) == 1)
            answer += byte;
          ::kill(gate, SIGUSR2);
        });
    EXPECT_NE(shown.find("got2"), std::string::npos) << backend << shown;
    EXPECT_TRUE(WIFEXITED(terminal.status()) &&
                WEXITSTATUS(terminal.status()) == 7)
        << backend << shown;
    // Without a terminal, too.
    const test::Done piped = machine.Run(
        {"bash", "-c",
         "coproc " + test::GateBinary() + " sandbox --backend " + backend +
             " -- bash -c \"$0\"; read -ru ${COPROC[0]}; kill -USR1 "
             "$COPROC_PID; read -ru ${COPROC[0]} a; kill -USR2 $COPROC_PID; "
             "read -ru ${COPROC[0]} b; echo $a $b; wait $COPROC_PID",
         line});
    EXPECT_EQ(piped.out, "got1 got2\n") << backend << piped.err;
    EXPECT_EQ(piped.exit_code, 7) << backend << piped.err;
  }
}

}  // namespace
}  // namespace gate
