// Compiled policies kept between processes.
//
// Compiling ten thousand rules takes 25 ms, an answer may take two. So what
// was compiled is kept in a file beside an index that names every source by
// its identity: device, inode, size, owner, mode and both times in
// nanoseconds. Content is not hashed again, since that costs more than the
// whole answer; a source that changed within two seconds of being read is not
// relied on, because a file system's clock may be that coarse. The index ends
// in a MAC with a key of gate's state, and names the identity of the file with
// the rules, too: whoever can forge these can change gate's state anyway.
#pragma once

#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "rules/policy.h"

namespace gate::rules {

struct PolicyCache {
  std::string directory;  // absolute; made with mode 0700 by KeepPolicy
  Hash key = {};          // secret, of gate's state
  // What else the compiled form depends on: which gate this is.
  std::string program;
};

// How many policies KeepPolicy leaves in the directory.
inline constexpr size_t kKeptPolicies = 8;

// Whether there is anything beside the shipped policy: without, nothing is
// compiled and nothing to keep. Three calls of lstat.
bool HasFiles(const PolicySources& sources);

// As LoadPolicy(sources), from the cache when what it has is of these
// very sources. Thread-safe. Maps the file: about 0.1 ms for 10,000 rules.
Policy LoadPolicy(const PolicySources& sources, const PolicyCache& cache);

// Whether KeepPolicy could do anything: `policy` was compiled from files and
// all of them loaded.
bool WorthKeeping(const Policy& policy);

// Keeps what LoadPolicy(sources, cache) has compiled. OK without doing
// anything when it came from the cache or from no files, when some of it did
// not load, or when a source has changed since or less than two seconds before
// `now_ns` (UTC): a later process keeps it then. kIo, kPermission when it
// cannot be written. Waits for the disk: call it after answering.
Status KeepPolicy(const PolicySources& sources, const PolicyCache& cache,
                  const Policy& policy, uint64_t now_ns);

}  // namespace gate::rules
