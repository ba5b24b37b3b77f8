// The workspace: the one directory tree a sandboxed command may write.
//
// It is pinned per session: the client's project, else the first directory a
// command of the session came from (the nearest project marker above it, else
// itself). A later `cd` or `git init` neither moves nor widens it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "facts/process_facts.h"

namespace gate::app {

// The workspace that `start` (absolute) would give: the nearest directory at
// or above it that holds a project marker (.git, .hg, package.json, …), else
// `start`. Empty when that place can never be one: /, a home directory or its
// ancestors, system directories, directories of other owners, and places of a
// home directory that are hidden or auto-executed (router::RestrictedHomeDirs),
// by whatever name. A `start` that does not exist is taken by its text.
std::string FindWorkspace(const ProcessFacts& facts, const std::string& start);

struct Homes {
  // Beside that of the environment: the caller's by the passwd file and, of
  // root's commands, those of the owners of a place and of what is above it.
  std::vector<std::string> others;
  std::vector<std::string> real;  // all of them, links resolved
};
Homes FindHomes(const ProcessFacts& facts, const std::string& place);

struct Session {
  std::string key;                  // hex name under <state>/sessions
  std::string workspace;            // empty: none, then nothing is writable
  std::optional<Homes> homes = {};  // around it, if that was looked at
};

// The session called `id` (empty: one per workspace). Reads the pin, or makes
// it from `project` or `cwd`. Writes nothing when `write` is false.
// kUnavailable where a link has taken the place of the directory this process
// is in.
Result<Session> OpenSession(const ProcessFacts& facts, const std::string& id,
                            const std::string& project, const std::string& cwd,
                            bool write);

// Makes `private_tmp` of a session (mode 0700) and notes its use; sessions idle
// for a day are removed, a few per call. A session is in use, however long,
// while the descriptor that is returned is open. kInvalid when it is not a
// place of gate's.
Result<Fd> PrepareSessionTmp(const ProcessFacts& facts,
                             const std::string& private_tmp, uint64_t now_ms);

}  // namespace gate::app
