#include "preview/place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "base/text.h"
#include "preview/tree.h"

namespace gate::backends {
namespace {

constexpr unsigned kNoReplace = 1, kExchange = 2;
constexpr size_t kStageBudget = 4 * kMaxPreviewEntries;
// A commit has one thing at a time in its staging directory, and what it could
// not put back. Where there is more somebody else put it there.
constexpr size_t kMostStaged = 256;
constexpr int kLeftNames = 100;
constexpr char kMeanwhile[] = "changed meanwhile";

bool Rename(int from, const std::string& name, int to,
            const std::string& new_name, unsigned flags) {
  return syscall(SYS_renameat2, from, name.c_str(), to, new_name.c_str(),
                 flags) == 0;
}

std::string ByDescriptor(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

// Gives what `fd` stands for a name where nothing is.
bool GiveName(int fd, int directory, const std::string& name) {
  return linkat(AT_FDCWD, ByDescriptor(fd).c_str(), directory, name.c_str(),
                AT_SYMLINK_FOLLOW) == 0;
}

bool IsAt(const struct stat& file, int directory, const std::string& name) {
  struct stat info = {};
  return StatBelow(directory, name, &info) && info.st_dev == file.st_dev &&
         info.st_ino == file.st_ino;
}

bool Finds(int directory, const std::string& name, const LowerState& want) {
  struct stat info = {};
  return StatBelow(directory, name, &info) && SameFile(want, StateOf(info));
}

// What `target` replaces, held so that it can be put back. None, with `why`,
// when something else is there.
Fd HoldOld(const Target& target, std::string* why) {
  Fd old = OpenBelow(target.parent, target.name, O_PATH | O_NOFOLLOW);
  struct stat info = {};
  if (!old || fstat(old.get(), &info) != 0) {
    *why = ErrnoText();
    return Fd();
  }
  if (SameFile(target.entry->lower, StateOf(info))) return old;
  *why = kMeanwhile;
  return Fd();
}

// Tells from now on whether the file was opened for writing; a file nobody
// writes to. Where there are no leases: false.
bool Watch(int file) {
  // Without an owner nobody gets a signal, which would end the process.
  return fcntl(file, F_SETLEASE, F_RDLCK) == 0 && fcntl(file, F_SETOWN, 0) == 0;
}

// Whether the content is still what was shown. `watched`: since it was written.
bool IsAsShown(const Target& target, int file, bool watched) {
  if (watched) return fcntl(file, F_GETLEASE) == F_RDLCK;
  if (lseek(file, 0, SEEK_SET) != 0) return false;
  const auto hash = HashContent(file);
  return hash && *hash == target.entry->sha256;
}

// After an exchange, or a removal, of which something was not as it should be.
// Whoever did that may go on, so a name in the staging directory says nothing;
// what comes back is what `old` stands for.
std::string PutBack(const Target& target, const Fd& old) {
  Place& place = *target.place;
  const LowerState& lower = target.entry->lower;
  const int stage = place.stage.get();
  if (Finds(stage, target.temporary, lower) &&
      (Rename(stage, target.temporary, target.parent, target.name, kExchange) ||
       Rename(stage, target.temporary, target.parent, target.name,
              kNoReplace)) &&
      Finds(target.parent, target.name, lower)) {
    unlinkat(stage, target.temporary.c_str(), 0);
    return kMeanwhile;
  }
  const std::string aside = target.temporary + ".aside";
  const bool moved =
      Rename(target.parent, target.name, stage, aside, kNoReplace) ||
      errno == ENOENT;
  struct stat info = {};
  if (moved && fstat(old.get(), &info) == 0 &&
      GiveName(old.get(), target.parent, target.name)) {
    if (IsAt(info, stage, target.temporary))
      unlinkat(stage, target.temporary.c_str(), 0);
    else
      place.keep_stage = true;
    return kMeanwhile;
  }
  place.keep_stage = true;
  return std::string(kMeanwhile) +
         ", and could not be put back (it is in .gate-left): " + ErrnoText();
}

std::string SetMode(int handle, const PreviewEntry& entry) {
  const mode_t mode = entry.mode & CommittedBits(entry.type);
  struct stat info = {};
  if (chmod(ByDescriptor(handle).c_str(), mode) != 0 ||
      fstat(handle, &info) != 0)
    return ErrnoText();
  // The kernel drops set-group-id for a group that is not the user's.
  return (info.st_mode & 07777) == mode ? "" : "not all of it was taken";
}

// A link, and its owner where that can be set.
std::string MakeLink(const PreviewEntry& entry, int directory,
                     const std::string& name, struct stat* made) {
  if (symlinkat(entry.target.c_str(), directory, name.c_str()) != 0)
    return ErrnoText();
  const Fd link = OpenBelow(directory, name, O_PATH | O_NOFOLLOW);
  if (!link || fstat(link.get(), made) != 0) return ErrnoText();
  // Something else by now, which is not ours to give away.
  if (!S_ISLNK(made->st_mode) || made->st_nlink != 1) return kMeanwhile;
  if (geteuid() == 0 && fchownat(link.get(), "", entry.uid, entry.gid,
                                 AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0)
    return ErrnoText();
  return "";
}

// Exchanges what `made` tells of, at the temporary name, with what is there,
// and asks `right` whether all is well.
std::string Exchange(const Target& target, const struct stat& made,
                     const Fd& old, const std::function<bool()>& right) {
  const int stage = target.place->stage.get();
  if (*target.exchanging) (*target.exchanging)();
  if (!Rename(stage, target.temporary, target.parent, target.name, kExchange)) {
    const std::string why = ErrnoText();
    unlinkat(stage, target.temporary.c_str(), 0);
    return why;
  }
  if (!IsAt(made, target.parent, target.name) || !right() ||
      !Finds(stage, target.temporary, target.entry->lower))
    return PutBack(target, old);
  unlinkat(stage, target.temporary.c_str(), 0);
  return "";
}

// Gives the staging directory a name that no commit clears away, and answers
// it; the old one when there is none to be had.
std::string MoveStageAside(const Place& place) {
  const std::string left =
      ".gate-left" + place.stage_name.substr(sizeof(".gate-commit") - 1);
  for (int i = 0; i < kLeftNames; ++i) {
    const std::string name = i == 0 ? left : left + "." + std::to_string(i);
    if (Rename(place.root.get(), place.stage_name, place.root.get(), name,
               kNoReplace))
      return name;
    if (errno != EEXIST) break;
  }
  return place.stage_name;
}

// The entry that `name` in the staging directory belongs to.
const PreviewEntry* StagedEntry(const Place& place,
                                const PreviewManifest& manifest,
                                const std::string& name) {
  uint64_t number = 0;
  const char* end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || at != end || number == 0 ||
      number > manifest.entries.size())
    return nullptr;
  const PreviewEntry& entry = manifest.entries[number - 1];
  return manifest.roots[entry.root].root == place.path ? &entry : nullptr;
}

// Whether it is what the commit of `entry` had there: what it replaces, as the
// manifest knows it, or what it brings.
bool IsOfCommit(int stage, const std::string& name, const PreviewEntry& entry) {
  struct stat info = {};
  if (!StatBelow(stage, name, &info)) return false;
  const LowerState now = StateOf(info);
  if (now.type == PreviewType::kDirectory) return false;
  if (SameFile(entry.lower, now)) return true;
  if (entry.change != PreviewChange::kModified || now.type != entry.type)
    return false;
  if (now.type == PreviewType::kLink) {
    const auto text = ReadLinkBelow(stage, name);
    return text && *text == entry.target;
  }
  if (now.size != entry.size) return false;
  const Fd file = OpenFileBelow(stage, name, false);
  const auto hash = file ? HashContent(file.get()) : Result<std::string>("");
  return hash && *hash == entry.sha256;
}

std::string WhatWasShown(const PreviewEntry& entry, const char* what) {
  return "the preview's content of " + Visible(entry.path) + what;
}

}  // namespace

bool SameFile(const LowerState& want, const LowerState& now) {
  return want.exists == now.exists &&
         (!want.exists ||
          (want.type == now.type && want.inode == now.inode &&
           want.device == now.device && want.mode == now.mode &&
           (want.type == PreviewType::kDirectory ||
            (want.size == now.size && want.mtime_ns == now.mtime_ns))));
}

std::string ErrnoText() { return FailErrno("").error().message.substr(2); }

Status MakeStage(Place* place) {
  if (place->stage) return {};
  if (mkdirat(place->root.get(), place->stage_name.c_str(), 0700) != 0)
    return FailErrno("cannot make " + place->stage_name);
  place->stage = OpenBelow(place->root.get(), place->stage_name,
                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!place->stage) return FailErrno("cannot open " + place->stage_name);
  return {};
}

void EndStage(Place* place, const Kept& kept) {
  if (!place->stage) return;
  if (place->keep_stage) {
    const std::string name = MoveStageAside(*place);
    if (kept) kept(place->path + "/" + name, "");
    return;
  }
  size_t budget = kStageBudget;
  RemoveTree(place->root.get(), place->stage_name, &budget);
}

std::string StagedName(size_t index) { return std::to_string(index + 1); }

Status ClearStage(const Place& place, const PreviewManifest& manifest,
                  const Kept& kept) {
  struct stat info = {};
  if (!StatBelow(place.root.get(), place.stage_name, &info))
    return errno == ENOENT
               ? Status()
               : FailErrno("cannot look at " + Visible(place.stage_name));
  std::vector<std::pair<std::string, std::string>> others;
  const Fd stage = OpenBelow(place.root.get(), place.stage_name,
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const auto names =
      stage
          ? ListBelow(stage.get(), "", false)
          : Result<std::vector<std::string>>(Fail(ErrorCode::kIo, ErrnoText()));
  if (names && names->size() <= kMostStaged) {
    for (const std::string& name : *names) {
      const PreviewEntry* entry = StagedEntry(place, manifest, name);
      if (entry != nullptr && IsOfCommit(stage.get(), name, *entry))
        unlinkat(stage.get(), name.c_str(), 0);
      else
        others.emplace_back(
            "/" + name, entry == nullptr ? "" : place.path + "/" + entry->path);
    }
  } else {
    others.emplace_back("", "");
  }
  if (others.empty()) {
    if (unlinkat(place.root.get(), place.stage_name.c_str(), AT_REMOVEDIR) == 0)
      return {};
    others.emplace_back("", "");
  }
  const std::string aside = MoveStageAside(place);
  for (const auto& [name, of] : others)
    if (kept) kept(place.path + "/" + aside + name, of);
  if (aside == place.stage_name)
    return Fail(ErrorCode::kIo, "cannot move " + Visible(place.stage_name) +
                                    " of an earlier commit aside");
  return {};
}

Status CheckContent(const Place& place, const PreviewEntry& entry) {
  const Fd from = OpenFileBelow(place.upper.get(), entry.path, true);
  if (!from) return Fail(ErrorCode::kCorrupt, WhatWasShown(entry, " is gone"));
  GATE_TRY(const std::string hash, HashContent(from.get()));
  if (hash != entry.sha256)
    return Fail(ErrorCode::kCorrupt,
                WhatWasShown(entry, " is not what was shown"));
  return {};
}

Result<Fd> CopyUnnamed(const Place& place, const PreviewEntry& entry) {
  const Fd from = OpenFileBelow(place.upper.get(), entry.path, true);
  if (!from) return Fail(ErrorCode::kCorrupt, WhatWasShown(entry, " is gone"));
  const std::string cannot = "cannot prepare " + Visible(entry.path);
  Fd to(openat(place.root.get(), ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  if (!to) return FailErrno(cannot + " in a file without a name");
  const auto hash = HashContent(from.get(), to.get());
  if (!hash)
    return Fail(hash.error().code, cannot + ": " + hash.error().message);
  if (*hash != entry.sha256)
    return Fail(ErrorCode::kCorrupt,
                WhatWasShown(entry, " is not what was shown"));
  // Nobody writes to it from here on.
  Fd file(open(ByDescriptor(to.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return FailErrno(cannot);
  to.reset();
  // While it has this user's owner, which a lease asks for.
  if (entry.change == PreviewChange::kModified) Watch(file.get());
  const timespec times[2] = {
      {0, UTIME_NOW},
      {entry.mtime_ns / 1000000000, entry.mtime_ns % 1000000000}};
  if ((geteuid() == 0 && fchown(file.get(), entry.uid, entry.gid) != 0) ||
      fchmod(file.get(), entry.mode & CommittedBits(entry.type)) != 0 ||
      futimens(file.get(), times) != 0)
    return FailErrno(cannot);
  return file;
}

std::string PutFile(const Target& target, int content) {
  // Its first name: until now there was no way to it.
  if (target.entry->change == PreviewChange::kAdded)
    return GiveName(content, target.parent, target.name) ? "" : ErrnoText();
  std::string why;
  const Fd old = HoldOld(target, &why);
  if (!old) return why;
  const bool watched = fcntl(content, F_GETLEASE) == F_RDLCK;
  struct stat made = {};
  if (fstat(content, &made) != 0 ||
      !GiveName(content, target.place->stage.get(), target.temporary))
    return ErrnoText();
  return Exchange(target, made, old, [&] {
    struct stat now = {};
    return fstat(content, &now) == 0 && now.st_nlink == 1 &&
           SameFile(StateOf(made), StateOf(now)) &&
           IsAsShown(target, content, watched);
  });
}

std::string PutLink(const Target& target) {
  struct stat made = {};
  if (target.entry->change == PreviewChange::kAdded)
    return MakeLink(*target.entry, target.parent, target.name, &made);
  std::string why;
  const Fd old = HoldOld(target, &why);
  if (!old) return why;
  why = MakeLink(*target.entry, target.place->stage.get(), target.temporary,
                 &made);
  if (!why.empty()) return why;
  return Exchange(target, made, old, [&] {
    const auto text = ReadLinkBelow(target.parent, target.name);
    return text && *text == target.entry->target;
  });
}

std::string PutDirectory(const Target& target) {
  if (mkdirat(target.parent, target.name.c_str(), 0700) == 0) return "";
  struct stat info = {};
  const int error = errno;
  if (error == EEXIST && StatBelow(target.parent, target.name, &info) &&
      S_ISDIR(info.st_mode))
    return "";
  errno = error;
  return ErrnoText();
}

std::string Remove(const Target& target) {
  if (target.entry->type == PreviewType::kDirectory)
    return unlinkat(target.parent, target.name.c_str(), AT_REMOVEDIR) == 0
               ? ""
               : ErrnoText();
  std::string why;
  const Fd old = HoldOld(target, &why);
  if (!old) return why;
  const int stage = target.place->stage.get();
  if (!Rename(target.parent, target.name, stage, target.temporary, kNoReplace))
    return ErrnoText();
  if (*target.exchanging) (*target.exchanging)();
  if (!Finds(stage, target.temporary, target.entry->lower))
    return PutBack(target, old);
  unlinkat(stage, target.temporary.c_str(), 0);
  return "";
}

std::string ChangeMode(const Target& target) {
  std::string why;
  const Fd old = HoldOld(target, &why);
  return old ? SetMode(old.get(), *target.entry) : why;
}

std::string FinishDirectory(const Place& place, const PreviewEntry& entry) {
  const Fd handle = OpenBelow(place.root.get(), entry.path,
                              O_PATH | O_NOFOLLOW | O_DIRECTORY);
  if (!handle) return "";
  if (geteuid() == 0 &&
      chown(ByDescriptor(handle.get()).c_str(), entry.uid, entry.gid) != 0)
    return "its owner could not be set: " + ErrnoText();
  const std::string why = SetMode(handle.get(), entry);
  return why.empty() ? "" : "its mode could not be set: " + why;
}

}  // namespace gate::backends
