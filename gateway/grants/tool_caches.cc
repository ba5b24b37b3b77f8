#include "gateway/grants/tool_caches.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string_view>

#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"
#include "gateway/grants/below.h"
#include "gateway/line.h"
#include "gateway/log.h"
#include "preview/preview.h"
#include "rules/lending.h"

namespace gate::app {
namespace {

constexpr time_t kCacheIdleSeconds = time_t{30} * 24 * 3600;
// Of other workspaces, looked at when a new one gets its caches.
constexpr size_t kMaxOldCaches = 64;
// Entries that one call takes away; what is left goes with the next.
constexpr size_t kMaxRemoved = 100'000;
constexpr size_t kMaxPathBytes = 4096;
// Names the workspace; its time of change is the last use.
constexpr const char* kOwnerFile = "workspace";

bool IsEmpty(int fd) {
  std::vector<std::string> names;
  return EntriesOf(fd, 1, &names) && names.empty();
}

// The directory `name` below `home`, whose owner is this user: as it is, or
// made with those above it. Nothing where a link, a file or another's directory
// is in the way. `*made`: it was not there.
Fd MakeBelow(int home, const std::string& name, bool* made) {
  Fd at;
  for (size_t end = 0; end != std::string::npos;) {
    end = name.find('/', end + 1);
    const std::string path = name.substr(0, end);
    constexpr uint64_t kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    at = OpenBelow(home, path, kFlags);
    if (!at && errno == ENOENT) {
      const Fd above =
          path.find('/') == std::string::npos
              ? Fd(::dup(home))
              : OpenBelow(home, std::string(DirName(path)), kFlags);
      if (!above || ::mkdirat(above.get(), std::string(BaseName(path)).c_str(),
                              0700) != 0)
        return {};
      *made = true;
      at = OpenBelow(home, path, kFlags);
    }
    struct stat info = {};
    if (!at || ::fstat(at.get(), &info) != 0 || info.st_uid != ::geteuid())
      return {};
  }
  return at;
}

// The directories of PATH that are there.
std::vector<std::string> PathOf(const ProcessFacts& facts) {
  std::vector<std::string> directories;
  std::string_view rest = facts.path;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    std::string directory(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (std::ranges::find(directories, directory) == directories.end() &&
        ::access(directory.c_str(), X_OK) == 0)
      directories.push_back(std::move(directory));
  }
  return directories;
}

bool IsIn(const std::vector<std::string>& directories,
          std::string_view program) {
  return !program.empty() &&
         std::ranges::any_of(directories, [&](const std::string& directory) {
           const std::string file = directory + "/" + std::string(program);
           return ::access(file.c_str(), X_OK) == 0;
         });
}

// What the line starts, as far as it bears on caches.
struct Uses {
  std::vector<std::string> programs;
  bool anything = false;          // it starts what nobody has read
  std::vector<std::string> path;  // with `anything`: where that finds programs
};

// Whether the word names a program of the machine itself by its place.
bool IsMachines(std::string_view word) {
  return word.find("..") == std::string_view::npos &&
         (word.starts_with("/bin/") || word.starts_with("/sbin/") ||
          word.starts_with("/usr/"));
}

void AddUse(std::string_view word, std::string_view program,
            std::string_view subcommand, Uses* uses) {
  if (program.empty()) return;
  uses->programs.emplace_back(program);
  const std::string both = std::string(program) + " " + std::string(subcommand);
  const auto runners = rules::CacheRunners();
  // A program that is named by another place is the project's own.
  uses->anything |=
      (word.find('/') != std::string_view::npos && !IsMachines(word)) ||
      std::ranges::any_of(runners, [&](std::string_view runner) {
        return runner == program || runner == both;
      });
}

Uses UsesOf(const ProcessFacts& facts, const Authorization& authorization) {
  const Request& request = authorization.request;
  Uses uses;
  const auto add = [&](const parser::Analysis& analysis) {
    uses.anything |= analysis.hides_commands;
    for (const parser::Invocation& invocation : analysis.invocations)
      AddUse(invocation.argv.empty() ? "" : invocation.argv[0].text,
             invocation.program,
             invocation.subcommand.empty() ? "" : invocation.subcommand.front(),
             &uses);
  };
  if (!authorization.analysis.invocations.empty()) {
    add(authorization.analysis);
  } else if (request.is_argv) {  // nobody judged it (gate sandbox)
    if (!request.argv.empty())
      AddUse(request.argv[0], BaseName(request.argv[0]),
             request.argv.size() > 1 ? request.argv[1] : "", &uses);
  } else {  // a ticket's
    add(parser::Analyze(request.command, MakeContext(facts, request.cwd)));
  }
  if (uses.anything) uses.path = PathOf(facts);
  return uses;
}

// Whether the line may be the first to use this cache.
bool IsUsed(const rules::ToolCache& cache, const Uses& uses) {
  if (cache.programs.empty()) return false;
  for (const std::string& program : uses.programs)
    if (rules::HasWord(cache.programs, program)) return true;
  return uses.anything &&
         IsIn(uses.path, cache.programs.substr(0, cache.programs.find(' ')));
}

// Takes away what belongs to workspaces that are gone or that nobody works in.
void SweepOthers(const std::string& root, const std::string& mine) {
  const Fd directory(
      ::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  std::vector<std::string> names;
  if (!directory || !EntriesOf(directory.get(), kMaxOldCaches, &names)) return;
  size_t budget = kMaxRemoved;
  for (const std::string& name : names) {
    if (name == mine) continue;
    const std::string file = root + "/" + name + "/" + kOwnerFile;
    struct stat info = {};
    const auto workspace = ReadFile(file, kMaxPathBytes);
    const bool known = workspace && ::lstat(file.c_str(), &info) == 0;
    struct stat there = {};
    const bool gone = known && ::lstat(workspace->c_str(), &there) != 0 &&
                      (errno == ENOENT || errno == ENOTDIR);
    if (gone ||
        (known && info.st_mtim.tv_sec + kCacheIdleSeconds < ::time(nullptr)))
      backends::RemoveTree(directory.get(), name, &budget);
  }
}

// Names the directory that is there now, and no later one of its name.
std::string IdentityOf(const std::string& workspace) {
  struct statx info = {};
  if (::statx(AT_FDCWD, workspace.c_str(), AT_SYMLINK_NOFOLLOW,
              STATX_INO | STATX_BTIME, &info) != 0)
    return "";
  std::string identity = workspace;
  for (const uint64_t part :
       {uint64_t{info.stx_dev_major}, uint64_t{info.stx_dev_minor},
        uint64_t{info.stx_ino}, static_cast<uint64_t>(info.stx_btime.tv_sec),
        uint64_t{info.stx_btime.tv_nsec}})
    identity += '\0' + std::to_string(part);
  return identity;
}

// Where the caches of `workspace` are kept; empty when that cannot be made.
std::string PlaceOf(const ProcessFacts& facts, const std::string& workspace) {
  constexpr size_t kNameBytes = 32;
  const std::string root = facts.places.state + kOwnCaches;
  const std::string identity = IdentityOf(workspace);
  if (identity.empty()) return "";
  const std::string name = Hex(Sha256(identity)).substr(0, kNameBytes);
  const std::string place = root + "/" + name;
  const std::string file = place + "/" + kOwnerFile;
  if (::utimensat(AT_FDCWD, file.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0)
    return RealPath(place);
  if (!MakeDirectories(place, 0700) ||
      !WriteFileAtomically(file, workspace, 0600))
    return "";
  SweepOthers(root, name);
  return RealPath(place);
}

bool MayHave(const ProcessFacts& facts, const backends::Profile& profile) {
  struct stat home = {}, workspace = {};
  return !facts.home.empty() && !profile.workspace.empty() &&
         std::ranges::find(profile.write, profile.workspace) !=
             profile.write.end() &&
         std::ranges::find(profile.write, "/") == profile.write.end() &&
         ::stat(facts.home.c_str(), &home) == 0 && home.st_uid == ::geteuid() &&
         // Root works for somebody else, who has another home.
         (::geteuid() != 0 ||
          (::stat(profile.workspace.c_str(), &workspace) == 0 &&
           workspace.st_uid == 0));
}

}  // namespace

bool CanShow(Gateway& gateway, const std::string& backend) {
  return std::ranges::any_of(
      gateway.candidates(), [&](const router::Candidate& candidate) {
        return candidate.name == backend &&
               candidate.availability.features.Has(backends::Feature::kLending);
      });
}

bool IsEmpty(const std::string& directory) {
  const Fd fd(::open(directory.c_str(),
                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return fd && IsEmpty(fd.get());
}

void GiveToolCaches(Gateway& gateway, const Authorization& authorization,
                    backends::Profile* profile) {
  const ProcessFacts& facts = gateway.facts();
  if (!MayHave(facts, *profile)) return;
  const Uses uses = UsesOf(facts, authorization);
  if (uses.programs.empty() && !uses.anything) return;
  const std::string real_home = RealPath(facts.home);
  const Fd home(::open(real_home.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!home) return;
  std::string place;
  for (const rules::ToolCache& cache : rules::ToolCaches()) {
    const std::string name(cache.directory);
    const std::string path = real_home + "/" + name;
    const auto meets = [&](const std::string& other) {
      return IsWithin(path, other) || IsWithin(other, path);
    };
    // What is written as it is, or lies in one that was given.
    if (std::ranges::any_of(profile->write, meets) ||
        std::ranges::any_of(
            profile->substitutes,
            [&](const auto& other) { return meets(other.path); }) ||
        !IsUsed(cache, uses))
      continue;
    if (!CanShow(gateway, authorization.plan.backend)) return;
    bool made = false;
    const Fd there = MakeBelow(home.get(), name, &made);
    if (!there || (!made && !IsEmpty(there.get()))) continue;
    if (place.empty()) place = PlaceOf(facts, profile->workspace);
    if (place.empty()) return;
    std::string kept = name;
    std::ranges::replace(kept, '/', '+');
    const std::string source = place + "/" + kept;
    if (!MakeDirectories(source, 0700)) continue;
    profile->substitutes.push_back({path, source, true, source});
    LogDebug("the workspace's own " + path);
  }
}

}  // namespace gate::app
