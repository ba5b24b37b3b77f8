// What a person, or an agent, reads in place of an answer.
#include "net/proxy/serve.h"

namespace gate::net::proxy {

std::string RefusalText(const Connection& record, const Refusal& refusal) {
  const std::string place = PrintHostPort(record.host, record.port);
  switch (refusal.verdict) {
    case ConnectionVerdict::kNotListed:
      return "gate: " + place +
             " is not among the hosts that this command may reach\n"
             "A person lets it through by a rule with " +
             AllowingMembers(record.host, record.port) +
             " (see `gate rules`).\n";
    case ConnectionVerdict::kDenied:
      return "gate: a rule keeps this command from reaching " + place + "\n";
    default:
      return "gate: " + refusal.why + "\n";
  }
}

}  // namespace gate::net::proxy
