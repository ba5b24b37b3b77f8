// What the stages of a decision have to have looked up (engine/stages.h), by
// the file system, the container engines and the state of gate.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "credentials/ssh_target.h"
#include "engine/stages.h"
#include "gateway/gateway.h"
#include "gateway/programs/engine_names.h"

namespace gate::app {

// For one decision. `authorization` must have its request, analysis and session
// and outlives this; what a stage finds out for later (the lending, the
// remotes, the mark of untrusted settings) is put there.
class LookedUpFacts : public engine::StageFacts {
 public:
  // `cache`: what was seen for other lines of a batch; null where the line
  // would run. Engines are waited for `patience_ms` in all.
  LookedUpFacts(Gateway& gateway, Authorization* authorization,
                VerificationCache* cache, uint64_t patience_ms);

  bool HasEngineNames() override;
  std::string EngineNamesDoubt() override;
  engine::ProgramVerification Programs() override;
  bool AltersLaterLines() override;
  bool SandboxMayWrite(const std::string& path) override;
  std::string Lend(const engine::ToolAccess& access) override;
  std::string UntrustedSetting() override;
  std::string PrintedSecret() override;
  std::string UnpinnedRemotes() override;

 private:
  const std::vector<std::string>& Writable();

  Gateway& gateway_;
  Authorization* authorization_;
  VerificationCache* cache_;
  uint64_t patience_ms_;
  EngineNames engine_names_;
  std::optional<std::vector<std::string>> writable_;
  std::optional<engine::ProgramVerification> programs_;
};

// The remotes of `remotes`, for people.
std::string RemotesText(const std::set<credentials::SshTarget>& remotes);

}  // namespace gate::app
