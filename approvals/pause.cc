#include "approvals/pause.h"

#include <unistd.h>

#include "approvals/signed_store.h"
#include "base/json.h"
#include "base/text.h"

namespace gate::app {
namespace {

constexpr std::string_view kPauseDomain = "pause";

std::string PauseFile(const std::string& state_dir) {
  return state_dir + "/pause";
}

}  // namespace

Status StartPause(const std::string& state_dir, const Pause& pause) {
  if (pause.until_ms <= pause.since_ms ||
      pause.until_ms - pause.since_ms > kLongestPauseMs)
    return Fail(ErrorCode::kInvalid, "a pause lasts at most 8 hours");
  return WriteSigned(state_dir, kPauseDomain, PauseFile(state_dir),
                     Dump({{"workspace", Base64(pause.workspace)},
                           {"since_ms", pause.since_ms},
                           {"until_ms", pause.until_ms}}));
}

Status EndPause(const std::string& state_dir) {
  if (::unlink(PauseFile(state_dir).c_str()) != 0 && errno != ENOENT)
    return FailErrno("the pause cannot be ended");
  return {};
}

std::optional<Pause> FindPause(const std::string& state_dir, uint64_t now_ms) {
  const auto body = ReadSigned(state_dir, kPauseDomain, PauseFile(state_dir));
  if (!body) return std::nullopt;
  const auto json = ParseJson(*body);
  if (!json || !json->is_object()) return std::nullopt;
  Pause pause;
  pause.since_ms = json->value("since_ms", uint64_t{0});
  pause.until_ms = json->value("until_ms", uint64_t{0});
  if (!DecodeBase64(json->value("workspace", ""), &pause.workspace) ||
      now_ms < pause.since_ms || now_ms >= pause.until_ms ||
      pause.until_ms - pause.since_ms > kLongestPauseMs)
    return std::nullopt;
  return pause;
}

}  // namespace gate::app
