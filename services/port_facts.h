// What is known of ports and of the programs that ask them:
// rules.d/services/ports.json, which is part of the binary.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate::services {

// A program that asks a port of a machine (docs/local-services.md).
struct Client {
  uint16_t port = 0;  // where nothing else is said; 0: it has to be said
  std::vector<std::string> ports,
      hosts;  // options that take the one, the other
  std::string host_variable, port_variable;  // of the environment; empty: none
  bool local = false;    // it asks this machine where no host is said
  bool operand = false;  // the port is the word behind the host
};

// A port behind which there is more than data.
struct ClosedPort {
  uint16_t first = 0, last = 0;
  std::string what;  // "a container engine"
  std::string then;  // "can start containers with the rights of root"
};

struct PortFacts {
  std::map<std::string, uint16_t, std::less<>> schemes;  // of URLs
  std::map<std::string, Client, std::less<>> clients;    // by base name
  std::vector<ClosedPort> closed;
  std::vector<std::string> proxies;  // that listen for containers, base names
};

// The facts that are shipped, read when first asked for: some 100 us.
const PortFacts& Facts();

// Whether the shipped facts have `word` as one of their words: true for every
// client. Reads their text as it stands.
bool IsNamedInFacts(std::string_view word);

// kInvalid with what is wrong: an unknown member, a port that is none, a
// program twice.
Result<PortFacts> ReadPortFacts(std::string_view json);

// Null: nothing is known against `port`.
const ClosedPort* FindClosed(const PortFacts& facts, uint16_t port);

// A whole number from 1 to 65535 without sign or leading zero; 0 for any other
// text.
uint16_t PortOf(std::string_view text);

}  // namespace gate::services
