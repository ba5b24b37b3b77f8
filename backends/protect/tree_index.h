// What the directories of a workspace held when they were last searched, so
// that a search after a run looks again only into those that changed.
//
// An entry answers for a directory as long as device, inode and time of change
// are what they were: every name that is made, removed or renamed in a
// directory changes that time, which no process without CAP_SYS_TIME can set
// back. A time so young that another change could have fallen into the same
// tick is not kept, nor are directories of file systems that take their times
// from another machine or list what they like.
//
// The file lies in gate's state directory, where no run can write. One that is
// cut short, or was written for other names, is as good as none: then
// everything is listed again.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate::backends {

class TreeIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kTop = 0;

  // `key`: what the entries depend on besides the directories; another one
  // makes an empty index. Never fails: damage is emptiness.
  static TreeIndex Load(const std::string& path, std::string_view key);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }

  // Whether `entry` still tells what the directory that is `info` by now holds.
  bool Answers(uint32_t entry, const struct stat& info) const;
  // Whether it holds a name that a search must look at.
  bool IsNamed(uint32_t entry) const;
  uint32_t first(uint32_t entry) const { return entries_[entry].first; }
  uint32_t count(uint32_t entry) const { return entries_[entry].count; }
  std::string_view NameOf(uint32_t entry) const;
  // The directory `name` in `entry`; kNone: there was none.
  uint32_t Find(uint32_t entry, std::string_view name) const;

  // Building. Begin makes kTop. SetChildren takes sorted names, once for each
  // entry, and returns the entry of the first. Fill says what a directory was
  // before it was listed; without it the entry answers for nothing.
  void Begin();
  uint32_t SetChildren(uint32_t entry, const std::vector<std::string>& names);
  void Fill(uint32_t entry, const struct stat& info, bool named);
  // Copies what `other` says of one of its entries, children excepted.
  void FillFrom(uint32_t entry, const TreeIndex& other, uint32_t its);

  // Replaces the file at `path`, and removes those beside it that nobody has
  // written for kKeptDays.
  Status Save(const std::string& path, std::string_view key) const;
  static constexpr int kKeptDays = 30;

 private:
  struct Entry {
    uint64_t device = 0, inode = 0;  // inode 0: answers for nothing
    int64_t changed_s = 0;
    uint32_t changed_ns = 0, named = 0;
    uint32_t name_at = 0, name_size = 0;
    uint32_t first = 0, count = 0;
  };

  std::vector<Entry> entries_;
  std::string names_;
  timespec settled_ = {};  // while building: what is younger is not kept
  std::map<dev_t, bool> trusted_;  // file systems, while building
};

// Whether the file system of `directory` lists all it has and stamps it by this
// machine's clock.
bool StampsHere(const std::string& directory);

}  // namespace gate::backends
