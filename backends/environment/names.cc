// Names that make some program run other code or read another configuration,
// and host channels.
#include <algorithm>
#include <array>

#include "backends/environment.h"
#include "base/ascii.h"
#include "known/known.h"

namespace gate::backends {
namespace {

using known::List;
using std::string_view;

// A function of bash that is handed on.
constexpr string_view kFunction = "BASH_FUNC_";
// Options of make, which may carry code: only what says how many jobs.
constexpr string_view kHarmlessMakeFlags = "-jklsw0123456789. ";

// Letters of less that change what a screen looks like. Others write a log,
// take keys from a file or, behind a `+`, are commands (less(1)).
constexpr string_view kHarmlessLess =
    "-acdeEfFgGiIJKLmMnNqQrRsSuUwWX0123456789 ";

// Programs for people; agents set harmless ones so as not to hang.
constexpr auto kHarmlessPrograms = std::to_array<string_view>(
    {"", ":", "cat", "true", "false", "less", "more", "vi", "vim", "nano"});

// What starts a compiler: builds need it, and it is one of a few.
constexpr auto kHarmlessWrappers = std::to_array<string_view>(
    {"", "sccache", "ccache", "cachepot", "distcc", "icecc"});
constexpr auto kLinkers = std::to_array<string_view>(
    {"cc", "gcc", "g++", "c++", "clang", "clang++", "ld", "lld", "mold",
     "ld.lld", "rust-lld", "wasm-ld", "zig"});
constexpr auto kRunners = std::to_array<string_view>(
    {"wine", "wine64", "wasmtime", "wasmer", "node"});

// Options of Java, of which some load code (-javaagent, -cp, @file,
// -XX:OnError) and some name other configurations (-D…=PATH).
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
  return name.starts_with(kFunction) ||
         known::Contains(List::kShellVariables, name);
}

bool HasClosedPrefix(string_view name) {
  return name.starts_with(kFunction) ||
         known::BeginsWithAny(List::kCodePrefixes, name) ||
         known::BeginsWithAny(List::kDoorPrefixes, name);
}

bool RunsOtherCode(string_view name) {
  return ChangesTheShell(name) ||
         known::BeginsWithAny(List::kCodePrefixes, name) ||
         known::Contains(List::kCodeVariables, name) ||
         (name.starts_with("ANSIBLE_") && name.ends_with("_PLUGINS"));
}

std::optional<bool> IsHarmlessProgram(string_view name, string_view value) {
  if (known::Contains(List::kMakeFlags, name))
    return value.find_first_not_of(kHarmlessMakeFlags) == string_view::npos;
  if (name == "LESS")
    return value.find_first_not_of(kHarmlessLess) == string_view::npos;
  if (name == "LESSHISTFILE") return value == "-" || value == "/dev/null";
  if (known::Contains(List::kProgramVariables, name))
    return Contains(kHarmlessPrograms, value);
  if (known::Contains(List::kWrappers, name)) return IsHarmlessWrapper(value);
  if (known::Contains(List::kJavaOptions, name))
    return EveryWord(value, IsHarmlessJavaWord);
  if (name == "PIP_CONFIG_FILE") return value == "/dev/null";
  if (name.starts_with("CARGO_TARGET_") && name.ends_with("_LINKER"))
    return IsHarmlessLinker(value);
  if (name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER"))
    return IsHarmlessRunner(value);
  return std::nullopt;
}

bool IsDoor(string_view name) {
  return known::BeginsWithAny(List::kDoorPrefixes, name) ||
         known::Contains(List::kDoors, name) || NamesTemporaryPlace(name);
}

bool NamesTemporaryPlace(string_view name) {
  return known::Contains(List::kTemporary, name);
}

}  // namespace gate::backends
