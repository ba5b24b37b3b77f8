// How the search of the workspace goes on; for protected_walk.cc and
// protected_tree.cc.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "backends/protect/tree_index.h"
#include "backends/protected_paths.h"
#include "base/file.h"

namespace gate::backends {

int64_t NowNs();  // monotonic

struct ProtectedPaths::Walk {
  struct Step {
    std::string path;
    Own own = Own::kNo;                 // what the repository is that it is in
    bool store = false;                 // where git keeps what it writes itself
    uint32_t known = TreeIndex::kNone;  // in `old`
    uint32_t entry = TreeIndex::kNone;  // in `next`
  };
  TreeIndex old, next;
  std::string root;  // the workspace, or what was made beside it
  Fd top;            // the same
  // Directories that the last search knew, others, and what git keeps, which is
  // much and seldom anything else.
  std::deque<Step> known, others, stores;
  size_t seen = 0;
  bool changed = false;  // `next` says something else than `old`
  int64_t deadline = 0, last = 0;
  std::string end;  // which limit was met
};

// What a directory was found to hold.
struct ProtectedPaths::Listed {
  bool opened = false;
  bool named = false;              // what a search must look at again
  Own own = Own::kNo;              // of what is below
  std::vector<std::string> below;  // directories, but git's
};

}  // namespace gate::backends
