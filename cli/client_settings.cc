#include "cli/client_settings.h"

namespace gate::cli {

hooks::InstallOptions HookOptions(const ProcessFacts& facts,
                                  const std::string& client) {
  hooks::InstallOptions options;
  options.client = client;
  options.home = facts.home;
  options.gate_path = facts.executable;
  options.config_dir = facts.places.config;
  options.state_dir = facts.places.state;
  options.claude_dir = facts.claude_dir;
  options.codex_home = facts.codex_dir;
  return options;
}

}  // namespace gate::cli
