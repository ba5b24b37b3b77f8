// Is git, run raw in a directory, only git?
//
// A repository is written by whoever may write the workspace. Its settings can
// name programs, its directory can hold links to files that git prints when it
// does not understand them, and its subdirectories can be repositories too.
#pragma once

#include <string>
#include <vector>

#include "engine/decision.h"
#include "git/config.h"
#include "parser/analysis.h"

namespace gate::app {

// Why git in a repository might run a program, go to the network or read a file
// because the repository says so; empty if not. No repository in `state`,
// gate's own directory, is trusted: runs have their private /tmp there.
std::string UnsafeRepositoryReason(const GitDirectories& git,
                                   const std::string& state);

// Whether the directory `hooks` has a hook that git runs even for commands that
// only look.
bool HasReadHook(const std::string& hooks);

// The commands of git in `analysis`, which they point into, that `decision`
// does not allow raw.
std::vector<const parser::Invocation*> AskedGit(
    const parser::Analysis& analysis, const engine::Decision& decision);

// Why git, in a command of `analysis` that `decision` does not allow, may run a
// hook that lies in its repository, or in one of this machine that it pushes
// to; empty if none does.
std::string HookDoubt(const parser::Analysis& analysis,
                      const engine::Decision& decision);

// The directory in which `invocation` of git works: `cwd` with every `-C`. When
// its own options cannot be judged, `*doubt` says why.
std::string GitDirectoryOf(const parser::Invocation& invocation,
                           const std::string& cwd, std::string* doubt);

// `git diff` compares two files as diff(1) does when one lies outside of the
// repository, or when there is none. Why this may be so; empty if not.
std::string ComparesFiles(const parser::Invocation& invocation,
                          const std::string& directory);

// Why git may start gpg, which writes its directory and may fetch keys, for a
// format or an order of `invocation` (git-log(1), git-for-each-ref(1)); empty
// if it does not.
std::string ShowsSignatures(const parser::Invocation& invocation);

// Why the command of `invocation`, which git may not have, could become an
// alias of the repository of `directory` (help.autocorrect, the person's as
// well); empty if it cannot.
std::string TakesAlias(const parser::Invocation& invocation,
                       const std::string& directory);

}  // namespace gate::app
