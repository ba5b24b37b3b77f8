// One run's control groups: the kernel itself counts and bounds what all its
// processes use, dead ones included, and says which limit was met.
//
// They are made only where a run has a limit of its memory, its processes or
// its processor time, by whatever means work here, tried in this order:
//
//   version 2   below the group of this process, or the nearest group above it
//               that is this user's to divide (delegated) and hands the
//               controller down. Process 1 is born in it.
//   version 1   a child of this process's own group of each controller, for
//               root. Process 1 enters it by itself, before anything else.
//
// What no group holds is for TreeAccount, as before. No group of somebody
// else's is changed, and none is left for one with fewer bounds: a level that
// lies between hands its bound on processes on, and any other bound there rules
// the group out.
//
// The name cannot be guessed, and the directory is locked for as long as gate
// lives. A watchdog process removes it when gate is killed; where that was
// killed too, the next run removes what nobody holds a lock on.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/native/account.h"
#include "backends/process/supervise.h"
#include "base/file.h"

namespace gate::backends {

// Directories of the groups that this process is in; empty where there is
// none, or none that can be seen from here.
struct CgroupPlaces {
  std::string memory, pids, cpuacct;  // version 1
  std::string unified;                // version 2
  std::string unified_mount;          // `unified` is this or below it
};

// From the texts of /proc/self/mountinfo and /proc/self/cgroup. Pure.
CgroupPlaces ParseCgroupPlaces(std::string_view mountinfo,
                               std::string_view own);

// Where in version 2 a group can be made, and which bound on processes it
// inherits (0: none) by standing beside the own one.
struct UnifiedParent {
  std::string directory;  // empty: nowhere
  uint64_t processes = 0;
};
UnifiedParent ChooseUnifiedParent(const CgroupPlaces& places, bool memory,
                                  bool pids);

// The number after "NAME " at the start of a line of `text`; 0 when absent.
uint64_t KeyedNumber(std::string_view text, std::string_view name);

class Cgroup {
 public:
  using MakeDirectory = std::function<int(const char* path, mode_t mode)>;

  Cgroup() = default;  // holds nothing
  // Never fails: what cannot be held is not in held().
  static Cgroup Make(const TreeLimits& wanted, const CgroupPlaces& places,
                     const MakeDirectory& make = {});
  // Makes one below the control group of this process. Reads nothing when no
  // limit is asked.
  static Cgroup MakeHere(const TreeLimits& wanted);
  Cgroup(Cgroup&&) = default;
  Cgroup& operator=(Cgroup&&) = delete;  // would forget one unremoved
  ~Cgroup();  // removes them, if nothing runs in them any more

  // The limits that the kernel keeps: at most what was wanted.
  const TreeLimits& held() const { return held_; }
  bool Any() const { return !groups_.empty(); }
  // For CLONE_INTO_CGROUP; -1: none.
  int unified() const { return unified_; }
  // Files into each of which process 1 writes "0".
  struct EntryFiles {
    int file[3] = {-1, -1, -1};
    int count = 0;
  };
  EntryFiles entry_files() const;

  // In one of two processes that hold them since a fork: the other keeps them.
  void Leave();

  // Adds itself to `watch`, whose `kill` is called when a limit is met.
  void Join(Watch* watch);
  // Which limit was met up to now. What cannot be read any more is met.
  TreeLimit Exceeded() const;
  // Milliseconds until Exceeded must be asked again though no notice came; -1:
  // never.
  int Wait() const;

 private:
  struct Group {
    std::string parent, path;
    Fd directory;   // locked
    Fd entry_file;  // version 1
  };
  struct CleanupWatchdog {
    CleanupWatchdog() = default;
    CleanupWatchdog(CleanupWatchdog&&) = default;
    CleanupWatchdog& operator=(CleanupWatchdog&&) = default;
    ~CleanupWatchdog();
    Fd leash, reader, pidfd;
  };

  // Removes the groups when this process is killed. Most commands end before
  // it is worth its cost.
  void StartCleanupWatchdog();
  bool Add(const std::string& parent, bool version2, const MakeDirectory& make);
  void HoldUnified(const TreeLimits& wanted, const UnifiedParent& parent,
                   const MakeDirectory& make);
  void HoldMemory(uint64_t bytes, const std::string& parent,
                  const MakeDirectory& make);
  void HoldProcesses(uint64_t processes);
  void DropLast();
  TreeLimit MemoryExceeded() const;

  TreeLimits held_;
  std::vector<Group> groups_;
  int unified_ = -1;
  bool memory2_ = false, pids2_ = false, cpu2_ = false;
  Fd memory_, pids_, pids_peak_, cpu_;  // what tells of each
  int memory1_ = -1;  // the group of version 1 that holds the memory
  CleanupWatchdog watchdog_;
  std::function<void()> kill_;
  bool guarded_ = false;
  uint64_t joined_ms_ = 0;
};

}  // namespace gate::backends
