#include "hooks/person.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

namespace gate::hooks {
namespace {

constexpr long kTerminal = 34816;
constexpr unsigned kUser = 1000;

// A machine as a table. Entries go from init down; every process is its
// parent's child, `leader` starts a session on the terminal.
struct Entry {
  const char* name;
  bool leader = false;
  const char* executable = "";
  std::vector<std::string> words = {};
};

class Machine {
 public:
  // Returns the last process.
  int Add(std::vector<Entry> chain, int parent = 0) {
    int session = 0;
    long terminal = 0;
    int pid = parent;
    for (const Entry& entry : chain) {
      const int above = pid;
      pid = parent == 0 && above == 0 ? 1 : next_++;
      if (entry.leader) {
        session = pid;
        terminal = kTerminal + pid;
      }
      ProcessView view;
      view.pid = pid;
      view.parent = above;
      view.session = session;
      view.terminal = terminal;
      view.name = entry.name;
      view.executable = *entry.executable != '\0'
                            ? entry.executable
                            : std::string("/usr/bin/") + entry.name;
      view.words = entry.words.empty() ? std::vector<std::string>{entry.name}
                                       : entry.words;
      table_[pid] = view;
    }
    return pid;
  }
  ProcessView& At(int pid) { return table_[pid]; }
  // By the name of the process that is looked at.
  std::map<std::string, Hold> holds;
  std::vector<std::string> terminals;

  Person Judge(int self, bool sees_everything = true) {
    ProcessSource source;
    source.read = [&](int pid) -> std::optional<ProcessView> {
      const auto found = table_.find(pid);
      if (found == table_.end()) return std::nullopt;
      return found->second;
    };
    source.find = [&](const std::string& name) {
      std::vector<int> found;
      for (const auto& [pid, view] : table_) {
        if (view.name == name) found.push_back(pid);
      }
      return found;
    };
    source.own_executable = "/opt/gate";
    source.sees_everything = sees_everything;
    source.user = kUser;
    source.look = [&](const ProcessView& process, long terminal) {
      const auto found = holds.find(process.name);
      Hold hold;
      hold.user = kUser;
      if (found != holds.end()) hold = found->second;
      // A program that makes a terminal lives on another one.
      if (process.terminal == terminal && hold.holds == Holds::kYes)
        hold.holds = Holds::kNo;
      return hold;
    };
    source.is_roots = [](const std::string& path) {
      return path.starts_with("/usr/");
    };
    source.terminals = [&] { return terminals; };
    return JudgeTerminal(source, self);
  }

 private:
  std::map<int, ProcessView> table_;
  int next_ = 100;
};

TEST(Person, SitsAtOrdinaryTerminals) {
  const std::vector<std::vector<Entry>> chains = {
      {{"systemd"}, {"sshd"}, {"sshd"}, {"bash", true}, {"gate"}},
      {{"systemd"}, {"login", true}, {"bash"}, {"gate"}},
      {{"systemd"}, {"systemd"}, {"gnome-terminal-"}, {"zsh", true}, {"gate"}},
      {{"systemd"}, {"systemd"}, {"kitty"}, {"fish", true}, {"gate"}},
      {{"systemd"},
       {"sshd"},
       {"bash", true},
       {"sudo"},
       {"sudo", true},
       {"bash"},
       {"gate"}},
      {{"systemd"},
       {"sshd"},
       {"bash", true},
       {"script"},
       {"sh", true},
       {"gate"}},
      {{"bash", true}, {"gate"}},  // the shell is the container's init
      {{"systemd"},
       {"sshd"},
       {"bash", true},
       {"vim", false, "", {"vim", "codex.md"}},
       {"sh"},
       {"gate"}},
  };
  for (const auto& chain : chains) {
    Machine machine;
    const Person person = machine.Judge(machine.Add(chain));
    EXPECT_TRUE(person.yes) << person.why;
  }
}

TEST(Person, IsNotAnAgent) {
  const std::vector<Entry> agents = {
      {"claude"},
      {"codex"},
      {"opencode"},
      {"gemini"},
      {"cursor-agent"},
      {"goose"},
      {"MainThread", false, "/home/u/.local/share/claude/versions/2.1.1"},
      {"node",
       false,
       "/usr/bin/node",
       {"node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"}},
      {"node", false, "/usr/bin/node", {"node", "/usr/local/bin/codex"}},
      {"node",
       false,
       "/usr/bin/node",
       {"node", "--max-old-space-size=4096", "/x/gemini-cli/bundle/gemini.js"}},
      {"node",
       false,
       "/usr/bin/node",
       {"node", "/x/@qwen-code/qwen-code/cli.js"}},
      {"python3",
       false,
       "/usr/bin/python3.11",
       {"/usr/bin/python3", "/home/u/.local/bin/aider", "--yes"}},
      {"bash", false, "/usr/bin/bash", {"bash", "/home/u/bin/claude"}},
      {"node", false, "/home/u/.vscode-server/bin/1/node"},
      {"code"},
      {"x", false, "/usr/bin/x", {"claude"}},
      {"gate"},
      {"x", false, "/opt/gate"},
  };
  for (const Entry& agent : agents) {
    Machine machine;
    // The agent, and a pseudo-terminal that it made.
    const Person person = machine.Judge(machine.Add({{"systemd"},
                                                     {"sshd"},
                                                     {"bash", true},
                                                     agent,
                                                     {"sh"},
                                                     {"script"},
                                                     {"sh", true},
                                                     {"gate"}}));
    EXPECT_FALSE(person.yes) << agent.name;
    EXPECT_FALSE(person.why.empty());
  }
}

// An agent that gate knows no name of is told by the terminal that it makes.
TEST(Person, IsNotAtATerminalThatAnUnknownProgramMade) {
  const Hold none = {Holds::kNo, kUser};
  const Hold holds = {Holds::kYes, kUser, false, true, true};
  const Hold own = {Holds::kYes, kUser, false, /*roots_executable=*/false};
  const Hold piped = {Holds::kYes, kUser, false, true,
                      /*reads_its_terminal=*/false};
  const Hold shut = {Holds::kUnseen, kUser};
  const Hold group = {Holds::kUnseen, kUser, /*own_group=*/true};
  const Hold roots = {Holds::kUnseen, 0};
  const Entry python = {
      "python3", false, "/usr/bin/python3.11", {"python3", "agent.py"}};
  const Entry terminator = {"terminator",
                            false,
                            "/usr/bin/python3.11",
                            {"/usr/bin/python3", "/usr/bin/terminator"}};
  const Entry forged = {
      "kitty", false, "/usr/bin/python3.11", {"python3", "/home/u/kitty"}};
  struct Row {
    bool yes;
    std::vector<Entry> makers;  // between the person's shell and the terminal
    std::map<std::string, Hold> holds;
    std::vector<std::string> terminals = {};
  };
  const Row kRows[] = {
      // Nobody holds it.
      {true, {python}, {{"python3", none}}},
      {false, {python}, {{"python3", holds}}},
      {false, {{"myagent"}}, {{"myagent", holds}}},
      {false, {{"myagent"}}, {{"myagent", own}}},
      {false, {{"expect"}}, {{"expect", holds}}},
      {true, {{"myagent"}}, {{"myagent", holds}}, {"myagent"}},
      {true, {{"myagent"}}, {{"myagent", own}}, {"/usr/bin/myagent"}},
      {false, {{"myagent"}}, {{"myagent", own}}, {"/opt/myagent"}},
      // Nor does what stands between them help.
      {false, {python, {"setsid"}}, {{"python3", holds}}},
      {true, {{"kitty"}}, {{"kitty", holds}}},
      {true, {terminator}, {{"terminator", holds}}},
      // A name alone is anybody's.
      {false, {{"kitty"}}, {{"kitty", own}}},
      {false, {forged}, {{"kitty", holds}}},
      // A relay is typed into where it stands.
      {true, {{"script"}}, {{"script", holds}}},
      {false, {{"script"}}, {{"script", piped}}},
      {true, {{"sudo"}}, {{"sudo", roots}}},
      // Shut: root's, one with a group of its own, a daemon's child.
      {false, {{"myagent"}}, {{"myagent", shut}}},
      {false, {{"kitty"}}, {{"kitty", shut}}},
      {true, {{"xterm"}}, {{"xterm", group}}},
      {false, {{"myagent"}}, {{"myagent", group}}},
      {false, {{"sshd"}}, {{"sshd", shut}}},
  };
  for (const Row& row : kRows) {
    Machine machine;
    machine.holds = row.holds;
    machine.terminals = row.terminals;
    std::vector<Entry> chain = {{"systemd"}, {"login"}, {"bash", true}};
    chain.insert(chain.end(), row.makers.begin(), row.makers.end());
    chain.push_back({"bash", true});
    chain.push_back({"gate"});
    const Person person = machine.Judge(machine.Add(chain));
    EXPECT_EQ(person.yes, row.yes)
        << row.makers.back().name << ": " << person.why;
    if (!row.yes) {
      EXPECT_NE(person.why.find(row.makers.front().name), std::string::npos)
          << person.why;
    }
  }

  // A relay on a terminal that an agent made.
  for (const char* relay : {"script", "sudo"}) {
    Machine machine;
    machine.holds = {{"python3", holds}, {"script", holds}, {"sudo", roots}};
    const Person person = machine.Judge(machine.Add({{"systemd"},
                                                     {"login"},
                                                     {"bash", true},
                                                     python,
                                                     {"sh", true},
                                                     {relay},
                                                     {"sh", true},
                                                     {"gate"}}));
    EXPECT_FALSE(person.yes) << relay;
    EXPECT_NE(person.why.find("python3"), std::string::npos) << person.why;
  }

  // An ssh daemon of root's, and what it gave up to the user.
  Machine machine;
  machine.holds = {{"sshd", roots}, {"sshd-session", shut}};
  EXPECT_TRUE(machine
                  .Judge(machine.Add({{"systemd"},
                                      {"sshd"},
                                      {"sshd-session"},
                                      {"bash", true},
                                      {"gate"}}))
                  .yes);
}

TEST(Person, HasATerminalOfTheirOwn) {
  Machine machine;
  const int self = machine.Add({{"systemd"}, {"cron"}, {"sh"}, {"gate"}});
  EXPECT_FALSE(machine.Judge(self).yes);
  // The terminal of somebody else's session.
  const int other = machine.Add({{"sshd"}, {"bash", true}, {"gate"}}, 1);
  EXPECT_TRUE(machine.Judge(other).yes);
  machine.At(other).session = 7777;
  EXPECT_FALSE(machine.Judge(other).yes);
}

TEST(Person, IsNotAnOrphan) {
  // The parent is gone and init adopted what the agent left behind.
  for (const char* name : {"script", "sh", "bash", "python3", "python3.11",
                           "expect", "socat", "node", "setsid", "perl"}) {
    Machine machine;
    EXPECT_FALSE(
        machine
            .Judge(machine.Add({{"systemd"}, {name}, {"sh", true}, {"gate"}}))
            .yes)
        << name;
    Machine user;
    EXPECT_FALSE(
        user
            .Judge(user.Add(
                {{"systemd"}, {"systemd"}, {name}, {"sh", true}, {"gate"}}))
            .yes)
        << name;
  }
  Machine machine;
  EXPECT_FALSE(machine.Judge(machine.Add({{"systemd"}, {"gate", true}})).yes);
  EXPECT_FALSE(machine.Judge(machine.Add({{"bash", true}, {"gate"}}, 1)).yes);
}

TEST(Person, IsNotBehindWhatCannotBeSeen) {
  Machine machine;
  const int self =
      machine.Add({{"systemd"}, {"sshd"}, {"bash", true}, {"gate"}});
  EXPECT_FALSE(machine.Judge(self, /*sees_everything=*/false).yes);
  machine.At(machine.At(self).parent).parent = 9999;
  EXPECT_FALSE(machine.Judge(self).yes);
  // A loop, as a damaged table would have it.
  machine.At(machine.At(self).parent).parent = self;
  EXPECT_FALSE(machine.Judge(self).yes);
}

TEST(Person, LooksAtTheMultiplexer) {
  for (const auto& [server, client] :
       {std::pair{"tmux: server", "tmux: client"},
        std::pair{"screen", "screen"}, std::pair{"zellij", "zellij"}}) {
    Machine machine;
    const int self =
        machine.Add({{"systemd"}, {server}, {"bash", true}, {"gate"}});
    EXPECT_FALSE(machine.Judge(self).yes) << "detached " << server;
    // An agent attached to it is nobody.
    machine.Add({{"claude"}, {"script"}, {client, true}}, 1);
    EXPECT_FALSE(machine.Judge(self).yes) << server;
    machine.Add({{"sshd"}, {"bash", true}, {client}}, 1);
    EXPECT_TRUE(machine.Judge(self).yes) << server;
  }
}

// The real /proc: a pseudo-terminal made by a process that is called like an
// agent.
TEST(FindUserTerminal, IsNotAnAgentsPseudoTerminal) {
  const pid_t agent = fork();
  if (agent == 0) {
    prctl(PR_SET_NAME, "claude");
    int master = -1;
    const pid_t shell = forkpty(&master, nullptr, nullptr, nullptr);
    if (shell == 0) {
      prctl(PR_SET_NAME, "sh");
      const pid_t gate = fork();
      if (gate == 0) {
        const Person person = FindUserTerminal();
        // This test program is gate's own executable here, which alone is a
        // reason; the tables above tell agents apart.
        _exit(person.yes || person.why.empty() ? 1 : 0);
      }
      int status = 0;
      waitpid(gate, &status, 0);
      _exit(WEXITSTATUS(status));
    }
    int status = 0;
    waitpid(shell, &status, 0);
    _exit(WEXITSTATUS(status));
  }
  int status = 0;
  waitpid(agent, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(FindUserTerminal, NeedsAControllingTerminal) {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    _exit(FindUserTerminal().yes ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace gate::hooks
