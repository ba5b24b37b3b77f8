// What a hook decided, taken up by `gate run --ticket`.
//
// A ticket is enforced exactly as the hook planned it, or as the caller makes
// that stricter. It does not hold for another command, directory, agent or
// policy, nor where it would let run raw, without a person's yes, what would
// not be let run so in this environment.
#pragma once

#include <set>
#include <string>

#include "credentials/ssh_target.h"
#include "gateway/gateway.h"
#include "gateway/run_arguments.h"

namespace gate::app {

struct RedeemedTicket {
  enum class Result : uint8_t {
    kRefused,   // nothing runs; the default
    kUnusable,  // nothing runs, since gate's own state cannot be written
    kAfresh,    // the line is to be judged as if there were no ticket
    kRun,       // `authorization` holds
  };
  Result result = Result::kRefused;
  std::string said;  // one line for people, unless kRun
  // For kRun, with the id of the hook's decision. Its plan may still refuse.
  Authorization authorization;
};

// Uses up the ticket of `arguments`. Of a ticket that holds for this command
// `*request` takes the agent and the session, and the command where the ticket
// alone knows it: so it is judged where only directory or environment are
// others. Reads the line again only where what the ticket gives asks for it.
RedeemedTicket RedeemTicket(Gateway& gateway, const RunArguments& arguments,
                            Request* request);

// Whether a yes to `request` would hold here for what it was given to
// (`bound`); `*remotes`, if not null, are then those that it lends the ssh
// login for. Reads and judges the line.
bool IsBoundHere(Gateway& gateway, const Request& request,
                 const std::string& bound,
                 std::set<credentials::SshTarget>* remotes = nullptr);

}  // namespace gate::app
