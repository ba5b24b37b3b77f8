// Ports of this machine that containers publish, as their engine tells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "services/listeners.h"
#include "services/port_facts.h"

namespace gate::services {

struct PublishedPort {
  uint16_t port = 0;      // of this machine
  uint16_t inner = 0;     // of the container; 0: not told
  std::string address;    // that it is published on; empty: all
  std::string container;  // its identity
  std::string name;       // for people
  bool operator==(const PublishedPort&) const = default;
};

// The TCP ports of an answer to `GET /containers/json` (docker's Engine API
// v1.40 and later, and podman's compatible one). kInvalid when it is not
// understood: then no port is a container's.
Result<std::vector<PublishedPort>> ParsePublished(const Json& answer);

// Whether an engine may listen there: who does is one of its programs, or
// root's and not seen.
bool MayBePublished(const Listener& listener, const PortFacts& facts);

// The one that `listener` listens for, by its address and its program; null
// where it is not known to.
const PublishedPort* PublishedBy(const Listener& listener,
                                 const std::vector<PublishedPort>& published,
                                 const PortFacts& facts);

}  // namespace gate::services
