// The names in a directory, to save looking each one up.
#pragma once

#include <dirent.h>

#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gate::backends {

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// For readdir; no link on the way is followed. Empty with the errno of OpenPath
// (quarantine.h).
Directory OpenDirectory(const std::string& path);

// The names in `directory` but "." and "..", sorted; no more than `most` and
// one. Empty when it cannot be opened, which `opened` tells.
std::vector<std::string> NamesIn(const std::string& directory,
                                 size_t most = SIZE_MAX,
                                 bool* opened = nullptr);

// The symbolic links in `directory` and below it, breadth first: of the first
// 256 entries of at most 16 directories.
std::vector<std::string> LinksBelow(const std::string& directory);

// Says of a name that it is not there without asking the kernel again. Where
// that is not certain (too many entries, names that a file system may take for
// others, a file system that need not list all it has), every name may be
// there.
class Listing {
 public:
  // Keeps the names of the first `files` that may be regular files.
  static Listing Of(const std::string& directory, size_t files = 0);

  // False: neither `path` (below the directory) nor its first component exists
  // in any spelling. True says nothing.
  bool MayHold(std::string_view path) const;
  // False: no socket is directly in it.
  bool may_hold_sockets() const { return sockets_; }
  const std::vector<std::string>& files() const { return files_; }

 private:
  void Add(std::string_view name);

  bool certain_ = false, sockets_ = true;
  std::bitset<4096> hashes_;
  std::vector<std::string> files_;
};

// NegativeEntryCache of many directories: one in which several paths were
// missing is listed, and answers for the rest. A snapshot, for one plan.
class NegativeEntryCache {
 public:
  // False: nothing is at `path` (absolute and normal), in any spelling. True
  // says nothing.
  bool MayExist(std::string_view path) const;

  // That the kernel found nothing at `path`. The kMissesToList-th in one
  // directory lists it: some seven system calls in place of one for each name.
  void NoteMissing(std::string_view path);

  static constexpr int kMissesToList = 4;
  static constexpr size_t kMaxDirectories = 16;

 private:
  struct Place {
    std::string directory;
    int missing = 0;
    std::optional<Listing> listing;
  };
  std::vector<Place> places_;
};

}  // namespace gate::backends
