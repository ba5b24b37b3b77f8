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
#include <set>

#include "backends/git_config.h"
#include "backends/guard.h"
#include "backends/preview.h"
#include "backends/preview_protect.h"
#include "backends/preview_tree.h"
#include "base/hash.h"
#include "base/text.h"

namespace gate::backends {
namespace {

// A directory of the upper tree that is still to be read.
struct Open {
  std::string path;
  bool lower = false;  // there is a real directory at the same path
  bool hides = false;  // what is not in the upper one is deleted
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
  Reader(const Profile& profile, const Guard& guard, PreviewManifest* manifest,
         size_t index)
      : profile_(profile), guard_(guard), manifest_(manifest), index_(index) {}

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
    open_.push_back({"", true, false});
    while (!open_.empty() && manifest_->too_large.empty()) {
      const Open at = std::move(open_.back());
      open_.pop_back();
      GATE_CHECK(ReadDirectory(at));
    }
    return {};
  }

 private:
  bool TooLarge(const std::string& limit) {
    manifest_->too_large = limit;
    return false;
  }

  Status ReadDirectory(const Open& at) {
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
    const bool git =
        LooksLikeGit(*names, at.hides ? std::vector<std::string>{} : real);
    for (const std::string& name : *names)
      if (!ReadEntry(at, JoinBelow(at.path, name), git)) return {};
    if (!at.hides) return {};
    for (const std::string& name : real)
      if (!std::binary_search(names->begin(), names->end(), name) &&
          !Deleted(JoinBelow(at.path, name)))
        return {};
    return {};
  }

  static bool LooksLikeGit(const std::vector<std::string>& upper,
                           const std::vector<std::string>& lower) {
    const auto has = [&](const char* name) {
      return std::binary_search(upper.begin(), upper.end(), name) ||
             std::binary_search(lower.begin(), lower.end(), name);
    };
    return has("HEAD") && ((has("objects") && has("refs")) || has("commondir"));
  }

  bool ReadEntry(const Open& at, const std::string& path, bool git) {
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
    entry.mode = info.st_mode & 07777;
    entry.uid = info.st_uid;
    entry.gid = info.st_gid;
    entry.mtime_ns = Nanoseconds(info.st_mtim);
    entry.names = info.st_nlink;
    entry.change = exists ? PreviewChange::kModified : PreviewChange::kAdded;
    if (exists) entry.lower = StateOf(real);
    const bool real_directory = exists && S_ISDIR(real.st_mode);

    if (S_ISDIR(info.st_mode)) {
      const bool opaque =
          Attribute(upper_.get(), path, "user.overlay.opaque") == "y";
      open_.push_back(
          {path, real_directory, real_directory && (opaque || at.hides)});
      if (git) git_.insert(path);
      if (real_directory) {
        constexpr uint32_t kBits = 01777;
        if ((entry.mode & kBits) == (entry.lower.mode & kBits)) return true;
        entry.change = PreviewChange::kMode;
        return Add(std::move(entry), git);
      }
      if (exists && !Deleted(path)) return false;
      entry.change = PreviewChange::kAdded;
      entry.lower = LowerState();
      return Add(std::move(entry), git);
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
    return Add(std::move(entry), git);
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
      if (!Add(std::move(entry), false)) return false;
      if (!S_ISDIR(info.st_mode)) continue;
      auto names = ListBelow(lower_.get(), path, false);
      if (!names)
        return TooLarge("a deleted directory that cannot be read: " + path);
      for (const std::string& name : *names)
        open.push_back(JoinBelow(path, name));
    }
    return true;
  }

  bool Add(PreviewEntry entry, bool git) {
    if (!manifest_->roots[index_].keep) return true;
    if (manifest_->entries.size() >= kMaxPreviewEntries)
      return TooLarge("preview-entries (" + std::to_string(kMaxPreviewEntries) +
                      ")");
    entry.refused = Refused(entry, git);
    manifest_->entries.push_back(std::move(entry));
    return true;
  }

  std::string Refused(const PreviewEntry& entry, bool git) {
    const bool deleted = entry.change == PreviewChange::kDeleted;
    // A directory's change time says that a name in it changed, which its
    // entries say better.
    if (entry.lower.exists && entry.lower.type != PreviewType::kDirectory &&
        entry.lower.ctime_ns > manifest_->start_ns)
      return "changed by somebody else while the command ran";
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

  std::string RefusedGit(const PreviewEntry& entry, bool git) {
    const size_t slash = entry.path.rfind('/');
    const std::string name = entry.path.substr(slash + 1);
    std::string rest = AfterGit(entry.path);
    if (rest.empty()) rest = AfterBare(entry.path, git);
    if (rest.empty()) {
      if (name != ".git" || entry.type != PreviewType::kFile) return "";
      if (entry.lower.exists) return "the .git file of a worktree or submodule";
      return RefusedGitFile(entry.path, Content(upper_.get(), entry.path));
    }
    switch (GitPartOf(rest)) {
      case GitPart::kNothing:
        return "";
      case GitPart::kRefused:
        return "a part of git that runs programs";
      case GitPart::kCommonDir:
        return Content(upper_.get(), entry.path) == "../..\n"
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

  // The path inside a repository that is not called .git.
  std::string AfterBare(const std::string& path, bool git) const {
    if (git) {
      const size_t slash = path.rfind('/');
      return slash == std::string::npos ? path : path.substr(slash + 1);
    }
    for (const std::string& directory : git_)
      if (path.starts_with(directory + "/")) {
        const size_t slash = directory.rfind('/');
        return path.substr(slash == std::string::npos ? 0 : slash + 1);
      }
    return "";
  }

  std::string Content(int root, const std::string& path) const {
    const Fd file = OpenFileBelow(root, path, false);
    if (!file) return "";
    auto text = ReadAll(file.get(), kMaxGitConfig);
    return text ? *text : "";
  }

  const Profile& profile_;
  const Guard& guard_;
  PreviewManifest* manifest_;
  const size_t index_;
  Fd upper_, lower_;
  std::vector<Open> open_;
  std::set<std::string> git_;  // directories right in a bare repository
  uint64_t bytes_ = 0;
};

}  // namespace

Status FillManifest(const Profile& profile, PreviewManifest* manifest) {
  manifest->entries.clear();
  manifest->too_large.clear();
  const Guard guard = Guard::RecordPlaces(profile);
  for (size_t i = 0; i < manifest->roots.size(); ++i)
    if (manifest->roots[i].keep && manifest->too_large.empty())
      GATE_CHECK(Reader(profile, guard, manifest, i).Run());
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
