// After the run: what of the upper directories is a change.
//
// The upper directory says it alone, since redirects and metadata-only copies
// are off: a character device 0:0 (or an empty file with the attribute
// `user.overlay.whiteout`) stands for what was deleted, a directory with the
// attribute `user.overlay.opaque` hides the real one. A command cannot make
// either by itself: the overlay refuses the device and renames the attributes.
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "backends/git_config.h"
#include "backends/protected_paths.h"
#include "base/hash.h"
#include "base/text.h"
#include "preview/preview.h"
#include "preview/protect.h"
#include "preview/repository.h"
#include "preview/tree.h"

namespace gate::backends {
namespace {

constexpr size_t kNoGit = std::string::npos;

// Where the paths in `directory`, a git directory, are inside one: what holds
// it already judges them, unless it lies among that one's data.
size_t EnterGit(size_t git, const std::string& directory) {
  const size_t begin = directory.empty() ? 0 : directory.size() + 1;
  if (git == kNoGit || git >= directory.size()) return std::min(git, begin);
  return IsGitData(std::string_view(directory).substr(git)) ? begin : git;
}

bool IsDotGit(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  constexpr std::string_view kName = ".git";
  return path.size() - begin == kName.size() &&
         std::equal(kName.begin(), kName.end(), path.begin() + begin,
                    [](char a, char b) {
                      return a == b || (b >= 'A' && b <= 'Z' && a == b + 32);
                    });
}

// A directory of the upper tree that is still to be read.
struct Open {
  std::string path;
  bool lower = false;   // there is a real directory at the same path
  bool hides = false;   // what is not in the upper one is deleted
  size_t git = kNoGit;  // where paths in it are inside a git directory
};

std::string Attribute(int root, const std::string& path, const char* name) {
  const Fd handle = OpenBelow(root, path, O_PATH | O_NOFOLLOW);
  if (!handle) return "";
  char value[8];
  const ssize_t size =
      getxattr(("/proc/self/fd/" + std::to_string(handle.get())).c_str(), name,
               value, sizeof(value));
  return size > 0    ? std::string(value, static_cast<size_t>(size))
         : size == 0 ? "empty"
                     : "";
}

class Reader {
 public:
  Reader(const Profile& profile, const ProtectedPaths& protected_paths,
         PreviewManifest* manifest, size_t index)
      : profile_(profile),
        guard_(protected_paths),
        manifest_(manifest),
        index_(index) {}

  Status Run() {
    const PreviewRoot& root = manifest_->roots[index_];
    upper_ = Fd(open((root.place + "/upper").c_str(),
                     O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!upper_) return FailErrno("the preview cannot be read");
    lower_ = Fd(
        open(root.root.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info = {};
    if (!lower_ || fstat(lower_.get(), &info) != 0 ||
        info.st_dev != root.device || info.st_ino != root.inode)
      return Fail(ErrorCode::kInvalid,
                  root.root + " is not the directory that it was");
    open_.push_back({"", true, false, kNoGit});
    while (!open_.empty() && manifest_->too_large.empty()) {
      Open at = std::move(open_.back());
      open_.pop_back();
      GATE_CHECK(ReadDirectory(&at));
    }
    if (manifest_->too_large.empty()) RefuseForRepositories();
    return {};
  }

 private:
  bool TooLarge(const std::string& limit) {
    manifest_->too_large = limit;
    return false;
  }

  Status ReadDirectory(Open* directory) {
    const Open& at = *directory;
    const auto names = ListBelow(upper_.get(), at.path, true);
    if (!names && names.error().code == ErrorCode::kTooLarge) {
      TooLarge("preview-entries (" + std::to_string(kMaxPreviewEntries) + ")");
      return {};
    }
    if (!names) return std::unexpected(names.error());
    std::vector<std::string> real;
    if (at.lower) {
      // A real directory that cannot be listed hides nothing that is known.
      if (auto listed = ListBelow(lower_.get(), at.path, false)) {
        real = std::move(*listed);
      } else if (at.hides) {
        TooLarge("a replaced directory that cannot be read: " + at.path);
        return {};
      }
    }
    if (LooksLikeGit(*names, at.hides ? std::vector<std::string>{} : real))
      directory->git = EnterGit(at.git, at.path);
    for (const std::string& name : *names)
      if (!ReadEntry(at, JoinBelow(at.path, name))) return {};
    if (!at.hides) return {};
    for (const std::string& name : real)
      if (!std::binary_search(names->begin(), names->end(), name) &&
          !Deleted(JoinBelow(at.path, name)))
        return {};
    return {};
  }

  static bool LooksLikeGit(const std::vector<std::string>& upper,
                           const std::vector<std::string>& lower) {
    GitNames found;
    for (const char* name : {"HEAD", "objects", "refs", "commondir"})
      if (std::binary_search(upper.begin(), upper.end(), name) ||
          std::binary_search(lower.begin(), lower.end(), name))
        found.Add(name);
    return found.Whole();
  }

  // Judged when all is known that would be committed.
  void RefuseForRepositories() {
    std::vector<const PreviewEntry*> entries;
    for (const PreviewEntry& entry : manifest_->entries)
      if (entry.root == index_ && entry.refused.empty())
        entries.push_back(&entry);
    const auto content = [&](const PreviewEntry& entry, bool after) {
      return Content(after ? upper_.get() : lower_.get(), entry.path);
    };
    const auto refused = RefusedForRepositories(
        lower_.get(), manifest_->roots[index_].root, entries, content);
    if (refused.empty()) return;
    for (PreviewEntry& entry : manifest_->entries)
      if (const auto at = refused.find(&entry); at != refused.end())
        entry.refused = at->second;
  }

  bool ReadEntry(const Open& at, const std::string& path) {
    struct stat info = {}, real = {};
    if (path.size() > kMaxPreviewPath)
      return TooLarge("preview-path (" + std::to_string(kMaxPreviewPath) + ")");
    if (!StatBelow(upper_.get(), path, &info))
      return TooLarge("an entry that cannot be read: " + path);
    const bool exists = at.lower && StatBelow(lower_.get(), path, &real);
    const bool whiteout =
        (S_ISCHR(info.st_mode) && info.st_rdev == makedev(0, 0)) ||
        (S_ISREG(info.st_mode) && info.st_size == 0 &&
         !Attribute(upper_.get(), path, "user.overlay.whiteout").empty());
    if (whiteout) return !exists || Deleted(path);

    PreviewEntry entry;
    entry.root = index_;
    entry.path = path;
    entry.type = TypeOf(info.st_mode);
    entry.size = static_cast<uint64_t>(info.st_size);
    entry.mode = ModeOf(info);
    entry.uid = info.st_uid;
    entry.gid = info.st_gid;
    entry.mtime_ns = Nanoseconds(info.st_mtim);
    entry.names = info.st_nlink;
    entry.change = exists ? PreviewChange::kModified : PreviewChange::kAdded;
    if (exists) entry.lower = StateOf(real);
    const bool real_directory = exists && S_ISDIR(real.st_mode);

    if (S_ISDIR(info.st_mode)) {
      const uint32_t bits = CommittedBits(entry.type);
      entry.mode &= bits;
      const bool opaque =
          Attribute(upper_.get(), path, "user.overlay.opaque") == "y";
      open_.push_back({path, real_directory,
                       real_directory && (opaque || at.hides),
                       IsDotGit(path) ? EnterGit(at.git, path) : at.git});
      if (real_directory) {
        if (entry.mode == (entry.lower.mode & bits)) return true;
        entry.change = PreviewChange::kMode;
        return Add(std::move(entry), at.git);
      }
      if (exists && !Deleted(path)) return false;
      entry.change = PreviewChange::kAdded;
      entry.lower = LowerState();
      return Add(std::move(entry), at.git);
    }
    if (S_ISREG(info.st_mode)) {
      // Checked before anything is read: a sparse file costs no space.
      bytes_ += entry.size;
      if (bytes_ > kMaxPreviewBytes)
        return TooLarge("preview-bytes (" + std::to_string(kMaxPreviewBytes) +
                        ")");
      const Fd file = OpenFileBelow(upper_.get(), path, true);
      auto hash = file ? HashContent(file.get()) : Result<std::string>("");
      if (!hash || hash->empty())
        return TooLarge("a file that cannot be read: " + path);
      entry.sha256 = std::move(*hash);
      if (exists && S_ISREG(real.st_mode)) {
        const Fd before = OpenFileBelow(lower_.get(), path, false);
        bytes_ += entry.lower.size;
        if (bytes_ > kMaxPreviewBytes)
          return TooLarge("preview-bytes (" + std::to_string(kMaxPreviewBytes) +
                          ")");
        if (before)
          if (auto old = HashContent(before.get())) entry.lower.sha256 = *old;
        if (entry.lower.sha256 == entry.sha256) {
          if (entry.mode == entry.lower.mode) return true;
          entry.change = PreviewChange::kMode;
        }
      }
    } else if (S_ISLNK(info.st_mode)) {
      auto target = ReadLinkBelow(upper_.get(), path);
      if (!target) return TooLarge("a link that cannot be read: " + path);
      entry.target = std::move(*target);
      entry.sha256 = Hex(Sha256(entry.target));
      if (exists && S_ISLNK(real.st_mode)) {
        if (auto old = ReadLinkBelow(lower_.get(), path)) {
          if (*old == entry.target) return true;
          entry.lower.sha256 = Hex(Sha256(*old));
        }
      }
    }
    if (real_directory) {
      if (!Deleted(path)) return false;
      entry.change = PreviewChange::kAdded;
      entry.lower = LowerState();
    }
    return Add(std::move(entry), at.git);
  }

  // What the command left, though reading another of a file's names may have
  // opened it up for its owner meanwhile.
  uint32_t ModeOf(const struct stat& info) {
    const uint32_t mode = info.st_mode & 07777;
    if (!S_ISREG(info.st_mode) || info.st_nlink < 2) return mode;
    return modes_.try_emplace(info.st_ino, mode).first->second;
  }

  // `path` of the real root and everything below it.
  bool Deleted(const std::string& top) {
    std::vector<std::string> open = {top};
    while (!open.empty()) {
      const std::string path = std::move(open.back());
      open.pop_back();
      struct stat info = {};
      if (!StatBelow(lower_.get(), path, &info)) {
        if (errno == ENOENT) continue;
        return TooLarge("a deleted entry that cannot be looked at: " + path);
      }
      PreviewEntry entry;
      entry.root = index_;
      entry.path = path;
      entry.change = PreviewChange::kDeleted;
      entry.lower = StateOf(info);
      entry.type = entry.lower.type;
      entry.size = entry.lower.size;
      entry.mode = entry.lower.mode;
      if (!Add(std::move(entry), kNoGit)) return false;
      if (!S_ISDIR(info.st_mode)) continue;
      auto names = ListBelow(lower_.get(), path, false);
      if (!names)
        return TooLarge("a deleted directory that cannot be read: " + path);
      for (const std::string& name : *names)
        open.push_back(JoinBelow(path, name));
    }
    return true;
  }

  // Whether a real directory may have come to its name since the run began:
  // what is below it is then not what the command saw, however old it is. A
  // rename changes the directory's change time alone, and both times of the one
  // it is in; a name that came or went changes both times of the directory.
  bool CameMeanwhile(const std::string& path) {
    struct stat info = {}, above = {};
    if (!StatBelow(lower_.get(), path, &info) || !S_ISDIR(info.st_mode))
      return false;
    const int64_t changed = Nanoseconds(info.st_ctim);
    if (changed <= manifest_->start_ns) return false;
    if (changed != Nanoseconds(info.st_mtim)) return true;
    return !StatBelow(lower_.get(), ParentOf(path), &above) ||
           Nanoseconds(above.st_ctim) > manifest_->start_ns;
  }

  // Whether the directory or one on the way to it did.
  bool WayCameMeanwhile(const std::string& directory) {
    if (const auto known = ways_.find(directory); known != ways_.end())
      return known->second;
    bool came = false;
    for (size_t end = 0; !came && end < directory.size();) {
      end = std::min(directory.find('/', end + 1), directory.size());
      const auto [at, fresh] =
          came_.try_emplace(directory.substr(0, end), false);
      if (fresh) at->second = CameMeanwhile(at->first);
      came = at->second;
    }
    return ways_[directory] = came;
  }

  bool Add(PreviewEntry entry, size_t git) {
    if (!manifest_->roots[index_].keep) return true;
    if (manifest_->entries.size() >= kMaxPreviewEntries)
      return TooLarge("preview-entries (" + std::to_string(kMaxPreviewEntries) +
                      ")");
    entry.refused = Refused(entry, git);
    manifest_->entries.push_back(std::move(entry));
    return true;
  }

  std::string Refused(const PreviewEntry& entry, size_t git) {
    const bool deleted = entry.change == PreviewChange::kDeleted;
    // A directory's change time says that a name in it changed, which its
    // entries say better.
    if (entry.lower.exists && entry.lower.type != PreviewType::kDirectory &&
        entry.lower.ctime_ns > manifest_->start_ns)
      return "changed by somebody else while the command ran";
    if (WayCameMeanwhile(entry.lower.exists &&
                                 entry.lower.type == PreviewType::kDirectory
                             ? entry.path
                             : ParentOf(entry.path)))
      return "somebody else put its directory there while the command ran";
    if (!deleted && entry.type == PreviewType::kOther)
      return "a device, pipe or socket";
    if (!deleted && entry.type == PreviewType::kFile &&
        (entry.mode & 06000) != 0)
      return "set-user-id or set-group-id";
    const auto content = [&](bool after) {
      return after                ? Content(upper_.get(), entry.path)
             : entry.lower.exists ? Content(lower_.get(), entry.path)
                                  : "";
    };
    std::string why =
        RefusedName(profile_, manifest_->roots[index_].root, entry, content);
    if (!why.empty()) return why;
    why = RefusedPlace(guard_, manifest_->roots[index_].root, entry, content);
    if (!why.empty() || deleted) return why;
    return RefusedGit(entry, git);
  }

  // `git`: where the path is inside a git directory.
  std::string RefusedGit(const PreviewEntry& entry, size_t git) {
    if (entry.type == PreviewType::kFile && IsDotGit(entry.path)) {
      if (entry.lower.exists) return "the .git file of a worktree or submodule";
      const std::string why =
          RefusedGitFile(entry.path, Content(upper_.get(), entry.path));
      if (!why.empty()) return why;
    }
    if (git >= entry.path.size()) return "";
    const std::string rest = entry.path.substr(git);
    switch (GitPartOf(rest, entry.type)) {
      case GitPart::kNothing:
        return "";
      case GitPart::kRefused:
        return "a part of git that runs programs";
      case GitPart::kCommonDir:
        return IsOwnCommonDir(manifest_->roots[index_].root + "/" + entry.path,
                              Content(upper_.get(), entry.path))
                   ? ""
                   : "takes git configuration from elsewhere";
      case GitPart::kConfig:
        break;
    }
    if (entry.type == PreviewType::kDirectory) return "";
    if (entry.type != PreviewType::kFile)
      return "git configuration that is no file";
    if (entry.size > kMaxGitConfig) return "git configuration, too large";
    return RefusedConfig(
        entry.path, entry.lower.exists ? Content(lower_.get(), entry.path) : "",
        Content(upper_.get(), entry.path));
  }

  std::string Content(int root, const std::string& path) const {
    const Fd file = OpenFileBelow(root, path, false);
    if (!file) return "";
    auto text = ReadAll(file.get(), kMaxGitConfig);
    return text ? *text : "";
  }

  const Profile& profile_;
  const ProtectedPaths& guard_;
  PreviewManifest* manifest_;
  const size_t index_;
  Fd upper_, lower_;
  std::vector<Open> open_;
  std::map<std::string, bool> came_, ways_;  // real directories
  std::map<ino_t, uint32_t> modes_;          // of files with several names
  uint64_t bytes_ = 0;
};

}  // namespace

Status FillManifest(const Profile& profile, PreviewManifest* manifest) {
  manifest->entries.clear();
  manifest->too_large.clear();
  const ProtectedPaths protected_paths =
      ProtectedPaths::SnapshotDirectories(profile);
  for (size_t i = 0; i < manifest->roots.size(); ++i)
    if (manifest->roots[i].keep && manifest->too_large.empty())
      GATE_CHECK(Reader(profile, protected_paths, manifest, i).Run());
  // A path whose type changed has two entries: first what goes.
  std::sort(manifest->entries.begin(), manifest->entries.end(),
            [](const PreviewEntry& a, const PreviewEntry& b) {
              if (a.root != b.root) return a.root < b.root;
              if (a.path != b.path) return a.path < b.path;
              return a.change == PreviewChange::kDeleted &&
                     b.change != PreviewChange::kDeleted;
            });
  return {};
}

}  // namespace gate::backends
