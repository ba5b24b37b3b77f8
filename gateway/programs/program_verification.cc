#include "gateway/programs/program_verification.h"

#include <dirent.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

#include "base/file.h"
#include "base/paths.h"
#include "git/doubts.h"
#include "git/person.h"
#include "known/known.h"

namespace gate::app {
namespace {

// Why git, as `invocation` starts it, might run a program or read a file that
// the repository names or has; empty if not.
std::string GitDoubt(const ProcessFacts& facts,
                     const parser::Invocation& invocation,
                     const std::string& cwd,
                     const std::vector<std::string>& writable,
                     VerificationCache* cache) {
  std::string doubt;
  const std::string directory = GitDirectoryOf(invocation, cwd, &doubt);
  if (!doubt.empty()) return doubt;
  doubt = ComparesFiles(invocation, directory);
  if (doubt.empty()) doubt = TakesAlias(invocation, directory);
  if (doubt.empty()) doubt = ShowsSignatures(invocation);
  if (!doubt.empty()) return doubt;
  const auto look = [&] {
    const GitDirectories git = FindGitDirectories(directory);
    std::string why = UnsafeRepositoryReason(git, facts.places.state);
    return why.empty() ? UnsafeUserConfigReason(facts, directory, git, writable)
                       : why;
  };
  if (cache == nullptr) return look();
  const auto [place, added] = cache->git_trouble.try_emplace(directory);
  if (added) place->second = look();
  return place->second;
}

// The first name in `directory` that begins as options do and that `pattern`
// finds; for an extended pattern, that it may find.
std::string OptionIn(const std::string& directory, const std::string& pattern) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(
      ::opendir(directory.c_str()), ::closedir);
  if (entries == nullptr) return "";
  while (const dirent* entry = ::readdir(entries.get())) {
    const char* const name = entry->d_name;
    if ((name[0] == '-' || name[0] == '+') &&
        (pattern.find('(') != std::string::npos ||
         ::fnmatch(pattern.c_str(), name, 0) == 0))
      return name;
  }
  return "";
}

// diff(1) looks for files in a directory that is compared, links among them.
std::string DiffDoubt(const parser::Invocation& invocation,
                      const std::string& cwd) {
  for (size_t i = 1; i < invocation.argv.size(); ++i) {
    const parser::Argument& word = invocation.argv[i];
    if (!word.known) continue;
    // `--to-file=DIRECTORY`, however far the name is written out.
    const size_t equals =
        word.text.starts_with("--") ? word.text.find('=') : std::string::npos;
    const std::string text =
        equals == std::string::npos ? word.text : word.text.substr(equals + 1);
    const std::string path = text.starts_with('/') ? text : cwd + "/" + text;
    if (!text.empty() && (word.glob || IsDirectory(path)))
      return "`diff` may compare files of `" + text +
             "` that the line does not name, and links among them";
  }
  return "";
}

// A file called like an option that a pattern of `invocation` finds in `cwd`.
std::string OptionDoubt(const parser::Invocation& invocation,
                        const std::string& cwd) {
  for (size_t i = 1; i < invocation.argv.size(); ++i) {
    const parser::Argument& word = invocation.argv[i];
    if (word.known && !word.glob && word.text == "--") break;
    // What else a pattern begins with, its names begin with, too.
    if (!word.known || !word.glob || word.text.empty() ||
        std::string_view("*?[@!+-\\").find(word.text[0]) ==
            std::string_view::npos ||
        word.text.find('/') != std::string::npos)
      continue;
    const std::string name = OptionIn(cwd, word.text);
    if (!name.empty())
      return "`" + word.text + "` finds the file `" + name +
             "`, which is called like an option";
  }
  return "";
}

// Whether find(1) runs it in whatever directory it finds something in.
bool RunsWhereFound(const parser::Invocation& invocation,
                    const parser::Analysis& analysis) {
  const auto found = [](const parser::Via& via) {
    return via.kind == parser::ViaKind::kFound && via.name == "find";
  };
  if (std::none_of(invocation.via.begin(), invocation.via.end(), found))
    return false;
  for (const parser::Invocation& other : analysis.invocations)
    for (const parser::Argument& word : other.argv)
      if (word.text == "-execdir" || word.text == "-okdir") return true;
  return false;
}

ProgramFile FindProgram(const std::string& program, const std::string& path,
                        const std::string& cwd, VerificationCache* cache) {
  if (cache == nullptr) return ResolveProgram(program, path, cwd);
  std::string key = program;
  for (const std::string* part : {&path, &cwd}) {
    key += '\0';
    key += *part;
  }
  const auto [place, added] = cache->programs.try_emplace(std::move(key));
  if (added) place->second = ResolveProgram(program, path, cwd);
  return place->second;
}

// Programs look for their configuration in these places, and of git's and
// others' it names further programs.
std::string HomeDoubt(const ProcessFacts& facts,
                      const std::vector<std::string>& writable) {
  for (const std::string& entry : facts.environment) {
    const size_t equals = entry.find('=');
    const std::string_view name = std::string_view(entry).substr(0, equals);
    if (name != "HOME" && name != "XDG_CONFIG_HOME") continue;
    const std::string place = entry.substr(equals + 1);
    if (place.empty()) continue;
    // A directory that a home lies below is no workspace, whatever it holds.
    const auto reached = [&](const std::string& path) {
      return IsWritablePlace(path, writable) ||
             (path != facts.cwd && facts.cwd.size() > 1 &&
              IsWithin(path, facts.cwd));
    };
    const std::string real = RealPath(place);
    if (place[0] != '/' || reached(Normalise(place, "/")) ||
        (!real.empty() && reached(real)))
      return std::string(name) + " is `" + place +
             "`, which sandboxed commands may write";
  }
  return "";
}

// Whether a file at or above `cwd`, or one that cannot be ruled out, may say
// what the stand-in runs. corepack itself, which is found beside node, reads
// none to turn its shims on and off.
bool IsChosen(const ProgramFile& file, const std::string& cwd) {
  if (BaseName(file.found) == "corepack" &&
      file.real.ends_with("/corepack/dist/corepack.js"))
    return false;
  if (!cwd.starts_with('/')) return true;
  for (std::string at = cwd;; at = std::string(DirName(at))) {
    for (const std::string_view name :
         known::Names(known::List::kToolVersion)) {
      struct stat info = {};
      const std::string path = (at == "/" ? "" : at) + "/" + std::string(name);
      if (::lstat(path.c_str(), &info) == 0 ||
          (errno != ENOENT && errno != ENOTDIR))
        return true;
    }
    if (at == "/") return false;
  }
}

// Why `invocation`, started in `cwd`, might run or read what the line does not
// name; empty if not.
std::string ProgramDoubt(const ProcessFacts& facts,
                         const parser::Analysis& analysis,
                         const parser::Invocation& invocation,
                         const std::string& cwd,
                         const std::vector<std::string>& writable,
                         VerificationCache* cache, Shims shims) {
  const std::string& name = invocation.argv[0].text;
  const std::string* path = &facts.path;
  for (const parser::EnvironmentSetting& setting : invocation.environment) {
    if (setting.name != "PATH" || name.find('/') != std::string::npos) continue;
    if (!setting.value.known)
      return "the PATH that `" + name + "` is searched in is not known";
    path = &setting.value.text;
  }
  const ProgramFile file = FindProgram(name, *path, cwd, cache);
  const bool relative =
      name.find('/') != std::string::npos && !name.starts_with('/');
  const bool git = BaseName(file.real) == "git" || invocation.program == "git";
  if ((relative || git) && RunsWhereFound(invocation, analysis))
    return "the directory that `" + name + "` would run in is not known";
  // A program that does not exist runs nothing, unless it may come to exist
  // before the line runs.
  for (const std::string& place : {file.found, file.real}) {
    if (place.empty() || !IsWritablePlace(place, writable)) continue;
    return "`" + name + "` is " + place +
           ", in a directory that sandboxed commands may write";
  }
  if (file.real.empty()) return "";
  if (IsVersionManagerShim(file) &&
      (shims == Shims::kDoubted || IsChosen(file, cwd)))
    return "`" + name + "` is " + file.found +
           ", which runs what files of the project say";
  if (std::string why = OptionDoubt(invocation, cwd); !why.empty()) return why;
  if (invocation.program == "diff" || invocation.program == "colordiff")
    return DiffDoubt(invocation, cwd);
  return git ? GitDoubt(facts, invocation, cwd, writable, cache) : "";
}

}  // namespace

std::string LeavesTrouble(const parser::Analysis& analysis,
                          const std::vector<std::string>& writable) {
  if (analysis.alters_later_lines) {
    return "leaves a function, an alias, a trap or a variable behind that "
           "changes what later lines mean";
  }
  if (!analysis.leaves_path) return "";
  if (!analysis.leaves_path->known) return "leaves an unknown PATH behind";
  std::string_view rest = analysis.leaves_path->text;
  while (true) {
    const size_t colon = rest.find(':');
    const std::string entry(rest.substr(0, colon));
    const std::string real = RealPath(entry);
    if (entry.empty() || entry[0] != '/' || IsWritablePlace(entry, writable) ||
        (!real.empty() && IsWritablePlace(real, writable))) {
      return "leaves a PATH behind with `" + entry +
             "`, which sandboxed commands may write";
    }
    if (colon == std::string_view::npos) return "";
    rest.remove_prefix(colon + 1);
  }
}

engine::ProgramVerification VerifyPrograms(
    const ProcessFacts& facts, const parser::Analysis& analysis,
    const std::vector<std::string>& writable, VerificationCache* cache,
    Shims shims) {
  engine::ProgramVerification trust;
  auto doubt = [&trust](std::string why) {
    trust.verified = false;
    trust.why = std::move(why);
  };
  if (std::string trouble = LeavesTrouble(analysis, writable);
      !trouble.empty()) {
    doubt(std::move(trouble));
    return trust;
  }
  const bool starts_programs = std::any_of(
      analysis.invocations.begin(), analysis.invocations.end(),
      [](const parser::Invocation& invocation) { return !invocation.builtin; });
  if (std::string why =
          starts_programs ? HomeDoubt(facts, writable) : std::string();
      !why.empty()) {
    doubt(std::move(why));
    return trust;
  }
  for (const parser::Invocation& invocation : analysis.invocations) {
    if (invocation.builtin) continue;
    if (invocation.argv.empty() || !invocation.argv[0].known) {
      doubt("the name of a program is not known");
      return trust;
    }
    const std::vector<std::string> cwds = parser::DirectoriesOf(invocation);
    if (cwds.empty()) {
      doubt("the directory that `" + invocation.argv[0].text +
            "` would run in is not known");
      return trust;
    }
    for (const std::string& cwd : cwds) {
      std::string why = ProgramDoubt(facts, analysis, invocation, cwd, writable,
                                     cache, shims);
      if (why.empty()) continue;
      doubt(std::move(why));
      return trust;
    }
  }
  return trust;
}

}  // namespace gate::app
