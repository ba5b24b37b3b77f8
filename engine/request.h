// What is asked of gate: one command and its circumstances.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "clients/clients.h"
#include "parser/analysis.h"

namespace gate::engine {

// What engine::Evaluate may depend on besides the Analysis and the Policy.
// Facts that the agent controls are marked (*): a rule that loosens may not
// stand on them.
struct Request {
  std::string command;            // (*) the line, or empty for an argv
  std::vector<std::string> argv;  // (*) the vector, or empty for a line
  std::string cwd;                // (*) absolute
  std::string agent;              // (*) the client; empty: unknown
  std::string session;            // (*)
  std::string branch;             // (*) of the repository at cwd; may be empty
  bool branch_known = true;       // false: the line may act on any branch
  std::string workspace;          // pinned for the session; empty: none
  std::string home;               // of the real user
  std::string config_dir;         // gate's own places, absolute
  std::string state_dir;
  std::string cache_dir;
  // Instead of the clients' directories below the home.
  clients::MovedDirectories client_dirs;
  std::string binary;  // gate's own, absolute; may be empty
  // Paths that are of the class `secret` too, with what lies below; absolute.
  // The caller's.
  std::span<const std::string> secrets;
  bool interactive = false;  // a person can be asked
  // Every name of the line that may stand for a part of this machine (a
  // volume, a network of a container) was looked at, and stands for none.
  bool inspected = false;
  uint64_t now_ms = 0;          // UTC, for rules with `since` and `expires`
  bool try_every_rule = false;  // without the index; for tests
};

}  // namespace gate::engine
