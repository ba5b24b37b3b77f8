// The limit of the files that a run makes, kept from outside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/process/supervise.h"
#include "base/file.h"

namespace gate::backends {

// How often the file systems are asked.
inline constexpr int kFileCountMs = 250;

// How many files more there are on the file systems that a run may write than
// at the start, whoever made them, where Limits::files says so. Each is asked
// once a look (fstatfs), however many roots lie on it. What a sandbox mounts
// for itself is not among them.
class FileCount {
 public:
  // Counts what is there: made before anything of the run starts. A place that
  // cannot be opened or counts nothing is left out (NameUncounted).
  explicit FileCount(const Profile& profile);
  FileCount(const FileCount&) = delete;  // `Join` hands out its address
  FileCount& operator=(const FileCount&) = delete;

  // Looks while `watch` lasts, and calls its `kill` once when a file system has
  // gained more than the limit.
  void Join(Watch* watch);
  // Looks a last time: a run may be over before the next look. Above the limit
  // the outcome is that, unless nothing was started.
  void Judge(Outcome* outcome);

 private:
  struct Place {
    Fd fd;
    uint64_t used = 0;  // at the start
  };
  void Look();

  uint64_t limit_ = 0;
  bool exceeded_ = false;
  uint64_t looked_ms_ = 0;
  std::vector<Place> places_;
};

// Adds a line to `lost` for each writable place of `profile` whose file system
// keeps no number of files (btrfs, some network file systems), so that
// Limits::files says nothing of it. None where there is no such limit.
void NameUncounted(const Profile& profile, std::vector<std::string>* lost);

}  // namespace gate::backends
