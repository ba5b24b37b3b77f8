#include "engine/coverage.h"

#include <algorithm>
#include <unordered_map>

#include "engine/examples.h"
#include "rules/list.h"
#include "rules/policy_impl.h"
#include "rules/relations.h"

namespace gate::engine {

std::vector<std::string> ExampleCommands(const rules::Policy& policy) {
  std::vector<std::string> commands;
  for (const rules::RuleInfo& rule : rules::ListRules(policy))
    for (const rules::RuleExample& example : rule.examples)
      commands.push_back(example.command);
  std::sort(commands.begin(), commands.end());
  commands.erase(std::unique(commands.begin(), commands.end()), commands.end());
  return commands;
}

std::vector<std::string> WitnessCommands(const rules::Policy& policy) {
  constexpr size_t kOfARule = 4, kOfAll = 20'000;
  std::vector<std::string> commands = ExampleCommands(policy);
  const size_t most = commands.size() + kOfAll;
  for (const auto& layer : policy.impl().layers) {
    if (layer->layer == rules::Layer::kBuiltin) continue;
    for (const rules::RuleRecord& rule : layer->view.rules) {
      if (commands.size() >= most) return commands;
      for (std::string& command :
           rules::Samples({&layer->view, rule.match}, kOfARule))
        commands.push_back(std::move(command));
    }
  }
  return commands;
}

std::vector<RuleCoverage> MeasureCoverage(
    const rules::Policy& policy,
    const std::function<void(size_t, size_t)>& progress) {
  std::vector<RuleCoverage> rows;
  std::unordered_map<std::string, size_t> places;  // by id and FILE:LINE
  for (const rules::RuleInfo& rule : rules::ListRules(policy)) {
    if (rule.disabled || rule.observed_only) continue;
    places.emplace(rule.id + " " + rule.source, rows.size());
    rows.push_back({rule.id, rule.source, 0, 0});
  }
  const std::vector<std::string> commands = ExampleCommands(policy);
  size_t done = 0;
  for (const std::string& command : commands) {
    if (progress) progress(++done, commands.size());
    const Decision decision = DecideExample(policy, command);
    std::vector<size_t> seen;
    for (const Match& match : decision.matches) {
      const auto row = places.find(match.rule.id + " " + match.rule.source);
      if (row == places.end() ||
          std::find(seen.begin(), seen.end(), row->second) != seen.end())
        continue;
      seen.push_back(row->second);
      ++rows[row->second].matched;
      // Several rules may say the same; each of them would do.
      if (match.action == decision.action) ++rows[row->second].decisive;
    }
  }
  return rows;
}

}  // namespace gate::engine
