#include "gateway/gateway.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "approvals/trust.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/real_paths.h"
#include "base/text.h"
#include "engine/stages.h"
#include "gateway/candidates.h"
#include "gateway/grants/tool_caches.h"
#include "gateway/line.h"
#include "gateway/programs/program_verification.h"
#include "gateway/run_arguments.h"
#include "gateway/stage_facts.h"
#include "git/branch.h"
#include "git/roots.h"
#include "parser/read.h"
#include "rules/lending.h"

namespace gate::app {
namespace {

using parser::Analysis;
using rules::Action;

// No link to one.
bool IsOwnDirectory(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// The simple command that is the whole of `line`: no assignments, no
// redirections, every word literal. Empty when it is anything else.
std::vector<std::string> WholeSimpleCommand(const std::string& line,
                                            const parser::Context& context) {
  const parser::Script script = parser::Read(line);
  if (script.status != parser::ReadStatus::kOk) return {};
  parser::NodeId id = script.ast.root;
  while (id != parser::kNone) {
    const parser::Node& node = script.ast.nodes[id];
    if (node.kind == parser::NodeKind::kSimple) {
      if (!node.assignments.empty() || !node.redirects.empty()) return {};
      break;
    }
    const bool wrapper = node.kind == parser::NodeKind::kList ||
                         node.kind == parser::NodeKind::kPipeline;
    if (!wrapper || node.children.size() != 1 || !node.redirects.empty() ||
        node.negated || node.timed ||
        (!node.asynchronous.empty() && node.asynchronous[0]))
      return {};
    id = node.children[0];
  }
  const Analysis analysis = parser::Analyze(line, context);
  // The first invocation is the line's own command; what it starts follows.
  if (analysis.hides_commands || analysis.invocations.empty()) return {};
  std::vector<std::string> words;
  for (const parser::Argument& word : analysis.invocations[0].argv) {
    if (!word.known || word.glob) return {};
    words.push_back(word.text);
  }
  return words;
}

// A file-writing tool of the agent as the effects it has.
Analysis FileWriteAnalysis(const Request& request) {
  Analysis analysis;
  analysis.read_whole = true;
  for (const std::string& path : request.file_writes) {
    parser::Effect effect;
    effect.kind = parser::EffectKind::kWrite;
    effect.path.text = path;
    analysis.effects.push_back(std::move(effect));
  }
  return analysis;
}

// Git alone, between builtins and what shortens its output. Nothing is safer
// or less so because of the answer: it says when protected files are judged.
bool RunsGitOnly(const Analysis& analysis) {
  constexpr std::array<std::string_view, 8> kFilters = {
      "cat", "cut", "grep", "head", "sort", "tail", "uniq", "wc"};
  if (analysis.hides_commands || analysis.parse_error) return false;
  bool git = false;
  for (const parser::Invocation& invocation : analysis.invocations) {
    git |= invocation.program == "git";
    if (invocation.program != "git" && !invocation.builtin &&
        std::find(kFilters.begin(), kFilters.end(), invocation.program) ==
            kFilters.end())
      return false;
  }
  return git;
}

}  // namespace

std::string LineOf(const Request& request) {
  if (!request.is_argv && request.file_writes.empty()) return request.command;
  std::string line = request.file_writes.empty() ? "" : "(writes)";
  for (const std::string& word :
       request.file_writes.empty() ? request.argv : request.file_writes) {
    if (!line.empty()) line += ' ';
    line += ShellQuote(word);
  }
  return line;
}

const parser::Analysis& AnalysisOf(const ProcessFacts& facts,
                                   const Authorization& authorization,
                                   std::optional<parser::Analysis>* again) {
  if (!authorization.analysis.invocations.empty())
    return authorization.analysis;
  if (!*again) {
    const Request& request = authorization.request;
    const parser::Context context = MakeContext(facts, request.cwd);
    *again = request.is_argv ? parser::AnalyzeArgv(request.argv, context)
                             : parser::Analyze(request.command, context);
  }
  return **again;
}

Gateway::Gateway(ProcessFacts facts) : facts_(std::move(facts)) {}
Gateway::~Gateway() = default;

const LoadedSettings& Gateway::settings() {
  if (!settings_) settings_ = LoadSettings(facts_);
  return *settings_;
}

rules::PolicySources Gateway::SourcesFor(const std::string& workspace) const {
  rules::PolicySources sources;
  sources.system_dir = facts_.places.system + "/rules.d";
  sources.user_dir =
      rules_dir_.empty() ? facts_.places.config + "/rules.d" : rules_dir_;
  if (!workspace.empty()) sources.project_dir = workspace + "/.gate/rules.d";
  sources.owner = facts_.uid;
  sources.trusted_hashes = TrustedRuleHashes(facts_.places.state, workspace);
  return sources;
}

std::optional<rules::PolicyCache> Gateway::Cache() const {
  const auto key = LoadOrCreateKey(facts_.places.state + "/key");
  if (!key) return std::nullopt;
  return rules::PolicyCache{facts_.places.state + "/policies", *key,
                            FileIdentity("/proc/self/exe")};
}

const rules::Policy& Gateway::PolicyFor(const std::string& workspace) {
  auto found = policies_.find(workspace);
  if (found != policies_.end()) return found->second.policy;
  LoadedPolicy loaded{SourcesFor(workspace), {}};
  const auto cache = rules::HasFiles(loaded.sources) ? Cache() : std::nullopt;
  loaded.policy = cache ? rules::LoadPolicy(loaded.sources, *cache)
                        : rules::LoadPolicy(loaded.sources);
  return policies_.emplace(workspace, std::move(loaded)).first->second.policy;
}

const std::vector<std::unique_ptr<backends::Backend>>& Gateway::backends() {
  if (backends_.empty()) backends_ = backends::MakeBackends();
  return backends_;
}

const std::vector<router::Candidate>& Gateway::candidates() {
  if (!candidates_) candidates_ = FindCandidates(facts_, backends());
  return *candidates_;
}

backends::Backend* Gateway::FindBackend(const std::string& name) {
  for (const auto& backend : backends())
    if (name == backend->Name()) return backend.get();
  return nullptr;
}

void Gateway::UnwrapSelf(Request* request, bool* unwrapped) {
  std::vector<std::string> words;
  if (request->is_argv) {
    words = request->argv;
  } else {
    // An absolute path is asked for, so any other line is out at once.
    const size_t start = request->command.find_first_not_of(" \t\n");
    if (start == std::string::npos ||
        std::string_view("/'\"\\$").find(request->command[start]) ==
            std::string_view::npos)
      return;
    if (request->command.find(BaseName(facts_.executable)) == std::string::npos)
      return;
    words =
        WholeSimpleCommand(request->command, MakeContext(facts_, request->cwd));
  }
  if (words.size() < 2 || !IsThisBinary(facts_, words[0])) return;
  size_t next = 1;
  while (next + 1 < words.size() &&
         (words[next] == "--config-dir" || words[next] == "--state-dir"))
    next += 2;
  if (words[next] != "run" && words[next] != "sandbox") return;
  const auto parsed = ParseRunArguments(
      {words.begin() + static_cast<ptrdiff_t>(next) + 1, words.end()});
  // Judged as it stands: a command called gate. So is what a ticket alone
  // knows.
  if (!parsed || (!parsed->is_argv && parsed->command.empty())) return;
  request->command = parsed->command;
  request->argv = parsed->argv;
  request->is_argv = parsed->is_argv;
  // The one flag of the agent's that asks for more caution.
  request->preview = parsed->preview;
  *unwrapped = true;
}

Analysis Gateway::Read(const Request& request) {
  if (!request.file_writes.empty()) return FileWriteAnalysis(request);
  parser::Context context = MakeContext(facts_, request.cwd);
  context.look_at_files = request.on_this_machine;
  return request.is_argv ? parser::AnalyzeArgv(request.argv, context)
                         : parser::Analyze(request.command, context);
}

const std::vector<Gateway::ToolCache>& Gateway::Caches() {
  if (caches_) return *caches_;
  caches_.emplace();
  RealPaths paths;
  const auto add = [&](std::string path, bool of_user) {
    if (!IsOwnDirectory(path)) return;
    std::string real = paths.Of(path);
    if (!real.empty())
      caches_->push_back({std::move(path), std::move(real), of_user});
  };
  if (!facts_.home.empty())
    for (const rules::ToolCache& cache : rules::ToolCaches())
      if (cache.shared)
        add(facts_.home + "/" + std::string(cache.directory), false);
  for (const std::string& cache : settings().caches) add(cache, true);
  return *caches_;
}

std::vector<std::string> Gateway::WritablePlaces(const Session& session) {
  std::vector<std::string> places;
  for (const ToolCache& cache : Caches()) {
    if (cache.real != cache.path) places.push_back(cache.real);
    places.push_back(cache.path);
  }
  if (!session.workspace.empty()) places.push_back(session.workspace);
  places.push_back(facts_.places.state + "/sessions");
  places.push_back(facts_.places.state + kOwnCaches);
  return places;
}

router::ProfileInputs Gateway::MakeProfileInputs(const Session& session,
                                                 bool look_again) {
  router::ProfileInputs inputs;
  inputs.workspace = session.workspace;
  inputs.home = facts_.home;
  const auto [homes, unknown] = homes_.try_emplace(session.workspace);
  if (unknown)
    homes->second =
        session.homes ? *session.homes : FindHomes(facts_, session.workspace);
  inputs.other_homes = homes->second.others;
  inputs.real_homes = homes->second.real;
  inputs.config_dir = facts_.places.config;
  inputs.state_dir = facts_.places.state;
  inputs.cache_dir = facts_.places.cache;
  inputs.private_tmp =
      facts_.places.state + "/sessions/" + session.key + "/tmp";
  // Below another writable place it is written anyway, and whoever writes
  // there could have made it a link to any other.
  for (const ToolCache& cache : Caches())
    // One with nothing in it is the workspace's own inside (tool_caches.h).
    if ((cache.of_user || !IsEmpty(cache.path)) &&
        (session.workspace.empty() ||
         !IsWithin(cache.path, session.workspace)) &&
        std::ranges::none_of(Caches(), [&](const ToolCache& other) {
          return other.path != cache.path && IsWithin(cache.path, other.path);
        }))
      inputs.caches.push_back(cache.real);
  inputs.relocated_dirs = facts_.relocated_dirs;
  if (session.workspace.empty()) return inputs;
  const auto known = git_dirs_.find(session.workspace);
  if (!look_again && known != git_dirs_.end()) {
    inputs.git_dirs = known->second;
    return inputs;
  }
  inputs.git_dirs = WritableGitDirectories(session.workspace);
  git_dirs_[session.workspace] = inputs.git_dirs;
  return inputs;
}

void Gateway::NoteGitOnly(Authorization* authorization) {
  const Request& request = authorization->request;
  const bool begins = request.is_argv
                          ? !request.argv.empty() && request.argv[0] == "git"
                          : request.command.starts_with("git ") ||
                                request.command.starts_with("cd ");
  authorization->git_only = begins && RunsGitOnly(Read(request));
}

Result<Session> Gateway::SessionFor(const Request& request, bool pin) {
  // Without a session the workspace follows from the directory alone; a batch
  // asks for the same few directories again and again.
  const bool nameless = request.session.empty() && request.project.empty();
  if (nameless) {
    const auto known = sessions_.find(request.cwd);
    if (known != sessions_.end()) return known->second;
  }
  GATE_TRY(Session session, OpenSession(facts_, request.session,
                                        request.project, request.cwd, pin));
  if (nameless) sessions_.emplace(request.cwd, session);
  return session;
}

Authorization Gateway::Authorize(const Request& asked, bool pin,
                                 engine::Trace* trace) {
  Authorization authorization;
  authorization.id = NewUuid(NowMs());
  authorization.request = asked;
  Request& request = authorization.request;

  const uint64_t start = MonotonicUs();
  UnwrapSelf(&request, &authorization.unwrapped);
  authorization.analysis = Read(request);
  authorization.git_only = RunsGitOnly(authorization.analysis);
  const uint64_t parsed = MonotonicUs();
  authorization.timing.parse_us = parsed - start;

  engine::Request& engine_request = authorization.engine_request;
  engine_request.command = request.is_argv ? "" : request.command;
  engine_request.argv = request.argv;
  engine_request.cwd = request.cwd;
  engine_request.agent = request.agent;
  engine_request.session = request.session;
  engine_request.home = facts_.home;
  engine_request.config_dir = facts_.places.config;
  engine_request.state_dir = facts_.places.state;
  engine_request.cache_dir = facts_.places.cache;
  engine_request.client_dirs = facts_.client_dirs;
  engine_request.binary = facts_.executable;
  engine_request.interactive = request.interactive;
  engine_request.now_ms = NowMs();

  struct stat place = {};
  if (!request.cwd.starts_with('/') ||
      (request.on_this_machine &&
       (::stat(request.cwd.c_str(), &place) != 0 || !S_ISDIR(place.st_mode)))) {
    authorization.decision.reason = kNoDirectory;
    authorization.decision.suggestion =
        "change to a directory that exists: `cd DIR`";
    authorization.plan.why = authorization.decision.reason;
    return authorization;
  }
  if (request.on_this_machine) request.directory = {place.st_dev, place.st_ino};
  auto session = SessionFor(request, pin);
  if (!session) {
    authorization.decision.reason =
        "the session's state cannot be used: " + session.error().message;
    authorization.plan.why = authorization.decision.reason;
    return authorization;
  }
  authorization.session = std::move(*session);
  engine_request.workspace = authorization.session.workspace;
  const auto [secrets, unknown] =
      secrets_.try_emplace(engine_request.workspace);
  if (unknown)
    secrets->second =
        router::SecretsAt(facts_.relocated_dirs, engine_request.workspace);
  engine_request.secrets = secrets->second;

  const rules::Policy& policy = PolicyFor(engine_request.workspace);
  authorization.policy_revision = policy.revision();
  authorization.diagnostics = policy.diagnostics();
  for (const Diagnostic& problem : settings().diagnostics)
    authorization.diagnostics.push_back(problem);
  if (policy.asks_branch()) {
    Branch branch = FindBranch(request.cwd, authorization.analysis);
    engine_request.branch = std::move(branch.name);
    engine_request.branch_known = branch.known;
  }
  const uint64_t loaded = MonotonicUs();
  authorization.timing.policy_us = loaded - parsed;

  std::string trouble = SettingsTrouble(settings());
  authorization.policy_broken =
      policy.floor() == Action::kDeny || !trouble.empty();
  const engine::StageInputs inputs = {
      .policy = policy,
      .analysis = authorization.analysis,
      .settings_trouble = std::move(trouble),
      .preset = settings().preset.value_or(engine::Preset::kStandard),
      .asked_profile = request.profile,
      .file_writes = request.file_writes,
      .on_this_machine = request.on_this_machine,
      .previewed = !request.preview.empty()};
  LookedUpFacts looked(*this, &authorization,
                       request.on_this_machine ? nullptr : &verification_cache_,
                       engine_patience_ms_);
  engine::StageState decided =
      engine::Decide(inputs, std::move(engine_request), looked, trace);
  engine_request = std::move(decided.request);
  authorization.decision = std::move(decided.decision);
  authorization.timing.evaluate_us = MonotonicUs() - loaded;

  JudgeYes(&authorization);
  if (request.file_writes.empty()) {
    Replan(&authorization, request.approved);
    JudgeServices(&authorization, trace);
  }
  return authorization;
}

}  // namespace gate::app
