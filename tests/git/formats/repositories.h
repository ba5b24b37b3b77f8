// Repositories of every kind that git itself makes, and how git is run on them.
#pragma once

#include <string>
#include <vector>

#include "git/format.h"

namespace gate::formats {

struct Repository {
  std::string name;
  std::string path;
  GitHash hash = GitHash::kSha1;
  bool links = false;  // its index has a gitlink
};

struct Ran {
  int status = -1;  // 128 and more: a signal
  std::string out;
};

// Runs `git` with `arguments` in `directory`, without anybody's configuration.
// With `both`, what it says on stderr is in `out` too.
Ran RunGit(const std::string& git, const std::string& directory,
           const std::vector<std::string>& arguments, bool both = false);

// Runs a script of sh in `directory`; false when a command of it fails.
bool RunShell(const std::string& directory, const std::string& script);

// The repositories whose index is mutated, each without and with a gitlink.
std::vector<Repository> MakeIndexes(const std::string& root);

// Others as people make them: clones, work trees, packed, bare, …
std::vector<Repository> MakeOthers(const std::string& root);

}  // namespace gate::formats
