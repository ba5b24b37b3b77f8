// Tools of an agent that read, search or list files by themselves, out of any
// sandbox.
#pragma once

#include "gateway/gateway.h"
#include "hooks/adapter.h"

namespace gate::app {

// Judges what `event` (kFileRead) looks at as the policy judges the shell line
// that would show the same: `cat FILE`, `grep -r -e x -- DIRECTORY`,
// `ls -- DIRECTORY`. Paths count as they are written and where links lead to.
// The action is
//   allow  where that line would be allowed, or contained for another reason
//          than a secret: nothing is to be said;
//   ask    where it would be asked; also where the sandbox would have hidden
//          secrets from it, since nothing hides them from the tool;
//   deny   where it would be denied, and in gate's own directories.
// Rules of the person's about programs (`cat`) say nothing about a tool; their
// rules about what is read do. `question` says who asks and where. The
// authorization's question holds the line, with the tool's name as its comment.
// Records nothing. Costs what a decision on that line costs.
Authorization JudgeReads(Gateway& gateway, const hooks::Event& event,
                         const Request& request);

}  // namespace gate::app
