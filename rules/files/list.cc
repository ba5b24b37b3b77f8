#include "rules/list.h"

#include <algorithm>

#include "rules/names.h"
#include "rules/policy_impl.h"

namespace gate::rules {
namespace {

RuleInfo Describe(const LoadedLayer& layer, uint32_t index) {
  const RuleView& view = layer.view;
  const RuleRecord& record = view.rules[index];
  const auto text = [&](FlatText t) { return std::string(view.Text(t)); };
  RuleInfo info;
  info.id = text(record.id);
  info.pack = text(record.pack);
  info.source = text(record.file) + ":" + std::to_string(record.line);
  info.layer = layer.layer;
  info.action = static_cast<Action>(record.action);
  info.reason = text(record.reason);
  info.suggestion = text(record.suggestion);
  info.description = text(record.description);
  info.severity = SeverityNames()[record.severity % SeverityNames().size()];
  info.profile = record.profile;
  info.network = record.network;
  for (const FlatText& t : view.In(view.strings, record.tags))
    info.tags.push_back(text(t));
  for (const FlatText& t : view.In(view.strings, record.except))
    info.except.push_back(text(t));
  for (const FlatText& t : view.In(view.strings, record.opens))
    info.opens.push_back(text(t));
  for (const FlatText& t : view.In(view.strings, record.hosts))
    info.hosts.push_back(text(t));
  for (const FlatText& t : view.In(view.strings, record.hosts_deny))
    info.hosts_deny.push_back(text(t));
  for (const ExampleRecord& example : view.In(view.examples, record.examples))
    info.examples.push_back(
        {text(example.command), example.matches != 0, example.line});
  const auto pairs = view.In(view.strings, record.suggestions);
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    info.suggestions.emplace_back(text(pairs[i]), text(pairs[i + 1]));
  info.locked = layer.Locked(index);
  info.disabled =
      (layer.State(index) & LoadedLayer::kDisabled) != 0 && !info.locked;
  info.observed_only = record.observe != 0;
  return info;
}

}  // namespace

std::vector<RuleInfo> ListRules(const Policy& policy) {
  std::vector<const LoadedLayer*> layers;
  for (const auto& layer : policy.impl().layers) layers.push_back(layer.get());
  std::sort(layers.begin(), layers.end(),
            [](const LoadedLayer* a, const LoadedLayer* b) {
              return a->layer < b->layer;
            });
  std::vector<RuleInfo> all;
  for (const LoadedLayer* layer : layers)
    for (uint32_t i = 0; i < layer->view.rules.size(); ++i)
      all.push_back(Describe(*layer, i));
  return all;
}

std::vector<RuleInfo> FindRules(const Policy& policy, std::string_view id) {
  std::vector<RuleInfo> found;
  for (const auto& layer : policy.impl().layers)
    for (uint32_t i = 0; i < layer->view.rules.size(); ++i)
      if (layer->view.Text(layer->view.rules[i].id) == id)
        found.push_back(Describe(*layer, i));
  return found;
}

}  // namespace gate::rules
