// git over ssh for a contained line: which repositories it may fetch from, and
// the broker outside that does so (credentials/ssh_broker.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/result.h"
#include "credentials/pinned_remotes.h"
#include "credentials/ssh_broker.h"
#include "gateway/gateway.h"

namespace gate::app {

// Notes the remotes of the repositories that the run of `profile` in
// `workspace` could change, for those that no contained run could change
// before: what a run writes there later is never among them. A repository that
// a run could change before its remotes were noted has none. To be called
// before the run; an error means that it must not start, since what it changes
// would look like what was there. One look at a file where all is noted.
Status NoteRemotes(const ProcessFacts& facts, const std::string& workspace,
                   const backends::Profile& profile);

// What was noted of `workspace` and added since. kNotFound when nothing is.
Result<credentials::PinnedRemotes> PinnedRemotesOf(
    const ProcessFacts& facts, const std::string& workspace);

// What PinnedRemotesOf says, or what the run of a line in `workspace` that
// began now would note.
credentials::PinnedRemotes WouldBePinned(const ProcessFacts& facts,
                                         const std::string& workspace);

// The rewrites of URLs that the person's and the system's configuration of git
// have, with all that it includes, whatever the condition; without files in the
// `writable` places.
credentials::PinnedRemotes PersonsRewrites(
    const ProcessFacts& facts, const std::vector<std::string>& writable);

// Adds `url`, as a person wants it; kInvalid when it is no plain ssh URL.
Status PinRemote(const ProcessFacts& facts, const std::string& workspace,
                 const std::string& url);

// Takes `url`, noted or added, out again. kNotFound when nothing is noted;
// kInvalid when a URL that stays is rewritten to it.
Status UnpinRemote(const ProcessFacts& facts, const std::string& workspace,
                   const std::string& url);

// The broker for the line of `authorization`, whose plan is changed so that git
// inside uses it. Nothing where the line does not run a command of git that
// fetches, has no network that leads out, or its backend shows no socket.
// kUnavailable and others with the reason when there should be one and is not:
// git inside then has no login, as without it.
Result<std::optional<credentials::SshBroker>> OfferGitTransport(
    Gateway& gateway, Authorization* authorization);

}  // namespace gate::app
