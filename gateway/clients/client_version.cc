#include "gateway/client_version.h"

#include <cstdio>
#include <cstring>

namespace gate::app {
namespace {

// The first versions that run what a hook has put in place of a command; older
// ones run the command itself. CHANGELOG.md of anthropics/claude-code, 2.0.10;
// openai/codex#20527, which 0.130.0 does not have (rtk-ai/icm#237) and 0.131.0
// has (mpecan/tokf#368).
struct Least {
  const char* client;
  Version version;
};
constexpr Least kLeast[] = {{"claude", {{2, 0, 10}}}, {"codex", {{0, 131, 0}}}};

std::string Text(const Version& version) {
  return std::to_string(version.parts[0]) + "." +
         std::to_string(version.parts[1]) + "." +
         std::to_string(version.parts[2]);
}

}  // namespace

std::optional<Version> AskVersion(const std::string& client) {
  const std::string line =
      "timeout 10 " + client + " --version 2>/dev/null </dev/null";
  FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  char text[256];
  const size_t size = std::fread(text, 1, sizeof text - 1, pipe);
  ::pclose(pipe);
  text[size] = '\0';
  // "2.1.311 (Claude Code)", "codex-cli 0.169.0"
  const char* number = text + std::strcspn(text, "0123456789");
  Version found;
  std::array<int, 3>& parts = found.parts;
  if (std::sscanf(number, "%9d.%9d.%9d", &parts[0], &parts[1], &parts[2]) != 3)
    return std::nullopt;
  return found;
}

std::string WhyTooOld(const std::string& client,
                      const std::optional<Version>& version) {
  for (const Least& least : kLeast)
    if (client == least.client && version && *version < least.version)
      return client + " " + Text(*version) +
             " runs uncontained what gate would contain; " +
             Text(least.version) + " is the first that does not";
  return "";
}

}  // namespace gate::app
