// The audit side of the gateway: what of an authorization and an outcome is
// stored.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/hash.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "engine/tool_access.h"
#include "gateway/gateway.h"
#include "gateway/line.h"
#include "hooks/ticket.h"

namespace gate::app {
namespace {

constexpr int kMaintainBusyMs = 100;
constexpr int kSweptTickets = 200;

// What an effect is and what it meets, in a few words: "delete /w/notes.txt".
std::string EffectText(const parser::Effect& effect) {
  std::string text = parser::Name(effect.kind);
  for (const parser::Argument* path : {&effect.path, &effect.target}) {
    if (path->known && path->text.empty()) continue;
    text += ' ' + path->text;
    if (!path->known) text += "…" + path->suffix;
  }
  if (!effect.host.empty()) text += ' ' + effect.host;
  if (effect.port != 0) text += ':' + std::to_string(effect.port);
  return text;
}

// Redaction reads the shell's quotes loosely. Where it takes something, what
// the parser found that the line does stands beside it; not what it reads,
// which is where an argument may be a secret.
void PutEffects(const Authorization& authorization, JsonWriter* json) {
  const std::string line = LineOf(authorization.request);
  if (audit::Redact(line, nullptr) == line) return;
  json->Key("effects").BeginArray();
  for (const parser::Effect& effect : authorization.analysis.effects)
    if (effect.kind != parser::EffectKind::kRead)
      json->String(EffectText(effect));
  json->EndArray();
}

// What is lent, by its names; never a value.
void PutLending(const Authorization& authorization, JsonWriter* json) {
  const backends::Profile& profile = authorization.plan.profile;
  if (!authorization.lending ||
      router::KindOf(profile) != rules::ProfileKind::kTool)
    return;
  json->Key("lent").BeginObject();
  json->Field("program", authorization.lending->program);
  json->Key("files").BeginArray();
  for (const backends::Lent& lent : profile.lend) json->String(lent.path);
  json->EndArray().Key("variables").BeginArray();
  for (const std::string& name : profile.environment_lend) json->String(name);
  json->EndArray().EndObject();
}

void PutHosts(const char* key, const std::vector<engine::NamedHost>& hosts,
              JsonWriter* json) {
  if (hosts.empty()) return;
  json->Key(key).BeginArray();
  for (const engine::NamedHost& named : hosts) json->String(named.host);
  json->EndArray();
}

// Everything the typed columns do not hold. One object, written front to back.
std::string DecisionDetail(const Authorization& authorization) {
  const engine::Decision& decision = authorization.decision;
  JsonWriter json;
  json.BeginObject();
  json.Field("code", engine::Name(decision.code));
  json.Flag("contain", decision.contain);
  json.Field("profile", rules::Name(decision.profile))
      .Field("network", rules::Name(decision.network));
  const bool narrowed =
      authorization.plan.profile.network == backends::Network::kDomains &&
      decision.network == rules::NetworkAccess::kOpen;
  PutHosts("hosts", narrowed ? decision.hosts_if_narrowed : decision.hosts,
           &json);
  PutHosts("hosts_deny", decision.hosts_deny, &json);
  if (decision.action == rules::Action::kAsk)
    json.Field("grants", !authorization.left_to.empty() ? "client"
                         : authorization.in_sandbox
                             ? engine::Name(engine::GrantKind::kSandbox)
                             : engine::Name(authorization.grants.kind));
  if (!authorization.plan.opened.empty()) {
    json.Key("opened").BeginArray();
    for (const std::string& place : authorization.plan.opened)
      json.String(place);
    json.EndArray();
  }
  if (!decision.rule.id.empty()) json.Field("source", decision.rule.source);
  json.Key("matches").BeginArray();
  for (const engine::Match& match : decision.matches) {
    json.BeginObject();
    json.Field("rule", match.rule.id).Field("action", Name(match.action));
    if (!match.certain) json.Flag("certain", false);
    if (match.observed_only) json.Flag("observed", true);
    json.EndObject();
  }
  json.EndArray();
  json.Key("programs").BeginArray();
  for (const parser::Invocation& invocation :
       authorization.analysis.invocations)
    json.String(invocation.program.empty() ? "?" : invocation.program);
  json.EndArray();
  PutEffects(authorization, &json);
  json.Key("unknowns").BeginArray();
  for (const parser::Unknown& unknown : authorization.analysis.unknowns)
    json.String(Name(unknown.code));
  json.EndArray();
  json.Key("plan").BeginObject();
  json.Field("mode", router::Name(authorization.plan.mode));
  json.Field("why", authorization.plan.why);
  json.Key("lost").BeginArray();
  for (const std::string& lost : authorization.plan.lost) json.String(lost);
  json.EndArray();
  PutLending(authorization, &json);
  if (!authorization.services.ports.empty()) {
    json.Key("services").BeginArray();
    for (const backends::LocalService& service : authorization.services.ports)
      json.String("localhost:" + std::to_string(service.port) + " " +
                  service.shown);
    json.EndArray();
  }
  if (authorization.plan.mode == router::Mode::kSandbox &&
      !authorization.signing.keys.empty()) {
    json.Key("signs_with").BeginArray();
    for (const credentials::SigningKey& key : authorization.signing.keys)
      json.String(credentials::NameOf(key));
    json.EndArray();
  }
  json.EndObject();
  if (authorization.unobserved && !authorization.left_to.empty())
    json.Field("left_to", authorization.left_to);
  json.Field("workspace", authorization.session.workspace);
  json.EndObject();
  return json.Take();
}

// Each use of the person's ssh login, and each that was refused.
void PutTransports(const Authorization& authorization, JsonWriter* json) {
  if (authorization.transports.empty()) return;
  json->Key("transports").BeginArray();
  for (const credentials::Transport& transport : authorization.transports) {
    json->BeginObject().Field("service", transport.service);
    json->Field("target", transport.target);
    if (!transport.refused.empty()) json->Field("refused", transport.refused);
    if (transport.refused.empty() && transport.exit_code >= 0)
      json->Field("exit_code", int64_t{transport.exit_code});
    if (!transport.pushed.empty()) json->Field("pushed", transport.pushed);
    json->Field("sent", static_cast<int64_t>(transport.sent));
    json->Field("received", static_cast<int64_t>(transport.received));
    json->EndObject();
  }
  json->EndArray();
}

// Each port of this machine that was given, and what went through it.
void PutForwarded(const Authorization& authorization, JsonWriter* json) {
  if (authorization.forwarded.empty()) return;
  const auto& given = authorization.plan.profile.services;
  json->Key("forwarded").BeginArray();
  for (const services::Forwarded& one : authorization.forwarded) {
    json->BeginObject().Field("port", int64_t{one.port});
    const auto service =
        std::ranges::find(given, one.port, &backends::LocalService::port);
    if (service != given.end()) json->Field("service", service->shown);
    json->Field("connections", static_cast<int64_t>(one.connections));
    json->Field("refused", static_cast<int64_t>(one.refused));
    json->Field("sent", static_cast<int64_t>(one.sent));
    json->Field("received", static_cast<int64_t>(one.received));
    if (one.changed) json->Flag("changed", true);
    json->EndObject();
  }
  json->EndArray();
}

// Each signature of a commit or a tag, and what was refused.
void PutSignatures(const Authorization& authorization, JsonWriter* json) {
  const credentials::SigningReport& report = authorization.signed_for;
  std::vector<const credentials::Signature*> refused;
  size_t given = 0;
  for (const credentials::Signature& each : report.signatures)
    if (each.refused.empty())
      ++given;
    else
      refused.push_back(&each);
  if (given > 0) {
    json->Key("signatures").BeginObject();
    json->Field("count", static_cast<int64_t>(given));
    // A text for each, "sha512:4be1…", under the key that signed.
    for (const credentials::SigningKey& key : authorization.signing.keys) {
      const std::string name = credentials::NameOf(key);
      json->Key(name).BeginArray();
      for (const credentials::Signature& each : report.signatures)
        if (each.refused.empty() && each.key == name)
          json->String(each.hash_name + ":" + each.hash);
      json->EndArray();
    }
    json->EndObject();
  }
  if (refused.empty()) return;
  json->Key("signatures_refused").BeginObject();
  json->Field("count", static_cast<int64_t>(report.refusals));
  json->Key("first").BeginArray();
  for (const credentials::Signature* each : refused) {
    json->BeginObject().Field("why", each->refused);
    if (!each->key.empty()) json->Field("key", each->key);
    if (!each->hash.empty())
      json->Field("hash", each->hash_name + ":" + each->hash);
    json->EndObject();
  }
  json->EndArray().EndObject();
}

std::string OutcomeDetail(const Authorization& authorization,
                          const backends::Outcome& outcome) {
  JsonWriter json;
  json.BeginObject();
  json.Field("reason", outcome.reason);
  if (outcome.signal != 0) json.Field("signal", int64_t{outcome.signal});
  if (!outcome.sweep_complete) json.Flag("sweep_complete", false);
  if (!outcome.sweep_end.empty()) json.Field("sweep_end", outcome.sweep_end);
  if (outcome.left_running > 0)
    json.Field("left_running", static_cast<int64_t>(outcome.left_running));
  if (!outcome.left_end.empty()) json.Field("left_end", outcome.left_end);
  for (const auto& [key, list] : {std::pair("withheld", &outcome.withheld),
                                  std::pair("hints", &outcome.hints)}) {
    if (list->empty()) continue;
    json.Key(key).BeginArray();
    for (const std::string& one : *list) json.String(one);
    json.EndArray();
  }
  PutTransports(authorization, &json);
  PutForwarded(authorization, &json);
  if (authorization.reached)
    json.Key("network").Raw(net::RecordOf(*authorization.reached));
  PutSignatures(authorization, &json);
  json.Key("violations").BeginArray();
  for (const backends::Violation& violation : outcome.violations)
    json.BeginObject()
        .Field("kind", backends::Name(violation.kind))
        .Field("detail", violation.detail)
        .EndObject();
  json.EndArray();
  if (authorization.plan.profile.watch_execs) {
    json.Field("starts", static_cast<int64_t>(outcome.starts));
    json.Key("programs").BeginArray();
    for (const backends::StartedProgram& program : outcome.programs)
      json.BeginObject()
          .Field("path", program.path)
          .Field("times", static_cast<int64_t>(program.times))
          .EndObject();
    json.EndArray();
  }
  json.Key("lost").BeginArray();
  for (const std::string& lost : authorization.plan.lost) json.String(lost);
  json.EndArray();
  if (!authorization.preview.empty())
    json.Key("preview").Raw(authorization.preview);
  json.EndObject();
  return json.Take();
}

}  // namespace

Status Gateway::OpenLog(int busy_timeout_ms) {
  if (log_) return {};
  audit::Options options;
  options.busy_timeout_ms = busy_timeout_ms;
  options.full_durability = settings().full_durability;
  GATE_TRY(auto log, audit::Log::Open(facts_.places.state, options));
  log_ = std::move(log);
  return {};
}

Status Gateway::Record(Authorization* authorization, const std::string& mode,
                       bool enforced, int busy_timeout_ms) {
  const uint64_t start = MonotonicUs();
  GATE_CHECK(OpenLog(busy_timeout_ms));
  audit::Record record;
  record.kind = audit::Kind::kDecision;
  record.id = authorization->id;
  record.time_ns = NowNs();
  record.agent = authorization->request.agent;
  record.session = authorization->request.session;
  record.mode = mode;
  record.enforced = enforced;
  record.command = LineOf(authorization->request);
  record.cwd = authorization->request.cwd;
  record.action = Name(authorization->decision.action);
  record.reason = authorization->decision.reason;
  record.rule_id = authorization->decision.rule.id;
  record.policy_revision = authorization->policy_revision;
  record.backend = authorization->plan.backend;
  if (authorization->unobserved)
    record.status = Name(backends::OutcomeStatus::kUnobserved);
  record.detail = DecisionDetail(*authorization);
  GATE_CHECK(log_->Append(&record));
  authorization->timing.record_us = MonotonicUs() - start;
  return {};
}

namespace {

audit::Record OutcomeRecord(const std::string& parent,
                            const Authorization& authorization,
                            const backends::Outcome& outcome,
                            const std::string& mode) {
  audit::Record record;
  record.kind = audit::Kind::kOutcome;
  record.id = NewUuid(NowMs());
  record.parent = parent;
  record.time_ns = NowNs();
  record.agent = authorization.request.agent;
  record.session = authorization.request.session;
  record.mode = mode;
  record.command = LineOf(authorization.request);
  record.cwd = authorization.request.cwd;
  record.policy_revision = authorization.policy_revision;
  record.backend = authorization.plan.backend;
  record.status = Name(outcome.status);
  if (outcome.status == backends::OutcomeStatus::kExited)
    record.exit_code = outcome.exit_code;
  record.duration_ms = outcome.duration_ms;
  record.detail = OutcomeDetail(authorization, outcome);
  return record;
}

}  // namespace

Status Gateway::RecordOutcome(const std::string& parent,
                              const Authorization& authorization,
                              const backends::Outcome& outcome,
                              const std::string& mode, int busy_timeout_ms) {
  GATE_CHECK(OpenLog(busy_timeout_ms));
  audit::Record record = OutcomeRecord(parent, authorization, outcome, mode);
  return log_->Append(&record);
}

Status Gateway::RecordNote(const std::string& parent,
                           const Authorization& authorization,
                           const backends::Outcome& outcome,
                           const std::string& what) {
  constexpr int kBusyMs = 1500;  // a hook may wait for it
  GATE_CHECK(OpenLog(kBusyMs));
  audit::Record record = OutcomeRecord(parent, authorization, outcome, "run");
  record.kind = audit::Kind::kNote;
  record.status = what;
  return log_->Append(&record);
}

void Gateway::Maintain() {
  for (const auto& [workspace, loaded] : policies_) {
    // Only a saving: when it cannot be kept, the next process compiles again.
    if (!rules::WorthKeeping(loaded.policy)) continue;
    if (const auto cache = Cache())
      (void)rules::KeepPolicy(loaded.sources, *cache, loaded.policy, NowNs());
  }
  if (!log_ || !log_->MaintenanceDue()) return;
  // A client waits for this process, so a child of its own does the work. A
  // connection must not live across fork: it opens another.
  log_.reset();
  const pid_t child = ::fork();
  if (child < 0) return;
  if (child > 0) {
    ::waitpid(child, nullptr, 0);
    return;
  }
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  // A pipe that stays open would keep the client waiting.
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
  if (OpenLog(kMaintainBusyMs)) log_->Maintain(NowNs());
  log_.reset();
  hooks::SweepTickets(facts_.places.state, NowMs(), kSweptTickets);
  ::_exit(0);
}

void Gateway::CloseIdleLog() {
  if (log_ && !log_->MaintenanceDue()) log_.reset();
}

void Gateway::CloseLog() { log_.reset(); }

}  // namespace gate::app
