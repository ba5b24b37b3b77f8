// The network by name of a contained line: the filter by which it reaches the
// hosts of its plan (net/network_filter.h), and what is told of it.
#pragma once

#include <optional>

#include "backends/backend.h"
#include "base/result.h"
#include "gateway/gateway.h"
#include "net/network_filter.h"

namespace gate::app {

// The filter for the plan of `authorization`, where its network is limited to
// hosts and its backend can be given one; sets the variables by which programs
// find it. Beyond it stands the person's own proxy, where their environment
// names one (https_proxy, HTTPS_PROXY, then those of http). Nothing for any
// other network. An error where there should be a filter and is none: then
// nothing may start. Returns before the filter is ready.
Result<std::optional<net::NetworkFilter>> OfferNamedHosts(
    Gateway& gateway, Authorization* authorization);

// Whom `backends` and `net` call the same.
net::ListenerKind KindOf(backends::FilterSocket socket);

// Tells the line whom it did not reach and why, once each, and what to do
// instead.
void TellUnreached(const net::FilterReport& report, backends::Outcome* outcome);

}  // namespace gate::app
