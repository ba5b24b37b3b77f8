// Whose network a contained line shares (backends/session_network.h).
#pragma once

#include <string>

#include "gateway/gateway.h"

namespace gate::app {

// The session of a planned line: its client's, in one workspace. Nothing for a
// line without a session, and for one that has more than the others: another
// network than its own loopback, credentials, a preview. A session that a
// client's hook named is never one that somebody named as an argument, whatever
// the name, so that no line chooses its neighbours.
backends::SessionNetwork SessionNetworkOf(const ProcessFacts& facts,
                                          const Authorization& authorization);

// The directory of their sockets.
std::string SessionNetworksDir(const ProcessFacts& facts);

}  // namespace gate::app
