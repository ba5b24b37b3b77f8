// The process outside that uses the person's ssh login for git of one contained
// run, which itself has neither keys nor agent.
//
//   git -> stub (ssh_stub.h) -> socket of this run -> broker -> ssh -> machine
//
// It starts `ssh` for the targets that it was given and nothing else, whatever
// is asked of it, and passes the streams. It opens no file of the workspace and
// runs no git. It ends, with everything it started, when its owner does.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "credentials/outside_socket.h"
#include "credentials/push_guard.h"
#include "credentials/ssh_target.h"

namespace gate::credentials {

// Transports of one run. What comes beyond is refused.
inline constexpr size_t kMaxTransports = 64;
// At the same time; others wait.
inline constexpr size_t kMaxConnections = 8;

struct BrokerSetup {
  std::string directory;      // gate's own, closed to sandboxes: for the socket
  std::set<SshTarget> fetch;  // where git may fetch from
  std::set<SshTarget> push;   // where it may push to
  PushScope scope;            // and what (push_guard.h)
  std::string program;        // ssh, absolute; empty: there is none
  std::vector<std::string> environment;  // of ssh, NAME=VALUE
};

// Stands for the service of a transport of which nothing is known: the broker
// was killed, or its report cannot be read.
inline constexpr const char* kUnknownService = "unknown";

// One time that git inside asked for ssh.
struct Transport {
  std::string service;    // "git-upload-pack"; empty: not understood
  std::string target;     // as Describe writes it
  std::string refused;    // why; empty: ssh was started
  bool unpinned = false;  // refused because the target is not among the given
  std::string pushed;     // what it changes there, in short; of a push that
                          // was passed on
  int exit_code = -1;     // of ssh; -1: it was ended
  uint64_t sent = 0, received = 0;  // bytes to and from the other machine
};

class SshBroker {
 public:
  // As OutsideSocket::Start, below `setup.directory`.
  static Result<SshBroker> Start(const BrokerSetup& setup);

  const std::string& socket() const { return outside_.path(); }

  // Ends the process and what it started, and says what it did. Once; later
  // calls return nothing. Where that cannot be read the last entry says so: its
  // service is kUnknownService, and what it did is nobody's guess.
  std::vector<Transport> Finish();

 private:
  explicit SshBroker(OutsideSocket outside) : outside_(std::move(outside)) {}
  OutsideSocket outside_;
};

}  // namespace gate::credentials
