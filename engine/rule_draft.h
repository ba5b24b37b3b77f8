// A rule that gate would write for a person, and what it would let through.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "rules/action.h"
#include "rules/policy.h"

namespace gate::engine {

using rules::Action;

// The words of a line that is one command without redirections and variables,
// all words known and without patterns; empty for anything else.
std::vector<std::string> WordsOf(const std::string& command);

// The shipped policy with `files` and, when it is not empty, `rule` (one JSON
// object) as the user's.
rules::Policy WithRule(std::vector<rules::RuleFile> files,
                       const std::string& rule);

// A command that one policy lets through further than another.
struct Witness {
  std::string command;
  Action before = Action::kDeny, after = Action::kDeny;
};

// How many witnesses are shown; of the others only the number is.
inline constexpr size_t kShownWitnesses = 5;

// What `then` lets through further than `now`, but for `meant`: of commands
// that begin with `words`, and of `examples`. In the circumstances of examples
// (engine/examples.h): witnesses, not proofs.
std::vector<Witness> Beyond(const rules::Policy& now, const rules::Policy& then,
                            const std::vector<std::string>& words,
                            const std::set<std::string>& meant,
                            const std::vector<std::string>& examples);

}  // namespace gate::engine
