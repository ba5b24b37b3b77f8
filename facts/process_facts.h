// What gate reads of its own process, once, at start: places, user, PATH,
// clock. Everything below cli/ gets these as values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/result.h"
#include "clients/clients.h"
#include "parser/analysis.h"
#include "router/relocated_dirs.h"

namespace gate::app {

// --config-dir and --state-dir, which win over the environment.
struct GlobalOptions {
  std::string config_dir;
  std::string state_dir;
  bool verbose = false;
};

struct ProcessFacts {
  Places places;
  uid_t uid = 0;
  std::string user;
  std::string home;
  std::string path;      // PATH
  std::string shell;     // SHELL
  std::string cwd;       // of the process, without links; empty when it is gone
  dev_t cwd_device = 0;  // of the directory itself
  ino_t cwd_inode = 0;
  // Where variables of clients put their directories, where they are absolute:
  // what is the person's own is there instead of below the home.
  clients::MovedDirectories client_dirs;
  std::string executable;                // /proc/self/exe: this very binary
  std::vector<std::string> environment;  // NAME=VALUE
  std::vector<router::RelocatedDir> relocated_dirs;  // by the environment
};

ProcessFacts ReadProcessFacts(const GlobalOptions& options);

// The directory a command is to run in: `given` (--cwd) when there is one, else
// that of the process. Empty when it is not known.
std::string DirectoryFor(const ProcessFacts& facts, const std::string& given);

// kNotFound or kInvalid, with a message for people, when `given` (--cwd) is no
// directory. Nothing is said where DirectoryFor knows none.
Status CheckDirectory(const ProcessFacts& facts, const std::string& given);

// The name without links of the directory `id` that `cwd` led to; empty when it
// leads elsewhere by now.
std::string RealDirectory(const std::string& cwd, const DirectoryId& id);
// That name and what it stands for, as one text: what a person's yes, or a
// ticket, is bound to. Empty, which fits nothing, when RealDirectory is.
std::string BoundPlace(const std::string& cwd, const DirectoryId& id);

// Device, inode, size and time of change of `path`, links followed, as text;
// "-" when there is none.
std::string FileIdentity(const std::string& path);

// The parser's context for a command that runs in `cwd`.
parser::Context MakeContext(const ProcessFacts& facts, const std::string& cwd);

inline uint64_t NowNs() { return ClockNs(CLOCK_REALTIME); }  // UTC
inline uint64_t NowMs() { return NowNs() / 1000000; }

// True when `path` is the same file as this very binary.
bool IsThisBinary(const ProcessFacts& facts, const std::string& path);

}  // namespace gate::app
