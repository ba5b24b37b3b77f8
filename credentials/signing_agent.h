// An ssh agent of one contained run that only signs for git.
//
//   git -> ssh-keygen -Y sign -> socket of this run -> here -> person's agent
//
// The run has no key. It learns the public keys that the person's configuration
// of git signs with, and gets signatures by them of what `ssh-keygen -Y sign -n
// git` signs, and nothing else: no login, no other namespace, no other key
// (credentials/agent_wire.h). For a person who signs with gpg:
//
//   git -> gpg_stub.h -> socket of this run -> here -> gpg (openpgp_signer.h)
//
// What is signed comes whole, and is a commit or a tag, or it is refused.
// Everything that is asked is reported. The process opens no file of the
// workspace and ends, with what it started, when its owner does.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "credentials/agent_wire.h"
#include "credentials/outside_socket.h"

namespace gate::credentials {

// Signatures of one run; what comes beyond is refused. A rebase signs every
// commit anew, and each signature stands in the record, which holds this many.
inline constexpr size_t kMaxSignatures = 1000;
// Refused requests that are reported each by itself.
inline constexpr size_t kMaxRefusals = 16;
// Programs that are connected at the same time; others wait.
inline constexpr size_t kMaxSigners = 8;
// How long the person's agent may take: a person may have to touch a key or to
// say yes.
inline constexpr int kAgentPatienceMs = 60'000;
// What is reported of a hash, in hexadecimal digits.
inline constexpr size_t kReportedDigits = 40;
// Where the socket is inside.
inline constexpr const char* kSigningSocket = "/run/gate-signing";

// A key of ssh's that signs, and the file of its private half where that is
// known; or one of gpg's.
struct SigningKey {
  PublicKey key;
  std::string file;     // empty: in the person's agent alone
  std::string openpgp;  // as `gpg -u` takes it; empty: a key of ssh's
};

// How it is named to people and in the record: "SHA256:…", "gpg:0123ABCD".
std::string NameOf(const SigningKey& key);

struct SigningSetup {
  std::string directory;  // gate's own, closed to sandboxes: for the socket
  std::vector<SigningKey> keys;
  std::string agent;  // the person's agent's socket; empty: there is none
  // ssh-agent and ssh-add, absolute: a key whose file needs no passphrase is
  // loaded into an agent of this process. Empty: it is not.
  std::string agent_program, add_program;
  std::vector<std::string> environment;  // of these, NAME=VALUE
  // gpg, absolute, and its environment. Empty: there is none.
  std::string gpg_program;
  std::vector<std::string> gpg_environment;
};

struct Signature {
  std::string key;        // its name (NameOf); empty: of none
  std::string hash_name;  // "sha512"
  std::string hash;       // the first kReportedDigits digits
  std::string refused;    // why; empty: it was given
};

struct SigningReport {
  std::vector<Signature> signatures;
  uint64_t refusals = 0;  // how many there were, also those not listed
};

// Whether and with what a line can sign.
struct SigningGrant {
  bool wanted = false;           // it may make signed commits or tags
  bool checks = false;           // it may look at signatures
  std::vector<SigningKey> keys;  // that sign for it
  std::string gpg_program;       // by its name or absolute
  // Why there is no key, or not that of the repository, and what a person can
  // do; for people.
  std::string withheld, instead;
};

class SigningAgent {
 public:
  // Starts the process; its errors and cost are OutsideSocket's.
  static Result<SigningAgent> Start(const SigningSetup& setup);

  const std::string& socket() const { return socket_.path(); }
  bool finished() const { return socket_.finished(); }

  // Ends the process and what it started, and says what it did. Once; later
  // calls return nothing.
  SigningReport Finish();

 private:
  explicit SigningAgent(OutsideSocket socket) : socket_(std::move(socket)) {}
  OutsideSocket socket_;
};

}  // namespace gate::credentials
