// Applying a manifest to the real roots.
//
//   1. the roots are the directories that they were, and every chosen entry
//      finds what the manifest says it replaces (or its own result already,
//      when an earlier commit was killed);
//   2. content is copied into a staging directory inside the root and hashed on
//      the way; up to here nothing has changed;
//   3. what stands where a directory or a file of another type will be goes,
//      then new directories, files and links, then modes, then deletions, the
//      deepest first.
//
// A file is exchanged with its staged successor in one system call, and looked
// at afterwards: when it was not what the manifest says it is exchanged back. A
// deletion moves the file into the staging directory first, likewise.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <set>

#include "backends/preview.h"
#include "backends/preview_protect.h"
#include "backends/preview_repository.h"
#include "backends/preview_tree.h"
#include "base/hash.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate::backends {
namespace {

constexpr unsigned kNoReplace = 1, kExchange = 2;
constexpr char kStagePrefix[] = ".gate-commit-";
constexpr size_t kMaxSingleSyncs = 64;
constexpr size_t kStageBudget = 4 * kMaxPreviewEntries;

struct Place {
  Fd root, upper, stage;
  std::string stage_name;
};

struct Item {
  const PreviewEntry* entry = nullptr;
  bool done = false;   // by an earlier commit
  std::string staged;  // name in the staging directory
};

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string NameOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool Rename(int from, const std::string& name, int to,
            const std::string& new_name, unsigned flags) {
  return syscall(SYS_renameat2, from, name.c_str(), to, new_name.c_str(),
                 flags) == 0;
}

// Without the change time, which a rename changes.
bool SameFile(const LowerState& want, const LowerState& now) {
  return want.exists == now.exists &&
         (!want.exists ||
          (want.type == now.type && want.inode == now.inode &&
           want.device == now.device && want.mode == now.mode &&
           (want.type == PreviewType::kDirectory ||
            (want.size == now.size && want.mtime_ns == now.mtime_ns))));
}

bool Unchanged(const LowerState& want, const LowerState& now) {
  return SameFile(want, now) && (want.type == PreviewType::kDirectory ||
                                 want.ctime_ns == now.ctime_ns);
}

class Committer {
 public:
  Committer(const Profile& profile, const PreviewManifest& manifest,
            const CommitRequest& request)
      : profile_(profile),
        guard_(Guard::RecordPlaces(profile)),
        manifest_(manifest),
        request_(request) {}
  ~Committer() {
    for (Place& place : places_) {
      if (!place.stage) continue;
      size_t budget = kStageBudget;
      RemoveTree(place.root.get(), place.stage_name, &budget);
    }
  }
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  Result<CommitResult> Run() {
    if (!manifest_.too_large.empty())
      return Fail(ErrorCode::kTooLarge,
                  "the preview is not whole: " + manifest_.too_large);
    GATE_CHECK(OpenPlaces());
    Choose();
    GATE_CHECK(CheckAll());
    GATE_CHECK(StageAll());
    if (request_.before_first_change)
      GATE_CHECK(request_.before_first_change());
    Apply();
    Sync();
    return std::move(result_);
  }

 private:
  Status OpenPlaces() {
    for (const PreviewRoot& root : manifest_.roots) {
      Place place;
      if (root.keep) {
        place.root = Fd(open(root.root.c_str(),
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        struct stat info = {};
        if (!place.root || fstat(place.root.get(), &info) != 0 ||
            info.st_dev != root.device || info.st_ino != root.inode)
          return Fail(
              ErrorCode::kInvalid,
              Visible(root.root) + " is not the directory that was previewed");
        place.upper = Fd(open((root.place + "/upper").c_str(),
                              O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!place.upper) return FailErrno("the preview's content is gone");
        place.stage_name = kStagePrefix + request_.tag;
        // Of a commit that was killed.
        size_t budget = kStageBudget;
        if (!RemoveTree(place.root.get(), place.stage_name, &budget))
          return Fail(ErrorCode::kIo, "cannot remove " + place.stage_name +
                                          " of an earlier commit");
      }
      places_.push_back(std::move(place));
    }
    return {};
  }

  std::string Full(const PreviewEntry& entry) const {
    return manifest_.roots[entry.root].root + "/" + entry.path;
  }

  void Leave(const PreviewEntry& entry, const std::string& why) {
    result_.left.emplace_back(Full(entry), why);
  }

  void Choose() {
    const auto chosen = [&](const PreviewEntry& entry) {
      if (request_.paths.empty()) return true;
      const std::string full = Full(entry);
      return std::any_of(
          request_.paths.begin(), request_.paths.end(),
          [&](const std::string& path) { return IsWithin(full, path); });
    };
    // New directories above what is chosen come with it.
    std::set<std::pair<size_t, std::string>> needed;
    for (const PreviewEntry& entry : manifest_.entries)
      if (entry.change != PreviewChange::kDeleted && chosen(entry))
        for (std::string at = ParentOf(entry.path); !at.empty();
             at = ParentOf(at))
          needed.insert({entry.root, at});
    for (const PreviewEntry& entry : manifest_.entries) {
      if (!manifest_.roots[entry.root].keep) continue;
      const bool parent = entry.change == PreviewChange::kAdded &&
                          entry.type == PreviewType::kDirectory &&
                          needed.contains({entry.root, entry.path});
      if (!parent && !chosen(entry)) continue;
      std::string why = entry.refused;
      const std::string& root = manifest_.roots[entry.root].root;
      const auto content = [&](bool after) { return Content(entry, after); };
      if (why.empty()) why = RefusedName(profile_, root, entry, content);
      if (why.empty()) why = RefusedPlace(guard_, root, entry, content);
      if (!why.empty())
        Leave(entry, why);
      else
        items_.push_back({&entry, false, ""});
    }
    LeaveForRepositories();
  }

  // Once more, by what is there now and by what of the preview is chosen.
  void LeaveForRepositories() {
    const auto content = [&](const PreviewEntry& entry, bool after) {
      return Content(entry, after);
    };
    for (size_t i = 0; i < places_.size(); ++i) {
      if (!places_[i].root) continue;
      std::vector<const PreviewEntry*> entries;
      for (const Item& item : items_)
        if (item.entry->root == i) entries.push_back(item.entry);
      const auto refused = RefusedForRepositories(
          places_[i].root.get(), manifest_.roots[i].root, entries, content);
      std::erase_if(items_, [&](const Item& item) {
        const auto at = refused.find(item.entry);
        if (at != refused.end()) Leave(*item.entry, at->second);
        return at != refused.end();
      });
    }
  }

  std::string Content(const PreviewEntry& entry, bool after) const {
    const Place& place = places_[entry.root];
    const Fd file = OpenFileBelow(after ? place.upper.get() : place.root.get(),
                                  entry.path, after);
    auto text = file ? ReadAll(file.get(), kMaxGitConfig)
                     : Result<std::string>(std::string());
    return text ? *text : "";
  }

  LowerState Now(const PreviewEntry& entry) const {
    struct stat info = {};
    if (!StatBelow(places_[entry.root].root.get(), entry.path, &info))
      return LowerState();
    return StateOf(info);
  }

  // Whether the real path is what the entry asks for already.
  bool IsResult(const PreviewEntry& entry, const LowerState& now) const {
    if (entry.change == PreviewChange::kDeleted) return !now.exists;
    if (!now.exists || now.type != entry.type) return false;
    if (entry.type == PreviewType::kDirectory)
      return entry.change == PreviewChange::kAdded ||
             (now.mode & 01777) == (entry.mode & 01777);
    if (entry.type == PreviewType::kLink) {
      const auto target =
          ReadLinkBelow(places_[entry.root].root.get(), entry.path);
      return target && *target == entry.target;
    }
    if (now.size != entry.size || (now.mode & 0777) != (entry.mode & 0777))
      return false;
    const Fd file =
        OpenFileBelow(places_[entry.root].root.get(), entry.path, false);
    const auto hash = file ? HashContent(file.get()) : Result<std::string>("");
    return hash && *hash == entry.sha256;
  }

  Status CheckAll() {
    // Where the type changes, a path has its deletion first.
    std::set<std::pair<size_t, std::string>> going;
    std::string conflicts;
    size_t count = 0;
    for (Item& item : items_) {
      const PreviewEntry& entry = *item.entry;
      const LowerState now = Now(entry);
      const bool goes = going.contains({entry.root, entry.path});
      if (goes && entry.change == PreviewChange::kAdded) continue;
      if (Unchanged(entry.lower, now)) {
        if (entry.change == PreviewChange::kDeleted && now.exists)
          going.insert({entry.root, entry.path});
        const bool hashed = entry.change != PreviewChange::kDeleted &&
                            entry.lower.exists &&
                            entry.lower.type == PreviewType::kFile &&
                            !entry.lower.sha256.empty();
        if (!hashed) continue;
        const Fd file =
            OpenFileBelow(places_[entry.root].root.get(), entry.path, false);
        const auto hash =
            file ? HashContent(file.get()) : Result<std::string>("");
        if (hash && *hash == entry.lower.sha256) continue;
      } else if (IsResult(entry, now)) {
        item.done = true;
        continue;
      } else if (entry.change == PreviewChange::kDeleted && now.exists &&
                 now.type != entry.type) {
        // A commit that was killed has put the new type there.
        if (HasSuccessor(entry)) {
          item.done = true;
          continue;
        }
      }
      if (++count <= 10)
        conflicts += (count > 1 ? ", " : "") + Visible(Full(entry));
    }
    if (count > 0)
      return Fail(ErrorCode::kInvalid,
                  "changed since the preview was made, so nothing was "
                  "committed: " +
                      conflicts + (count > 10 ? ", …" : ""));
    return {};
  }

  bool HasSuccessor(const PreviewEntry& entry) const {
    return std::any_of(items_.begin(), items_.end(), [&](const Item& other) {
      return other.entry->root == entry.root &&
             other.entry->path == entry.path &&
             other.entry->change == PreviewChange::kAdded &&
             IsResult(*other.entry, Now(*other.entry));
    });
  }

  Status MakeStage(Place* place) {
    if (place->stage) return {};
    if (mkdirat(place->root.get(), place->stage_name.c_str(), 0700) != 0)
      return FailErrno("cannot make " + place->stage_name);
    place->stage = OpenBelow(place->root.get(), place->stage_name,
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!place->stage) return FailErrno("cannot open " + place->stage_name);
    return {};
  }

  Status StageAll() {
    size_t number = 0, files = 0;
    for (Item& item : items_) {
      if (item.done) continue;
      const PreviewEntry& entry = *item.entry;
      Place& place = places_[entry.root];
      GATE_CHECK(MakeStage(&place));
      item.staged = std::to_string(++number);
      if (entry.change != PreviewChange::kAdded &&
          entry.change != PreviewChange::kModified)
        continue;
      if (entry.type == PreviewType::kLink) {
        if (symlinkat(entry.target.c_str(), place.stage.get(),
                      item.staged.c_str()) != 0)
          return FailErrno("cannot prepare " + Visible(Full(entry)));
        if (geteuid() == 0 &&
            fchownat(place.stage.get(), item.staged.c_str(), entry.uid,
                     entry.gid, AT_SYMLINK_NOFOLLOW) != 0)
          return FailErrno("cannot prepare " + Visible(Full(entry)));
      } else if (entry.type == PreviewType::kFile) {
        ++files;
        GATE_CHECK(StageFile(place, entry, item.staged));
      }
    }
    for (Place& place : places_) {
      if (!place.stage) continue;
      if (files > kMaxSingleSyncs && syncfs(place.stage.get()) != 0)
        return FailErrno("cannot sync the staged files");
      if (files > kMaxSingleSyncs) continue;
      for (const Item& item : items_) {
        if (item.staged.empty() || &places_[item.entry->root] != &place)
          continue;
        const Fd file = OpenBelow(place.stage.get(), item.staged,
                                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
        if (file && fsync(file.get()) != 0)
          return FailErrno("cannot sync " + Visible(Full(*item.entry)));
      }
    }
    return {};
  }

  Status StageFile(const Place& place, const PreviewEntry& entry,
                   const std::string& name) {
    const Fd from = OpenFileBelow(place.upper.get(), entry.path, true);
    if (!from)
      return Fail(ErrorCode::kCorrupt, "the preview's content of " +
                                           Visible(Full(entry)) +
                                           " is gone; nothing was committed");
    const Fd to(openat(place.stage.get(), name.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       0600));
    if (!to) return FailErrno("cannot prepare " + Visible(Full(entry)));
    const auto hash = HashContent(from.get(), to.get());
    if (!hash) {
      return Fail(hash.error().code, "cannot prepare " + Visible(Full(entry)) +
                                         ": " + hash.error().message);
    }
    if (*hash != entry.sha256)
      return Fail(ErrorCode::kCorrupt,
                  "the preview's content of " + Visible(Full(entry)) +
                      " is not what was shown; nothing was committed");
    const timespec times[2] = {
        {0, UTIME_NOW},
        {entry.mtime_ns / 1000000000, entry.mtime_ns % 1000000000}};
    if ((geteuid() == 0 && fchown(to.get(), entry.uid, entry.gid) != 0) ||
        fchmod(to.get(), entry.mode & 0777) != 0 ||
        futimens(to.get(), times) != 0)
      return FailErrno("cannot prepare " + Visible(Full(entry)));
    return {};
  }

  void Apply() {
    std::vector<const Item*> first, make, modes, last, directories;
    std::set<std::pair<size_t, std::string>> replaced;
    for (const Item& item : items_) {
      const PreviewEntry& entry = *item.entry;
      if (entry.change == PreviewChange::kAdded &&
          entry.type == PreviewType::kDirectory)
        directories.push_back(&item);
      if (item.done) {
        ++result_.committed;
        continue;
      }
      if (entry.change == PreviewChange::kMode)
        modes.push_back(&item);
      else if (entry.change != PreviewChange::kDeleted)
        make.push_back(&item);
      if (entry.change == PreviewChange::kAdded)
        replaced.insert({entry.root, entry.path});
    }
    for (const Item& item : items_) {
      const PreviewEntry& entry = *item.entry;
      if (item.done || entry.change != PreviewChange::kDeleted) continue;
      bool in_the_way = false;
      for (std::string at = entry.path; !at.empty(); at = ParentOf(at))
        in_the_way |= replaced.contains({entry.root, at});
      // Below a directory that stays one nothing is in the way but the entry.
      (in_the_way && InTheWay(entry, replaced) ? first : last).push_back(&item);
    }
    for (auto at = first.rbegin(); at != first.rend(); ++at) Do(**at);
    for (const Item* item : make) Do(*item);
    for (auto at = last.rbegin(); at != last.rend(); ++at) Do(**at);
    // New directories get their modes when they are full.
    for (auto at = directories.rbegin(); at != directories.rend(); ++at)
      FinishDirectory(*(*at)->entry);
    for (auto at = modes.rbegin(); at != modes.rend(); ++at) Do(**at);
  }

  // A path at or above the entry that is deleted and made again.
  bool InTheWay(
      const PreviewEntry& entry,
      const std::set<std::pair<size_t, std::string>>& replaced) const {
    if (deleted_.empty())
      for (const Item& item : items_)
        if (item.entry->change == PreviewChange::kDeleted)
          deleted_.insert({item.entry->root, item.entry->path});
    for (std::string at = entry.path; !at.empty(); at = ParentOf(at))
      if (replaced.contains({entry.root, at}) &&
          deleted_.contains({entry.root, at}))
        return true;
    return false;
  }

  void Do(const Item& item) {
    const PreviewEntry& entry = *item.entry;
    const Place& place = places_[entry.root];
    const Fd parent = OpenBelow(place.root.get(), ParentOf(entry.path),
                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!parent) {
      Leave(entry,
            std::string("its directory cannot be opened: ") + ErrnoText());
      return;
    }
    const std::string why = DoIn(item, entry, place, parent.get());
    if (!why.empty()) {
      Leave(entry, why);
      return;
    }
    ++result_.committed;
    touched_.insert({entry.root, ParentOf(entry.path)});
  }

  static std::string ErrnoText() {
    return FailErrno("").error().message.substr(2);
  }

  std::string DoIn(const Item& item, const PreviewEntry& entry,
                   const Place& place, int parent) {
    const std::string name = NameOf(entry.path);
    if (entry.change == PreviewChange::kMode)
      return ChangeMode(entry, parent, name);
    if (entry.change == PreviewChange::kDeleted) {
      if (entry.type == PreviewType::kDirectory)
        return unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 ? ""
                                                                 : ErrnoText();
      return Remove(item, entry, place, parent, name);
    }
    if (entry.type == PreviewType::kDirectory) {
      if (mkdirat(parent, name.c_str(), 0700) == 0) return "";
      struct stat info = {};
      const int error = errno;
      if (error == EEXIST && StatBelow(parent, name, &info) &&
          S_ISDIR(info.st_mode))
        return "";
      errno = error;
      return ErrnoText();
    }
    if (entry.change == PreviewChange::kAdded)
      return Rename(place.stage.get(), item.staged, parent, name, kNoReplace)
                 ? ""
                 : ErrnoText();
    if (!Rename(place.stage.get(), item.staged, parent, name, kExchange))
      return ErrnoText();
    if (StagedIs(place, item.staged, entry.lower)) {
      unlinkat(place.stage.get(), item.staged.c_str(), 0);
      return "";
    }
    if (!Rename(place.stage.get(), item.staged, parent, name, kExchange))
      return "changed meanwhile, and could not be put back: " + ErrnoText();
    return "changed meanwhile";
  }

  std::string Remove(const Item& item, const PreviewEntry& entry,
                     const Place& place, int parent, const std::string& name) {
    if (!Rename(parent, name, place.stage.get(), item.staged, kNoReplace))
      return ErrnoText();
    if (StagedIs(place, item.staged, entry.lower)) {
      unlinkat(place.stage.get(), item.staged.c_str(), 0);
      return "";
    }
    if (!Rename(place.stage.get(), item.staged, parent, name, kNoReplace)) {
      KeepStage(entry.root);
      return "changed meanwhile, and is now in the staging directory: " +
             ErrnoText();
    }
    return "changed meanwhile";
  }

  // What could not be put back must not go with the staging directory.
  void KeepStage(size_t root) { places_[root].stage.reset(); }

  bool StagedIs(const Place& place, const std::string& name,
                const LowerState& want) const {
    struct stat info = {};
    return StatBelow(place.stage.get(), name, &info) &&
           SameFile(want, StateOf(info));
  }

  std::string ChangeMode(const PreviewEntry& entry, int parent,
                         const std::string& name) {
    const Fd handle = OpenBelow(parent, name, O_PATH | O_NOFOLLOW);
    struct stat info = {};
    if (!handle || fstat(handle.get(), &info) != 0) return ErrnoText();
    if (!SameFile(entry.lower, StateOf(info))) return "changed meanwhile";
    return SetMode(handle.get(), entry, info.st_mode);
  }

  static std::string SetMode(int handle, const PreviewEntry& entry,
                             mode_t now) {
    // Set-group-id of a directory is the host's to give.
    const mode_t mode = entry.type == PreviewType::kDirectory
                            ? (entry.mode & 01777) | (now & S_ISGID)
                            : entry.mode & 0777;
    const std::string path = "/proc/self/fd/" + std::to_string(handle);
    return chmod(path.c_str(), mode) == 0 ? "" : ErrnoText();
  }

  void FinishDirectory(const PreviewEntry& entry) {
    const Fd handle = OpenBelow(places_[entry.root].root.get(), entry.path,
                                O_PATH | O_NOFOLLOW | O_DIRECTORY);
    struct stat info = {};
    if (!handle || fstat(handle.get(), &info) != 0) return;
    const std::string path = "/proc/self/fd/" + std::to_string(handle.get());
    if (geteuid() == 0 && chown(path.c_str(), entry.uid, entry.gid) != 0)
      Leave(entry, "its owner could not be set: " + ErrnoText());
    const std::string why = SetMode(handle.get(), entry, info.st_mode);
    if (!why.empty()) Leave(entry, "its mode could not be set: " + why);
  }

  void Sync() {
    for (size_t i = 0; i < places_.size(); ++i) {
      if (!places_[i].root) continue;
      if (touched_.size() > kMaxSingleSyncs) {
        (void)syncfs(places_[i].root.get());
        continue;
      }
      for (const auto& [root, path] : touched_) {
        if (root != i) continue;
        const Fd directory =
            OpenBelow(places_[i].root.get(), path, O_RDONLY | O_DIRECTORY);
        if (directory) (void)fsync(directory.get());
      }
    }
  }

  const Profile& profile_;
  const Guard guard_;  // of now
  const PreviewManifest& manifest_;
  const CommitRequest& request_;
  std::vector<Place> places_;
  std::vector<Item> items_;
  mutable std::set<std::pair<size_t, std::string>> deleted_;
  std::set<std::pair<size_t, std::string>> touched_;
  CommitResult result_;
};

}  // namespace

void RemoveStages(const PreviewManifest& manifest, const std::string& tag) {
  if (tag.empty()) return;
  for (const PreviewRoot& root : manifest.roots) {
    if (!root.keep) continue;
    const Fd fd(open(root.root.c_str(),
                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info = {};
    if (!fd || fstat(fd.get(), &info) != 0 || info.st_dev != root.device ||
        info.st_ino != root.inode)
      continue;
    size_t budget = kStageBudget;
    RemoveTree(fd.get(), kStagePrefix + tag, &budget);
  }
}

Result<CommitResult> CommitPreview(const Profile& profile,
                                   const PreviewManifest& manifest,
                                   const CommitRequest& request) {
  if (request.tag.empty() ||
      request.tag.find_first_not_of("0123456789abcdef-") != std::string::npos)
    return Fail(ErrorCode::kInvalid, "a commit needs a tag");
  return Committer(profile, manifest, request).Run();
}

}  // namespace gate::backends
