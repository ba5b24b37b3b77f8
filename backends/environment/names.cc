// Names that make some program run other code or read another configuration,
// and host channels.
#include <algorithm>
#include <array>

#include "backends/environment.h"

namespace gate::backends {
namespace {

using std::string_view;

// For lists of many, which are looked at for each variable.
template <size_t kSize>
constexpr std::array<string_view, kSize> Sorted(
    std::array<string_view, kSize> list) {
  std::sort(list.begin(), list.end());
  return list;
}

// A function of bash that is handed on.
constexpr string_view kFunction = "BASH_FUNC_";
constexpr auto kShellNames = std::to_array<string_view>({
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
    "BASH_COMPAT",
    "POSIXLY_CORRECT",
    "FUNCNEST",
    "GLOBSORT",
    "TMOUT",
    "auto_resume",
    "histchars",
    // Any name of a locale stands for any charset by it.
    "LOCPATH",
});

constexpr auto kCodePrefixes = std::to_array<string_view>({
    "LD_",
    "DYLD_",
    "GIT_CONFIG",
    "GIT_TRACE",
    // Git obeys many of these in every build (t/README): GIT_TEST_FSMONITOR
    // names a program.
    "GIT_TEST_",
    "GLIBC_TUNABLES",
    "PERL5",
    "LUA_",
    "CORECLR_",
    "COR_",
});

constexpr auto kCode = Sorted(std::to_array<string_view>({
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
    "NODE_COMPILE_CACHE",
    "NODE_REDIRECT_WARNINGS",
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
    "MALLOC_TRACE",
    "NIS_PATH",
    "NLSPATH",
    "RESOLV_HOST_CONF",
    "RES_OPTIONS",
    "TZDIR",
    "TEXTDOMAINDIR",
    "GIT_TEXTDOMAINDIR",
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
    "GREP",   // zgrep and its kin run it
    "MAGIC",  // file quotes what it cannot read of it
    "APT_CONFIG",
    "DPKG_ROOT",
    "DPKG_ADMINDIR",
    "RPM_CONFIGDIR",
    "MAKEFILES",
    "GCC_EXEC_PREFIX",
    "COMPILER_PATH",
    "LESSOPEN",
    "LESSCLOSE",
    "LESSECHO",
    "LESSEDIT",
    "LESSGLOBALTAGS",
    "LESSKEY",
    "LESSKEYIN",
    "LESSKEYIN_SYSTEM",
    "LESSKEY_CONTENT",
    "LESSKEY_SYSTEM",
    "BROWSER",
    "VIMINIT",
    "GVIMINIT",
    "EXINIT",
    "MYVIMRC",
    "EMACSLOADPATH",
    "WGETRC",
    "CURL_HOME",
    "NETRC",
    "RIPGREP_CONFIG_PATH",
    "PSQLRC",
    "PSQL_EDITOR",
    "BAT_CONFIG_PATH",
    "BAT_CONFIG_DIR",
    "BAT_OPTS",
    "HGMERGE",
    "TF_CLI_CONFIG_FILE",
    "GROFF_COMMAND_PREFIX",
    "ANSIBLE_CONFIG",
    "ANSIBLE_LIBRARY",
    "ANSIBLE_MODULE_UTILS",
    "FZF_DEFAULT_COMMAND",
    "FZF_DEFAULT_OPTS",
    "FZF_DEFAULT_OPTS_FILE",
    "CCACHE_PREFIX_CPP",
    "CCACHE_CONFIGPATH",
    "ODBCINI",
    "ODBCSYSINI",
    "SASL_PATH",
    "SASL_CONF_PATH",
    "OCL_ICD_VENDORS",
    "OCL_ICD_FILENAMES",
    "CUDA_INJECTION64_PATH",
    "VK_LAYER_PATH",
}));

// What carries other variables with it, withheld ones too, is no better than
// they are.
constexpr auto kDoorPrefixes = std::to_array<string_view>({
    "DIRENV_",
    "__MISE_",
    "__RTX_",
    "__shadowenv_",
    "OP_SESSION_",
    "VSCODE_IPC_",
    "VSCODE_GIT_",
});

constexpr auto kDoors = Sorted(std::to_array<string_view>({
    // Sockets and engines, and where credentials lie.
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
    "OLDPWD",
    "PWD",
    "_",
}));

constexpr auto kTemporaryPlaces =
    std::to_array<string_view>({"TMPDIR", "TMP", "TEMP", "TEMPDIR"});

// Options of make, which may carry code: only what says how many jobs.
constexpr auto kMakeFlags =
    std::to_array<string_view>({"MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS"});
constexpr string_view kHarmlessMakeFlags = "-jklsw0123456789. ";

// Letters of less that change what a screen looks like. Others write a log,
// take keys from a file or, behind a `+`, are commands (less(1)).
constexpr string_view kHarmlessLess =
    "-acdeEfFgGiIJKLmMnNqQrRsSuUwWX0123456789 ";

// Programs for people; agents set harmless ones so as not to hang.
constexpr auto kPrograms = std::to_array<string_view>({
    "PAGER",
    "MANPAGER",
    "GIT_PAGER",
    "SYSTEMD_PAGER",
    "GH_PAGER",
    "PSQL_PAGER",
    "BAT_PAGER",
    "DELTA_PAGER",
    "DPKG_PAGER",
    "AWS_PAGER",
    "SYSTEMD_EDITOR",
    "KUBE_EDITOR",
    "EDITOR",
    "VISUAL",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
});
constexpr auto kHarmlessPrograms = std::to_array<string_view>(
    {"", ":", "cat", "true", "false", "less", "more", "vi", "vim", "nano"});

// What starts a compiler: builds need it, and it is one of a few.
constexpr auto kWrappers = std::to_array<string_view>({
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CCACHE_PREFIX",
    "CMAKE_C_COMPILER_LAUNCHER",
    "CMAKE_CXX_COMPILER_LAUNCHER",
});
constexpr auto kHarmlessWrappers = std::to_array<string_view>(
    {"", "sccache", "ccache", "cachepot", "distcc", "icecc"});
constexpr auto kLinkers = std::to_array<string_view>(
    {"cc", "gcc", "g++", "c++", "clang", "clang++", "ld", "lld", "mold",
     "ld.lld", "rust-lld", "wasm-ld", "zig"});
constexpr auto kRunners = std::to_array<string_view>(
    {"wine", "wine64", "wasmtime", "wasmer", "node"});

// Options of Java, of which some load code (-javaagent, -cp, @file,
// -XX:OnError) and some name other configurations (-D…=PATH).
constexpr auto kJavaOptions = std::to_array<string_view>(
    {"MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS", "LEIN_JVM_OPTS", "LEIN_JAVA_OPTS",
     "ANT_OPTS", "JAVA_OPTS", "JVM_OPTS"});
constexpr auto kHarmlessProperties =
    std::to_array<string_view>({"file.encoding",
                                "java.awt.headless",
                                "java.net.preferIPv4Stack",
                                "java.net.preferIPv6Addresses",
                                "user.timezone",
                                "user.language",
                                "user.country",
                                "http.proxyHost",
                                "http.proxyPort",
                                "https.proxyHost",
                                "https.proxyPort",
                                "http.nonProxyHosts",
                                "http.keepAlive",
                                "maven.artifact.threads",
                                "maven.wagon.http.pool",
                                "maven.wagon.http.retryHandler.count",
                                "style.color",
                                "jansi.force",
                                "org.gradle.daemon",
                                "org.gradle.parallel",
                                "org.gradle.caching",
                                "org.gradle.configureondemand",
                                "org.gradle.workers.max",
                                "org.slf4j.simpleLogger.defaultLogLevel",
                                "org.slf4j.simpleLogger.showDateTime",
                                "sbt.color",
                                "sbt.ci",
                                "sbt.supershell"});

template <class List>
bool Contains(const List& list, string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

template <class List>
bool BeginsWithAny(const List& list, string_view value) {
  return std::any_of(list.begin(), list.end(),
                     [&](string_view part) { return value.starts_with(part); });
}

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9');
}

bool IsMadeOf(string_view text, string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return IsLetterOrDigit(c) || others.find(c) != string_view::npos;
  });
}

// A number with a unit: 2g, 512m, 8.
bool IsSize(string_view text) {
  const size_t digits =
      std::min(text.find_first_not_of("0123456789"), text.size());
  const string_view unit = text.substr(digits);
  return digits > 0 &&
         (unit.empty() ||
          (unit.size() == 1 &&
           string_view("kKmMgGtT").find(unit[0]) != string_view::npos));
}

bool IsHarmlessJavaWord(string_view word) {
  for (const string_view start : {"-Xmx", "-Xms", "-Xss", "-Xmn"})
    if (word.starts_with(start)) return IsSize(word.substr(start.size()));
  if (word == "-ea" || word == "-esa" || word == "-server" ||
      word == "--enable-preview")
    return true;
  if (word.starts_with("-XX:")) {
    const string_view option = word.substr(4);
    const size_t equals = option.find('=');
    if (equals == string_view::npos)
      return option.size() > 1 && (option[0] == '+' || option[0] == '-') &&
             IsMadeOf(option.substr(1), "");
    return IsMadeOf(option.substr(0, equals), "") &&
           IsSize(option.substr(equals + 1));
  }
  if (word.starts_with("--add-opens=") || word.starts_with("--add-exports=") ||
      word.starts_with("--add-modules="))
    return IsMadeOf(word.substr(word.find('=') + 1), "./=-_");
  if (!word.starts_with("-D")) return false;
  const size_t equals = std::min(word.find('='), word.size());
  return Contains(kHarmlessProperties, word.substr(2, equals - 2)) &&
         IsMadeOf(word.substr(equals), "=.-_:|*");
}

template <class Predicate>
bool EveryWord(string_view text, Predicate predicate) {
  for (size_t at = text.find_first_not_of(' '); at != string_view::npos;) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (!predicate(text.substr(at, end - at))) return false;
    at = text.find_first_not_of(' ', end);
  }
  return true;
}

// A program of the list by its name, or where it lies: people install these in
// homes of their own.
bool IsHarmlessWrapper(string_view value) {
  if (value.starts_with('/') && IsMadeOf(value, "/._-") &&
      value.find("..") == string_view::npos)
    value.remove_prefix(value.rfind('/') + 1);
  return Contains(kHarmlessWrappers, value);
}

// gcc, aarch64-linux-gnu-gcc, clang-17: found by PATH, nothing else.
bool IsHarmlessLinker(string_view value) {
  if (!IsMadeOf(value, "._+-")) return false;
  const size_t version = value.find_last_not_of("0123456789.");
  if (version != string_view::npos && value[version] == '-' &&
      version + 1 < value.size())
    value = value.substr(0, version);
  if (Contains(kLinkers, value)) return true;
  return std::any_of(kLinkers.begin(), kLinkers.end(), [&](string_view name) {
    return value.size() > name.size() + 1 && value.ends_with(name) &&
           value[value.size() - name.size() - 1] == '-';
  });
}

// qemu-aarch64 -L /usr/aarch64-linux-gnu, wine.
bool IsHarmlessRunner(string_view value) {
  if (!IsMadeOf(value, "._- /=")) return false;
  const string_view program = value.substr(0, value.find(' '));
  if (program == value && Contains(kRunners, program)) return true;
  return program.starts_with("qemu-") && IsMadeOf(program, "._-");
}

}  // namespace

bool IsVariableName(string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return IsMadeOf(name, "_");
}

bool ChangesTheShell(string_view name) {
  return name.starts_with(kFunction) || Contains(kShellNames, name);
}

bool HasClosedPrefix(string_view name) {
  return name.starts_with(kFunction) || BeginsWithAny(kCodePrefixes, name) ||
         BeginsWithAny(kDoorPrefixes, name);
}

bool RunsOtherCode(string_view name) {
  return ChangesTheShell(name) || BeginsWithAny(kCodePrefixes, name) ||
         std::ranges::binary_search(kCode, name) ||
         (name.starts_with("ANSIBLE_") && name.ends_with("_PLUGINS"));
}

std::optional<bool> IsHarmlessProgram(string_view name, string_view value) {
  if (Contains(kMakeFlags, name))
    return value.find_first_not_of(kHarmlessMakeFlags) == string_view::npos;
  if (name == "LESS")
    return value.find_first_not_of(kHarmlessLess) == string_view::npos;
  if (name == "LESSHISTFILE") return value == "-" || value == "/dev/null";
  if (Contains(kPrograms, name)) return Contains(kHarmlessPrograms, value);
  if (Contains(kWrappers, name)) return IsHarmlessWrapper(value);
  if (Contains(kJavaOptions, name)) return EveryWord(value, IsHarmlessJavaWord);
  if (name == "PIP_CONFIG_FILE") return value == "/dev/null";
  if (name.starts_with("CARGO_TARGET_") && name.ends_with("_LINKER"))
    return IsHarmlessLinker(value);
  if (name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER"))
    return IsHarmlessRunner(value);
  return std::nullopt;
}

bool IsDoor(string_view name) {
  return BeginsWithAny(kDoorPrefixes, name) ||
         std::ranges::binary_search(kDoors, name) || NamesTemporaryPlace(name);
}

bool NamesTemporaryPlace(string_view name) {
  return Contains(kTemporaryPlaces, name);
}

}  // namespace gate::backends
