// Other names of files outside: a hard link in a writable root is the file
// itself, whatever the mounts say. None can be made from inside (another
// mount), so those that are there before the run are looked for:
//
// - files of `profile.sole_names` that have another name: every name of theirs
//   in the writable roots is found and protected, or the run is refused;
// - files that lie directly in the guarded directories and have more names
//   than are found in the writable roots: protected.
//
// And the other way round: a file of the home directory that is a link into the
// workspace (dotfiles kept in a repository) is protected where it lies.
//
// A search looks at names only (a directory gives the number of each file), and
// only happens when there is such a file.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <map>
#include <unordered_set>

#include "backends/guard.h"
#include "backends/quarantine.h"
#include "base/file.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

struct File {
  std::set<std::string> names;  // found inside
  nlink_t links = 0;
  bool outside = false;  // one of sole_names
};
using Files = std::map<std::pair<dev_t, ino_t>, File>;

std::string Join(const std::string& base, const char* name) {
  return base == "/" ? std::string("/") + name : base + "/" + name;
}

bool HasOtherNames(const struct stat& info) {
  return S_ISREG(info.st_mode) && info.st_nlink > 1;
}

bool IsDots(const char* name) {
  return name[0] == '.' &&
         (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

// Files directly in `directory`, the first kMaxLinkedHere entries.
void LookHere(const std::string& directory, Files* files) {
  DIR* list = opendir(directory.c_str());
  if (list == nullptr) return;
  int seen = 0;
  while (const dirent* entry = readdir(list)) {
    if (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN) continue;
    if (++seen > kMaxLinkedHere) break;
    struct stat info = {};
    if (fstatat(dirfd(list), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !HasOtherNames(info))
      continue;
    File& file = (*files)[{info.st_dev, info.st_ino}];
    file.links = info.st_nlink;
    file.names.insert(Join(directory, entry->d_name));
  }
  closedir(list);
}

// All names of `files` below `root`; false when the search ended early.
bool FindNames(const std::string& root, Files* files, int* budget) {
  std::unordered_set<ino_t> numbers;
  for (const auto& [key, file] : *files) numbers.insert(key.second);
  std::vector<std::string> open = {root};
  bool complete = true;
  while (!open.empty()) {
    const std::string directory = std::move(open.back());
    open.pop_back();
    DIR* list = opendir(directory.c_str());
    if (list == nullptr) {
      complete &= errno == ENOENT || errno == ENOTDIR;
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
        open.push_back(Join(directory, entry->d_name));
      } else if ((unknown || numbers.contains(entry->d_ino)) &&
                 fstatat(dirfd(list), entry->d_name, &info,
                         AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(info.st_mode))
          open.push_back(Join(directory, entry->d_name));
        const auto file = files->find({info.st_dev, info.st_ino});
        if (file != files->end())
          file->second.names.insert(Join(directory, entry->d_name));
      }
    }
    closedir(list);
  }
  return complete;
}

}  // namespace

std::vector<std::string> Guard::RecordHomeLinks(const Profile& profile) {
  RecordHome(profile);
  constexpr int kMaxHops = 8;
  char buffer[PATH_MAX];
  std::vector<std::string> existing;
  for (const std::string& name : profile.sole_names) {
    struct stat info = {};
    if (!listings_.MayExist(name)) continue;
    const bool plain = StatPath(name, &info);
    if (!plain && errno == ENOENT) {
      listings_.NoteMissing(name);
      continue;
    }
    existing.push_back(name);
    if ((plain && !S_ISLNK(info.st_mode)) || RootOf(name) != nullptr) continue;
    if (realpath(name.c_str(), buffer) != nullptr) {
      ProtectPath(buffer);
      continue;
    }
    // It leads to what is not there: whoever makes that makes the file.
    std::string at = name;
    for (int hops = 0; hops < kMaxHops; ++hops) {
      const ssize_t size = readlink(at.c_str(), buffer, sizeof(buffer));
      if (size <= 0) break;
      at = Normalise(std::string_view(buffer, static_cast<size_t>(size)),
                     DirName(at));
    }
    if (at != name) ProtectPath(at);
  }
  return existing;
}

void Guard::RecordLinks(const std::vector<std::string>& sole_names) {
  Files files;
  for (const std::string& path : sole_names) {
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0 || !HasOtherNames(info) ||
        RootOf(path) != nullptr)
      continue;
    File& file = files[{info.st_dev, info.st_ino}];
    file.links = info.st_nlink;
    file.outside = true;
  }
  for (const std::string& base : bases_) LookHere(base, &files);
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
    if (root == "/")
      complete = false;
    else
      complete &= FindNames(root, &files, &budget);
  }
  for (const auto& [key, file] : files) {
    if (file.outside && !complete)
      refusal_ =
          "a protected file has another name, and whether that is in a "
          "writable place could not be found out";
    if (!file.outside && complete && file.names.size() >= file.links) continue;
    for (const std::string& name : file.names) ProtectPath(name);
  }
}

}  // namespace gate::backends
