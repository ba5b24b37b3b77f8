#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

Machine& Project(Machine& machine) {
  machine.Write(machine.project() + "/package.json", "{}");
  return machine;
}

TEST(RunTest, PassesExitCodesAndStreams) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  Project(machine);
  const Done exit = machine.Gate({"run", "-c", "exit 9"});
  EXPECT_EQ(exit.exit_code, 9) << exit.err;
  const Done streams =
      machine.Gate({"run", "-c", "cat; echo err >&2"}, "hello\n");
  EXPECT_EQ(streams.exit_code, 0) << streams.err;
  EXPECT_EQ(streams.out, "hello\n");
  EXPECT_EQ(streams.err, "err\n");
  machine.Write(machine.project() + "/die.sh", "kill -TERM $$\n");
  EXPECT_EQ(machine.Gate({"run", "-c", "exec bash die.sh"}).exit_code,
            128 + 15);
  EXPECT_EQ(machine.Gate({"run", "--", "no-such-program-x"}).exit_code, 127);
  // Raw and contained alike.
  for (const char* command : {"sleep 20", "bash -c 'sleep 20; true'"})
    EXPECT_EQ(
        machine.Gate({"run", "--timeout", "0.3", "-c", command}).exit_code, 124)
        << command;
}

TEST(RunTest, AClosedStandardStreamIsAnEmptyOneAndNoFileOfGates) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  Project(machine);
  for (const char* way : {"run --", "sandbox --", "sandbox --backend bwrap --",
                          // Unlike the others not contained.
                          "run -c"}) {
    const auto closed = [&](const std::string& command, const char* streams) {
      const std::string quoted =
          std::string(way) == "run -c" ? "'" + command + "'" : command;
      return machine.Run(
          {"bash", "-c",
           test::GateBinary() + " " + way + " " + quoted + " " + streams});
    };
    const Done name = closed("readlink /proc/self/fd/0", "<&-");
    if (name.exit_code == 125 && !test::MustWork("bwrap")) continue;
    EXPECT_EQ(name.out, "/dev/null\n") << way << name.err;
    EXPECT_EQ(closed("cat", "<&-").exit_code, 0) << way;
    EXPECT_EQ(closed("touch made", "<&- >&- 2>&-").exit_code, 0) << way;
    EXPECT_TRUE(machine.Exists(machine.project() + "/made")) << way;
    std::filesystem::remove(machine.project() + "/made");
    const Done silent = closed("echo hi", ">&-");
    EXPECT_EQ(silent.exit_code, 0) << way << silent.err;
    EXPECT_EQ(silent.err, "") << way;
    EXPECT_EQ(closed("ls /nowhere", "2>&-").exit_code, 2) << way;
  }
  const Done verified = machine.Gate({"audit", "verify"});
  EXPECT_NE(verified.out.find("ok"), std::string::npos)
      << verified.out << verified.err;
}

// A program in the project, as the leader of a session on `terminal`.
pid_t StartOnTerminal(const Machine& machine, std::vector<std::string> words,
                      int* terminal) {
  const pid_t child = ::forkpty(terminal, nullptr, nullptr, nullptr);
  if (child != 0) return child;
  ::setenv("HOME", machine.home().c_str(), 1);
  for (const char* name :
       {"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"})
    ::unsetenv(name);
  if (::chdir(machine.project().c_str()) != 0) ::_exit(99);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(98);
}

// The kernel tells the leader of the session alone, which is gate here.
TEST(RunTest, TheTerminalsHangUpReachesTheCommand) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  Project(machine);
  const std::string script =
      "trap 'exit 5' HUP; echo ready; mkfifo wait; "
      "for ((i = 0; i < 1000; ++i)); do read -t 0.02 <> wait; done";
  machine.Write(machine.project() + "/wait.sh", script);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "--", "bash", "-c", script},
        std::vector<std::string>{"sandbox", "--", "bash", "wait.sh"}}) {
    int terminal = -1;
    std::vector<std::string> argv = {test::GateBinary()};
    argv.insert(argv.end(), words.begin(), words.end());
    const pid_t gate = StartOnTerminal(machine, argv, &terminal);
    ASSERT_GT(gate, 0);
    std::string shown;
    char buffer[4096];
    while (shown.find("ready") == std::string::npos) {
      const ssize_t got = ::read(terminal, buffer, sizeof buffer);
      if (got <= 0) break;
      shown.append(buffer, static_cast<size_t>(got));
    }
    ::close(terminal);
    int status = 0;
    ASSERT_EQ(::waitpid(gate, &status, 0), gate);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5)
        << words[0] << status << shown;
    std::filesystem::remove(machine.project() + "/wait");
  }
}

TEST(RunTest, AnInterruptEndsAShellsLoopToo) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  Project(machine);
  for (const char* command :
       {"run -- bash -c 'echo ready; exec sleep 20'",
        "sandbox -- bash -c 'echo ready; exec sleep 20'"}) {
    std::string loop = "for i in 1 2; do '" + test::GateBinary() + "' " +
                       command + "; echo after $i; done";
    int terminal = -1;
    const pid_t shell = StartOnTerminal(
        machine, {"/bin/bash", "--norc", "-c", loop}, &terminal);
    ASSERT_GT(shell, 0);
    std::string shown;
    char buffer[4096];
    bool told = false;
    for (ssize_t got = 0;
         (got = ::read(terminal, buffer, sizeof buffer)) > 0;) {
      shown.append(buffer, static_cast<size_t>(got));
      if (told || shown.find("ready") == std::string::npos) continue;
      told = ::write(terminal, "\x03", 1) == 1;
    }
    ::close(terminal);
    int status = 0;
    ASSERT_EQ(::waitpid(shell, &status, 0), shell);
    EXPECT_TRUE(told);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << shown;
    EXPECT_EQ(shown.find("after"), std::string::npos) << shown;
  }
}

TEST(RunTest, RefusesWhatIsDeniedAndWhatNobodyCanBeAskedAbout) {
  Machine machine;
  Project(machine);
  for (const char* command : {"rm -rf /", "git push --force origin main"}) {
    const Done done = machine.Gate({"run", command});
    EXPECT_EQ(done.exit_code, 126) << command;
    EXPECT_EQ(done.out, "");
  }
}

TEST(RunTest, ANameComputedAtRunTimeIsJudgedWhenItIsKnown) {
  Machine machine;
  Project(machine);
  machine.Write(machine.project() + "/list", "git push --force origin main\n");
  const Done done = machine.Gate(
      {"run", "-c", "c=$(cat list); $c; echo \"status $?\"; cat list"});
  if (done.exit_code == 125 && !test::MustWork("native"))
    GTEST_SKIP() << "native does not work here: " << done.err;
  EXPECT_NE(done.out.find("status 126"), std::string::npos)
      << done.out << done.err;
  EXPECT_NE(done.out.find("git push"), std::string::npos) << done.out;
  EXPECT_NE(done.err.find("gate: blocked starting "), std::string::npos)
      << done.err;
  const Done record = machine.Gate({"audit", "list", "--json"});
  EXPECT_NE(record.out.find("\"starts\":3"), std::string::npos) << record.out;
}

// By whatever name the file was given, or as the interpreter of a script.
TEST(RunTest, AWatchedStartIsJudgedAsWhatTheKernelStarts) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  Project(machine);
  machine.Write(machine.home() + "/.config/gate/config.json",
                "{\"watch_execs\": true}");
  machine.Write(machine.home() + "/.config/gate/rules.d/a.json",
                R"({"schema": 1, "pack": "p", "rules": [{"id": "p.a",
      "action": "deny", "reason": "r", "match": {"prefix": ["truncate"]}}]})",
                0600);
  const std::string& project = machine.project();
  machine.Write(project + "/data", "kept\n");
  machine.Write(project + "/script", "#!/usr/bin/truncate -s0\nkept\n", 0755);
  machine.Write(project + "/again", "#!./script\nkept\n", 0755);
  machine.Write(project + "/honest", "#!/bin/sh\necho $1 > made\n", 0755);
  std::filesystem::create_symlink("/usr/bin/truncate", project + "/link");
  std::filesystem::create_symlink("honest", project + "/other");
  for (const char* line :
       {"bash -c './script; true'", "bash -c './again; true'",
        "bash -c './link -s0 data; true'", "./script; true",
        "./link -s0 data; true"}) {
    const Done done = machine.Gate({"run", "-c", line});
    EXPECT_NE(done.err.find("(exec)"), std::string::npos) << line << done.err;
  }
  EXPECT_EQ(machine.Read(project + "/data"), "kept\n");
  EXPECT_NE(machine.Read(project + "/script").find("kept"), std::string::npos);
  EXPECT_NE(machine.Read(project + "/again").find("kept"), std::string::npos);
  const Done done = machine.Gate({"run", "-c", "bash -c './other yes; true'"});
  EXPECT_EQ(machine.Read(project + "/made"), "yes\n") << done.err;
}

TEST(RunTest, ReportsWhatWasBlockedInOneLine) {
  Machine machine;
  Project(machine);
  machine.Write(machine.project() + "/.bashrc", "# mine\n");
  machine.Write(machine.home() + "/.config/gate/config.json",
                "{\"report_blocked\": true}");
  const Done done =
      machine.Gate({"sandbox", "-c", "echo evil >> .bashrc; true"});
  if (done.exit_code == 125 && !test::MustWork("native"))
    GTEST_SKIP() << "native does not work here: " << done.err;
  EXPECT_NE(done.err.find("gate: blocked writing " + machine.project() +
                          "/.bashrc (protected: shell-startup)\n"),
            std::string::npos)
      << done.err;
}

TEST(RunTest, SandboxedWritesStayInTheWorkspace) {
  for (const char* backend : {"native", "bwrap"}) {
    Machine machine;
    Project(machine);
    machine.Write(machine.project() + "/.git/hooks/.keep", "");
    machine.Write(machine.home() + "/.bashrc", "# mine\n");
    const Done done = machine.Gate(
        {"sandbox", "--backend", backend, "-c",
         "touch in; touch ~/out; echo evil >> ~/.bashrc; "
         "echo evil > .git/hooks/pre-commit; echo x > /etc/gate-test-x; "
         "echo x > .mcp.json; true"});
    if (done.exit_code == 125 && !test::MustWork(backend)) {
      GTEST_SKIP() << backend << " does not work here: " << done.err;
    }
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_TRUE(machine.Exists(machine.project() + "/in")) << backend;
    EXPECT_FALSE(machine.Exists(machine.home() + "/out")) << backend;
    EXPECT_EQ(machine.Read(machine.home() + "/.bashrc"), "# mine\n");
    EXPECT_FALSE(machine.Exists(machine.project() + "/.git/hooks/pre-commit"));
    EXPECT_FALSE(machine.Exists(machine.project() + "/.mcp.json")) << backend;
    EXPECT_FALSE(machine.Exists("/etc/gate-test-x"));
  }
}

TEST(RunTest, TheCallersDirectoryOpensNothingThatIsHiddenOrObeyed) {
  const test::Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const std::string home = machine.home();
  machine.Write(home + "/.ssh/keys/s", "SECRET");
  machine.Write(home + "/.claude/settings.json", "{}");
  machine.Write(home + "/.config/nvim/lua/a.lua", "");
  machine.Write(home + "/.config/nvim/init.lua", "old");
  machine.Write(machine.project() + "/w.py",
                "import os\n"
                "for n in os.listdir('.'): print(n, open(n).read())\n");
  machine.Write(machine.project() + "/o.py",
                "open('settings.json', 'w').write('NEW')\n");
  for (const char* backend : {"native", "bwrap"}) {
    const std::string python = "python3 " + machine.project();
    const auto hidden = machine.Gate({"run", "--backend", backend, "--cwd",
                                      home + "/.ssh/keys", python + "/w.py"});
    EXPECT_NE(hidden.exit_code, 0) << backend;
    EXPECT_EQ(hidden.out.find("SECRET"), std::string::npos) << backend;
    const auto obeyed = machine.Gate({"run", "--backend", backend, "--cwd",
                                      home + "/.claude", python + "/o.py"});
    EXPECT_NE(obeyed.exit_code, 0) << backend;
    EXPECT_EQ(machine.Read(home + "/.claude/settings.json"), "{}") << backend;
    machine.Gate({"sandbox", "--backend", backend, "-c",
                  "echo x > init.lua; echo x > init.vim; echo ok > lua/a.lua"},
                 "", home + "/.config/nvim");
    EXPECT_EQ(machine.Read(home + "/.config/nvim/init.lua"), "old") << backend;
    EXPECT_FALSE(machine.Exists(home + "/.config/nvim/init.vim")) << backend;
  }
}

TEST(RunTest, OrdinaryGitWorksInTheSandbox) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  const char* kScript =
      "set -e; git init -q .; git config user.email a@b.c; "
      "git config user.name n; echo 1 > a; git add a; git commit -qm one; "
      "git checkout -q -b topic; echo 2 >> a; git commit -qam two; "
      "git clone -q . ../project/clone; git -C clone log --oneline | wc -l";
  Project(machine);
  const Done done = machine.Gate({"sandbox", "-c", kScript});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "2\n");
  EXPECT_TRUE(machine.Exists(machine.project() + "/.git/refs/heads/topic"));
  EXPECT_TRUE(machine.Exists(machine.project() + "/clone/.git/config"));
}

TEST(RunTest, ANameThatNothingHasIsAnErrorOfTheUsage) {
  Machine machine;
  Project(machine);
  for (const char* way : {"run", "sandbox"}) {
    for (const char* option : {"--backend", "--profile", "--network"}) {
      const Done done = machine.Gate({way, option, "nonsense", "-c", "true"});
      EXPECT_EQ(done.exit_code, 64) << way << option << done.err;
      EXPECT_NE(done.err.find("`nonsense`"), std::string::npos) << done.err;
    }
  }
  // Nothing was decided, so nothing is recorded.
  EXPECT_EQ(machine.Gate({"audit", "list"}).out, "");
}

TEST(RunTest, WeakerThanThePlanIsRefused) {
  Machine machine;
  Project(machine);
  const Done done = machine.Gate({"run", "--backend", "none", "-c", "make"});
  EXPECT_TRUE(done.exit_code == 126 || done.exit_code == 125) << done.err;
}

TEST(RunTest, TheEnvironmentIsCleanAndSecretsAreHidden) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  Project(machine);
  machine.environment = {"API_TOKEN=canary-1", "LD_PRELOAD=", "PLAIN=yes"};
  machine.Write(machine.home() + "/.ssh/id_rsa", "canary-2");
  const Done done = machine.Gate(
      {"sandbox", "-c", "env; cat ~/.ssh/id_rsa; ls ~/.local/state/gate"});
  EXPECT_EQ(done.out.find("canary"), std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("audit.db"), std::string::npos) << done.out;
}

TEST(RunTest, BothRecordsAreThere) {
  Machine machine;
  Project(machine);
  ASSERT_EQ(machine.Gate({"run", "-c", "exit 3"}).exit_code, 3);
  const Done list = machine.Gate({"audit", "list", "--json"});
  EXPECT_NE(list.out.find("\"kind\":\"decision\""), std::string::npos);
  EXPECT_NE(list.out.find("\"kind\":\"outcome\""), std::string::npos);
  EXPECT_NE(list.out.find("\"exit\":3"), std::string::npos) << list.out;
}

// The sandbox is built while the record is made; that must not let anything
// out.
TEST(RunTest, WhatCannotBeRecordedDoesNotRun) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  Project(machine);
  const std::string log = machine.state() + "/audit.db";
  for (const char* suffix : {"", "-wal", "-shm"})
    std::filesystem::remove(log + suffix);
  machine.Write(log, "not a database", 0600);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"sandbox", "--", "touch", "started"},
        {"run", "--", "touch", "started"},
        {"run", "touch started"},
        {"run", "ls > started"}}) {
    const Done done = machine.Gate(arguments);
    EXPECT_EQ(done.exit_code, 125) << done.err;
    EXPECT_NE(done.err.find("nothing runs"), std::string::npos) << done.err;
    EXPECT_FALSE(machine.Exists(machine.project() + "/started"));
  }
}

TEST(RunTest, AnOutcomeThatCannotBeRecordedIsGatesFailure) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  Project(machine);
  for (const char* way : {"run 'cat wait'",
                          "sandbox --backend bwrap -- cat "
                          "wait"}) {
    // What runs opens the pipe; the log is damaged before it can end. Where
    // gate ends without it, the pipe is opened at its other end, too.
    const Done done = machine.Run(
        {"python3", "-c",
         "import os, subprocess, sys, threading\n"
         "os.mkfifo('wait')\n"
         "pipe = []\n"
         "def put(): pipe.append(os.open('wait', os.O_WRONLY))\n"
         "def end():\n"
         "  gate.wait()\n"
         "  os.close(os.open('wait', os.O_RDONLY | os.O_NONBLOCK))\n"
         "threads = [threading.Thread(target=t) for t in (put, end)]\n"
         "threads[0].start()\n"
         "gate = subprocess.Popen(sys.argv[1], shell=True)\n"
         "threads[1].start()\n"
         "threads[0].join()\n"
         "for end in '', '-wal', '-shm':\n"
         "  if os.path.exists(sys.argv[2] + end): os.unlink(sys.argv[2] + "
         "end)\n"
         "open(sys.argv[2], 'w').write('not a database')\n"
         "os.close(pipe[0])\n"
         "threads[1].join()\n"
         "code = gate.wait()\n"
         "os.unlink('wait')\n"
         "os.unlink(sys.argv[2])\n"
         "sys.exit(code)\n",
         "exec " + test::GateBinary() + " " + way,
         machine.state() + "/audit.db"});
    if (done.err.find("recorded") == std::string::npos &&
        done.err.find("bwrap") != std::string::npos && !test::MustWork("bwrap"))
      continue;
    EXPECT_EQ(done.exit_code, 125) << way << done.err;
    EXPECT_NE(done.err.find("the outcome could not be recorded"),
              std::string::npos)
        << way << done.err;
  }
}

TEST(RunTest, ADecisionThatStartsNothingHasAnOutcomeThatSaysSo) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  Project(machine);
  const std::vector<std::vector<std::string>> kRefused = {
      {"run", "--backend", "seatbelt", "touch made"},
      {"run", "--preview", "--backend", "bwrap", "touch made"},
      {"run", "--preview", "--cwd", "/", "touch made"},
      {"run", "--preview", "--profile", "full-access", "touch made"},
      {"sandbox", "--backend", "seatbelt", "--", "touch", "made"},
  };
  for (const std::vector<std::string>& arguments : kRefused) {
    const auto count = [&](const char* what) {
      const std::string list = machine.Gate({"audit", "list", "--json"}).out;
      size_t found = 0;
      for (size_t at = 0; (at = list.find(what, at)) != std::string::npos; ++at)
        ++found;
      return found;
    };
    const size_t before = count("\"status\":\"setup_failed\"");
    const Done done = machine.Gate(arguments);
    EXPECT_GE(done.exit_code, 125) << arguments[1] << arguments[2] << done.err;
    EXPECT_EQ(count("\"status\":\"setup_failed\""), before + 1)
        << arguments[1] << " " << arguments[2] << done.err;
    EXPECT_FALSE(machine.Exists(machine.project() + "/made"));
  }
}

TEST(RunTest, ACommandHasAsManyWordsAsTheKernelTakes) {
  Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  Project(machine);
  for (const char* backend : {"native", "bwrap"}) {
    const auto run = [&](std::vector<std::string> command, size_t more) {
      command.insert(command.begin(), {"sandbox", "--backend", backend, "--"});
      for (size_t i = 0; i < more; ++i) command.push_back(std::to_string(i));
      return machine.Gate(command);
    };
    if (run({"true"}, 0).exit_code != 0) {
      EXPECT_FALSE(test::MustWork(backend)) << backend;
      continue;
    }
    const std::string show =
        "echo \"$#|$1|$2|$3|${!#}\"; env | sort | grep -v ^_=; "
        "ls /proc/self/fd";
    std::string few;
    for (const size_t count :
         {100, 8000, 8890, 8990, 8999, 9000, 9010, 30000, 100000}) {
      const Done done = run({"bash", "-c", show, "x", "", "a b", "*"}, count);
      const std::string head = std::to_string(count + 3) + "||a b|*|" +
                               std::to_string(count - 1) + "\n";
      EXPECT_TRUE(done.out.starts_with(head))
          << backend << ' ' << count << done.out.substr(0, 200) << done.err;
      // Nothing else is another one: variables, descriptors.
      const std::string rest =
          done.out.substr(std::min(head.size(), done.out.size()));
      if (few.empty()) few = rest;
      EXPECT_EQ(rest, few) << backend << ' ' << count;
    }
    for (const size_t count : {10, 9500}) {
      EXPECT_EQ(run({"bash", "-c", "exit 9"}, count).exit_code, 9) << backend;
      EXPECT_EQ(run({"bash", "-c", "kill -9 $$"}, count).exit_code, 137)
          << backend;
      const Done gone = run({"no-such-program-x"}, count);
      EXPECT_EQ(gone.exit_code, 127) << backend;
      EXPECT_NE(gone.err.find("no-such-program-x"), std::string::npos)
          << backend << gone.err;
    }
  }
}

// What starts them inside is nothing that a line could use.
TEST(RunTest, WordsFromADescriptorAreNoWayAroundADecision) {
  Machine machine;
  machine.Write(machine.root() + "/words", std::string("touch\0made\0", 11));
  const Done done = machine.Run(
      {"bash", "-c",
       "w=$0 g=$1; \"$g\" --exec-words 3 4 3<\"$w\" 4<\"$g\"; "
       "\"$g\" --exec-words 0 4 <\"$w\" 4<\"$g\"; \"$g\" --exec-words 9 9; "
       "cat \"$w\" | \"$g\" --exec-words 5 6 5<&0 6<\"$g\"; "
       "\"$g\" --exec-words 7 7 7<<<touch",
       machine.root() + "/words", test::GateBinary()});
  EXPECT_FALSE(machine.Exists(machine.project() + "/made")) << done.err;
  EXPECT_EQ(test::Count(done.err, "not an option"), 5) << done.err;
  EXPECT_NE(machine.Gate({"check", "-c", "gate --exec-words 3 4"}).exit_code,
            0);
}

}  // namespace
// What there are too few of is named, not what the kernel has.
TEST(RunTest, TooFewDescriptorsAreNoOldKernel) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  bool refused = false;
  for (int most = 5; most < 16; ++most) {
    const Done done = machine.Run(
        {"/bin/bash", "-c",
         "ulimit -n " + std::to_string(most) + "; exec \"$0\" sandbox true",
         test::GateBinary()});
    refused |= done.err.find("ulimit -n") != std::string::npos;
    EXPECT_EQ(done.err.find("openat2"), std::string::npos)
        << most << ": " << done.err;
  }
  EXPECT_TRUE(refused);
}

TEST(WayOnTest, EveryStopNamesOne) {
  const Machine machine;
  for (const char* command :
       {"rm -rf /", "npm publish", "gate approve 1", "cat ~/.ssh/id_rsa"}) {
    const Done done = machine.Gate({"run", "-c", command});
    EXPECT_EQ(done.exit_code, 126) << command;
    EXPECT_NE(done.err.find("Instead: "), std::string::npos) << done.err;
  }
  machine.Write(machine.home() + "/.config/gate/rules.d/a.json", "{", 0600);
  const Done broken = machine.Gate({"run", "-c", "ls"});
  EXPECT_EQ(broken.exit_code, 78);
  EXPECT_NE(broken.err.find("Instead: "), std::string::npos) << broken.err;
}

}  // namespace gate
