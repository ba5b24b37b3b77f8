// Runs the real binary in a home of its own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/must_work.h"

namespace gate::test {

struct Done {
  int exit_code = -1;  // 128+n for a signal
  std::string out;
  std::string err;
};

// Why the answer of a hook refuses: exit 2 with a reason on stderr, or Claude
// Code's object that denies, with exit 0. Empty where it does not refuse, or
// not as a client takes it.
std::string RefusalIn(const Done& done);

// A temporary directory with home, project and state; removed at the end.
class Machine {
 public:
  Machine();
  ~Machine();
  Machine(const Machine&) = delete;  // owns a directory on disk
  Machine& operator=(const Machine&) = delete;

  const std::string& root() const { return root_; }
  std::string home() const { return root_ + "/home/agent"; }
  std::string project() const { return root_ + "/home/agent/project"; }
  std::string state() const { return home() + "/.local/state/gate"; }

  void Write(const std::string& path, const std::string& text,
             unsigned mode = 0644) const;
  std::string Read(const std::string& path) const;
  bool Exists(const std::string& path) const;

  // Extra NAME=VALUE for all runs.
  std::vector<std::string> environment;

  // Runs gate with `arguments` in `cwd` (the project when empty).
  Done Gate(const std::vector<std::string>& arguments,
            const std::string& input = "", const std::string& cwd = "") const;
  // Runs any program in that way.
  Done Run(const std::vector<std::string>& argv, const std::string& input = "",
           const std::string& cwd = "") const;

  // gate with a terminal of its own, on which one letter of `answer` is typed
  // at each question. As root it runs in a process namespace of its own, where
  // no agent is among its ancestors, as a person's shell in a container would;
  // an ordinary user cannot have one that gate believes. The exit code and all
  // that the terminal showed.
  std::pair<int, std::string> OnTerminal(
      const std::vector<std::string>& arguments,
      const std::string& answer) const;
  // Whether that is no person's terminal: then the test cannot go on here.
  // Fails the test as root.
  static bool NoPerson(const std::string& shown);

 private:
  std::string root_;
};

// How often `part` is in `text`, without overlaps.
size_t Count(const std::string& text, const std::string& part);

// Where the binary under test is.
std::string GateBinary();

// Whether a sandbox works here, as `gate sandbox` needs one: not in containers
// that forbid user namespaces. Fails the test when one must work.
bool HasSandbox(const Machine& machine);

}  // namespace gate::test
