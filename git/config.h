// What of git's configuration makes git run programs.
//
// A repository's configuration is written by whoever may write the workspace;
// git runs what it names (git-config(1): core.fsmonitor, core.pager, filters,
// `!` aliases, …) even for commands that only look. Reading and finding follow
// git's own code (config.c and setup.c of git 2.39) step by step, because a
// line that git reads and this does not would be a way around the policy.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gate {

// The git directory that git finds from a directory: its own one, and the one
// it shares with other worktrees. All empty when there is none. Like git it
// passes over a `.git` that is no repository and goes on to the parent; the
// directory's symbolic links are resolved first. Mount points and
// GIT_CEILING_DIRECTORIES do not stop it.
struct GitDirectories {
  std::string worktree;  // where .git was found
  std::string own;       // .git, or what the .git file points to
  std::string common;    // the same, or what `commondir` in it names
};
GitDirectories FindGitDirectories(const std::string& directory);

// The path in the text of a `.git` (behind `gitdir: `), `gitdir` or commondir
// file, as git cuts it: without the line ends, however many, and then as a C
// string.
std::string_view GitPathIn(std::string_view text);

// The path that the text of a `.git` file names. Empty when it names no git
// directory.
std::string_view GitDirIn(std::string_view text);

// git refuses a longer `.git` file.
inline constexpr size_t kMaxGitFileBytes = size_t{1} << 20;

// A larger configuration file is not read, which counts as a doubt.
inline constexpr size_t kMaxGitConfigBytes = size_t{1} << 20;
// git dies of includes that are nested deeper (config.c, MAX_INCLUDE_DEPTH).
inline constexpr int kMaxGitIncludes = 10;

// One variable of a configuration file.
struct GitEntry {
  std::string key;  // section.subsection.name; section and name lower case
  std::string value;
  bool boolean = false;  // written without a value, which means true
  size_t begin = 0;      // bytes [begin, end) of the assignment in the text
  size_t end = 0;
};

// Every entry of configuration `text`. False when git would refuse the file;
// the entries before the error are still listed. An error here are also a NUL
// byte, and a path with a tab outside of quotes: it is a space to git 2.44 and
// a tab to newer ones.
bool ParseGitConfig(std::string_view text, std::vector<GitEntry>* entries);

// Whether git may run a program because of `entry`, or take configuration,
// hooks or a transport from elsewhere because of it. Keys it does not know are
// judged by how their names end (…command, …helper, …program), so that a new
// kind of hook is rather reported than missed.
bool RunsProgram(const GitEntry& entry);

// Whether an alias with this value is another git command that takes no program
// from its arguments. Not one that runs a shell, begins with options (of which
// -c sets any variable), or is not known here. Nor one with an option that is
// not on a short list, or a backslash.
bool IsPlainGitAlias(std::string_view value);

}  // namespace gate
