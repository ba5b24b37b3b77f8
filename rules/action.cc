#include "rules/action.h"

#include <array>

namespace gate::rules {
namespace {

constexpr std::array kActions = {"allow", "sandbox", "ask", "deny"};
constexpr std::array kLayers = {"session", "project", "builtin", "user",
                                "system"};
static_assert(kActions.size() == static_cast<size_t>(Action::kDeny) + 1);
static_assert(kLayers.size() == static_cast<size_t>(Layer::kSystem) + 1);

}  // namespace

const char* Name(Action action) {
  return kActions[static_cast<size_t>(action)];
}

std::optional<Action> ParseAction(std::string_view text) {
  for (size_t i = 0; i < kActions.size(); ++i)
    if (text == kActions[i]) return static_cast<Action>(i);
  return std::nullopt;
}

const char* Name(Layer layer) { return kLayers[static_cast<size_t>(layer)]; }

}  // namespace gate::rules
