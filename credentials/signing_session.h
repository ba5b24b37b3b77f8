// The loop of the signing agent: connections from inside, each answered in its
// turn.
#pragma once

#include <string>

#include "credentials/signing_agent.h"

namespace gate::credentials {

// Serves what connects to `listener` until `leash` ends. `own_agent` is where
// the socket of an agent with the person's key from a file may stand; that
// agent has ended on return. Never throws for what the other sides send: what
// is no request of git's is refused, what is no message ends its connection.
SigningReport ServeSigning(const SigningSetup& setup, int listener, int leash,
                           const std::string& own_agent);

}  // namespace gate::credentials
