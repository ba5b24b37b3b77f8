// Runs the built gate program in a home of its own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/agent_home.h"
#include "tests/support/must_work.h"
#include "tests/support/text.h"

namespace gate::test {

// Why the answer of a hook refuses: exit 2 with a reason on stderr, or Claude
// Code's object that denies, with exit 0. Empty where it does not refuse, or
// not as a client takes it.
std::string RefusalIn(const Done& done);

class Machine : public AgentHome {
 public:
  Machine() = default;
  ~Machine();

  // Runs gate with `arguments` in `cwd` (the project when empty).
  Done Gate(const std::vector<std::string>& arguments,
            const std::string& input = "", const std::string& cwd = "") const;

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
};

// Where the binary under test is.
std::string GateBinary();

// Whether a sandbox works here, as `gate sandbox` needs one: not in containers
// that forbid user namespaces. Fails the test when one must work.
bool HasSandbox(const Machine& machine);

}  // namespace gate::test
