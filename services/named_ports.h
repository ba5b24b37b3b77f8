// Which ports of this machine's loopback a line names.
#pragma once

#include <cstdint>
#include <vector>

#include "parser/analysis.h"
#include "services/port_facts.h"

namespace gate::services {

// More ports than this of one line are not looked at.
inline constexpr size_t kMaxNamedPorts = 8;

// The TCP ports of 127.0.0.1 and ::1 that the line's own commands ask, each
// once, in order: by address (`curl localhost:3000`), by options and defaults
// of clients (`psql -h localhost`), or by what the line sets in the environment
// (`DATABASE_URL=postgres://localhost/x npm test`). Empty for a line that
// listens itself: what it asks is its own. What a program finds out by itself
// (a settings file) is not among them. Pure, linear.
std::vector<uint16_t> NamedPorts(const parser::Analysis& analysis,
                                 const PortFacts& facts);

// False where NamedPorts names none for certain, without reading the shipped
// facts: a microsecond a command. Most lines end here.
bool MayNamePorts(const parser::Analysis& analysis);

}  // namespace gate::services
