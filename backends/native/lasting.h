// What the native backend hands over when a command ends before its run.
#pragma once

#include <cstdint>
#include <memory>

#include "backends/file_count.h"
#include "backends/lasting.h"
#include "backends/native/mount_placeholders.h"
#include "backends/native/process_one.h"
#include "backends/protected_paths.h"

namespace gate::backends {

struct NativeRest {
  ProcessOne one;
  ProtectedPaths protected_paths;
  std::unique_ptr<FileCount> files;
  std::unique_ptr<MountPlaceholders> places;
  uint64_t begin_ms = 0;  // MonotonicMs at the start
  uint64_t wall_ms = 0;   // of the run; 0: no limit
};

// Process 1 has said that something goes on (InitReport::stays).
std::unique_ptr<LastingRun> MakeNativeLasting(NativeRest rest);

}  // namespace gate::backends
