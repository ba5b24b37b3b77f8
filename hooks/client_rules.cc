#include "hooks/client_rules.h"

#include "base/json.h"

namespace gate::hooks {

bool HasCommandRules(std::string_view settings) {
  const auto json = ParseJson(settings);
  if (!json || !json->is_object()) return false;
  const auto permissions = json->find("permissions");
  if (permissions == json->end() || !permissions->is_object()) return false;
  for (const char* list : {"deny", "ask"}) {
    const auto rules = permissions->find(list);
    if (rules == permissions->end() || !rules->is_array()) continue;
    for (const Json& rule : *rules)
      if (rule.is_string() &&
          rule.get_ref<const std::string&>().starts_with("Bash("))
        return true;
  }
  return false;
}

}  // namespace gate::hooks
