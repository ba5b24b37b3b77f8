// The arguments of `gate run` and `gate sandbox`.
//
// One reader for the sub-command itself and for the hook, which must find out
// what a `gate run …` in an agent's line would run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/result.h"
#include "rules/profile.h"

namespace gate::app {

struct RunArguments {
  bool json = false;
  rules::ProfileKind profile = rules::ProfileKind::kUnsaid;
  std::optional<backends::Network> network;
  // With the network `domains`: host rules in normal form (net/host_list.h).
  std::optional<std::vector<std::string>> hosts;
  std::string backend, ticket, cwd, agent, session;
  std::string preview;  // "", "ask" or "auto"
  uint64_t timeout_ms = 0;
  std::string command;            // one shell line
  std::vector<std::string> argv;  // after `--`
  bool is_argv = false;
};

// `arguments` are those after the sub-command's name. kInvalid with a message
// for people otherwise: unknown options, no command, two commands. With a
// ticket there need be no command: it knows its own.
Result<RunArguments> ParseRunArguments(
    const std::vector<std::string>& arguments);

}  // namespace gate::app
