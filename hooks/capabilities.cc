#include "hooks/capabilities.h"

#include <algorithm>

namespace gate::hooks {
namespace {

void Join(std::string_view name, std::string* names) {
  if (!names->empty()) *names += ", ";
  *names += name;
}

}  // namespace

std::string InstallableClients() {
  std::string names;
  for (const Capabilities& each : AllCapabilities()) Join(each.client, &names);
  return names;
}

std::string ClientsWithOwnSandbox() {
  std::string names;
  for (const Capabilities& each : AllCapabilities())
    if (each.has_own_sandbox) Join(each.client, &names);
  return names;
}

std::string ChosenShell(std::span<const std::string> environment) {
  std::string chosen;
  for (const std::string_view variable :
       clients::All(clients::Names::kShellVariables))
    for (const std::string& entry : environment)
      if (entry.starts_with(variable) && entry.size() > variable.size() &&
          entry[variable.size()] == '=')
        chosen = entry.substr(variable.size() + 1);
  return chosen;
}

bool IsAgentProgram(std::string_view name) {
  return clients::Contains(clients::Names::kPrograms, name);
}

bool NamesAgentPackage(std::string_view word) {
  return std::ranges::any_of(clients::All(clients::Names::kPackages),
                             [&](std::string_view package) {
                               return word.find(package) != word.npos;
                             });
}

}  // namespace gate::hooks
