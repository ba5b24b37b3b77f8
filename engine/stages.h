// The whole decision: what the rules say, then each stage that may change it.
//
// What the rules say of a line is not all that counts: settings that do not
// load, a program that is another one than its name says, a project that nobody
// trusts and the person's preset count too. Each of these is a stage. Decide
// runs them in the order of `Stage`, and nothing else changes a decision but
// the stages after kPreview, which need a plan, and the answers of people.
//
// Pure: what a stage has to have looked up comes in as a value, by StageFacts.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/decision.h"
#include "engine/evaluate.h"
#include "engine/preset.h"
#include "engine/request.h"
#include "engine/tool_access.h"
#include "parser/analysis.h"
#include "rules/policy.h"

namespace gate::engine {

// What a stage can be told that it cannot see itself. Each is asked at most
// once for one decision, and only by the stage that needs it: the answers cost
// system calls. There are no defaults, so that nobody can leave a check out.
class StageFacts {
 public:
  virtual ~StageFacts() = default;

  // kEngineNames. Whether the line names things of a container engine, by its
  // words alone; then why one of them may be more than the engine's own (empty:
  // none is), which the engine is asked for.
  virtual bool HasEngineNames() = 0;
  virtual std::string EngineNamesDoubt() = 0;

  // kPrograms, kToolAccess. Whether all programs are what their names say.
  virtual ProgramVerification Programs() = 0;

  // kShellState. Whether a later line of the same shell would mean something
  // else after this one, and whether a sandboxed command can have written
  // `path` (absolute).
  virtual bool AltersLaterLines() = 0;
  virtual bool SandboxMayWrite(const std::string& path) = 0;

  // kToolAccess. Lends what `access`, which is given, needs. Why it cannot,
  // for people; empty: lent.
  virtual std::string Lend(const ToolAccess& access) = 0;

  // kProjectTrust. Why the line would load a setting of the project that nobody
  // trusts; empty: none.
  virtual std::string UntrustedSetting() = 0;

  // kPrintedSecret. Why the line would print a credential that is only seen in
  // the file; empty: none.
  virtual std::string PrintedSecret() = 0;

  // kRemotes. For which remotes git would use the person's ssh login, though
  // they are not pinned, in words; empty: none, or none can be lent.
  virtual std::string UnpinnedRemotes() = 0;
};

// In the order in which they are applied.
enum class Stage : uint8_t {
  kRules,          // engine/evaluate.h
  kEngineNames,    // ask -> what the rules say of names that an engine knows
  kSettings,       // anything -> deny: a settings file does not load
  kFileTool,       // a tool that writes files: sandbox -> allow, or ask
  kPrograms,       // allow -> what the rules say of unverified programs
  kShellState,     // sandbox -> allow: only sets the shell's own state
  kToolAccess,     // sandbox -> ask: credentials that it does not get
  kProjectTrust,   // -> ask: loads what nobody trusts
  kPrintedSecret,  // -> ask: prints a credential
  kRemotes,        // sandbox -> ask: the ssh login, for an unpinned remote
  kPreset,         // engine/preset.h
  kPreview,        // allow is contained: the person wants to see the changes
  // Applied when there is a plan, by ApplyLocalServices and ApplyPlan.
  kLocalServices,  // sandbox -> ask: would reach a server of the person's
  kPlan,           // allow -> sandbox, or -> deny: what a run would do
  // Applied to a line that stands for a tool of the agent.
  kReadTool,  // engine/read_tool.h
};
inline constexpr size_t kStages = static_cast<size_t>(Stage::kReadTool) + 1;
// "rules", "engine_names", …: in `gate explain`.
const char* Name(Stage stage);
// The code of decisions that the stage makes. kFileTool, kShellState, kPreset
// and kPreview keep the code of what they change, as kEngineNames and kPrograms
// do where they evaluate again: there it says kRule or kDefault.
ReasonCode CodeOf(Stage stage);

struct StageInputs {
  const rules::Policy& policy;
  const parser::Analysis& analysis;
  // Why the settings count as broken; empty: they loaded.
  std::string settings_trouble;
  Preset preset = Preset::kStandard;
  // The profile that the caller asks for.
  ProfileKind asked_profile = ProfileKind::kUnsaid;
  // What a tool of the agent writes (absolute), where no command is asked
  // about.
  std::span<const std::string> file_writes;
  // The line would run here and now, so that its remotes are those of now.
  bool on_this_machine = false;
  bool previewed = false;
};

// What stages have made of a decision so far.
struct StageState {
  Request request;  // `inspected` is set once an engine knows the names
  Decision decision;
};

// Applies one stage up to kPreview. For tests; use Decide.
void ApplyStage(Stage stage, const StageInputs& inputs, StageFacts& facts,
                StageState* state, Trace* trace = nullptr);

// All stages up to kPreview, in order. `trace` gets the rules of the last
// evaluation and a step for each stage that changed something.
StageState Decide(const StageInputs& inputs, Request request, StageFacts& facts,
                  Trace* trace = nullptr);

// kLocalServices: `why` a run of the line would reach a server of the person's;
// empty: it would not. Adds to a question, and makes one of anything else; with
// the preset autonomous it takes the network away instead. True when it made a
// question.
bool ApplyLocalServices(const std::string& why, Preset preset,
                        Decision* decision, Trace* trace = nullptr);

// What a plan does with the line.
enum class Planned : uint8_t {
  kRaw,        // as the caller would run it
  kContained,  // in a sandbox
  kRefused,    // it cannot run as decided
};

// Notes in `trace`, if there is one, what `stage` made of `before`, unless it
// left the action, the containment and the reason alone.
void NoteStage(Stage stage, const Decision& before, const Decision& after,
               Trace* trace);

// kPlan: makes of an allow or a sandbox what `gate run` would do. `why`: of
// kRefused, for people.
void ApplyPlan(Planned planned, const std::string& why, Decision* decision,
               Trace* trace = nullptr);

}  // namespace gate::engine
