// Inside rules/: which bytes stood in a file or directory, as far as that can
// be told without reading them.
#pragma once

#include <cstdint>
#include <string>

namespace gate::rules {

// As lstat says. All zero: there is nothing of that name.
struct SourceIdentity {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified_ns = 0, changed_ns = 0;
  uint32_t owner = 0, group = 0, mode = 0, links = 0;

  bool operator==(const SourceIdentity&) const = default;
  bool exists() const { return inode != 0; }
};

SourceIdentity IdentityOf(const std::string& path);

struct Source {
  std::string path;
  SourceIdentity identity;  // before it was read
};

}  // namespace gate::rules
