// What of the caller's environment enters a sandbox.
//
// Builds need variables that no list can name in advance, so everything enters
// except three groups: names that make some program run other code or read
// another configuration, doors to the host (agents' sockets, remote engines),
// and what looks like a secret, by its name or by its value. A variable that
// only names a program for people (PAGER, EDITOR) stays when its value is one
// of the harmless ones that agents set so as not to hang.
#include <algorithm>
#include <array>
#include <string_view>

#include "backends/backend.h"

namespace gate::backends {
namespace {

using std::string_view;

constexpr auto kNeverPrefixes = std::to_array<string_view>({
    "LD_",
    "DYLD_",
    "BASH_FUNC_",
    "OP_SESSION_",
    "GIT_CONFIG_",
    "GIT_TRACE",
    "GLIBC_TUNABLES",
});

constexpr auto kNever = std::to_array<string_view>({
    // Code or configuration that some program takes from its environment.
    "BASH_ENV",
    "ENV",
    "BASHOPTS",
    "SHELLOPTS",
    "CDPATH",
    "GLOBIGNORE",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS4",
    "IFS",
    "ZDOTDIR",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "GEM_PATH",
    "GEM_HOME",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "DOTNET_STARTUP_HOOKS",
    "GOFLAGS",
    "GCONV_PATH",
    "LOCPATH",
    "MALLOC_TRACE",
    "GIT_EXTERNAL_DIFF",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXEC_PATH",
    "GIT_PROXY_COMMAND",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "GIT_TEMPLATE_DIR",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "LESSOPEN",
    "LESSCLOSE",
    "BROWSER",
    // Doors to the host.
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "GNUPGHOME",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "CONTAINER_HOST",
    "KUBECONFIG",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "TMUX",
    "STY",
    "VSCODE_IPC_HOOK_CLI",
    "OP_CONNECT_HOST",
    // Stand for places that are not the same inside.
    "TMPDIR",
    "TMP",
    "TEMP",
    "TEMPDIR",
    "OLDPWD",
    "PWD",
    "_",
});

constexpr auto kPrograms = std::to_array<string_view>({
    "PAGER",
    "MANPAGER",
    "GIT_PAGER",
    "SYSTEMD_PAGER",
    "GH_PAGER",
    "EDITOR",
    "VISUAL",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
});
constexpr auto kHarmlessPrograms = std::to_array<string_view>(
    {"", ":", "cat", "true", "false", "less", "more", "vi", "vim", "nano"});

// A whole component of the name (between underscores).
constexpr auto kSecretWords = std::to_array<string_view>({
    "TOKEN",      "TOKENS",      "SECRET",     "SECRETS", "PASSWORD",
    "PASSWD",     "PASS",        "PASSPHRASE", "PWD",     "APIKEY",
    "CREDENTIAL", "CREDENTIALS", "CREDS",      "AUTH",    "PAT",
    "COOKIE",     "DSN",         "JWT",        "BEARER",
});
// Anywhere in the name.
constexpr auto kSecretParts = std::to_array<string_view>(
    {"SECRET", "PASSWORD", "PASSWD", "APIKEY", "API_KEY", "ACCESS_KEY",
     "PRIVATE_KEY", "CREDENTIAL", "AUTHTOKEN"});
constexpr auto kSecretEndings =
    std::to_array<string_view>({"_KEY", "TOKEN", "_KEYS"});
// How well-known keys begin, whatever the variable is called.
constexpr auto kSecretValues = std::to_array<string_view>(
    {"ghp_",       "gho_",     "ghs_",  "ghu_",  "github_pat_", "glpat-",
     "sk-",        "xoxb-",    "xoxp-", "xapp-", "AKIA",        "ASIA",
     "-----BEGIN", "npm_",     "pypi-", "hf_",   "dckr_pat_",   "AIza",
     "sk_live_",   "rk_live_", "SG."});

template <class List>
bool Contains(const List& list, string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

template <class List>
bool BeginsWithAny(const List& list, string_view value) {
  return std::any_of(list.begin(), list.end(),
                     [&](string_view part) { return value.starts_with(part); });
}

char Upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

bool IsName(string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
  });
}

bool HasSecretName(string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(), Upper);
  const string_view text = upper;
  for (string_view part : kSecretParts)
    if (text.find(part) != string_view::npos) return true;
  for (string_view end : kSecretEndings)
    if (text.ends_with(end)) return true;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('_', begin), text.size());
    if (Contains(kSecretWords, text.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

// A known key's prefix, or a URL that carries a password.
bool HasSecretValue(string_view value) {
  if (value.size() >= 16 && BeginsWithAny(kSecretValues, value)) return true;
  const size_t scheme = value.find("://");
  if (scheme == string_view::npos) return false;
  const string_view authority =
      value.substr(scheme + 3, value.find('/', scheme + 3) - scheme - 3);
  const size_t at = authority.rfind('@');
  return at != string_view::npos &&
         authority.substr(0, at).find(':') != string_view::npos;
}

bool IsNever(string_view name) {
  return !IsName(name) || BeginsWithAny(kNeverPrefixes, name) ||
         Contains(kNever, name);
}

bool IsDefault(string_view name, string_view value) {
  if (Contains(kPrograms, name)) return Contains(kHarmlessPrograms, value);
  return !HasSecretName(name) && !HasSecretValue(value);
}

}  // namespace

std::vector<std::string> CleanEnvironment(
    const std::vector<std::string>& environment, const Profile& profile) {
  std::vector<std::string> clean;
  clean.reserve(environment.size() + profile.environment_set.size());
  for (const std::string& entry : environment) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    if (entry.find('\0') != std::string::npos) continue;
    const string_view name = string_view(entry).substr(0, equals);
    const string_view value = string_view(entry).substr(equals + 1);
    if (IsNever(name)) continue;
    if (profile.environment_set.contains(std::string(name))) continue;
    const bool kept = profile.environment_keep.empty()
                          ? IsDefault(name, value)
                          : Contains(profile.environment_keep, name);
    if (kept) clean.push_back(entry);
  }
  for (const auto& [name, value] : profile.environment_set) {
    if (!IsName(name) || BeginsWithAny(kNeverPrefixes, string_view(name)) ||
        value.find('\0') != std::string::npos)
      continue;
    clean.push_back(name + "=" + value);
  }
  return clean;
}

}  // namespace gate::backends
