// The adapters there are: one for each NAME.cc in this folder whose name has no
// underscore, listed when the build is configured. Internal to hooks/; use
// FindAdapter.
#pragma once

#include <span>

#include "hooks/adapter.h"

namespace gate::hooks {

// In the order of their names.
std::span<const Adapter* (*const)()> AllAdapters();

}  // namespace gate::hooks
