// Overlay mounts, made by the child in its own user namespace.
//
// Needs Linux 5.11 (overlays in user namespaces). `userxattr`: what marks
// deleted and replaced directories are attributes that an ordinary user may
// set. No redirects and no metadata-only copies, so that the upper directory
// alone says what changed. Async-signal-safe.
#pragma once

#include "backends/native/plan.h"

namespace gate::backends {

// Opens what the overlay of `op` is made of. With `first`, what cannot be
// opened is left for a second try. False with errno, ESTALE when the lower
// directory is not the one that the plan saw.
bool OpenOverlayParts(MountOp* op, bool first);

// A detached overlay mount of the opened parts, nosuid and nodev. -1 and
// errno.
int MakeOverlay(const MountOp& op);

// Whether this kernel makes overlays for this user, by making one.
bool TryOverlay();

}  // namespace gate::backends
