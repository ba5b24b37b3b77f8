// Private copies of what a profile lends to be written (Lent::copy): the caches
// of a program's tokens, which it renews as it runs.
//
// A copy lies below `state_dir`, where no sandbox reaches it by its own name,
// and goes with the run. What gate left there when it was killed goes with the
// next run that lends something.
#pragma once

#include <string>

#include "backends/backend.h"
#include "base/file.h"
#include "base/result.h"

namespace gate::backends {

// What is copied of one directory: plain files and directories, those nearest
// to the top first. A file that is larger, and what comes after the others, is
// left out: it is a cache, and its program does without.
inline constexpr size_t kMaxLentFiles = 1024;
inline constexpr size_t kMaxLentBytes = size_t{16} << 20;
inline constexpr size_t kMaxLentFileBytes = size_t{4} << 20;
inline constexpr int kMaxLentDepth = 8;

// Removes the copies when it goes.
class LentCopies {
 public:
  LentCopies() = default;
  LentCopies(LentCopies&& other) noexcept;
  LentCopies(const LentCopies&) = delete;  // owns a directory
  LentCopies& operator=(const LentCopies&) = delete;
  ~LentCopies();

 private:
  friend Result<LentCopies> StageCopies(Profile* profile);
  std::string path_;
  Fd lock_;  // held while the copies are in use
};

// Makes the copies that `profile` lends and writes into it where they are. No
// symbolic link is followed or copied, and where another of `lend` is mounted
// below a copy, an empty file or directory stands for it. Does nothing where
// nothing is lent as a copy. kIo, kPermission when a copy cannot be made:
// nothing may run then.
Result<LentCopies> StageCopies(Profile* profile);

}  // namespace gate::backends
