#include "rules/lifting.h"

#include "rules/names.h"

namespace gate::rules {
namespace {

bool MayLift(const LoadedLayer& layer, const RuleRecord& rule) {
  return rule.action == static_cast<uint8_t>(Action::kAllow) &&
         rule.lifts != 0 && rule.observe == 0 &&
         (layer.layer == Layer::kSystem || layer.layer == Layer::kUser ||
          layer.layer == Layer::kProject);
}

bool IsOrdinary(const RuleRecord& rule) {
  return rule.profile <= ProfileKind::kWorkspaceWrite &&
         (rule.network < NetworkAccess::kDomains ||
          SeverityNames()[rule.severity] == "low");
}

}  // namespace

bool Lifts(const LoadedLayer& layer, uint32_t by,
           const LoadedLayer& other_layer, uint32_t other) {
  const RuleRecord& of = other_layer.view.rules[other];
  return MayLift(layer, layer.view.rules[by]) &&
         other_layer.layer == Layer::kBuiltin && !other_layer.Locked(other) &&
         of.action == static_cast<uint8_t>(Action::kSandbox) &&
         LiftNames()[of.lift] != "except" &&
         (layer.layer != Layer::kProject || IsOrdinary(of));
}

}  // namespace gate::rules
