// The loop of the broker: connections from inside, and an ssh for each.
#pragma once

#include <vector>

#include "credentials/ssh_broker.h"

namespace gate::credentials {

// Serves what connects to `listener` until `leash` ends, then ends every ssh
// that still runs. Returns what was asked and what became of it, in order.
// Never throws for what the other sides send: what is no request is refused,
// what is no frame ends its connection.
std::vector<Transport> ServeSessions(const BrokerSetup& setup, int listener,
                                     int leash);

}  // namespace gate::credentials
