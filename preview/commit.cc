// Applying a manifest to the real roots.
//
//   1. the roots are the directories that they were, and every chosen entry
//      finds what the manifest says it replaces (or its own result already,
//      when an earlier commit was killed);
//   2. all content is read and hashed once, the first files of it (all, of a
//      commit that is not large) into files without names (preview_place.h),
//      and room for the rest is taken; up to here nothing has changed;
//   3. what stands where a directory or a file of another type will be goes,
//      then new directories, files and links, then modes, then deletions, the
//      deepest first.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/hash.h"
#include "base/paths.h"
#include "base/text.h"
#include "preview/place.h"
#include "preview/preview.h"
#include "preview/protect.h"
#include "preview/repository.h"
#include "preview/tree.h"

namespace gate::backends {
namespace {

constexpr char kStagePrefix[] = ".gate-commit-";
constexpr size_t kMaxSingleSyncs = 64;

struct Item {
  const PreviewEntry* entry = nullptr;
  bool done = false;  // by an earlier commit
  Fd content;         // of a file, until it is in its place
  size_t number = 0;  // of a file, among those with content
};

// How many files' content is held at a time: each is a descriptor.
size_t FilesAtOnce() {
  constexpr rlim_t kFewest = 16, kMost = 1024;
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kFewest;
  return std::clamp(limit.rlim_cur / 4, kFewest, kMost);
}

bool HasContent(const PreviewEntry& entry) {
  return entry.type == PreviewType::kFile &&
         (entry.change == PreviewChange::kAdded ||
          entry.change == PreviewChange::kModified);
}

// Whether something has a name in the staging directory for a moment.
bool NeedsStage(const PreviewEntry& entry) {
  return entry.type != PreviewType::kDirectory &&
         (entry.change == PreviewChange::kModified ||
          entry.change == PreviewChange::kDeleted);
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
        guard_(ProtectedPaths::SnapshotDirectories(profile)),
        manifest_(manifest),
        request_(request) {}
  ~Committer() {
    for (Place& place : places_) EndStage(&place, request_.kept);
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
    GATE_CHECK(Prepare());
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
        place.path = root.root;
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

  void Committed(const PreviewEntry& entry) {
    ++result_.committed;
    result_.done.push_back(IndexOf(entry));
  }

  size_t IndexOf(const PreviewEntry& entry) const {
    return static_cast<size_t>(&entry - manifest_.entries.data());
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
        items_.push_back({&entry, false, Fd(), 0});
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
    const uint32_t bits = CommittedBits(entry.type);
    const bool same_mode = (now.mode & bits) == (entry.mode & bits);
    if (entry.type == PreviewType::kDirectory)
      return entry.change == PreviewChange::kAdded || same_mode;
    if (entry.type == PreviewType::kLink) {
      const auto target =
          ReadLinkBelow(places_[entry.root].root.get(), entry.path);
      return target && *target == entry.target;
    }
    if (now.size != entry.size || !same_mode) return false;
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

  Status Prepare() {
    std::vector<uint64_t> room(places_.size(), 0);
    for (const Place& place : places_)
      if (place.root) GATE_CHECK(ClearStage(place, manifest_, request_.kept));
    for (Item& item : items_) {
      if (item.done) continue;
      if (NeedsStage(*item.entry))
        GATE_CHECK(MakeStage(&places_[item.entry->root]));
      if (!HasContent(*item.entry)) continue;
      item.number = files_.size();
      files_.push_back(&item);
    }
    GATE_CHECK(Fill());
    for (size_t i = filled_; i < files_.size(); ++i) {
      const PreviewEntry& entry = *files_[i]->entry;
      GATE_CHECK(CheckContent(places_[entry.root], entry));
      room[entry.root] += RoomOf(entry);
    }
    for (size_t i = 0; i < places_.size(); ++i) {
      reserves_.push_back({Fd(), room[i]});
      if (room[i] == 0) continue;
      reserves_[i].file = Fd(openat(places_[i].root.get(), ".",
                                    O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
      // A file system that cannot promise room may run out of it later.
      if (reserves_[i].file &&
          fallocate(reserves_[i].file.get(), 0, 0,
                    static_cast<off_t>(room[i])) != 0 &&
          errno != EOPNOTSUPP)
        return FailErrno("cannot take room for the content");
    }
    return {};
  }

  // What the content takes on the disk; at least a block.
  uint64_t RoomOf(const PreviewEntry& entry) const {
    constexpr uint64_t kBlock = 4096, kStatBlock = 512;
    struct stat info = {};
    const bool found =
        StatBelow(places_[entry.root].upper.get(), entry.path, &info);
    const uint64_t held =
        found ? static_cast<uint64_t>(info.st_blocks) * kStatBlock : entry.size;
    return std::min((entry.size / kBlock + 1) * kBlock, held + kBlock);
  }

  // The content of the next files, on the disk but without names.
  Status Fill() {
    const size_t end = std::min(filled_ + FilesAtOnce(), files_.size());
    const bool single = files_.size() <= kMaxSingleSyncs;
    std::set<size_t> roots;
    for (size_t i = filled_; i < end; ++i) {
      const PreviewEntry& entry = *files_[i]->entry;
      if (entry.root < reserves_.size() && reserves_[entry.root].file) {
        Reserve& reserve = reserves_[entry.root];
        reserve.bytes -= std::min(reserve.bytes, RoomOf(entry));
        if (ftruncate(reserve.file.get(), static_cast<off_t>(reserve.bytes)) !=
            0)
          reserve.file.reset();
      }
      GATE_TRY(files_[i]->content, CopyUnnamed(places_[entry.root], entry));
      if (single && fsync(files_[i]->content.get()) != 0)
        return FailErrno("cannot sync " + Visible(Full(entry)));
      roots.insert(entry.root);
    }
    filled_ = end;
    for (const size_t root : roots)
      if (!single && syncfs(places_[root].root.get()) != 0)
        return FailErrno("cannot sync the content");
    return {};
  }

  void Apply() {
    std::vector<Item*> first, make, modes, last, directories;
    std::set<std::pair<size_t, std::string>> replaced;
    for (Item& item : items_) {
      const PreviewEntry& entry = *item.entry;
      if (entry.change == PreviewChange::kAdded &&
          entry.type == PreviewType::kDirectory)
        directories.push_back(&item);
      if (item.done) {
        Committed(entry);
        continue;
      }
      if (entry.change == PreviewChange::kMode)
        modes.push_back(&item);
      else if (entry.change != PreviewChange::kDeleted)
        make.push_back(&item);
      if (entry.change == PreviewChange::kAdded)
        replaced.insert({entry.root, entry.path});
    }
    for (Item& item : items_) {
      const PreviewEntry& entry = *item.entry;
      if (item.done || entry.change != PreviewChange::kDeleted) continue;
      bool in_the_way = false;
      for (std::string at = entry.path; !at.empty(); at = ParentOf(at))
        in_the_way |= replaced.contains({entry.root, at});
      // Below a directory that stays one nothing is in the way but the entry.
      (in_the_way && InTheWay(entry, replaced) ? first : last).push_back(&item);
    }
    for (auto at = first.rbegin(); at != first.rend(); ++at) Do(**at);
    for (Item* item : make) Do(*item);
    for (auto at = last.rbegin(); at != last.rend(); ++at) Do(**at);
    // New directories get their modes when they are full.
    for (auto at = directories.rbegin(); at != directories.rend(); ++at)
      Finish(*(*at)->entry);
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

  void Finish(const PreviewEntry& entry) {
    const std::string why = FinishDirectory(places_[entry.root], entry);
    if (!why.empty()) Leave(entry, why);
  }

  void Do(Item& item) {
    const PreviewEntry& entry = *item.entry;
    Place& place = places_[entry.root];
    const Fd parent = OpenBelow(place.root.get(), ParentOf(entry.path),
                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!parent) {
      Leave(entry,
            std::string("its directory cannot be opened: ") + ErrnoText());
      item.content.reset();
      return;
    }
    const Target target = {&place,
                           &entry,
                           parent.get(),
                           NameOf(entry.path),
                           StagedName(IndexOf(entry)),
                           &request_.exchanging};
    const std::string why = DoAt(item, target);
    // A lease on it would keep others from writing.
    item.content.reset();
    if (!why.empty()) {
      Leave(entry, why);
      return;
    }
    Committed(entry);
    touched_.insert({entry.root, ParentOf(entry.path)});
  }

  std::string DoAt(Item& item, const Target& target) {
    const PreviewEntry& entry = *item.entry;
    if (entry.change == PreviewChange::kMode) return ChangeMode(target);
    if (entry.change == PreviewChange::kDeleted) return Remove(target);
    if (entry.type == PreviewType::kDirectory) return PutDirectory(target);
    if (entry.type == PreviewType::kLink) return PutLink(target);
    if (!item.content && failed_.empty()) {
      filled_ = std::max(filled_, item.number);  // past what was left alone
      if (const Status filled = Fill(); !filled)
        failed_ = filled.error().message;
    }
    if (!item.content) return failed_.empty() ? "it has no content" : failed_;
    return PutFile(target, item.content.get());
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
  const ProtectedPaths guard_;  // of now
  const PreviewManifest& manifest_;
  const CommitRequest& request_;
  std::vector<Place> places_;
  struct Reserve {
    Fd file;
    uint64_t bytes = 0;
  };

  std::vector<Item> items_;
  std::vector<Item*> files_;  // those with content, in order
  size_t filled_ = 0;         // so many of them have had it
  std::vector<Reserve> reserves_;
  std::string failed_;  // why no more content can be had
  mutable std::set<std::pair<size_t, std::string>> deleted_;
  std::set<std::pair<size_t, std::string>> touched_;
  CommitResult result_;
};

}  // namespace

void RemoveStages(const PreviewManifest& manifest, const std::string& tag,
                  const Kept& kept) {
  if (tag.empty()) return;
  for (const PreviewRoot& root : manifest.roots) {
    if (!root.keep) continue;
    Place place;
    place.path = root.root;
    place.stage_name = kStagePrefix + tag;
    place.root = Fd(open(root.root.c_str(),
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info = {};
    if (!place.root || fstat(place.root.get(), &info) != 0 ||
        info.st_dev != root.device || info.st_ino != root.inode)
      continue;
    (void)ClearStage(place, manifest, kept);
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
