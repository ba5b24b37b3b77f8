// Where a client's shell is to stand after a line that runs in a shell of
// gate's.
#pragma once

#include <cstdint>
#include <string>

#include "gateway/gateway.h"

namespace gate::app {

enum class WhenThere : uint8_t {
  kNever,      // where the line starts, or it cannot be told
  kAnyway,     // the line ends there, or goes there first of all
  kOnSuccess,  // a line that ends with 0 has gone there
};

struct DirectoryAfter {
  WhenThere when = WhenThere::kNever;
  std::string path;  // absolute; empty with kNever
};

// Reads the line of `authorization` and, for kAnyway, whether the directory is
// there now. A line that fails half way leaves the client where it was, except
// with kAnyway.
DirectoryAfter FindDirectoryAfter(const Authorization& authorization);

}  // namespace gate::app
