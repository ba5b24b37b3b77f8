// Whether a person sits at this process's terminal.
//
// What only a person may do (approve, trust, pause, install) asks this
// first. Yes needs a controlling terminal, and no agent, editor with an agent,
// gate hook or gate sandbox among the ancestors up to init. A pseudo-terminal
// that an agent makes (script, expect, python) is no way around, because its
// ancestors still hold the agent; one that was cut off from its ancestors is
// told by who holds it. The ancestor that made the terminal, if one did, must
// be a program that people type into (hooks/pty_owner.h), so that an agent
// needs no known name to be found. What cannot be seen is no. It does not
// protect against a process of the same user that types into the person's own
// terminal, or that writes gate's files; policy and sandboxes do.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gate::hooks {

struct Person {
  bool yes = false;
  std::string why;  // when no: one line for people
};

// Reads /proc. About 0.1 ms. `terminals`: more makers of terminals, by name or
// path; asked only where gate knows none.
Person FindUserTerminal(
    const std::function<std::vector<std::string>()>& terminals = nullptr);

// What the authorization is made of; for tests.
struct ProcessView {
  int pid = 0;
  int parent = 0;
  int session = 0;
  long terminal = 0;               // device number; 0: none
  std::string name;                // comm
  std::string executable;          // path; empty when it cannot be read
  std::vector<std::string> words;  // argv
};
// By /proc; nothing where it cannot be read.
std::optional<ProcessView> ReadProcess(int pid);
// Whether it is called as a program is that runs commands for a model, or as an
// editor with such a one; by process, executable, or the package of a script.
bool IsAgent(const ProcessView& process);
bool IsAgentName(std::string_view name);

enum class Holds : unsigned char { kNo, kYes, kUnseen };
struct Hold {
  Holds holds = Holds::kNo;       // the master side of the terminal asked about
  unsigned user = 0;              // real
  bool own_group = false;         // has a group by its file (setgid)
  bool roots_executable = false;  // nobody but root writes it
  bool reads_its_terminal = false;  // its stdin is its controlling terminal
};
struct ProcessSource {
  std::function<std::optional<ProcessView>(int pid)> read;
  std::function<std::vector<int>(const std::string& name)> find;  // by comm
  std::string own_executable;
  // The process ids are all there are: this is the machine's own PID
  // namespace, or one that only root could have made.
  bool sees_everything = true;
  unsigned user = 0;  // who asks
  // Empty: nothing holds a terminal.
  std::function<Hold(const ProcessView& process, long terminal)> look;
  // Whether nobody but root could have put the file there.
  std::function<bool(const std::string& path)> is_roots;
  std::function<std::vector<std::string>()> terminals;
};
Person JudgeTerminal(const ProcessSource& source, int self);

}  // namespace gate::hooks
