// Other names of protected files: a hard link in a writable root is the file
// itself, whatever the mounts say. None can be made from inside (another
// mount), so those that are there before the run are looked for:
//
// - files of `profile.alias_checked_paths` that have another name: every name
// of
//   theirs in the writable roots is found and protected, or the run is refused;
// - protected files of the workspace, also those in protected directories, of
//   which the first kMaxLinkedInside entries are looked at: likewise;
// - files that lie directly in the guarded directories and have more names
//   than are found in the writable roots: protected.
//
// And the other way round: what of the home directory leads through a link into
// the workspace (dotfiles kept in a repository) is protected where it lies, and
// so are the links of the workspace on the way.
//
// A search looks at names only (a directory gives the number of each file), and
// only happens when there is such a file.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <unordered_set>

#include "backends/listing.h"
#include "backends/protect/quarantine.h"
#include "backends/protected_paths.h"
#include "base/file.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

struct File {
  std::set<std::string> names;  // found inside
  nlink_t links = 0;
  bool sole = false;  // all its names must be found: protected
};
using Files = std::map<std::pair<dev_t, ino_t>, File>;

bool HasOtherNames(const struct stat& info) {
  return S_ISREG(info.st_mode) && info.st_nlink > 1;
}

bool IsDots(const char* name) {
  return name[0] == '.' &&
         (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

bool AllFound(const Files& files) {
  return std::all_of(files.begin(), files.end(), [](const auto& each) {
    return each.second.names.size() >= each.second.links;
  });
}

// Files with other names in a protected directory.
void LookInside(const std::string& top, Files* files, int* budget) {
  std::vector<std::string> open = {top};
  while (!open.empty()) {
    const std::string directory = std::move(open.back());
    open.pop_back();
    // Examples, which every repository has, are run by nobody.
    const bool hooks = directory.ends_with("/hooks");
    const Directory list = OpenDirectory(directory);
    if (!list) continue;
    while (const dirent* entry = readdir(list.get())) {
      const std::string_view name = entry->d_name;
      if (IsDots(entry->d_name) || entry->d_type == DT_LNK ||
          (hooks && name.ends_with(".sample")))
        continue;
      if (--*budget < 0) return;
      struct stat info = {};
      if (entry->d_type == DT_DIR) {
        open.push_back(JoinPath(directory, entry->d_name));
      } else if (fstatat(dirfd(list.get()), entry->d_name, &info,
                         AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(info.st_mode))
          open.push_back(JoinPath(directory, entry->d_name));
        if (!HasOtherNames(info)) continue;
        File& file = (*files)[{info.st_dev, info.st_ino}];
        file.links = info.st_nlink;
        file.sole = true;
        file.names.insert(JoinPath(directory, entry->d_name));
      }
    }
  }
}

// All names of `files` below `root`, or until all are found; false when the
// search ended early.
bool FindNames(const std::string& root, Files* files, int* budget) {
  if (AllFound(*files)) return true;
  std::unordered_set<ino_t> numbers;
  for (const auto& [key, file] : *files) numbers.insert(key.second);
  std::vector<std::string> open = {root};
  bool complete = true;
  while (!open.empty()) {
    const std::string directory = std::move(open.back());
    open.pop_back();
    DIR* list = opendir(directory.c_str());
    if (list == nullptr) {
      // Somebody else's, and closed to this user, it is closed to the command.
      struct stat info = {};
      complete &= errno == ENOENT || errno == ENOTDIR ||
                  (errno == EACCES && lstat(directory.c_str(), &info) == 0 &&
                   info.st_uid != geteuid());
      continue;
    }
    while (const dirent* entry = readdir(list)) {
      if (IsDots(entry->d_name)) continue;
      if (--*budget < 0) {
        closedir(list);
        return false;
      }
      struct stat info = {};
      const bool unknown = entry->d_type == DT_UNKNOWN;
      if (entry->d_type == DT_DIR) {
        open.push_back(JoinPath(directory, entry->d_name));
      } else if ((unknown || numbers.contains(entry->d_ino)) &&
                 fstatat(dirfd(list), entry->d_name, &info,
                         AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(info.st_mode))
          open.push_back(JoinPath(directory, entry->d_name));
        const auto file = files->find({info.st_dev, info.st_ino});
        if (file == files->end() ||
            !file->second.names.insert(JoinPath(directory, entry->d_name))
                 .second)
          continue;
        if (AllFound(*files)) {
          closedir(list);
          return true;
        }
      }
    }
    closedir(list);
  }
  return complete;
}

}  // namespace

std::vector<std::string> ProtectedPaths::RecordHomeLinks(
    const Profile& profile) {
  RecordHome(profile);
  std::vector<std::string> existing;
  for (const std::string& name : profile.alias_checked_paths) {
    struct stat info = {};
    if (!listings_.MayExist(name)) continue;
    const bool plain = StatPath(name, &info);
    if (!plain && errno == ENOENT) {
      listings_.NoteMissing(name);
      continue;
    }
    existing.push_back(name);
    if ((plain && !S_ISLNK(info.st_mode)) || RootOf(name) != nullptr) continue;
    // It may lead to what is not there: whoever makes that makes the file. The
    // links must stay; of what they lead to only the end is protected.
    ProtectPath(RecordWay(name));
  }
  return existing;
}

void ProtectedPaths::NoteLinked(const std::string& path) {
  struct stat info = {};
  if (nearby_(path, &info) && HasOtherNames(info))
    linked_here_.push_back({path, info.st_dev, info.st_ino, info.st_nlink});
}

void ProtectedPaths::RecordLinks(
    const std::vector<std::string>& alias_checked_paths) {
  Files files;
  for (const std::string& path : alias_checked_paths) {
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0 || !HasOtherNames(info) ||
        RootOf(path) != nullptr)
      continue;
    File& file = files[{info.st_dev, info.st_ino}];
    file.links = info.st_nlink;
    file.sole = true;
  }
  // Where all is writable there is no outside, and too much to look through.
  const bool everywhere =
      std::find(roots_.begin(), roots_.end(), "/") != roots_.end();
  int inside = kMaxLinkedInside;
  for (const Bind& bind : binds_) {
    if (!bind.read_only || (everywhere && (workspace_.empty() ||
                                           !IsWithin(bind.path, workspace_))))
      continue;
    if (bind.directory) {
      LookInside(bind.path, &files, &inside);
    } else if (bind.links > 1) {
      File& file = files[{bind.device, bind.inode}];
      file.links = bind.links;
      file.sole = true;
      file.names.insert(bind.path);
    }
  }
  for (const LinkedFile& here : linked_here_) {
    File& file = files[{here.device, here.inode}];
    file.links = here.links;
    file.names.insert(here.path);
  }
  if (files.empty()) return;
  int budget = kMaxLinkSearch;
  bool complete = true;
  for (const std::string& root : roots_) {
    // Not twice what lies in another root, and not the whole machine.
    const bool nested = std::any_of(
        roots_.begin(), roots_.end(), [&](const std::string& other) {
          return other != root && IsWithin(root, other);
        });
    if (nested) continue;
    if (root != "/")
      complete &= FindNames(root, &files, &budget);
    else if (!workspace_.empty() && workspace_ != "/")
      FindNames(workspace_, &files, &budget);
  }
  for (const auto& [key, file] : files) {
    const bool all = file.names.size() >= file.links;
    if (file.sole && !all && !complete && !everywhere && refusal_.empty())
      refusal_ =
          "a protected file has another name, and whether that is in a "
          "writable place could not be found out" +
          (file.names.empty() ? "" : ": " + *file.names.begin());
    if (!file.sole && all && (complete || everywhere)) continue;
    for (const std::string& name : file.names)
      if (!IsBound(name)) ProtectPath(name);
  }
}

bool ProtectedPaths::IsBound(const std::string& path) const {
  return std::any_of(binds_.begin(), binds_.end(), [&](const Bind& bind) {
    return bind.read_only && IsWithin(path, bind.path);
  });
}

}  // namespace gate::backends
