// Signed commits and tags of a contained line: by which keys, and the agent
// outside that signs (credentials/signing_agent.h).
#pragma once

#include <optional>

#include "base/result.h"
#include "credentials/signing_agent.h"
#include "gateway/gateway.h"

namespace gate::app {

// What the line of `analysis`, which would run in the sandbox of
// `authorization`, signs with. Nothing is wanted unless the line itself runs a
// command of git that makes commits or tags and an option, the person's
// configuration of git or the repository's says that they are signed. The keys
// are those of the person's configuration, never the repository's, which
// contained commands write. For such a line some ten files are read.
credentials::SigningGrant FindSigning(Gateway& gateway,
                                      const Authorization& authorization,
                                      const parser::Analysis& analysis);

// The agent for the line of `authorization`, whose plan is changed so that
// ssh-keygen inside uses it, and whose `signing` is filled in. Nothing where
// the line has no key to sign with. kUnavailable and others with the reason
// when there should be an agent and is not.
Result<std::optional<credentials::SigningAgent>> OfferSigning(
    Gateway& gateway, Authorization* authorization);

}  // namespace gate::app
