// The state of the shell that the evaluator follows: variables, options,
// functions, the directory, descriptors. A plain value that is copied for
// subshells and joined after branches.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parser/expand/value.h"
#include "parser/expand/variable_map.h"
#include "parser/read.h"

namespace gate::parser {

struct Variable {
  enum class Shape : uint8_t { kScalar, kIndexed, kAssociative };
  Shape shape = Shape::kScalar;
  Values scalar;  // kScalar; empty: declared, not set
  std::map<int64_t, Values> indexed;
  std::map<std::string, Values> associative;
  bool unknown_elements = false;  // arrays: any other element may exist
  bool maybe_unset = false;       // unset in some branch
  bool exported = false;
  bool inherited = false;  // nothing set it: as the environment has it, or not
  bool readonly = false;
  bool maybe_readonly = false;        // readonly in some branch
  bool integer = false;               // declare -i
  bool lower = false, upper = false;  // declare -l, -u
  bool reference = false;             // declare -n: scalar is the name
  bool tainted = false;  // its text may be anything (read, environment)
  bool maybe_attributes = false;  // integer, lower, upper in some branch
  bool maybe_reference = false;   // a reference in some branch

  friend bool operator==(const Variable&, const Variable&) = default;
};

struct Function {
  std::shared_ptr<const Script> script;
  NodeId body = kNone;
  friend bool operator==(const Function&, const Function&) = default;
};

struct State {
  SharedMap<Variable> variables;
  // Names for which it is not known whether and to what they are set, beyond
  // `variables`: any environment variable. Known to be unset: `unset_names`.
  std::map<std::string, std::vector<Function>> functions;  // alternatives
  std::map<std::string, Values> aliases;
  std::vector<Values> positional;   // $1…
  bool positional_unknown = false;  // any number of unknown parameters
  bool positional_set = false;      // by `set`, since the sourced file began
  // $0: which of the two depends on who starts the shell.
  Values zero = {Value::Of("bash"), Value::Of("/bin/bash")};
  Values cwd;  // absolute
  std::vector<Values> directory_stack;
  std::map<std::string, Values> traps;  // by signal name
  std::map<int, Values> descriptors;    // text that can be read from them
  std::map<std::string, Values> files;  // content of files the line wrote,
                                        // by absolute path
  Values background_pid;
  // Options. Unknown ones (set by an unknown argument) are set to the reading
  // that hides least.
  bool expand_aliases = false;
  bool extglob = false;
  bool nullglob = false;
  bool noglob = false;   // set -f
  bool xtrace = false;   // set -x
  bool errexit = false;  // set -e
  bool nounset = false;
  bool noexec = false;
  bool lastpipe = false;
  bool globstar = false, dotglob = false, nocaseglob = false;
  bool brace_expansion = true;
  bool ifs_unknown = false;
  bool allexport = false;  // set -a
  bool nocasematch = false;
  bool failglob = false;
  // Differ between branches: both readings are followed.
  bool extglob_unknown = false;
  bool nocasematch_unknown = false;
  bool brace_unknown = false;
  std::optional<int> status;  // $? when known
  bool exited = false;        // `exit`, `return`, `exec cmd` was certain
  int loop_break = 0;         // levels to break out of, when certain
  int loop_continue = 0;
  bool returning = false;
};

// The state in which `bash -c` starts.
State InitialState(const Context& context);

// After a branch: what is the same stays, what differs becomes a set, then
// unknown.
State Join(const State& a, const State& b);

}  // namespace gate::parser
