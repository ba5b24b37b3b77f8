// What stands in the way of a mount below a private place.
//
// A workspace in /tmp is shown in the run's private /tmp, where the directories
// above it are ordinary ones that every run of the session may rename, replace
// by a file or a link, or close. Native puts such things aside while it makes
// the mounts; bwrap cannot, so that one run would keep all later ones from
// starting.
#pragma once

#include "backends/view/view.h"

namespace gate::backends {

// For each mount of `view` that is made below a place kept on the host: what is
// no directory (at the end: no file, where one is shown) is renamed to
// `.in-the-way-SECONDS-NANOSECONDS` beside it, and directories are opened to
// their owner. No link is followed. What cannot be done is left to the backend,
// which then does not start.
void ClearPrivateWays(const View& view);

}  // namespace gate::backends
