// The git branch that a line acts on, for rules with a `branch`.
#pragma once

#include <string>

#include "parser/analysis.h"

namespace gate::app {

struct Branch {
  std::string name;   // empty: no repository, or no branch (a detached HEAD)
  bool known = true;  // false: the line may act on any branch
};

// The branch of the repository at `cwd`, through symbolic refs as git follows
// them. Not known when HEAD or the branch cannot be read or is a link, when
// refs are not kept in files, or when the line itself may change the branch or
// work in another repository. Reads a few small files.
Branch FindBranch(const std::string& cwd, const parser::Analysis& analysis);

}  // namespace gate::app
