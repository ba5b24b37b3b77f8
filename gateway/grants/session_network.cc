#include "gateway/session_network.h"

#include "backends/session_network.h"
#include "base/hash.h"
#include "base/text.h"
#include "engine/tool_access.h"

namespace gate::app {
namespace {

// Of a hash; short, because the name of a socket may have 107 bytes.
constexpr size_t kKeyDigits = 24;

}  // namespace

std::string SessionNetworksDir(const ProcessFacts& facts) {
  return facts.places.state + "/" + backends::kSessionNetworks;
}

backends::SessionNetwork SessionNetworkOf(const ProcessFacts& facts,
                                          const Authorization& authorization) {
  const Request& request = authorization.request;
  const router::Plan& plan = authorization.plan;
  const backends::Network network = plan.profile.network;
  if (request.session.empty() || plan.mode != router::Mode::kSandbox ||
      (network != backends::Network::kNone &&
       network != backends::Network::kLoopback) ||
      router::KindOf(plan.profile) == rules::ProfileKind::kTool ||
      authorization.lending || !plan.profile.lend.empty() ||
      !plan.profile.environment_lend.empty() ||
      !plan.profile.services.empty() || !plan.opened.empty() ||
      !authorization.signing.keys.empty() || !request.preview.empty())
    return {};
  const std::string& workspace = plan.profile.workspace;
  std::string name = request.hooked ? "hook" : "argument";
  // No part can hold what ends it.
  for (const std::string& part :
       {std::to_string(facts.uid), request.agent, request.session, workspace})
    name.append(1, '\0')
        .append(std::to_string(part.size()))
        .append(1, ' ')
        .append(part);
  backends::SessionNetwork session;
  session.key = Hex(Sha256(name)).substr(0, kKeyDigits);
  session.label =
      (request.agent.empty() ? "-" : Visible(ToUtf8(request.agent))) + " " +
      Visible(ToUtf8(request.session)) + " " + Visible(ToUtf8(workspace));
  return session;
}

}  // namespace gate::app
