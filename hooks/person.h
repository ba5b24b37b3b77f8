// Whether a person sits at this process's terminal.
//
// What only a person may do (approve, trust, pause, install, prune) asks this
// first. Yes needs a controlling terminal, and no agent, editor with an agent,
// gate hook or gate sandbox among the ancestors up to init. A pseudo-terminal
// that an agent makes (script, expect, python) is no way around, because its
// ancestors still hold the agent; one that was cut off from its ancestors is
// told by who holds it. What cannot be seen is no. It does not protect against
// a process of the same user that types into the person's own terminal, or
// that writes gate's files; policy and sandboxes do.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gate::hooks {

struct Person {
  bool yes = false;
  std::string why;  // when no: one line for people
};

// Reads /proc. About 0.1 ms.
Person PersonsTerminal();

// What the judgement is made of; for tests.
struct ProcessView {
  int pid = 0;
  int parent = 0;
  int session = 0;
  long terminal = 0;               // device number; 0: none
  std::string name;                // comm
  std::string executable;          // path; empty when it cannot be read
  std::vector<std::string> words;  // argv
};
struct ProcessSource {
  std::function<std::optional<ProcessView>(int pid)> read;
  std::function<std::vector<int>(const std::string& name)> find;  // by comm
  std::string own_executable;
  // The process ids are all there are: this is the machine's own PID
  // namespace, or one that only root could have made.
  bool sees_everything = true;
};
Person JudgeTerminal(const ProcessSource& source, int self);

}  // namespace gate::hooks
