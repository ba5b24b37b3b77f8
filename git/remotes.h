// Where git, run as the person would, sends to: what a yes to it names and is
// bound to.
#pragma once

#include <string>

#include "engine/decision.h"
#include "parser/analysis.h"

namespace gate::app {

struct GitRemotes {
  // "origin https://example.org/a/b, …; …": the remotes and the rewrites of
  // URLs of the repository's own configuration, without user names and
  // passwords. Empty when no command of git is asked about.
  std::string text;
  // Names all of the settings that say where git sends to, as they are now:
  // other settings, or those that cannot be read, have another mark. Empty when
  // no command of git is asked about.
  std::string mark;
};

// The remotes of the commands of git in `analysis` that `decision` does not
// allow, in each directory that they may work in. What the person's own
// configuration says is not among it: no agent writes that. Reads the
// repository's configuration and its old kinds of remotes, at most 1 MiB each.
GitRemotes RemotesOfGit(const parser::Analysis& analysis,
                        const engine::Decision& decision);

}  // namespace gate::app
