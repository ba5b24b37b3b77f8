// The composition root: one question in, one authorization out.
//
//   Question -> Analysis -> Decision -> Plan -> decision record
//
// `check`, `run`, `hook`, `explain` and the tests go through Authorize(); there
// is no second evaluator.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/log.h"
#include "backends/backend.h"
#include "credentials/signing_agent.h"
#include "credentials/ssh_broker.h"
#include "engine/decision.h"
#include "engine/evaluate.h"
#include "engine/grants.h"
#include "engine/request.h"
#include "facts/process_facts.h"
#include "gateway/grants/local_services.h"
#include "gateway/grants/opened_places.h"
#include "gateway/grants/yes_binding.h"
#include "gateway/programs/engine_names.h"
#include "gateway/programs/program_verification.h"
#include "gateway/settings.h"
#include "gateway/workspace.h"
#include "net/filter_report.h"
#include "parser/analysis.h"
#include "router/plan.h"
#include "rules/cache.h"
#include "rules/policy.h"

namespace gate::app {

struct Request {
  std::string command;            // one shell line; unused when `is_argv`
  std::vector<std::string> argv;  // executed without a shell
  bool is_argv = false;
  std::string cwd;        // absolute
  DirectoryId directory;  // what that was when it was judged; on_this_machine
  // The line would run here and now, so that links and patterns mean what the
  // file system says. Not so for lines of a batch or a record.
  bool on_this_machine = true;
  std::string agent, session, project;
  // A program that a contained line starts: it is in that line's sandbox.
  bool inside_run = false;
  bool hooked = false;       // agent and session are what a client's hook said
  bool interactive = false;  // a person can be asked here and now
  bool approved = false;     // a person has said yes already
  // What the person wants beyond policy; joined, never weaker.
  rules::ProfileKind profile = rules::ProfileKind::kUnsaid;
  std::string backend;
  std::optional<backends::Network> network;
  std::optional<std::vector<std::string>> hosts;  // RunArguments::hosts
  std::string preview;  // "": none; "ask", "auto" (gateway/preview_run.h)
  uint64_t timeout_ms = 0;
  // A tool of the agent that writes these files (absolute), not a command.
  std::vector<std::string> file_writes;
};

struct Timing {
  uint64_t parse_us = 0, policy_us = 0, evaluate_us = 0, plan_us = 0,
           record_us = 0;
};

struct Authorization {
  std::string id;          // UUIDv7, the decision record's
  Request request;         // as judged: gate's own wrapper taken off
  bool unwrapped = false;  // the line was `gate run …` of this binary
  bool git_only = false;   // it runs git and nothing else
  engine::Request engine_request;
  parser::Analysis analysis;
  engine::Decision decision;
  engine::Grants grants;  // of an ask: what a yes gives
  YesBinding binding;     // and what it holds for
  OpenedPlaces opened;    // of a yes to places
  // For which a yes lends the ssh login, though they are not pinned.
  std::set<credentials::SshTarget> remotes;
  bool in_sandbox = false;  // the person said yes to the sandbox alone
  // What of this machine the line asks by name.
  LocalServices services;
  router::Plan plan;
  std::string plan_error;         // why there is no plan; the mode is refused
  bool plan_unavailable = false;  // the error is a missing backend
  // What the profile `tool` lends, where the line gets it.
  std::optional<router::Lending> lending;
  Session session;
  std::string preview;  // JSON for the outcome's record
  // What git of the line asked for over ssh; filled in by its run.
  std::vector<credentials::Transport> transports;
  // What became of the ports of its plan, likewise.
  std::vector<services::Forwarded> forwarded;
  // Whom it reached by name and whom not, where its network was limited to
  // hosts.
  std::optional<net::FilterReport> reached;
  // Ports of containers that the line's code would have been given, had it left
  // nothing in the background: what has them does not go on.
  std::vector<uint16_t> not_forwarded;
  // What a line in a sandbox signs commits with, and what it signed.
  credentials::SigningGrant signing;
  credentials::SigningReport signed_for;
  std::string policy_revision;
  // Names the settings of the project that it would load and nobody trusts, as
  // they are now; empty when there are none.
  std::string untrusted;
  bool policy_broken = false;  // a system or user file did not load
  bool unobserved = false;     // the client runs it raw, out of gate's sight
  // The client's own sandbox that takes what is let through, for people; empty:
  // gate contains.
  std::string left_to;
  std::vector<Diagnostic> diagnostics;
  Timing timing;
};

// Whether a run of `plan` can have ports of this machine: its backend lets gate
// listen inside, and its network is its own.
bool ForwardsPorts(const router::Plan& plan);

// Makes the decision of `authorization` what `gate run` would do with it, for
// those that only answer: an allow that the settings contain is a sandbox, and
// what cannot run as planned is a deny.
void JoinWithPlan(Authorization* authorization, engine::Trace* trace = nullptr);

// Why nothing is decided, nor run, without a place to do it in. Another
// directory would be another command.
inline constexpr const char* kNoDirectory =
    "the working directory is gone or cannot be named";

class Gateway {
 public:
  explicit Gateway(ProcessFacts facts);
  ~Gateway();

  const ProcessFacts& facts() const { return facts_; }
  const LoadedSettings& settings();
  // The policy for commands of this workspace; loaded when first asked for.
  const rules::Policy& PolicyFor(const std::string& workspace);
  // Reads the user's rules from `directory` instead (gate replay). Before the
  // first question.
  void UseRules(const std::string& directory) { rules_dir_ = directory; }
  // How long container engines may take to say what a line's names are.
  void WaitForEngines(uint64_t ms) { engine_patience_ms_ = ms; }
  // Who hears, just before a line runs raw, what earlier lines that go on had
  // changed of what it would obey. Until it is set nobody does; it is on
  // record.
  using Told = std::function<void(const std::vector<backends::Violation>&)>;
  void TellFound(Told told) { told_ = std::move(told); }
  const Told& told() const { return told_; }
  const std::vector<std::unique_ptr<backends::Backend>>& backends();
  const std::vector<router::Candidate>& candidates();
  backends::Backend* FindBackend(const std::string& name);

  // Decides and plans. Records nothing, runs nothing. `pin`: the session's
  // workspace may be written down. Never fails: what goes wrong is a deny.
  Authorization Authorize(const Request& request, bool pin,
                          engine::Trace* trace = nullptr);

  // The plan for `authorization` once a person said yes to its ask.
  void Replan(Authorization* authorization, bool approved);

  // Says of a line that nobody judges (gate sandbox) whether git alone runs;
  // Replan tells the sandbox.
  void NoteGitOnly(Authorization* authorization);

  // What a sandbox without the policy may do (gate sandbox). `look_again`:
  // the command would run now, so what was seen for another does not count.
  router::ProfileInputs MakeProfileInputs(const Session& session,
                                          bool look_again = true);

  // Commits the decision record. `mode`: hook, check, run, sandbox.
  Status Record(Authorization* authorization, const std::string& mode,
                bool enforced, int busy_timeout_ms = 5000);
  // Commits the outcome of the decision `parent`.
  Status RecordOutcome(const std::string& parent,
                       const Authorization& authorization,
                       const backends::Outcome& outcome,
                       const std::string& mode, int busy_timeout_ms = 5000);
  // Commits what is known of the decision `parent` before its outcome; `what`
  // is the record's status.
  Status RecordNote(const std::string& parent,
                    const Authorization& authorization,
                    const backends::Outcome& outcome, const std::string& what);
  // After the answer is out.
  void Maintain();
  // When Maintain will have nothing to do with it.
  void CloseIdleLog();
  // Before anything is started: no descriptor of the log may leak or live on.
  void CloseLog();

  // Roots that a sandboxed command of the session may write.
  std::vector<std::string> WritablePlaces(const Session& session);

 private:
  Status OpenLog(int busy_timeout_ms);
  rules::PolicySources SourcesFor(const std::string& workspace) const;
  // Absent when the state's key cannot be had: then every process compiles.
  std::optional<rules::PolicyCache> Cache() const;
  void UnwrapSelf(Request* request, bool* unwrapped);
  parser::Analysis Read(const Request& request);
  // Finds out which services of this machine a line asks, and whether it may.
  void JudgeServices(Authorization* authorization, engine::Trace* trace);
  // Finds out what a yes to a question gives.
  void JudgeYes(Authorization* authorization);
  Result<Session> SessionFor(const Request& request, bool pin);
  struct ToolCache {
    std::string path, real;  // as it is called; its links resolved
    bool of_user = false;    // named in the settings
  };
  const std::vector<ToolCache>& Caches();

  ProcessFacts facts_;
  std::string rules_dir_;  // empty: that of the user
  std::optional<LoadedSettings> settings_;
  struct LoadedPolicy {
    rules::PolicySources sources;  // as they were when it was loaded
    rules::Policy policy;
  };
  std::map<std::string, LoadedPolicy> policies_;              // by workspace
  std::map<std::string, Session> sessions_;                   // by directory
  std::map<std::string, std::vector<std::string>> git_dirs_;  // by workspace
  std::map<std::string, Homes> homes_;                        // likewise
  // What variables make secret, by workspace.
  std::map<std::string, std::vector<std::string>> secrets_;
  VerificationCache verification_cache_;  // of a batch
  uint64_t engine_patience_ms_ = kEnginePatienceMs;
  Told told_;
  std::vector<std::unique_ptr<backends::Backend>> backends_;
  std::optional<std::vector<router::Candidate>> candidates_;
  std::optional<std::vector<ToolCache>> caches_;
  std::optional<audit::Log> log_;
};

}  // namespace gate::app
