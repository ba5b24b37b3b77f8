// What is remembered of before the run: the roots, by descriptors; the content
// of files that mounts hold, for the case that another run takes the mount away
// with the file; and that of what lies up to two directories below the
// workspace, which no mount holds.
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/listing.h"
#include "backends/protect/protected_walk.h"
#include "backends/protect/quarantine.h"
#include "backends/protected_content.h"
#include "backends/protected_paths.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr int kMaxDepth = 6;  // of directories that are remembered
constexpr int kLevelsBelow = 2;

// The regular files at `path` and below it, examples of hooks excepted. False
// where there is more than can be remembered.
bool FilesAt(const std::string& path, int depth,
             std::vector<std::string>* files) {
  struct stat info = {};
  if (path.ends_with(".sample") || !StatPath(path, &info)) return true;
  if (S_ISREG(info.st_mode)) {
    files->push_back(path);
    return files->size() <= kMaxMemory;
  }
  if (!S_ISDIR(info.st_mode)) return true;
  if (depth >= kMaxDepth) return false;
  bool opened = false;
  const std::vector<std::string> names = NamesIn(path, kMaxMemory, &opened);
  return opened && names.size() <= kMaxMemory &&
         std::all_of(names.begin(), names.end(), [&](const std::string& name) {
           return FilesAt(JoinPath(path, name), depth + 1, files);
         });
}

}  // namespace

void ProtectedPaths::HoldRoots() {
  const bool known = !root_ids_.empty();
  std::vector<std::string> places = roots_;
  if (!workspace_.empty()) places.push_back(workspace_);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const std::string& place : places) {
    // What lies in another root is looked at by the way to it
    // (protected_symlinks.cc), on which a link may stand by now.
    const bool inner = std::any_of(
        places.begin(), places.end(), [&](const std::string& other) {
          return other != "/" && other != place && IsWithin(place, other);
        });
    if (place == "/" || inner) continue;
    Fd fd = OpenPath(place);
    struct stat info = {};
    if (!fd || fstat(fd.get(), &info) != 0) continue;
    if (!known)
      root_ids_.push_back({place, info.st_dev, info.st_ino});
    else if (std::none_of(
                 root_ids_.begin(), root_ids_.end(), [&](const RootId& one) {
                   return one.path == place && one.device == info.st_dev &&
                          one.inode == info.st_ino;
                 }))
      continue;
    held_.push_back({place, std::move(fd)});
  }
}

void ProtectedPaths::SweepRoots() {
  constexpr char kWhile[] = " while a command ran that could write in it; ";
  for (const RootId& root : root_ids_) {
    const auto held =
        std::find_if(held_.begin(), held_.end(),
                     [&](const auto& one) { return one.path == root.path; });
    struct stat info = {};
    // Not by StatPath, which goes by the descriptor here.
    const bool there = stat(root.path.c_str(), &info) == 0 &&
                       info.st_dev == root.device && info.st_ino == root.inode;
    if (there) continue;
    if (held == held_.end()) {
      Report(ViolationKind::kProtectedPath,
             root.path + ": was moved or removed" + kWhile +
                 "what that left there was not looked at, since gate was "
                 "killed or has ended meanwhile");
      outcome_->sweep_complete = false;
      continue;
    }
    if (fstat(held->fd.get(), &info) == 0 && info.st_nlink == 0) {
      Report(ViolationKind::kProtectedPath,
             root.path + ": was removed" + kWhile +
                 "what was protected there is gone");
      continue;
    }
    char place[PATH_MAX];
    const std::string link = "/proc/self/fd/" + std::to_string(held->fd.get());
    const ssize_t size = readlink(link.c_str(), place, sizeof(place));
    Report(ViolationKind::kProtectedPath,
           root.path + ": was moved to " +
               (size > 0 ? std::string(place, static_cast<size_t>(size))
                         : "another place") +
               kWhile + "what it left was looked at there");
  }
}

bool ProtectedPaths::Remember(const std::string& path, bool below) {
  std::vector<std::string> files;
  bool all = FilesAt(path, 0, &files);
  for (const std::string& file : files) {
    struct stat info = {};
    if (!StatPath(file, &info)) continue;
    if (memory_.size() + below_.size() >= kMaxMemory ||
        memory_bytes_ + static_cast<size_t>(info.st_size) > kMaxMemoryBytes) {
      all = false;
      continue;
    }
    Result<std::string> text = ReadRegular(file, kMaxKeptFile);
    if (!text) {
      all = false;
      continue;
    }
    memory_bytes_ += text->size();
    (below ? below_ : memory_)
        .push_back({file, "", std::move(*text), info.st_mode & 0777});
  }
  if (below && !all && below_end_.empty())
    below_end_ = "there is more than gate remembers";
  return all;
}

void ProtectedPaths::RememberBinds() {
  for (const Bind& bind : binds_) {
    if (!bind.read_only) continue;
    read_only_.push_back(bind.path);
    if (!Remember(bind.path, false)) forgotten_.push_back(bind.path);
  }
}

void ProtectedPaths::RememberRepository(const std::string& git) {
  struct stat info = {};
  if (!StatPath(git, &info) || !S_ISDIR(info.st_mode)) return;
  for (const char* name : {"config", "config.worktree"})
    if (StatPath(JoinPath(git, name), &info)) RecordConfig(JoinPath(git, name));
  for (const char* name : {"hooks", "lazygit.yml"})
    Remember(JoinPath(git, name), true);
}

void ProtectedPaths::RememberBelow() {
  if (workspace_.empty() || workspace_ == "/") return;
  const int64_t end = NowNs() + kMaxBelowMs * int64_t{1'000'000};
  TreeIndex index;
  if (const std::string path = IndexPath();
      !path.empty() && StampsHere(workspace_))
    index = TreeIndex::Load(path, IndexKey());
  struct Place {
    std::string path;
    uint32_t entry;
  };
  const Fd top = OpenPath(workspace_);
  std::vector<Place> level = {
      {workspace_, index.empty() ? TreeIndex::kNone : TreeIndex::kTop}};
  int listed = 0, listed_known = 0;
  size_t asked = 0;
  for (int depth = 0; depth <= kLevelsBelow; ++depth) {
    // Those first where the last search met names: what a run makes beside
    // them takes neither their turn nor their time.
    const auto named =
        std::stable_partition(level.begin(), level.end(), [&](const Place& at) {
          return at.entry != TreeIndex::kNone && index.IsNamed(at.entry);
        });
    const auto first = static_cast<size_t>(named - level.begin());
    std::vector<Place> next;
    for (size_t i = 0; i < level.size(); ++i) {
      const Place& at = level[i];
      const bool known = i < first || depth == 0;
      if (!known && ++asked > kMaxBelowAsked) {
        below_end_ = "the look before the run ended after " +
                     std::to_string(kMaxBelowAsked) + " directories";
        continue;
      }
      struct stat info = {};
      const char* below =
          depth == 0 ? "" : at.path.c_str() + workspace_.size() + 1;
      std::vector<std::string> names;
      if (!known && at.entry != TreeIndex::kNone &&
          fstatat(top.get(), below, &info,
                  AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
          index.Answers(at.entry, info)) {
        if (depth == kLevelsBelow) continue;
        const uint32_t count = index.count(at.entry);
        for (uint32_t k = 0; k < count; ++k) {
          const uint32_t child = index.first(at.entry) + k;
          next.push_back({JoinPath(at.path, index.NameOf(child)), child});
        }
        continue;
      }
      // The others go on: the index may answer for them.
      if (++(known ? listed_known : listed) > kMaxBelowDirectories) {
        below_end_ = "the look before the run ended after " +
                     std::to_string(kMaxBelowDirectories) + " directories";
        continue;
      }
      if (!known && NowNs() > end) {
        below_end_ = "the look before the run ended after " +
                     std::to_string(kMaxBelowMs) + " ms";
        continue;
      }
      const Directory list = OpenDirectory(at.path);
      if (!list) continue;
      while (const dirent* entry = readdir(list.get())) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        names.emplace_back(name);
        if (entry->d_type == DT_DIR && name != ".git" && depth < kLevelsBelow)
          next.push_back(
              {JoinPath(at.path, name), at.entry == TreeIndex::kNone
                                            ? TreeIndex::kNone
                                            : index.Find(at.entry, name)});
      }
      // What lies directly in the workspace is held.
      if (depth == 0) continue;
      for (const std::string& name : names) {
        if (name == ".git") RememberRepository(JoinPath(at.path, name));
        for (const std::string& known_name : names_)
          if (known_name.starts_with(name) &&
              (known_name.size() == name.size() ||
               known_name[name.size()] == '/'))
            Remember(JoinPath(at.path, known_name), true);
      }
    }
    level = std::move(next);
  }
}

std::string ProtectedPaths::NotRemembered(const std::string& path) const {
  if (below_end_.empty() || workspace_.empty() || !IsWithin(path, workspace_) ||
      !RelativeOf(path).empty() ||
      std::any_of(below_.begin(), below_.end(), [&](const KeptFile& one) {
        return IsWithin(one.path, path);
      }))
    return "";
  return "; if something was there before, gate does not put it back (" +
         below_end_ + ")";
}

const ProtectedPaths::KeptFile* ProtectedPaths::Remembered(
    const std::string& path) const {
  for (const auto* list : {&memory_, &below_})
    for (const KeptFile& one : *list)
      if (one.path == path) return &one;
  return nullptr;
}

void ProtectedPaths::PutBackBelow(const std::string& path) {
  if (unsure_) return;
  for (const KeptFile& one : below_) {
    struct stat info = {};
    if (!IsWithin(one.path, path) || StatPath(one.path, &info)) continue;
    Restore(one);
  }
}

std::string ProtectedPaths::RelativeOf(const std::string& path) const {
  for (const std::string& base : bases_) {
    if (!IsWithin(path, base) || path == base) continue;
    std::string relative = path.substr(base == "/" ? 1 : base.size() + 1);
    for (const std::string& name : names_)
      if (IsWithin(relative, name)) return relative;
  }
  return "";
}

void ProtectedPaths::SweepMemory() {
  // No other run: what took the mounts away was a person's own doing.
  if (!overlapped_) return;
  for (const std::string& top : read_only_) {
    struct stat info = {};
    const bool there = StatPath(top, &info);
    const int error = errno;
    if ((!there || Changed(info)) &&
        std::find(forgotten_.begin(), forgotten_.end(), top) !=
            forgotten_.end())
      Report(ViolationKind::kProtectedPath,
             top + (there ? ": was changed" : ": was removed") +
                 " while another run went on, and held more than gate "
                 "remembers; look at it");
    if (!there) {
      errno = error;
      if (errno != ENOENT) MissedOnTheWay(top, ViolationKind::kProtectedPath);
    } else if (!S_ISDIR(info.st_mode)) {
      SweepMemoryFile(top, Remembered(top));
    } else {
      std::vector<std::string> files;
      const bool all = FilesAt(top, 0, &files);
      for (const std::string& file : files)
        SweepMemoryFile(file, Remembered(file));
      if (!all)
        Report(ViolationKind::kProtectedPath,
               top +
                   ": holds more than can be compared with what was there "
                   "before other runs could change it; look at it");
    }
    for (const KeptFile& one : memory_) {
      if (!IsWithin(one.path, top) || StatPath(one.path, &info)) continue;
      const std::string relative = RelativeOf(one.path);
      if (!relative.empty() &&
          (MayGo(relative) || SamePower(relative, &one.content, nullptr)))
        continue;
      if (unsure_) {
        Report(ViolationKind::kProtectedPath,
               one.path +
                   ": was removed by another run; it cannot be put "
                   "back, since others changed it when it was read");
        continue;
      }
      // Its root is gone, which was told.
      const std::string* root = RootOf(one.path);
      if (root == nullptr || !StatPath(*root, &info) || info.st_nlink == 0)
        continue;
      Report(ViolationKind::kProtectedPath,
             one.path + ": was removed by another run; put back");
      Restore(one);
    }
  }
}

void ProtectedPaths::SweepMemoryFile(const std::string& path,
                                     const KeptFile* before) {
  struct stat info = {};
  if (!StatPath(path, &info)) return;
  const Result<std::string> text = ReadRegular(path, kMaxKeptFile);
  if (before != nullptr && text && *text == before->content &&
      info.st_nlink == 1)
    return;
  // What was too large to be remembered did not change with an old stamp.
  if (before == nullptr && !Changed(info)) return;
  const std::string relative = RelativeOf(path);
  if (!relative.empty() &&
      MayStay(path, relative, before == nullptr ? nullptr : &before->content))
    return;
  if (before != nullptr && info.st_nlink > 1 && text &&
      *text == before->content && !Changed(info))
    return;  // its other names were there before
  const bool back = before != nullptr && !unsure_;
  Quarantine(path, ViolationKind::kProtectedPath,
             std::string("was replaced by another run, and could be written "
                         "from then on") +
                 (back ? "; put back" : ""));
  if (back) Restore(*before);
}

bool ProtectedPaths::WasThere(const std::string& path,
                              const std::string& content) const {
  const auto has = [&](const std::vector<KeptFile>& list) {
    return std::any_of(list.begin(), list.end(), [&](const KeptFile& one) {
      return one.path == path && one.content == content;
    });
  };
  return has(below_) ||
         std::any_of(others_.begin(), others_.end(), [&](const auto& run) {
           return has(run->memory_) || has(run->below_) ||
                  std::any_of(run->saved_files_.begin(),
                              run->saved_files_.end(),
                              [&](const KeptPlace& place) {
                                return has(place.files);
                              }) ||
                  std::any_of(run->hook_files_.begin(), run->hook_files_.end(),
                              [&](const HookFile& one) {
                                return one.path == path &&
                                       one.content == content;
                              });
         });
}

const std::string* ProtectedPaths::ConfigBefore(const std::string& path) const {
  for (const auto& run : others_)
    for (const GitConfig& one : run->configs_)
      if (one.path == path && one.existed && one.readable) return &one.content;
  return nullptr;
}

}  // namespace gate::backends
