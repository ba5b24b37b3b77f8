// Opening what lies below a directory by no link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"

namespace gate::app {

// `name` below `directory`, by no link and no `..`; no descriptor where that is
// not so. `flags`: of open(2).
Fd OpenBelow(int directory, const std::string& name, uint64_t flags);

// The entries of a directory but for itself and its parent, at most `most` of
// them in no order; false when it cannot be read.
bool EntriesOf(int directory, size_t most, std::vector<std::string>* names);

}  // namespace gate::app
