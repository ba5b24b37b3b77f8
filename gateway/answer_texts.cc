#include "gateway/answer_texts.h"

#include "engine/network.h"
#include "router/plan.h"

namespace gate::app {

using rules::Action;

std::string WayOn(const Authorization& authorization) {
  const engine::Decision& decision = authorization.decision;
  if (!decision.suggestion.empty()) return decision.suggestion;
  if (authorization.policy_broken ||
      decision.code == engine::ReasonCode::kPolicyBroken)
    return "ask the person to correct the file; `gate rules lint` names file "
           "and line";
  if (decision.action <= Action::kSandbox)
    return "ask the person to run `gate doctor`";
  if (decision.code == engine::ReasonCode::kLimit)
    return "send it as several shorter lines";
  if (decision.code == engine::ReasonCode::kUnknown)
    return "write the command out, without names computed at run time";
  return "tell the person what you want to reach, and why";
}

namespace {

// Whether a yes runs the line in a sandbox of gate's.
bool GivesSandbox(const Authorization& authorization) {
  using engine::GrantKind;
  return authorization.request.file_writes.empty() &&
         authorization.left_to.empty() &&
         (authorization.in_sandbox ||
          authorization.grants.kind == GrantKind::kSandbox ||
          authorization.grants.kind == GrantKind::kPlaces);
}

// What of this machine a yes to the sandbox gives.
std::string ServicesText(const Authorization& authorization) {
  std::string text;
  for (const backends::LocalService& service : authorization.services.ports)
    if (service.asked)
      text += (text.empty() ? "" : ", ") + std::string("localhost:") +
              std::to_string(service.port);
  return text.empty() ? ""
                      : "with " + text +
                            " of this machine (until what listens there ends) ";
}

// Where it runs, but for what its network reaches.
std::string PlaceAfterYes(const Authorization& authorization) {
  using engine::GrantKind;
  const engine::Decision& decision = authorization.decision;
  const Request& request = authorization.request;
  if (!request.file_writes.empty()) return "by the agent's own tool";
  if (authorization.grants.kind == GrantKind::kByHand)
    return "nowhere through gate (" + authorization.grants.why +
           "): the person runs it";
  if (!authorization.left_to.empty())
    return "in " + authorization.left_to +
           ", not in gate's, which does not see what it does" +
           (authorization.grants.kind == GrantKind::kPlaces
                ? ""
                : authorization.binding.text);
  if (authorization.grants.kind == GrantKind::kAsIs &&
      !authorization.in_sandbox)
    return request.profile == rules::ProfileKind::kUnsaid &&
                   request.backend.empty()
               ? "as the person would run it, without a sandbox" +
                     authorization.binding.text
               : "in the sandbox that the line names";
  const rules::ProfileKind profile =
      router::JoinProfiles(decision.profile, request.profile);
  if (profile == rules::ProfileKind::kFullAccess &&
      authorization.grants.kind == GrantKind::kSandbox)
    return ServicesText(authorization) +
           "in a sandbox with full access to files";
  if (profile == rules::ProfileKind::kTool)
    return ServicesText(authorization) +
           "in a sandbox with the credentials of its one program" +
           authorization.binding.text;
  if (profile == rules::ProfileKind::kReadOnly)
    return ServicesText(authorization) + "in a sandbox that changes no file";
  if (authorization.grants.kind == GrantKind::kPlaces &&
      !authorization.in_sandbox && request.preview.empty())
    return ServicesText(authorization) +
           "in a sandbox that changes nothing outside the workspace and "
           "package "
           "caches" +
           authorization.binding.text;
  return ServicesText(authorization) + kRunsInSandbox;
}

}  // namespace

std::string AfterYes(const Authorization& authorization) {
  const engine::Decision& decision = authorization.decision;
  std::string text = PlaceAfterYes(authorization);
  if (decision.network == rules::NetworkAccess::kDomains &&
      GivesSandbox(authorization))
    text += "; of the network it reaches " + engine::ListHosts(decision.hosts);
  return text;
}

}  // namespace gate::app
