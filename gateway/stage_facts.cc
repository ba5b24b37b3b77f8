#include "gateway/stage_facts.h"

#include <algorithm>
#include <utility>

#include "approvals/trust.h"
#include "gateway/grants/asked_remotes.h"
#include "gateway/grants/lending.h"
#include "gateway/programs/printed_secrets.h"
#include "gateway/programs/program_verification.h"

namespace gate::app {

LookedUpFacts::LookedUpFacts(Gateway& gateway, Authorization* authorization,
                             VerificationCache* cache, uint64_t patience_ms)
    : gateway_(gateway),
      authorization_(authorization),
      cache_(cache),
      patience_ms_(patience_ms) {}

const std::vector<std::string>& LookedUpFacts::Writable() {
  if (!writable_) writable_ = gateway_.WritablePlaces(authorization_->session);
  return *writable_;
}

bool LookedUpFacts::HasEngineNames() {
  const Request& request = authorization_->request;
  engine_names_ = FindEngineNames(authorization_->analysis,
                                  request.is_argv ? "" : request.command);
  return !engine_names_.names.empty() || !engine_names_.trouble.empty();
}

std::string LookedUpFacts::EngineNamesDoubt() {
  return authorization_->request.on_this_machine
             ? EngineDoubt(gateway_.facts(), engine_names_, Writable(),
                           patience_ms_)
             : NotLookedAt(engine_names_, "the line is not run here and now");
}

engine::ProgramVerification LookedUpFacts::Programs() {
  if (!programs_)
    programs_ = VerifyPrograms(gateway_.facts(), authorization_->analysis,
                               Writable(), cache_);
  return *programs_;
}

bool LookedUpFacts::AltersLaterLines() {
  return !LeavesTrouble(authorization_->analysis, Writable()).empty();
}

bool LookedUpFacts::SandboxMayWrite(const std::string& path) {
  return IsWritablePlace(path, Writable());
}

std::string LookedUpFacts::Lend(const engine::ToolAccess& access) {
  auto lending = FindLending(gateway_.facts(), authorization_->analysis, access,
                             authorization_->session.workspace, Writable());
  if (!lending) return lending.error().message;
  authorization_->lending = std::move(*lending);
  return "";
}

std::string LookedUpFacts::UntrustedSetting() {
  UntrustedUse use = FindUntrustedUse(gateway_.facts().places.state,
                                      authorization_->session.workspace,
                                      authorization_->analysis);
  if (!use.why.empty()) authorization_->untrusted = std::move(use.mark);
  return std::move(use.why);
}

std::string LookedUpFacts::PrintedSecret() {
  return PrintsSecret(gateway_.facts(), authorization_->analysis);
}

std::string LookedUpFacts::UnpinnedRemotes() {
  std::set<credentials::SshTarget> remotes =
      app::UnpinnedRemotes(gateway_.facts(), authorization_->session.workspace,
                           Writable(), authorization_->analysis);
  if (remotes.empty() ||
      std::ranges::none_of(gateway_.candidates(), [](const auto& each) {
        return each.availability.features.Has(backends::Feature::kLending);
      }))
    return "";
  authorization_->remotes = std::move(remotes);
  return RemotesText(authorization_->remotes);
}

std::string RemotesText(const std::set<credentials::SshTarget>& remotes) {
  std::string text;
  for (const credentials::SshTarget& target : remotes)
    text += (text.empty() ? "" : ", ") + credentials::Describe(target);
  return text;
}

}  // namespace gate::app
