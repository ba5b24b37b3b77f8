#include "gateway/client_settings.h"

#include "base/paths.h"
#include "hooks/capabilities.h"
#include "hooks/installed.h"

namespace gate::app {
hooks::InstallOptions HookOptions(const ProcessFacts& facts,
                                  const std::string& client) {
  hooks::InstallOptions options;
  options.client = client;
  options.home = facts.home;
  options.gate_path = facts.executable;
  options.config_dir = facts.places.config;
  options.state_dir = facts.places.state;
  if (const auto moved = clients::DirectoryOf(client))
    options.moved_dir = facts.client_dirs[*moved];
  return options;
}

std::string WhyNoHookRuns(const ProcessFacts& facts, const std::string& client,
                          const std::vector<std::string>& directories) {
  std::vector<std::string> files;
  if (auto user = hooks::SettingsPath(HookOptions(facts, client)))
    files.push_back(*user);
  const hooks::Capabilities& can = *hooks::CapabilitiesOf(client);
  for (const std::string& directory : directories)
    for (const std::string_view name : can.disabling_settings)
      files.push_back(directory + "/" + std::string(can.directory) + "/" +
                      std::string(name));
  // Which of them wins is not asked: one that says so is worth a look.
  for (const std::string& file : files) {
    const auto disables = hooks::DisablesHooks(file);
    if (!disables)
      return file + " may switch hooks off: " + disables.error().message;
    if (*disables) return file + " says `disableAllHooks`";
  }
  return "";
}

}  // namespace gate::app
