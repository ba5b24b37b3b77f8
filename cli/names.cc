#include "cli/names.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <string_view>

#include "base/git_config.h"
#include "base/git_index.h"
#include "base/paths.h"

namespace gate::cli {
namespace {

// Places that any process of the machine may write.
constexpr std::array kSharedWritable = {"/tmp", "/var/tmp", "/dev/shm"};

std::string RealPath(const std::string& path) {
  char buffer[PATH_MAX];
  return ::realpath(path.c_str(), buffer) == nullptr ? "" : buffer;
}

// Git runs these hooks even for commands that only look.
constexpr std::array kReadHooks = {"post-index-change", "fsmonitor-watchman",
                                   "query-watchman", "reference-transaction"};

// Why git in `directory` might run a program named by the repository; empty if
// not.
std::string RepositoryTrouble(const std::string& directory) {
  const GitDirectories git = FindGitDirectories(directory);
  if (git.common.empty()) return "";
  // `git status` looks into submodules, each with a configuration of its own.
  if (::access((git.common + "/modules").c_str(), F_OK) == 0)
    return "the repository has submodules with configurations of their own";
  if (FindGitlinks(git.own + "/index") != Gitlinks::kNone)
    return "the repository's index names other repositories, or may";
  for (const std::string& file :
       {git.common + "/config", git.own + "/config.worktree"}) {
    const auto keys = GitProgramKeys(file);
    if (!keys) return "the repository's configuration cannot be read";
    if (!keys->empty())
      return "the repository's configuration names a program (" +
             keys->front() + ")";
  }
  for (const char* hook : kReadHooks)
    if (::access((git.common + "/hooks/" + hook).c_str(), X_OK) == 0)
      return std::string("the repository has the git hook ") + hook;
  return "";
}

std::string GitTrouble(const parser::Invocation& invocation,
                       const std::string& cwd, Looks* looks) {
  std::string directory = cwd;
  for (size_t i = 1; i < invocation.argv.size(); ++i) {
    const parser::Argument& word = invocation.argv[i];
    if (!word.known) return "git's own arguments are not known";
    if (word.text.empty() || word.text[0] != '-') break;  // the sub-command
    if (word.text == "-C" && i + 1 < invocation.argv.size()) {
      if (!invocation.argv[++i].known) return "git's directory is not known";
      directory = Normalise(invocation.argv[i].text, directory);
    } else if (word.text != "--no-pager" && word.text != "-P" &&
               word.text != "--version" && word.text != "--help" &&
               word.text != "--no-optional-locks") {
      return "git is told `" + word.text + "` about its configuration";
    }
  }
  if (looks == nullptr) return RepositoryTrouble(directory);
  const auto [place, added] = looks->git_trouble.try_emplace(directory);
  if (added) place->second = RepositoryTrouble(directory);
  return place->second;
}

ProgramFile FindProgram(const std::string& program, const std::string& path,
                        const std::string& cwd, Looks* looks) {
  if (looks == nullptr) return ResolveProgram(program, path, cwd);
  std::string key = program;
  for (const std::string* part : {&path, &cwd}) {
    key += '\0';
    key += *part;
  }
  const auto [place, added] = looks->programs.try_emplace(std::move(key));
  if (added) place->second = ResolveProgram(program, path, cwd);
  return place->second;
}

}  // namespace

bool IsWritablePlace(const std::string& path,
                     const std::vector<std::string>& writable) {
  for (const char* place : kSharedWritable)
    if (IsWithin(path, place)) return true;
  for (const std::string& place : writable)
    if (!place.empty() && IsWithin(path, place)) return true;
  return false;
}

ProgramFile ResolveProgram(const std::string& program, const std::string& path,
                           const std::string& cwd) {
  if (program.empty()) return {};
  if (program.find('/') != std::string::npos) {
    // Not normalised before it is resolved: `link/..` is not lexical.
    const std::string file = program[0] == '/' ? program : cwd + "/" + program;
    return {Normalise(file, cwd), RealPath(file)};
  }
  std::string_view rest = path;
  while (true) {
    const size_t colon = rest.find(':');
    const std::string_view entry = rest.substr(0, colon);
    // An empty entry is the current directory, as execvp(3) has it.
    const std::string file =
        Normalise(entry.empty() ? "." : entry, cwd) + "/" + program;
    struct stat info{};
    if (::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        ::access(file.c_str(), X_OK) == 0)
      return {file, RealPath(file)};
    if (colon == std::string_view::npos) return {};
    rest.remove_prefix(colon + 1);
  }
}

std::string LeavesTrouble(const parser::Analysis& analysis,
                          const std::vector<std::string>& writable) {
  if (analysis.leaves_names) {
    return "it leaves a function, an alias, a trap or a variable behind that "
           "changes what later lines mean";
  }
  if (!analysis.leaves_path) return "";
  if (!analysis.leaves_path->known) return "it leaves an unknown PATH behind";
  std::string_view rest = analysis.leaves_path->text;
  while (true) {
    const size_t colon = rest.find(':');
    const std::string entry(rest.substr(0, colon));
    const std::string real = RealPath(entry);
    if (entry.empty() || entry[0] != '/' || IsWritablePlace(entry, writable) ||
        (!real.empty() && IsWritablePlace(real, writable))) {
      return "it leaves a PATH behind with `" + entry +
             "`, which sandboxed commands may write";
    }
    if (colon == std::string_view::npos) return "";
    rest.remove_prefix(colon + 1);
  }
}

engine::Trust CheckNames(const ProcessFacts& facts,
                         const parser::Analysis& analysis,
                         const std::vector<std::string>& writable,
                         Looks* looks) {
  engine::Trust trust;
  auto doubt = [&trust](std::string why) {
    trust.names_are_what_they_seem = false;
    trust.why = std::move(why);
  };
  if (std::string trouble = LeavesTrouble(analysis, writable);
      !trouble.empty()) {
    doubt(std::move(trouble));
    return trust;
  }
  for (const parser::Invocation& invocation : analysis.invocations) {
    if (invocation.builtin) continue;
    if (invocation.argv.empty() || !invocation.argv[0].known) {
      doubt("the name of a program is not known");
      return trust;
    }
    const std::string& name = invocation.argv[0].text;
    const std::string cwd =
        invocation.cwd.known ? invocation.cwd.text : std::string();
    if (cwd.empty()) {
      doubt("the directory that `" + name + "` would run in is not known");
      return trust;
    }
    const std::string* path = &facts.path;
    for (const parser::EnvironmentSetting& setting : invocation.environment) {
      if (setting.name != "PATH" || name.find('/') != std::string::npos)
        continue;
      if (!setting.value.known) {
        doubt("the PATH that `" + name + "` is searched in is not known");
        return trust;
      }
      path = &setting.value.text;
    }
    const ProgramFile file = FindProgram(name, *path, cwd, looks);
    // A program that does not exist runs nothing.
    if (file.real.empty()) continue;
    for (const std::string& place : {file.found, file.real}) {
      if (!IsWritablePlace(place, writable)) continue;
      doubt("`" + name + "` is " + place +
            ", in a place that sandboxed commands may write");
      return trust;
    }
    if (BaseName(file.real) == "git" || invocation.program == "git") {
      std::string trouble = GitTrouble(invocation, cwd, looks);
      if (!trouble.empty()) {
        doubt(std::move(trouble));
        return trust;
      }
    }
  }
  return trust;
}

}  // namespace gate::cli
