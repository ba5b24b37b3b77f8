// Services of this machine that a contained line asks by name: what listens on
// its ports, whether a person has to say yes, and the process that forwards.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/result.h"
#include "facts/process_facts.h"
#include "gateway/settings.h"
#include "parser/analysis.h"
#include "services/forwarder.h"

namespace gate::app {

class Gateway;
struct Authorization;

// How long container engines may take, together, to say what publishes a port.
inline constexpr uint64_t kPublishedPatienceMs = 150;

struct LocalServices {
  // What listens on the ports that the line names, in its order; those with
  // `asked` only by a person's yes.
  std::vector<backends::LocalService> ports;
  std::string why;   // of the question; empty: nothing to ask
  std::string mark;  // another one for everything else that would listen
};

// Looks at the ports that `analysis` names. As shipped a port is given that a
// container publishes which has nothing of this machine (EngineDoubt), and
// behind which there is only data (rules.d/services); what `setting` lists is
// given, too, what a person said yes to and still listens, and what the line's
// own session runs in a sandbox with the network of this machine, which is told
// by `private_tmp`, the directory of the session's temporary files (empty: no
// session); every other is asked. A port on which nobody listens is none. Some
// 10 us where the line names no port, milliseconds where something listens,
// kPublishedPatienceMs at most where that may be a container's.
LocalServices FindLocalServices(const ProcessFacts& facts,
                                const parser::Analysis& analysis,
                                const LocalServicesSetting& setting,
                                const std::string& workspace,
                                const std::string& private_tmp,
                                const std::vector<std::string>& writable);

// The forwarder for the plan of `authorization`: for the services in its
// profile, and, where the line runs code of the project, for the databases and
// brokers of such containers. Services that somebody else offers by now are
// taken out and told in `authorization`; a yes that was used is kept until what
// listens ends. Nothing where there is nothing to forward. An error with the
// reason where there should be a forwarder and is none.
Result<std::optional<services::Forwarder>> OfferLocalServices(
    Gateway& gateway, Authorization* authorization);

}  // namespace gate::app
