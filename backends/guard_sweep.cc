// The half of the guard that looks after the run.
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "backends/guard.h"
#include "backends/listing.h"
#include "backends/quarantine.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

Directory OpenDirectory(const std::string& path) {
  const Fd handle = OpenPath(path);
  if (!handle) return nullptr;
  const int fd = openat(handle.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  DIR* directory = fdopendir(fd);
  if (directory == nullptr) close(fd);
  return Directory(directory);
}

std::string Join(const std::string& base, const std::string& name) {
  return base == "/" ? "/" + name : base + "/" + name;
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool NotBefore(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec >= b.tv_nsec;
}

bool MadeSince(const std::string& path, const timespec& start) {
  const Fd fd = OpenPath(path);
  struct statx info = {};
  if (!fd || statx(fd.get(), "", AT_EMPTY_PATH, STATX_BTIME, &info) != 0 ||
      (info.stx_mask & STATX_BTIME) == 0)
    return false;
  return NotBefore({info.stx_btime.tv_sec, info.stx_btime.tv_nsec}, start);
}

timespec After(int milliseconds) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  now.tv_nsec += milliseconds * 1000000L;
  now.tv_sec += now.tv_nsec / 1000000000L;
  now.tv_nsec %= 1000000000L;
  return now;
}

bool Passed(const timespec& deadline) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return NotBefore(now, deadline);
}

std::string Keys(const std::vector<GitEntry>& entries) {
  std::string out;
  for (const GitEntry& entry : entries)
    out += (out.empty() ? "" : ", ") + entry.key;
  return out;
}

}  // namespace

bool Guard::Changed(const struct stat& info) const {
  // The coarse clock stamps files, so what changed after the start is not
  // older than the start by the same clock.
  return NotBefore(info.st_ctim, start_);
}

void Guard::Report(const std::string& kind, const std::string& detail) {
  outcome_->violations.push_back({kind, detail});
}

void Guard::Quarantine(const std::string& path, const std::string& kind,
                       const std::string& why) {
  const std::string name =
      std::to_string(start_.tv_sec) + "-" +
      std::to_string(start_.tv_nsec / 1000) + "-" + std::to_string(getpid()) +
      "-" + std::to_string(++quarantined_) + "-" + std::string(BaseName(path));
  const Result<std::string> where = MoveAside(path, quarantine_, name);
  if (!where)
    Report(kind,
           path + ": " + why + "; it is still there: " + where.error().message);
  else if (where->empty())
    Report(kind, path + ": " + why + "; removed");
  else
    Report(kind, path + ": " + why + "; moved to " + *where);
}

void Guard::Sweep(Outcome* outcome) {
  outcome_ = outcome;
  if (roots_.empty()) return;
  SweepAbsent();
  SweepKept();
  SweepLinks();
  SweepConfigs();
  for (const Hooks& hooks : absent_hooks_) SweepHooks(hooks.path, true);
  SweepNamedHooks();
  SweepTree();
}

void Guard::SweepAbsent() {
  // Those of one directory follow each other.
  const std::string* listed = nullptr;
  Listing listing;
  for (const Absent& absent : absent_) {
    if (listed == nullptr || *listed != absent.base) {
      listed = &absent.base;
      listing = Listing::Of(absent.base);
    }
    if (!listing.MayHold(absent.relative)) continue;
    const std::string path = Join(absent.base, absent.relative);
    struct stat info = {};
    if (StatPath(path, &info)) {
      constexpr char kWhy[] = "created in spite of protection";
      if (absent.named)
        TakeNamed(path, absent.relative, kWhy);
      else
        Quarantine(path, "protected-path", kWhy);
      continue;
    }
    if (errno != ELOOP) continue;
    // A directory on the way became a link.
    for (size_t slash = path.find('/', absent.base.size() + 1);
         slash != std::string::npos; slash = path.find('/', slash + 1)) {
      const std::string part = path.substr(0, slash);
      if (!StatPath(part, &info)) break;
      if (!S_ISLNK(info.st_mode)) continue;
      Quarantine(part, "protected-path", "a link that leads to " + path);
      break;
    }
  }
}

void Guard::SweepLinks() {
  for (const Link& link : links_) {
    char buffer[PATH_MAX];
    const ssize_t size = readlink(link.path.c_str(), buffer, sizeof(buffer));
    if (size >= 0 &&
        std::string_view(buffer, static_cast<size_t>(size)) == link.target)
      continue;
    struct stat info = {};
    if (StatPath(link.path, &info))
      Quarantine(link.path, "protected-path", "a protected link was replaced");
    else
      Report("protected-path", link.path + ": a protected link was removed");
    const Fd parent = OpenPath(std::string(DirName(link.path)));
    if (!parent || symlinkat(link.target.c_str(), parent.get(),
                             std::string(BaseName(link.path)).c_str()) != 0)
      Report("protected-path", link.path + ": the link could not be restored");
  }
}

void Guard::SweepConfigs() {
  for (const GitConfig& config : configs_) {
    if (!config.readable) continue;  // it was read-only
    if (!config.existed) {
      CleanConfig(config.path);
      continue;
    }
    struct stat info = {};
    if (!StatPath(config.path, &info)) continue;  // removed: runs nothing
    std::string what;
    const Result<std::string> text = ReadRegular(config.path, kMaxGitConfig);
    if (text) {
      if (*text == config.content) continue;
      const std::vector<GitEntry> found = NewProgramEntries(
          config.content, *text,
          [&](const GitEntry& entry) { return LeadsOut(config.path, entry); });
      if (found.empty()) continue;
      what = Keys(found);
    } else {
      what = "no longer a readable file";
    }
    Quarantine(config.path, "git-config", "program-running keys: " + what);
    if (Status restored =
            WriteRegular(config.path, config.content, config.mode);
        !restored)
      Report("git-config", config.path + ": could not be restored: " +
                               restored.error().message);
  }
}

void Guard::CleanConfig(const std::string& path) {
  struct stat info = {};
  if (!StatPath(path, &info)) return;
  const Result<std::string> text = ReadRegular(path, kMaxGitConfig);
  if (!text) {
    Quarantine(path, "git-config", "not a readable file");
    return;
  }
  const auto leads_out = [&](const GitEntry& entry) {
    return LeadsOut(path, entry);
  };
  const std::vector<GitEntry> found = NewProgramEntries("", *text, leads_out);
  if (found.empty()) return;
  Quarantine(path, "git-config", "program-running keys: " + Keys(found));
  if (Status written = WriteRegular(
          path, WithoutProgramEntries(*text, leads_out), info.st_mode & 0777);
      !written)
    Report("git-config", path + ": could not be written without them: " +
                             written.error().message);
}

void Guard::SweepHooks(const std::string& directory, bool all) {
  struct stat info = {};
  if (!StatPath(directory, &info)) return;
  if (!S_ISDIR(info.st_mode)) {
    if (all || Changed(info))
      Quarantine(directory, "git-hook", "not a directory of hooks");
    return;
  }
  std::vector<std::string> found;
  if (const Directory list = OpenDirectory(directory)) {
    while (const dirent* entry = readdir(list.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == ".." || name.ends_with(".sample")) continue;
      const std::string path = Join(directory, name);
      if (StatPath(path, &info) && (all || Changed(info)))
        found.push_back(path);
    }
  }
  for (const std::string& path : found)
    Quarantine(path, "git-hook", "a hook made by the run");
}

void Guard::SweepGitDirectory(const std::string& directory) {
  if (!git_directories_.insert(directory).second) return;
  struct stat info = {};
  // A directory becomes git's by a name and a few entries; what an earlier run
  // put there is older than that. Git itself makes `refs` first of all and
  // seldom something directly in it.
  const std::string refs = Join(directory, "refs");
  const bool fresh = StatPath(refs, &info) &&
                     (MadeSince(refs, start_) || MovedOnTheWay(refs, refs) ||
                      MadeSince(Join(directory, "objects"), start_));
  const std::string hooks = Join(directory, "hooks");
  SweepHooks(hooks, fresh || (StatPath(hooks, &info) && Changed(info)));
  for (const char* name : {"config", "config.worktree"}) {
    const std::string path = Join(directory, name);
    if (StatPath(path, &info) && (fresh || Changed(info))) CleanConfig(path);
  }
  const std::string common = Join(directory, "commondir");
  if (StatPath(common, &info) && Changed(info)) {
    // In a linked worktree this is git's own content; anything else would
    // take configuration and hooks from another place.
    const Result<std::string> text = ReadRegular(common, 4096);
    if (!text || *text != "../..\n")
      Quarantine(common, "git-config", "takes configuration from elsewhere");
  }
}

void Guard::SweepGitFile(const std::string& path) {
  struct stat info = {};
  if (bound_.contains(path) || !StatPath(path, &info) || !Changed(info)) return;
  const Result<std::string> text = ReadRegular(path, 4096);
  if (!text || !text->starts_with("gitdir: ")) return;
  char buffer[PATH_MAX];
  const std::string aim = Normalise(
      std::string_view(*text).substr(8, text->find_first_of("\r\n") - 8),
      std::string(DirName(path)));
  if (realpath(aim.c_str(), buffer) == nullptr) return;
  if (RootOf(buffer) != nullptr) SweepGitDirectory(buffer);
}

void Guard::SweepTree() {
  // Git directories that a known one has gained.
  const std::vector<std::string> known(git_directories_.begin(),
                                       git_directories_.end());
  std::vector<std::string> open;
  for (const std::string& directory : known)
    for (const char* name : {"modules", "worktrees"})
      open.push_back(Join(directory, name));
  for (size_t i = 0; i < open.size(); ++i) {
    if (i >= kMaxModules) {
      outcome_->sweep_complete = false;
      break;
    }
    const Directory list = OpenDirectory(open[i]);
    if (!list) continue;
    while (const dirent* entry = readdir(list.get())) {
      const std::string name = entry->d_name;
      if (entry->d_type != DT_DIR || name == "." || name == "..") continue;
      const std::string below = Join(open[i], name);
      struct stat info = {};
      if (StatPath(Join(below, "HEAD"), &info)) {
        SweepGitDirectory(below);
        open.push_back(Join(below, "modules"));
      } else {
        open.push_back(below);
      }
    }
  }

  if (workspace_.empty()) return;
  for (const std::string& name : names_) {
    const size_t slash = std::min(name.find('/'), name.size());
    Pattern pattern{Lower(std::string_view(name).substr(0, slash)),
                    name.substr(slash)};
    const char letter = pattern.first[0];
    first_letters_.set(static_cast<unsigned char>(letter));
    if (letter >= 'a' && letter <= 'z')
      first_letters_.set(static_cast<unsigned char>(letter - 'a' + 'A'));
    patterns_.push_back(std::move(pattern));
  }
  const timespec deadline = After(kMaxSweepMs);
  std::vector<std::pair<std::string, bool>> queue = {{workspace_, false}};
  for (size_t i = 0; i < queue.size(); ++i) {
    if (i >= kMaxSweepDirectories || Passed(deadline)) {
      outcome_->sweep_complete = false;
      return;
    }
    const std::pair<std::string, bool> at = queue[i];
    const bool base =
        std::find(bases_.begin(), bases_.end(), at.first) != bases_.end();
    SweepDirectory(at.first, at.second, base, &queue);
  }
}

bool Guard::IsKept(const std::string& path) const {
  return std::any_of(kept_.begin(), kept_.end(), [&](const KeptPlace& place) {
    return path == Join(place.base, place.name);
  });
}

bool Guard::HasOlder(const std::string& directory) const {
  const Directory list = OpenDirectory(directory);
  if (!list) return true;
  while (const dirent* entry = readdir(list.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && name != ".git" &&
        !MadeSince(Join(directory, entry->d_name), start_))
      return true;
  }
  return false;
}

void Guard::FindProtected(const std::string& path, const std::string& lower,
                          std::map<std::string, std::string>* found) {
  struct stat info = {};
  const size_t above = path.rfind('/') + 1;
  const auto add = [&](const std::string& one) {
    (*found)[one] = one.substr(above);
  };
  for (const Pattern& pattern : patterns_) {
    if (pattern.first != lower) continue;
    const std::string full = path + pattern.rest;
    if (bound_.contains(full) || IsKept(full)) continue;
    if (!StatPath(full, &info)) {
      // A link instead of a directory on the way.
      if (errno == ELOOP && StatPath(path, &info) && S_ISLNK(info.st_mode) &&
          Changed(info) && !bound_.contains(path))
        add(path);
      continue;
    }
    // A directory on the way, or the last one, that got its name in this run
    // brings what is older than the run. What of it was here before cannot be
    // told: git's index is the command's to write.
    const bool moved = MovedOnTheWay(path, full);
    if (!S_ISDIR(info.st_mode) || MadeSince(full, start_)) {
      if (moved || Changed(info)) add(full);
      continue;
    }
    // A directory that was there before: only what changed in it.
    const Directory list = OpenDirectory(full);
    if (!list) continue;
    while (const dirent* entry = readdir(list.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      const std::string child = Join(full, name);
      if (StatPath(child, &info) && (moved || Changed(info))) add(child);
    }
  }
}

bool Guard::MovedOnTheWay(const std::string& path,
                          const std::string& full) const {
  // Renaming changes the directory itself and the one it is in; making
  // something in it leaves the latter alone.
  struct stat above = {}, here = {};
  if (!StatPath(std::string(DirName(path)), &above)) return true;
  for (size_t end = path.size();; above = here) {
    if (!StatPath(full.substr(0, end), &here)) return true;
    if (S_ISDIR(here.st_mode) && Changed(here) && Changed(above)) return true;
    if (end == full.size()) return false;
    end = std::min(full.find('/', end + 1), full.size());
  }
}

void Guard::SweepDirectory(const std::string& directory, bool own_repository,
                           bool base,
                           std::vector<std::pair<std::string, bool>>* queue) {
  const Directory list = OpenDirectory(directory);
  if (!list) return;
  struct stat info = {};
  const std::string git = Join(directory, ".git");
  if (!git_directories_.contains(git) && StatPath(git, &info)) {
    if (S_ISDIR(info.st_mode)) {
      // A repository that the run made may hold what it likes, except in the
      // places that were already protected before it was made.
      if (!base && MadeSince(git, start_) && !HasOlder(directory))
        own_repository = true;
      SweepGitDirectory(git);
    } else if (S_ISREG(info.st_mode)) {
      SweepGitFile(git);
      // So may a submodule that the run brought. A linked worktree is another
      // place of a repository that was there.
      if (!base && MadeSince(git, start_) && !HasOlder(directory)) {
        const Result<std::string> text = ReadRegular(git, 4096);
        own_repository |= text && text->find("/modules/") != std::string::npos;
      }
    } else if (Changed(info) && !bound_.contains(git)) {
      Quarantine(git, "git-config", "a link to a git directory");
    }
  }
  bool head = false, objects = false, refs = false, hooks = false;
  std::map<std::string, std::string> found;
  std::vector<std::string> below;
  while (const dirent* entry = readdir(list.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || name == ".git") continue;
    head |= name == "HEAD";
    objects |= name == "objects";
    refs |= name == "refs";
    hooks |= name == "hooks";
    const std::string path = Join(directory, entry->d_name);
    if (!own_repository && first_letters_[static_cast<unsigned char>(name[0])])
      FindProtected(path, Lower(name), &found);
    if (entry->d_type == DT_DIR ||
        (entry->d_type == DT_UNKNOWN && StatPath(path, &info) &&
         S_ISDIR(info.st_mode)))
      below.push_back(path);
  }
  if (head && objects && refs) {
    SweepGitDirectory(directory);
    return;
  }
  // What lacks little to be a git directory (see there).
  if (refs && hooks) SweepHookNames(Join(directory, "hooks"));
  if (const std::string config = Join(directory, "config");
      refs && (hooks || objects) && StatPath(config, &info) && Changed(info))
    CleanConfig(config);
  for (const auto& [path, relative] : found)
    TakeNamed(path, relative, "created or changed by the run");
  for (std::string& path : below)
    queue->push_back({std::move(path), own_repository});
}

}  // namespace gate::backends
