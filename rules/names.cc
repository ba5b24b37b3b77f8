#include "rules/names.h"

#include <algorithm>
#include <array>

#include "parser/effect_names.h"
#include "rules/profile.h"

namespace gate::rules {
namespace {

using Text = std::string_view;

constexpr std::array<Text, 5> kFlows = {"network_to_code", "decoded_to_code",
                                        "file_to_network", "file_to_code",
                                        "unseen_to_code"};
constexpr std::array<Text, parser::kUnknownCodes> kUnknowns = {
    "syntax_error", "parse_disagreement", "too_large",      "dynamic_command",
    "dynamic_code", "dynamic_argument",   "dynamic_target", "foreign_code",
    "script_file",  "unmodelled",         "limit",          "hidden_text"};
constexpr std::array<Text, parser::kActKinds> kActs = {
    "look", "local", "change", "secret", "code", "login", "unknown"};
constexpr std::array<Text, parser::kRedirectKinds> kRedirects = {
    "endpoint", "account",      "context", "configuration",
    "plugin",   "certificates", "file"};
constexpr std::array<Text, 5> kSeverities = {"", "low", "medium", "high",
                                             "critical"};
constexpr std::array<Text, 5> kProfiles = {"", "read-only", "workspace-write",
                                           "tool", "full-access"};
constexpr std::array<Text, 5> kYes = {"", "sandbox", "places", "as-is",
                                      "by-hand"};
constexpr std::array<Text, 3> kLifts = {"", "allow", "except"};
constexpr std::array<Text, 2> kBinds = {"", "directory"};
constexpr std::array<Text, 5> kNetworks = {"", "none", "loopback", "domains",
                                           "open"};

static_assert(static_cast<size_t>(ProfileKind::kFullAccess) + 1 ==
              kProfiles.size());
static_assert(static_cast<size_t>(NetworkAccess::kOpen) + 1 ==
              kNetworks.size());

// The value that `names` calls `name`; its first stands for nothing said.
template <class Value, size_t kCount>
std::optional<Value> Parse(const std::array<Text, kCount>& names, Text name) {
  for (size_t i = 1; i < kCount; ++i)
    if (names[i] == name) return static_cast<Value>(i);
  return std::nullopt;
}

constexpr std::array<Text, 56> kRunners = {
    "bash",     "sh",      "dash",    "zsh",     "ksh",    "fish",    "python",
    "python3",  "perl",    "ruby",    "node",    "deno",   "bun",     "php",
    "lua",      "awk",     "gawk",    "sudo",    "doas",   "su",      "env",
    "xargs",    "nohup",   "setsid",  "timeout", "nice",   "ionice",  "stdbuf",
    "time",     "command", "exec",    "eval",    "source", "find",    "ssh",
    "parallel", "watch",   "strace",  "script",  "make",   "npx",     "uvx",
    "docker",   "kubectl", "busybox", "gdb",     "nodejs", "pypy",    "pypy3",
    "gmake",    "tclsh",   "Rscript", "mksh",    "podman", "nerdctl", "bunx"};

}  // namespace

std::span<const Text> EffectNames() { return parser::kEffectNames; }
std::span<const Text> FlowNames() { return kFlows; }
std::span<const Text> UnknownNames() { return kUnknowns; }
std::span<const Text> ActNames() { return kActs; }
std::span<const Text> RedirectNames() { return kRedirects; }
std::span<const Text> SeverityNames() { return kSeverities; }
std::span<const Text> YesNames() { return kYes; }
std::span<const Text> LiftNames() { return kLifts; }
std::span<const Text> BindsNames() { return kBinds; }
std::span<const Text> ProfileNames() { return kProfiles; }
std::span<const Text> NetworkNames() { return kNetworks; }

Text Name(ProfileKind profile) {
  return kProfiles[static_cast<size_t>(profile) % kProfiles.size()];
}
Text Name(NetworkAccess network) {
  return kNetworks[static_cast<size_t>(network) % kNetworks.size()];
}
std::optional<ProfileKind> ParseProfileKind(Text name) {
  return Parse<ProfileKind>(kProfiles, name);
}
std::optional<NetworkAccess> ParseNetworkAccess(Text name) {
  return Parse<NetworkAccess>(kNetworks, name);
}

std::optional<size_t> FindName(std::span<const Text> names, Text name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<size_t>(found - names.begin());
}

bool RunsWhatItIsGiven(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return std::ranges::find(kRunners, name) != kRunners.end();
}

}  // namespace gate::rules
