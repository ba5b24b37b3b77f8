// Where data came from: what was fetched, what was decoded, which files it is
// the content of. Internal to the evaluator.
//
// Files that a program writes hold what it read, its standard input, and what
// came from a host that it connects to. This is kept by path, or by the way the
// word is written (`$(mktemp)`). So a download that is run, also after mv,
// gunzip or tar -x, is a flow from the network to code, and a secret that is
// packed and then sent is a flow to the network. Files that a build tool takes
// by itself from an unpacked directory are no flow.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "parser/analysis.h"

namespace gate::parser {

// By invocation, and file.
struct Origin {
  std::vector<uint32_t> network;
  std::vector<uint32_t> decoded;
  std::vector<std::pair<uint32_t, Argument>> files;
  bool empty() const {
    return network.empty() && decoded.empty() && files.empty();
  }
  void Add(const Origin& other);
  friend bool operator==(const Origin&, const Origin&) = default;
};

// What a program of the line put at a path.
struct Provenance {
  Origin origin;
  bool below = false;    // a directory: files in it, by names not known
  bool pattern = false;  // the path is a pattern
  friend bool operator==(const Provenance&, const Provenance&) = default;
};

}  // namespace gate::parser
