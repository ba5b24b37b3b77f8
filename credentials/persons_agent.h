// The ssh agent that has the person's key: their own, or one that is started
// for a key in a file without a passphrase.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "credentials/signing_agent.h"

namespace gate::credentials {

class PersonsAgent {
 public:
  // Every wait ends when `leash` is readable. `own_socket`: where the socket of
  // an agent of its own may stand.
  PersonsAgent(const SigningSetup& setup, int leash, std::string own_socket);
  PersonsAgent(const PersonsAgent&) = delete;  // owns a process
  PersonsAgent& operator=(const PersonsAgent&) = delete;
  ~PersonsAgent();

  // Whether an agent has the key, which is looked for anew until it is found,
  // some times.
  // kUnavailable with the reason, and what a person can do.
  Status Find(const SigningKey& key);

  // The signature of `request`, whose key was found. kUnavailable when the
  // agent refuses, is gone, or takes longer than kAgentPatienceMs; kInvalid
  // when it answers something else.
  Result<std::string> Sign(const SignRequest& request);

 private:
  Result<std::string> Ask(const std::string& socket, const std::string& message,
                          int patience_ms);
  bool Has(const std::string& socket, const PublicKey& key);
  bool WaitFor(int fd, short events, uint64_t deadline);
  Status Load(const SigningKey& key);
  bool StartAgent();

  const SigningSetup& setup_;
  int leash_;
  std::string own_socket_;
  std::vector<std::pair<std::string, std::string>> found_;  // blob, socket
  pid_t agent_ = -1;
  size_t verification_cache_ = 0;
};

}  // namespace gate::credentials
