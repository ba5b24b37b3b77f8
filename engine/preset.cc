#include "engine/preset.h"

#include <algorithm>
#include <array>

#include "engine/network.h"
#include "engine/tool_access.h"
#include "parser/programs.h"

namespace gate::engine {
namespace {

using parser::Analysis;

constexpr std::array<const char*, 3> kPresetNames = {"autonomous", "standard",
                                                     "careful"};

bool HasRule(const Decision& decision, uint32_t invocation) {
  return std::any_of(decision.matches.begin(), decision.matches.end(),
                     [&](const Match& match) {
                       return match.invocation == invocation &&
                              !match.observed_only;
                     });
}

// Whether all that contains the line says of itself that it is ordinary: work
// on the project, and looking elsewhere.
bool IsOrdinary(const Decision& decision) {
  return std::all_of(
      decision.matches.begin(), decision.matches.end(), [](const Match& match) {
        return match.observed_only || match.action != Action::kSandbox ||
               match.severity == "low";
      });
}

void BeCareful(const Analysis& analysis, Decision* decision) {
  if (decision->action != Action::kSandbox) return;
  const auto ask = [decision](std::string reason) {
    decision->action = Action::kAsk;
    decision->reason = std::move(reason);
  };
  for (uint32_t i = 0; i < decision->per_invocation.size(); ++i) {
    if (decision->per_invocation[i] != Action::kSandbox ||
        HasRule(*decision, i))
      continue;
    const std::string program =
        i < analysis.invocations.size() ? analysis.invocations[i].program : "";
    if (parser::IsDescribed(program)) continue;
    return ask("gate does not know `" + (program.empty() ? "?" : program) +
               "`, and the preset is careful");
  }
  if (analysis.hides_commands)
    return ask(
        "the line may run commands that cannot be seen in it, and the preset "
        "is careful");
  // What a rule names takes what is sent to it as well as it gives.
  if (decision->network >= NetworkAccess::kDomains && !IsOrdinary(*decision))
    ask(decision->network == NetworkAccess::kOpen
            ? "would get the open network, and the preset is careful"
            : "would reach " + ListHosts(decision->hosts) +
                  ", and the preset is careful");
}

// Whether the command does nothing itself that gate knows of but read in
// places a sandbox shows anyway, or run files. Reads that a rule asks about
// are what the sandbox does not hold back, so any read counts as an effect.
bool HasEffects(const Analysis& analysis, uint32_t invocation) {
  for (const parser::Effect& effect : analysis.effects) {
    if (effect.kind == parser::EffectKind::kExecuteFile) continue;
    if (invocation == UINT32_MAX || effect.invocation == invocation)
      return true;
  }
  return false;
}

bool SandboxContains(const Analysis& analysis, const Decision& decision) {
  // Rules that could not be read may have said deny.
  if (decision.code == ReasonCode::kPolicyBroken ||
      decision.code == ReasonCode::kLimit ||
      decision.code == ReasonCode::kInternalError)
    return false;
  for (const Match& match : decision.matches) {
    if (match.observed_only || match.action != Action::kAsk || !match.certain)
      continue;
    if (HasEffects(analysis, match.invocation)) return false;
  }
  return true;
}

void BeAutonomous(const Analysis& analysis, bool containable,
                  Decision* decision) {
  if (decision->action != Action::kAsk) return;
  if (!containable || !SandboxContains(analysis, *decision)) {
    decision->action = Action::kDeny;
    decision->reason += "; nobody can be asked (preset autonomous)";
    return;
  }
  decision->action = Action::kSandbox;
  decision->contain = true;
  decision->TakeNetwork();
  // Without network no credentials are of use.
  if (decision->profile > ProfileKind::kWorkspaceWrite)
    decision->profile = ProfileKind::kWorkspaceWrite;
  decision->reason +=
      "; nobody can be asked (preset autonomous), so it runs in a sandbox "
      "without network";
}

}  // namespace

const char* Name(Preset preset) {
  return kPresetNames[static_cast<size_t>(preset)];
}

std::optional<Preset> ParsePreset(std::string_view text) {
  for (size_t i = 0; i < kPresetNames.size(); ++i)
    if (text == kPresetNames[i]) return static_cast<Preset>(i);
  return std::nullopt;
}

void ApplyPreset(Preset preset, const Analysis& analysis, bool containable,
                 Decision* decision) {
  if (preset == Preset::kCareful) BeCareful(analysis, decision);
  if (preset == Preset::kAutonomous)
    BeAutonomous(analysis, containable, decision);
}

}  // namespace gate::engine
