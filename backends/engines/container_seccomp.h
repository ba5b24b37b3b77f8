// gate's filter on system calls as container engines take it: OCI JSON. The
// same refusals as backends/native/calls/seccomp.h, and what engines' own
// filters refuse beyond it; in place of theirs, which let set-user-id files be
// made.
#pragma once

#include "backends/native/calls/seccomp.h"
#include "base/json.h"

namespace gate::backends {

// With `own_kernel` (gVisor) only what leaves traces outside is refused: the
// other calls reach no kernel of this machine. Pure.
Json ContainerSeccomp(bool own_kernel, FilterRefuses refuses = {});

}  // namespace gate::backends
