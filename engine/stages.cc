#include "engine/stages.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/paths.h"
#include "base/text.h"

namespace gate::engine {
namespace {

using parser::Analysis;
using rules::Action;

// Everything that a stage sees.
struct Context {
  const StageInputs& inputs;
  StageFacts& facts;
  Request& request;
  Decision& decision;
  Trace* trace;

  bool is_command() const { return inputs.file_writes.empty(); }
};

void Ask(Stage stage, std::string reason, std::string suggestion,
         Decision* decision) {
  decision->action = Action::kAsk;
  decision->code = CodeOf(stage);
  decision->reason = std::move(reason);
  decision->suggestion = std::move(suggestion);
  decision->rule = {};
}

// The rules of the last evaluation are the ones that decided.
Decision EvaluateAgain(const Context& c, const Request& request,
                       const ProgramVerification& programs, Trace* trace) {
  if (trace != nullptr) trace->steps.clear();
  return Evaluate(c.inputs.policy, c.inputs.analysis, request, programs, trace);
}

void Rules(Context& c) {
  c.decision = EvaluateAgain(c, c.request, ProgramVerification{}, c.trace);
}

// No engine is disturbed for a line that is asked anyway.
void EngineNames(Context& c) {
  if (!c.is_command() || c.decision.action != Action::kAsk ||
      !c.facts.HasEngineNames())
    return;
  Request inspected = c.request;
  inspected.inspected = true;
  Trace steps;
  Decision known = EvaluateAgain(c, inspected, ProgramVerification{},
                                 c.trace == nullptr ? nullptr : &steps);
  if (known.action >= Action::kAsk) return;
  if (std::string doubt = c.facts.EngineNamesDoubt(); !doubt.empty()) {
    c.decision.reason = std::move(doubt);
    return;
  }
  c.request.inspected = true;
  c.decision = std::move(known);
  if (c.trace != nullptr) c.trace->steps = std::move(steps.steps);
}

void Settings(Context& c) {
  if (c.inputs.settings_trouble.empty()) return;
  c.decision = Decision{};
  c.decision.code = CodeOf(Stage::kSettings);
  c.decision.reason = c.inputs.settings_trouble;
}

// A tool of the agent cannot be put into a sandbox. Inside the workspace its
// write is what a sandboxed command could do as well; elsewhere it is not.
void FileTool(Context& c) {
  if (c.is_command() || c.decision.action != Action::kSandbox) return;
  const std::string& workspace = c.request.workspace;
  for (const std::string& path : c.inputs.file_writes) {
    if (!workspace.empty() && IsWithin(path, workspace)) continue;
    c.decision.action = Action::kAsk;
    c.decision.reason = "writes " + Visible(path) +
                        ", outside the workspace, where no sandbox contains it";
    return;
  }
  c.decision.action = Action::kAllow;
  c.decision.contain = false;
}

void Programs(Context& c) {
  if (!c.is_command() || c.decision.action != Action::kAllow) return;
  const ProgramVerification programs = c.facts.Programs();
  if (!programs.verified)
    c.decision = EvaluateAgain(c, c.request, programs, c.trace);
}

// An activation script that is sourced keeps its effect only when it runs raw.
// It may, when no sandboxed command can have written it.
bool MayKeepState(const Analysis& analysis, StageFacts& facts) {
  if (!analysis.state_only || analysis.hides_commands || analysis.parse_error ||
      facts.AltersLaterLines())
    return false;
  for (const parser::Effect& effect : analysis.effects) {
    if (effect.kind == parser::EffectKind::kRead) continue;
    if (effect.kind != parser::EffectKind::kExecuteFile) return false;
    if (!effect.path.known || effect.path.text.empty() ||
        facts.SandboxMayWrite(effect.path.text))
      return false;
  }
  return std::ranges::all_of(
      analysis.unknowns, [](const parser::Unknown& unknown) {
        return unknown.code == parser::UnknownCode::kScriptFile;
      });
}

void ShellState(Context& c) {
  if (!c.is_command() || c.decision.action != Action::kSandbox ||
      !MayKeepState(c.inputs.analysis, c.facts))
    return;
  c.decision.action = Action::kAllow;
  c.decision.contain = false;
  c.decision.reason =
      "only sets the shell's own state, which a sandbox would lose";
}

// Whether the profile of the line is that of a tool: what it asks for or what
// the caller does, where neither takes something away.
bool WantsTool(ProfileKind decided, ProfileKind asked) {
  if (asked == ProfileKind::kUnsaid) return decided == ProfileKind::kTool;
  return std::min(decided, asked) == ProfileKind::kTool;
}

void ToolProfile(Context& c) {
  if (!c.is_command() ||
      (c.decision.action != Action::kSandbox &&
       c.decision.action != Action::kAsk) ||
      !WantsTool(c.decision.profile, c.inputs.asked_profile))
    return;
  ToolFacts facts;
  facts.workspace = c.request.workspace;
  facts.names = c.facts.Programs();
  ToolAccess access = JudgeToolAccess(c.inputs.analysis, c.decision, facts);
  if (access.given) {
    access.why = c.facts.Lend(access);
    if (access.why.empty()) return;
    access.suggestion =
        "tell the person, who can run it in a terminal of their own";
  }
  if (c.decision.profile == ProfileKind::kTool)
    AskInsteadOfTool(c.inputs.analysis, access, &c.decision);
}

// What an agent or git would load of the project must be what a person trusted.
// Where a rule asks already, the yes is to the command with these very files.
void ProjectTrust(Context& c) {
  if (!c.is_command() || c.decision.action > Action::kAsk) return;
  std::string why = c.facts.UntrustedSetting();
  if (why.empty()) return;
  if (c.decision.action == Action::kAsk) {
    c.decision.reason += "; and " + why;
    return;
  }
  Ask(Stage::kProjectTrust, std::move(why),
      "ask the person to look at it and run `gate trust` in the project",
      &c.decision);
}

// The sandbox shows the file as well, so that a person is asked.
void PrintedSecret(Context& c) {
  if (!c.is_command() || c.decision.action >= Action::kAsk) return;
  std::string why = c.facts.PrintedSecret();
  if (why.empty()) return;
  Ask(Stage::kPrintedSecret, std::move(why),
      "ask for the one setting that you need: `git config user.name`",
      &c.decision);
  c.decision.contain = true;
}

// Nothing is lent to a line without a network that leads out
// (gateway/git_transport.h); where rules limit it to hosts, only what is pinned
// is, without a question. A line that is asked about for another reason says
// what it gives.
void Remotes(Context& c) {
  if (!c.is_command() || !c.inputs.on_this_machine ||
      c.decision.action != Action::kSandbox ||
      c.decision.network != NetworkAccess::kOpen ||
      c.decision.profile == ProfileKind::kTool)
    return;
  const std::string remotes = c.facts.UnpinnedRemotes();
  if (remotes.empty()) return;
  Ask(Stage::kRemotes,
      "git would use your ssh login for " + remotes +
          ", which this repository did not have when gate first saw it",
      "use a remote that the repository had, or its https URL; a person may "
      "add one for good: gate trust --remote URL",
      &c.decision);
  c.decision.yes = YesNeeds::kSandbox;
}

void ApplyThePreset(Context& c) {
  ApplyPreset(c.inputs.preset, c.inputs.analysis,
              /*containable=*/c.is_command(), &c.decision);
}

void Preview(Context& c) { c.decision.contain |= c.inputs.previewed; }

struct StageEntry {
  Stage stage;
  const char* name;
  ReasonCode code;
  void (*apply)(Context&);  // null: not one of Decide
};

constexpr std::array<StageEntry, kStages> kTable = {{
    {Stage::kRules, "rules", ReasonCode::kRule, Rules},
    {Stage::kEngineNames, "engine_names", ReasonCode::kRule, EngineNames},
    {Stage::kSettings, "settings", ReasonCode::kPolicyBroken, Settings},
    {Stage::kFileTool, "file_tool", ReasonCode::kRule, FileTool},
    {Stage::kPrograms, "programs", ReasonCode::kNotAsItSeems, Programs},
    {Stage::kShellState, "shell_state", ReasonCode::kRule, ShellState},
    {Stage::kToolAccess, "tool_access", ReasonCode::kNotAsItSeems, ToolProfile},
    {Stage::kProjectTrust, "project_trust", ReasonCode::kUntrusted,
     ProjectTrust},
    {Stage::kPrintedSecret, "printed_secret", ReasonCode::kNotAsItSeems,
     PrintedSecret},
    {Stage::kRemotes, "remotes", ReasonCode::kNotAsItSeems, Remotes},
    {Stage::kPreset, "preset", ReasonCode::kRule, ApplyThePreset},
    {Stage::kPreview, "preview", ReasonCode::kRule, Preview},
    {Stage::kLocalServices, "local_services", ReasonCode::kNotAsItSeems,
     nullptr},
    {Stage::kPlan, "plan", ReasonCode::kPlan, nullptr},
    {Stage::kReadTool, "read_tool", ReasonCode::kRule, nullptr},
}};
static_assert([] {
  for (size_t i = 0; i < kStages; ++i)
    if (kTable[i].stage != static_cast<Stage>(i)) return false;
  return true;
}());

const StageEntry& EntryOf(Stage stage) {
  return kTable[static_cast<size_t>(stage)];
}

}  // namespace

const char* Name(Stage stage) { return EntryOf(stage).name; }
ReasonCode CodeOf(Stage stage) { return EntryOf(stage).code; }

void NoteStage(Stage stage, const Decision& before, const Decision& after,
               Trace* trace) {
  if (trace == nullptr) return;
  if (stage != Stage::kRules && before.action == after.action &&
      before.contain == after.contain && before.reason == after.reason)
    return;
  trace->stages.push_back(
      {Name(stage), before.action, after.action, after.code, after.reason});
}

void ApplyStage(Stage stage, const StageInputs& inputs, StageFacts& facts,
                StageState* state, Trace* trace) {
  const StageEntry& entry = EntryOf(stage);
  if (entry.apply == nullptr) return;
  Context context{inputs, facts, state->request, state->decision, trace};
  if (trace == nullptr) return entry.apply(context);
  const Decision before = state->decision;
  entry.apply(context);
  NoteStage(stage, before, state->decision, trace);
}

StageState Decide(const StageInputs& inputs, Request request, StageFacts& facts,
                  Trace* trace) {
  StageState state;
  state.request = std::move(request);
  for (const StageEntry& entry : kTable)
    ApplyStage(entry.stage, inputs, facts, &state, trace);
  return state;
}

bool ApplyLocalServices(const std::string& why, Preset preset,
                        Decision* decision, Trace* trace) {
  if (why.empty()) return false;
  const Decision before = trace != nullptr ? *decision : Decision{};
  const bool makes = decision->action != Action::kAsk;
  if (preset == Preset::kAutonomous) {
    if (makes) decision->TakeNetwork();
    return false;
  }
  if (makes) {
    Ask(Stage::kLocalServices, why,
        "start a server in the same line and use that one", decision);
    decision->contain = true;
  } else {
    decision->reason += "; and " + why;
  }
  NoteStage(Stage::kLocalServices, before, *decision, trace);
  return makes;
}

void ApplyPlan(Planned planned, const std::string& why, Decision* decision,
               Trace* trace) {
  if (decision->action > Action::kSandbox) return;
  const Decision before = trace != nullptr ? *decision : Decision{};
  if (planned == Planned::kRefused) {
    decision->action = Action::kDeny;
    decision->reason = why;
    decision->suggestion = "ask the person to run `gate doctor`";
  } else if (planned == Planned::kContained &&
             decision->action == Action::kAllow) {
    decision->action = Action::kSandbox;
    decision->reason = "the settings contain what would be allowed: " +
                       std::move(decision->reason);
  } else {
    return;
  }
  decision->contain = true;
  decision->code = CodeOf(Stage::kPlan);
  decision->rule = {};
  NoteStage(Stage::kPlan, before, *decision, trace);
}

}  // namespace gate::engine
