#include "gateway/client_version.h"

#include <cstdio>
#include <cstring>

namespace gate::app {
namespace {

using hooks::Version;

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
  // "2.1.311 (NAME)", "NAME 0.169.0"
  const char* number = text + std::strcspn(text, "0123456789");
  Version found;
  std::array<int, 3>& parts = found.parts;
  if (std::sscanf(number, "%9d.%9d.%9d", &parts[0], &parts[1], &parts[2]) != 3)
    return std::nullopt;
  return found;
}

std::string WhyTooOld(const std::string& client,
                      const std::optional<Version>& version) {
  const hooks::Capabilities* known = hooks::CapabilitiesOf(client);
  if (known != nullptr && version && *version < known->first_that_rewrites)
    return client + " " + Text(*version) +
           " runs uncontained what gate would contain; " +
           Text(known->first_that_rewrites) + " is the first that does not";
  return "";
}

}  // namespace gate::app
