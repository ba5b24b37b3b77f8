// Commands that a client is to run in place of the agent's own, and clients
// that run the agent's own all the same.
#pragma once

#include <optional>
#include <string>

#include "gateway/gateway.h"
#include "hooks/adapter.h"

namespace gate::app {

// How the client of an event takes a rewritten command.
struct RewriteWay {
  bool rewrites = false;
  // Name and version; empty for a client that does not say what it ran.
  std::string client;
  bool trial = false;  // a person lets gate try again
  std::string why;     // not `rewrites`: for people, and for the agent
};
RewriteWay FindRewriteWay(const ProcessFacts& facts, const hooks::Event& event);

// Issues the ticket for `authorization` and returns the line that redeems it,
// to be put in place of the command. `needs_a_yes`: the client's person is
// asked first. kTooLarge for a command that no program can be given.
Result<std::string> Rewrite(const Gateway& gateway,
                            const GlobalOptions& globals,
                            const hooks::Event& event,
                            const Authorization& authorization,
                            const RewriteWay& way, bool needs_a_yes);

// The refusal for a client that does not rewrite: it says which line the agent
// is to run instead, by a ticket that nothing is concluded from. `approved`: a
// person has said yes. kTooLarge as above.
Result<hooks::Answer> RefuseWithLine(const Gateway& gateway,
                                     const GlobalOptions& globals,
                                     const Authorization& authorization,
                                     const RewriteWay& way, bool approved);

// The line of `event`, where it is, byte for byte, one that RefuseWithLine gave
// to this session, and its ticket has neither been used nor has expired. To run
// it is what the decision `id` was: the plan is enforced by `gate run`, which
// uses the ticket up.
struct LineGiven {
  router::Plan plan;
  std::string id;
};
std::optional<LineGiven> FindLineGiven(const Gateway& gateway,
                                       const GlobalOptions& globals,
                                       const hooks::Event& event,
                                       const Authorization& authorization);

// The command of a call has ended (kCommandDone). Where gate had rewritten it
// and its ticket was not used, the client has run the agent's own command: that
// is recorded as the outcome `unobserved`, counted (gateway/client_record.h),
// and the message for the client's person is returned. Nothing otherwise: in
// the background the ticket may be used later, and a rewritten line that failed
// before it used its ticket was rewritten.
std::optional<std::string> FindDroppedRewrite(Gateway& gateway,
                                              const hooks::Event& event,
                                              int busy_timeout_ms);

}  // namespace gate::app
