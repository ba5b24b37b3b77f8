#include "approvals/standing_approvals.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>

#include "approvals/signed_store.h"
#include "base/json.h"
#include "base/text.h"

namespace gate::app {
namespace {

constexpr std::string_view kApprovalDomain = "approval";
constexpr size_t kMaxApprovals = 1000;
std::string ApprovalDirectory(const std::string& state_dir) {
  return state_dir + "/approvals";
}

std::string ApprovalFile(const std::string& state_dir, const std::string& id) {
  return ApprovalDirectory(state_dir) + "/" + id;
}

Result<StandingApproval> DecodeApproval(const std::string& body) {
  const auto damaged = [] {
    return Fail(ErrorCode::kCorrupt, "a kept approval does not verify");
  };
  const auto json = ParseJson(body);
  if (!json || !json->is_object()) return damaged();
  StandingApproval approval;
  approval.id = json->value("id", "");
  approval.scope = json->value("scope", "");
  approval.session = json->value("session", "");
  approval.rules = json->value("rules", std::vector<std::string>());
  // One without a grant was shown as a run in the sandbox.
  approval.grant = engine::GrantKindOf(json->value("grant", "sandbox"));
  approval.approved_ms = json->value("approved_ms", uint64_t{0});
  approval.expires_ms = json->value("expires_ms", uint64_t{0});
  if (!DecodeBase64(json->value("command", ""), &approval.command) ||
      !DecodeBase64(json->value("cwd", ""), &approval.cwd) ||
      !DecodeBase64(json->value("place", ""), &approval.place) ||
      !DecodeBase64(json->value("workspace", ""), &approval.workspace))
    return damaged();
  return approval;
}

// A clock that went back makes it worthless, too.
bool Holds(const StandingApproval& approval, uint64_t now_ms) {
  return now_ms >= approval.approved_ms &&
         (approval.expires_ms == 0 || now_ms < approval.expires_ms);
}

}  // namespace

Status Remember(const std::string& state_dir,
                const StandingApproval& approval) {
  if (!IsStoredId(approval.id)) return Fail(ErrorCode::kInvalid, "not an id");
  GATE_TRY(const auto kept,
           ListStandingApprovals(state_dir, approval.approved_ms));
  if (kept.size() >= kMaxApprovals)
    return Fail(ErrorCode::kTooLarge,
                "there are too many approvals; see `gate approvals list`");
  return WriteSigned(state_dir, kApprovalDomain,
                     ApprovalFile(state_dir, approval.id),
                     Dump({{"id", approval.id},
                           {"scope", approval.scope},
                           {"command", Base64(approval.command)},
                           {"cwd", Base64(approval.cwd)},
                           {"place", Base64(approval.place)},
                           {"workspace", Base64(approval.workspace)},
                           {"session", approval.session},
                           {"rules", approval.rules},
                           {"grant", engine::Name(approval.grant)},
                           {"approved_ms", approval.approved_ms},
                           {"expires_ms", approval.expires_ms}}));
}

Result<std::vector<StandingApproval>> ListStandingApprovals(
    const std::string& state_dir, uint64_t now_ms) {
  std::vector<StandingApproval> approvals;
  DIR* directory = ::opendir(ApprovalDirectory(state_dir).c_str());
  if (directory == nullptr) {
    if (errno == ENOENT) return approvals;
    return FailErrno("the kept approvals cannot be listed");
  }
  std::vector<std::string> ids;
  while (const dirent* entry = ::readdir(directory))
    if (IsStoredId(entry->d_name)) ids.emplace_back(entry->d_name);
  ::closedir(directory);
  std::sort(ids.begin(), ids.end());  // UUIDv7: by time
  for (const std::string& id : ids) {
    auto body =
        ReadSigned(state_dir, kApprovalDomain, ApprovalFile(state_dir, id));
    if (!body && body.error().code == ErrorCode::kNotFound) continue;
    Result<StandingApproval> approval = std::unexpected(Error{});
    if (body) approval = DecodeApproval(*body);
    if (!approval || approval->id != id || !Holds(*approval, now_ms)) {
      ::unlink(ApprovalFile(state_dir, id).c_str());
      continue;
    }
    approvals.push_back(std::move(*approval));
  }
  return approvals;
}

Result<StandingApproval> Revoke(const std::string& state_dir,
                                const std::string& id, uint64_t now_ms) {
  GATE_TRY(const auto approvals, ListStandingApprovals(state_dir, now_ms));
  const StandingApproval* found = nullptr;
  for (const StandingApproval& approval : approvals) {
    if (approval.id != id &&
        (id.size() < kMinIdPrefix || !approval.id.starts_with(id)))
      continue;
    if (found != nullptr)
      return Fail(ErrorCode::kInvalid, "`" + id + "` fits several approvals");
    found = &approval;
  }
  if (found == nullptr)
    return Fail(ErrorCode::kNotFound, "no approval `" + id + "` is kept");
  if (::unlink(ApprovalFile(state_dir, found->id).c_str()) != 0 &&
      errno != ENOENT)
    return FailErrno("the approval cannot be removed");
  return *found;
}

std::optional<StandingApproval> FindStandingApproval(
    const std::string& state_dir, const Asked& asked, uint64_t now_ms) {
  const auto approvals = ListStandingApprovals(state_dir, now_ms);
  if (!approvals) return std::nullopt;
  for (const StandingApproval& approval : *approvals) {
    if (approval.scope == kServiceScope || approval.command != asked.command ||
        asked.place.empty() || approval.place != asked.place ||
        approval.workspace != asked.workspace)
      continue;
    if (approval.scope == "session" &&
        (approval.session.empty() || approval.session != asked.session))
      continue;
    const bool same_rules = std::all_of(
        asked.rules.begin(), asked.rules.end(), [&](const std::string& rule) {
          return std::find(approval.rules.begin(), approval.rules.end(),
                           rule) != approval.rules.end();
        });
    if (same_rules && !asked.rules.empty()) return approval;
  }
  return std::nullopt;
}

}  // namespace gate::app
