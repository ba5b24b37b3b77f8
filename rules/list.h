// What `gate rules list` and `gate rules show` tell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/action.h"
#include "rules/policy.h"
#include "rules/profile.h"

namespace gate::rules {

struct RuleExample {
  std::string command;
  bool matches = true;
  uint32_t line = 0;
};

struct RuleInfo {
  std::string id, pack, source;  // source: FILE:LINE
  Layer layer = Layer::kBuiltin;
  Action action = Action::kDeny;
  std::string reason, suggestion, severity, description;
  ProfileKind profile = ProfileKind::kUnsaid;
  NetworkAccess network = NetworkAccess::kUnsaid;
  // By the words of the commands that they are for; `suggestion` is for all
  // others.
  std::vector<std::pair<std::string, std::string>> suggestions;
  std::vector<std::string> tags, except;
  std::vector<std::string> opens;  // what a yes makes writable
  std::vector<std::string> hosts, hosts_deny;
  std::vector<RuleExample> examples;
  bool locked = false;
  bool disabled = false;
  bool observed_only = false;
};

// All rules, by layer from the least trusted and then in the files' order.
std::vector<RuleInfo> ListRules(const Policy& policy);

// The rules called `id`, of all layers; empty when there is none.
std::vector<RuleInfo> FindRules(const Policy& policy, std::string_view id);

}  // namespace gate::rules
