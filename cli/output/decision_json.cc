#include "cli/output/decision_json.h"

#include "base/json_writer.h"
#include "base/text.h"
#include "cli/output/analysis_json.h"
#include "engine/tool_access.h"
#include "gateway/line.h"

namespace gate::app {
namespace {

constexpr const char* kSchema = "gate.decision/1";

void WriteRule(const engine::RuleReference& rule, JsonWriter* json) {
  if (rule.id.empty()) {
    json->Null();
    return;
  }
  json->BeginObject();
  json->Field("id", rule.id).Field("source", rule.source);
  json->Field("layer", rule.layer).EndObject();
}

void WriteMatches(const engine::Decision& decision, JsonWriter* json) {
  json->BeginArray();
  for (const engine::Match& match : decision.matches) {
    json->BeginObject().Key("rule");
    WriteRule(match.rule, json);
    json->Field("action", Name(match.action));
    json->Field("reason", match.reason);
    json->Flag("certain", match.certain);
    if (match.observed_only) json->Flag("observed", true);
    if (match.invocation != UINT32_MAX)
      json->Field("invocation", int64_t{match.invocation});
    json->EndObject();
  }
  json->EndArray();
}

// Ports of this machine.
void WriteServices(const std::vector<backends::LocalService>& services,
                   const char* key, JsonWriter* json) {
  json->Key(key).BeginArray();
  for (const backends::LocalService& service : services) {
    json->BeginObject().Field("port", int64_t{service.port});
    json->Field("who", service.shown).EndObject();
  }
  json->EndArray();
}

void WriteHosts(const char* key, const std::vector<std::string>& hosts,
                JsonWriter* json) {
  json->Key(key).BeginArray();
  for (const std::string& host : hosts) json->String(host);
  json->EndArray();
}

void WritePlan(const Authorization& authorization, JsonWriter* json) {
  const router::Plan& plan = authorization.plan;
  json->BeginObject().Field("mode", router::Name(plan.mode));
  if (plan.mode == router::Mode::kSandbox) {
    json->Field("backend", plan.backend);
    json->Field("profile", plan.profile.name);
    json->Field("network", backends::Name(plan.profile.network));
    if (plan.profile.network == backends::Network::kDomains)
      WriteHosts("hosts", plan.profile.domains.allow, json);
    if (!plan.profile.domains.deny.empty())
      WriteHosts("hosts_deny", plan.profile.domains.deny, json);
  } else {
    json->Key("backend").Null().Key("profile").Null();
  }
  if (authorization.lending &&
      router::KindOf(plan.profile) == rules::ProfileKind::kTool)
    json->Field("lends", authorization.lending->program);
  if (!plan.profile.services.empty())
    WriteServices(plan.profile.services, "services", json);
  if (plan.mode == router::Mode::kSandbox &&
      !authorization.signing.keys.empty()) {
    json->Key("signs_with").BeginArray();
    for (const credentials::SigningKey& key : authorization.signing.keys)
      json->String(credentials::NameOf(key));
    json->EndArray();
  }
  json->Key("lost").BeginArray();
  for (const std::string& lost : plan.lost) json->String(lost);
  json->EndArray().Field("why", plan.why).EndObject();
}

}  // namespace

std::string DecisionToJson(const Authorization& authorization,
                           std::string_view id_json) {
  const engine::Decision& decision = authorization.decision;
  const std::string line = LineOf(authorization.request);
  JsonWriter json;
  json.BeginObject().Field("schema", kSchema).Key("id");
  if (id_json.empty())
    json.String(authorization.id);
  else
    json.Raw(id_json);
  json.Field("command", line);
  if (!IsUtf8(line)) json.Field("command_b64", Base64(line));
  json.Field("cwd", authorization.request.cwd);
  json.Field("action", Name(decision.action));
  json.Flag("contain", decision.contain);
  json.Field("code", engine::Name(decision.code));
  json.Field("reason", decision.reason);
  json.Field("suggestion", decision.suggestion);
  json.Key("rule");
  WriteRule(decision.rule, &json);
  json.Key("matches");
  WriteMatches(decision, &json);
  const auto& actions = decision.per_invocation;
  WriteAnalysisFields(
      authorization.analysis,
      [&](size_t i) {
        return Name(i < actions.size() ? actions[i] : decision.action);
      },
      &json);
  json.Key("grants");
  if (decision.action == rules::Action::kAsk) {
    json.BeginObject().Field("kind", engine::Name(authorization.grants.kind));
    if (!authorization.services.ports.empty() &&
        authorization.grants.kind == engine::GrantKind::kSandbox)
      WriteServices(authorization.services.ports, "services", &json);
    if (decision.network == rules::NetworkAccess::kDomains &&
        (authorization.grants.kind == engine::GrantKind::kSandbox ||
         authorization.grants.kind == engine::GrantKind::kPlaces)) {
      json.Key("hosts").BeginArray();
      for (const engine::NamedHost& named : decision.hosts)
        json.String(named.host);
      json.EndArray();
    }
    if (!authorization.remotes.empty() &&
        authorization.grants.kind == engine::GrantKind::kSandbox) {
      json.Key("ssh_logins").BeginArray();
      for (const credentials::SshTarget& target : authorization.remotes)
        json.String(credentials::Describe(target));
      json.EndArray();
    }
    if (!authorization.grants.why.empty())
      json.Field("why", authorization.grants.why);
    if (!authorization.grants.instead.empty())
      json.Field("instead", authorization.grants.instead);
    if (authorization.grants.kind == engine::GrantKind::kPlaces) {
      json.Key("places").BeginArray();
      for (const std::string& place : authorization.opened.places)
        json.String(place);
      json.EndArray();
    }
    json.EndObject();
  } else {
    json.Null();
  }
  json.Key("plan");
  WritePlan(authorization, &json);
  const Timing& timing = authorization.timing;
  json.Key("timing_us").BeginObject();
  json.Field("parse", static_cast<int64_t>(timing.parse_us));
  json.Field("policy", static_cast<int64_t>(timing.policy_us));
  json.Field("evaluate", static_cast<int64_t>(timing.evaluate_us));
  json.Field("plan", static_cast<int64_t>(timing.plan_us));
  json.Field("record", static_cast<int64_t>(timing.record_us));
  json.EndObject().EndObject();
  return json.Take();
}

std::string BatchErrorToJson(std::string_view id_json, size_t line,
                             std::string_view code, std::string_view message) {
  JsonWriter json;
  json.BeginObject().Field("schema", kSchema).Key("id");
  json.Raw(id_json.empty() ? "null" : id_json);
  json.Field("line", static_cast<int64_t>(line)).Field("action", "deny");
  json.Key("error").BeginObject();
  json.Field("code", code).Field("message", message);
  json.EndObject().EndObject();
  return json.Take();
}

}  // namespace gate::app
