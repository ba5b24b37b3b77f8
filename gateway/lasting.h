// Lines whose background processes outlive them (backends/lasting.h).
#pragma once

#include <memory>
#include <vector>

#include "backends/lasting.h"
#include "gateway/gateway.h"

namespace gate::app {

// What becomes of what a line leaves in the background. Who runs one says so.
enum class Leftovers : unsigned char { kEnd, kLast };

// Whether what `authorization` leaves may go on: not where it could use more
// than the line's own files later, with no line to show for it. Those are
// services of this machine, lent credentials, the person's ssh login
// (`transport`) and signature, places that a yes opened, and profiles that
// write everywhere. With a network that leads out only what the line's own
// words send to the background goes on (`npm run dev &`): a build tool's
// daemon, which listens on the host's loopback there, would be found by builds
// of other workspaces.
bool MayLast(const Authorization& authorization, bool transport);

// Forks the supervisor of `left`, which stays until the run has ended and
// records
// `*outcome` with what came after it. What the line came to is on record before
// this returns, as a note. Where any of that fails, the run is ended, and
// `*outcome`, no longer `lasts`, is the caller's to record. Opens and closes
// the log.
void KeepLasting(Gateway& gateway, const Authorization& authorization,
                 std::unique_ptr<backends::LastingRun> left,
                 backends::Outcome* outcome);

// Before a line runs raw: looks at what runs that go on may have changed, puts
// it back, records it under their ids and adds it to `found`; likewise for
// those whose keepers were killed. An error: that cannot be told or recorded,
// and nothing runs raw. One directory is read where no run goes on; else some
// milliseconds for each workspace. Closes the log.
Status LookAtLastingRuns(Gateway& gateway,
                         std::vector<backends::Violation>* found);

// Finishes the runs whose keepers were killed: what they left is looked at, and
// their outcomes are recorded. Where that fails, the next one tries again.
// Closes the log.
void FinishLastingRuns(Gateway& gateway,
                       std::vector<backends::Violation>* found);

}  // namespace gate::app
