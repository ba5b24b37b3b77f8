// The adapters there are. Internal to hooks/; use FindAdapter.
#pragma once

#include "hooks/adapter.h"

namespace gate::hooks {

const Adapter* Claude();
const Adapter* Codex();
const Adapter* Generic();

}  // namespace gate::hooks
