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
    "GIT_CONFIG",
    "GIT_TRACE",
    "GLIBC_TUNABLES",
    "PERL5",
    "LUA_",
    "CORECLR_",
    "COR_",
    "VSCODE_IPC_",
    "VSCODE_GIT_",
});

constexpr auto kNever = std::to_array<string_view>({
    // Code or configuration that some program takes from its environment.
    // Shells.
    "BASH_ENV",
    "ENV",
    "BASHOPTS",
    "SHELLOPTS",
    "BASH_LOADABLES_PATH",
    "BASH_XTRACEFD",
    "CDPATH",
    "FPATH",
    "GLOBIGNORE",
    "EXECIGNORE",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "IFS",
    "ZDOTDIR",
    "INPUTRC",
    // Interpreters and runtimes.
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONUSERBASE",
    "PYTHONEXECUTABLE",
    "PYTHONBREAKPOINT",
    "PYTHONWARNINGS",
    "PYTHONPLATLIBDIR",
    "PYTHONPYCACHEPREFIX",
    "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_REPL_EXTERNAL_MODULE",
    "NODE_V8_COVERAGE",
    "npm_config_script_shell",
    "npm_config_node_options",
    "npm_config_git",
    "NPM_CONFIG_SCRIPT_SHELL",
    "NPM_CONFIG_NODE_OPTIONS",
    "NPM_CONFIG_GIT",
    "PERLLIB",
    "PERLDB_OPTS",
    "RUBYOPT",
    "RUBYLIB",
    "RUBYSHELL",
    "RUBYPATH",
    "RUBYGEMS_GEMDEPS",
    "GEM_PATH",
    "GEM_HOME",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "DOTNET_STARTUP_HOOKS",
    "DOTNET_ADDITIONAL_DEPS",
    "GOFLAGS",
    "GOENV",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "R_PROFILE",
    "R_PROFILE_USER",
    "R_ENVIRON",
    "R_ENVIRON_USER",
    "ERL_FLAGS",
    "ERL_AFLAGS",
    "ERL_ZFLAGS",
    "ELIXIR_ERL_OPTIONS",
    "GUILE_LOAD_PATH",
    "TCLLIBPATH",
    "JULIA_LOAD_PATH",
    // Libraries; the first lines are those that the C library itself forgets
    // in a set-user-id program.
    "GCONV_PATH",
    "GETCONF_DIR",
    "HOSTALIASES",
    "LOCALDOMAIN",
    "LOCPATH",
    "MALLOC_TRACE",
    "NIS_PATH",
    "NLSPATH",
    "RESOLV_HOST_CONF",
    "RES_OPTIONS",
    "TZDIR",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "SSLKEYLOGFILE",
    "GTK_MODULES",
    "GTK_PATH",
    "GIO_MODULE_DIR",
    "GIO_EXTRA_MODULES",
    "QT_PLUGIN_PATH",
    "GST_PLUGIN_PATH",
    // Tools.
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
    "GIT_ALLOW_PROTOCOL",
    "GIT_PROTOCOL_FROM_USER",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "SVN_SSH",
    "SVN_EDITOR",
    "CVS_RSH",
    "CVS_EDITOR",
    "HGRCPATH",
    "HGEDITOR",
    "RSYNC_RSH",
    "TAR_OPTIONS",
    "GREP_OPTIONS",
    "MAKEFILES",
    "GCC_EXEC_PREFIX",
    "COMPILER_PATH",
    "LESSOPEN",
    "LESSCLOSE",
    "LESSEDIT",
    "LESSKEY",
    "LESSKEYIN",
    "BROWSER",
    "VIMINIT",
    "GVIMINIT",
    "EXINIT",
    "MYVIMRC",
    "EMACSLOADPATH",
    "WGETRC",
    "CURL_HOME",
    "NETRC",
    // Doors to the host, and where its credentials lie.
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "GNUPGHOME",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "AT_SPI_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_CERT_PATH",
    "CONTAINER_HOST",
    "CONTAINER_SSHKEY",
    "CONTAINERD_ADDRESS",
    "BUILDKIT_HOST",
    "KUBECONFIG",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "ICEAUTHORITY",
    "SESSION_MANAGER",
    "PULSE_SERVER",
    "TMUX",
    "STY",
    "I3SOCK",
    "SWAYSOCK",
    "KITTY_LISTEN_ON",
    "WEZTERM_UNIX_SOCKET",
    "ALACRITTY_SOCKET",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "EMACS_SOCKET_NAME",
    "EMACS_SERVER_FILE",
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LISTEN_PID",
    "OP_CONNECT_HOST",
    "KRB5CCNAME",
    "KRB5_KTNAME",
    "KRB5_CONFIG",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AZURE_CONFIG_DIR",
    "CLOUDSDK_CONFIG",
    "PGPASSFILE",
    "PGSERVICEFILE",
    // Stand for places that are not the same inside.
    "TMPDIR",
    "TMP",
    "TEMP",
    "TEMPDIR",
    "OLDPWD",
    "PWD",
    "_",
});

// Options of make, which may carry code: only what says how many jobs.
constexpr auto kMakeFlags =
    std::to_array<string_view>({"MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS"});
constexpr string_view kHarmlessMakeFlags = "-jklsw0123456789. ";

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
    "TOKEN",  "TOKENS",     "SECRET", "SECRETS", "PASSWORD",   "PASSWD",
    "PASS",   "PASSPHRASE", "PWD",    "APIKEY",  "CREDENTIAL", "CREDENTIALS",
    "CREDS",  "AUTH",       "PAT",    "COOKIE",  "DSN",        "JWT",
    "BEARER", "WEBHOOK",    "OTP",    "TOTP",    "MNEMONIC",   "AUTHORIZATION",
});
// Anywhere in the name.
constexpr auto kSecretParts = std::to_array<string_view>(
    {"SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "API_KEY",
     "ACCESS_KEY", "ACCESSKEY", "PRIVATE_KEY", "PRIVATEKEY", "CREDENTIAL",
     "AUTHTOKEN", "CONNECTION_STRING"});
constexpr auto kSecretEndings =
    std::to_array<string_view>({"_KEY", "TOKEN", "_KEYS"});
// How well-known keys begin, whatever the variable is called.
constexpr auto kSecretValues = std::to_array<string_view>({
    "ghp_",       "gho_",
    "ghs_",       "ghu_",
    "ghr_",       "github_pat_",
    "glpat-",     "gldt-",
    "glrt-",      "glptt-",
    "sk-",        "sk_live_",
    "sk_test_",   "rk_live_",
    "rk_test_",   "whsec_",
    "xoxa-",      "xoxb-",
    "xoxp-",      "xoxr-",
    "xoxs-",      "xapp-",
    "AKIA",       "ASIA",
    "-----BEGIN", "AGE-SECRET-KEY-",
    "npm_",       "pypi-",
    "rubygems_",  "hf_",
    "dckr_pat_",  "AIza",
    "ya29.",      "SG.",
    "shpat_",     "shpss_",
    "sq0atp-",    "sq0csp-",
    "dop_v1_",    "doo_v1_",
    "hvs.",       "hvb.",
    "lin_api_",   "sntrys_",
    "sbp_",       "figd_",
    "pul-",       "NRAK-",
    "eyJ",        "Bearer ",
    "Basic ",
});
constexpr size_t kShortestSecret = 16;
// Of connection strings, anywhere in them.
constexpr auto kSecretFields =
    std::to_array<string_view>({"AccountKey=", "SharedAccessKey=", "Password=",
                                "password=", "Pwd=", "PASSWORD="});

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

// A URL whose authority carries a password or a token.
bool HasUrlSecret(string_view value) {
  for (size_t at = value.find("://"); at != string_view::npos;
       at = value.find("://", at + 3)) {
    const string_view authority =
        value.substr(at + 3, value.find_first_of("/ ", at + 3) - at - 3);
    const size_t end = authority.rfind('@');
    if (end == string_view::npos) continue;
    const string_view user = authority.substr(0, end);
    if (user.find(':') != string_view::npos || user.size() >= kShortestSecret)
      return true;
  }
  return false;
}

// A known key's beginning, where a word of the value begins.
bool HasSecretValue(string_view value) {
  for (size_t at = 0; at < value.size(); ++at) {
    if (at > 0 &&
        string_view(" =:,;\"'").find(value[at - 1]) == string_view::npos)
      continue;
    const string_view rest = value.substr(at);
    if (rest.size() < kShortestSecret) break;
    if (BeginsWithAny(kSecretValues, rest)) return true;
  }
  for (string_view field : kSecretFields)
    if (value.find(field) != string_view::npos) return true;
  return HasUrlSecret(value);
}

bool IsNever(string_view name) {
  return !IsName(name) || BeginsWithAny(kNeverPrefixes, name) ||
         Contains(kNever, name);
}

bool IsDefault(string_view name, string_view value) {
  if (Contains(kMakeFlags, name))
    return value.find_first_not_of(kHarmlessMakeFlags) == string_view::npos;
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
  // Inside, where nothing may be traced, looking for leaks ends every program
  // that was built with gcc's or clang's address sanitizer as a failure.
  constexpr string_view kLeaks = "LSAN_OPTIONS=", kNoLeaks = "detect_leaks=0";
  const auto leaks = std::ranges::find_if(clean, [&](const std::string& entry) {
    return entry.starts_with(kLeaks);
  });
  if (leaks != clean.end())
    leaks->append(":").append(kNoLeaks);
  else if (profile.environment_keep.empty())
    clean.push_back(std::string(kLeaks).append(kNoLeaks));
  return clean;
}

}  // namespace gate::backends
