#include "gateway/programs/compose_doubt.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "parser/programs.h"
#include "parser/read.h"

namespace gate::app {
namespace {

// docs.docker.com, "Compose file reference": provider.md, services.md
// (`post_start`, `pre_stop`), include.md; "Set and change environment
// variables" (what an .env decides).
constexpr auto kRuns = std::to_array<std::string_view>(
    {"provider", "pre_stop", "post_start", "include", "COMPOSE_FILE",
     "COMPOSE_ENV_FILES", "COMPOSE_PATH_SEPARATOR", "DOCKER_", "\\x", "\\u",
     "\\U"});

// What gives a container more of this machine than an engine does by itself.
constexpr auto kGives = std::to_array<std::string_view>({"privileged",
                                                         "cap_add",
                                                         "devices",
                                                         "device_cgroup_rules",
                                                         "gpus",
                                                         "pid",
                                                         "ipc",
                                                         "uts",
                                                         "cgroup",
                                                         "security_opt",
                                                         "userns_mode",
                                                         "network_mode",
                                                         "volumes_from",
                                                         "runtime",
                                                         "use_api_socket",
                                                         "bind",
                                                         "driver_opts",
                                                         "macvlan",
                                                         "ipvlan",
                                                         "docker.sock"});

constexpr auto kDefaultFiles = std::to_array<std::string_view>(
    {"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml",
     "compose.override.yaml", "compose.override.yml",
     "docker-compose.override.yml", "docker-compose.override.yaml"});

// From the working directory up.
constexpr int kMaxDirectoriesAbove = 64;

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-' || c == '.';
}

// As a word of its own: `file`, and not `env_file` or `json-file`.
bool Holds(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool joined =
        IsLetter(word.front()) &&
        ((at > 0 && IsLetter(text[at - 1])) ||
         (word.back() != '_' && end < text.size() && IsLetter(text[end])));
    if (!joined) return true;
  }
  return false;
}

// A volume `PLACE:/x` of which the first part is no name.
bool MountsPlace(std::string_view line) {
  for (size_t colon = line.find(":/"); colon != std::string_view::npos;
       colon = line.find(":/", colon + 1)) {
    const size_t before = line.substr(0, colon).find_last_of(" \t[,\"'");
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (begin < colon &&
        std::string_view("./~$").find(line[begin]) != std::string_view::npos)
      return true;
  }
  return false;
}

enum class Kind : uint8_t { kNone, kStops, kEnters };

Kind KindOf(const parser::Invocation& invocation) {
  constexpr std::array<std::string_view, 4> kStops = {"stop", "down", "rm",
                                                      "kill"};
  constexpr std::array<std::string_view, 3> kEnters = {"exec", "start",
                                                       "restart"};
  const std::vector<std::string>& words = invocation.subcommand;
  const bool own = invocation.program.ends_with("-compose");
  if (words.size() < (own ? 1U : 2U) || (!own && words[0] != "compose"))
    return Kind::kNone;
  const std::string& word = words[own ? 0 : 1];
  if (std::ranges::find(kEnters, word) != kEnters.end()) return Kind::kEnters;
  return std::ranges::find(kStops, word) != kStops.end() ? Kind::kStops
                                                         : Kind::kNone;
}

std::string FileDoubt(const std::string& path, bool enters, bool* found) {
  const auto text = ReadFile(path, kMaxComposeBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return "";
  *found = true;
  if (!text) return Visible(path) + " cannot be read";
  const std::string doubt = ComposeTextDoubt(*text, enters);
  return doubt.empty() ? "" : Visible(path) + " " + doubt;
}

}  // namespace

std::string ComposeTextDoubt(std::string_view text, bool enters) {
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] == '#') continue;
    for (const std::string_view word : kRuns)
      if (Holds(line, word))
        return "has `" + std::string(word) +
               "`, by which it may run something here";
    if (Holds(line, "file")) return "takes a part of another file";
    if (!enters) continue;
    for (const std::string_view word : kGives)
      if (Holds(line, word))
        return "has `" + std::string(word) +
               "`, by which a container may have a part of this machine";
    if (MountsPlace(line)) return "gives a container a directory of here";
  }
  return "";
}

std::string ComposeDoubt(const parser::Invocation& invocation) {
  const Kind kind = KindOf(invocation);
  if (kind == Kind::kNone) return "";
  const bool enters = kind == Kind::kEnters;
  const parser::ArgumentAnalysis arguments =
      parser::ReadArguments(invocation.argv);
  if (arguments.acts.redirects != 0) return "it names another configuration";
  for (const std::string_view option : arguments.options) {
    if (parser::IsSpelling(option, "--project-directory") ||
        (enters && parser::IsSpelling(option, "--project-name")))
      return "it names another project";
  }
  const std::vector<std::string> directories =
      parser::DirectoriesOf(invocation);
  if (directories.empty()) return "its directory is not known";
  bool named = false;
  for (const parser::ArgumentEffect& argument_effect : arguments.effects) {
    if (argument_effect.role != parser::Role::kRead) continue;
    named = true;
    for (const parser::Argument& word : argument_effect.words) {
      if (!word.known || word.glob || word.text.find(':') != std::string::npos)
        return "a file is not known";
      for (const std::string& directory : directories) {
        bool found = false;
        if (std::string doubt =
                FileDoubt(Normalise(word.text, directory), enters, &found);
            !doubt.empty())
          return doubt;
        if (std::string doubt = FileDoubt(
                std::string(DirName(Normalise(word.text, directory))) + "/.env",
                enters, &found);
            !doubt.empty())
          return doubt;
      }
    }
  }
  for (std::string at : directories)
    for (int above = 0; above < kMaxDirectoriesAbove; ++above) {
      bool found = false, ignored = false;
      if (std::string doubt = FileDoubt(at + "/.env", enters, &ignored);
          !doubt.empty())
        return doubt;
      if (!named)
        for (const std::string_view name : kDefaultFiles)
          if (std::string doubt =
                  FileDoubt(at + "/" + std::string(name), enters, &found);
              !doubt.empty())
            return doubt;
      if (found || named || at.size() <= 1) break;
      at = DirName(at);
    }
  return "";
}

}  // namespace gate::app
