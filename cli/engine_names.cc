#include "cli/engine_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/text.h"
#include "parser/programs.h"
#include "parser/read.h"

namespace gate::cli {
namespace {

// What variables decide which engine or client runs.
bool ChoosesEngine(std::string_view variable) {
  return variable == "HOME" || variable == "PATH" ||
         variable.starts_with("XDG_") || variable.starts_with("DOCKER_") ||
         variable.starts_with("CONTAINER");
}

// Whether the shell that reads `line` may set a variable before the client
// starts; one that it inherited is passed on without being exported.
bool MaySetVariables(const parser::Analysis& analysis,
                     const std::string& line) {
  constexpr std::array<std::string_view, 5> kHarmless = {":", "cd", "echo",
                                                         "pwd", "true"};
  for (const parser::Invocation& invocation : analysis.invocations)
    if (invocation.builtin &&
        std::ranges::find(kHarmless, invocation.program) == kHarmless.end())
      return true;
  if (line.empty()) return false;
  const parser::Script script = parser::Read(line);
  if (script.status != parser::ReadStatus::kOk) return true;
  return std::ranges::any_of(script.ast.nodes, [](const parser::Node& node) {
    return (node.kind != parser::NodeKind::kSimple &&
            node.kind != parser::NodeKind::kList &&
            node.kind != parser::NodeKind::kAnd &&
            node.kind != parser::NodeKind::kPipeline) ||
           !node.assignments.empty();
  });
}

bool IsEngineName(std::string_view name) {
  constexpr size_t kMaxName = 255;
  return !name.empty() && name.size() <= kMaxName && name[0] != '-' &&
         name[0] != '.' && name[0] != '_' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
         });
}

// Networks that are no network but a way to have one (docker-run(1),
// podman-run(1)).
bool IsNetworkMode(std::string_view name) {
  constexpr std::array<std::string_view, 7> kModes = {
      "host", "container", "default", "ns", "pasta", "private", "slirp4netns"};
  return std::ranges::find(kModes, name) != kModes.end();
}

bool HasOption(const parser::Reading& reading, std::string_view name) {
  return std::ranges::any_of(reading.options, [&](std::string_view option) {
    return parser::IsSpelling(option, name);
  });
}

bool IsEmpty(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() &&
         (found->is_null() || (found->is_object() && found->empty()));
}

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>()
                                                     : "";
}

// Settings of a bridge that leave it inside the engine (docker's manual,
// "Bridge network driver"). The bridge itself may be one of the machine's,
// where it is named, and then everything on that is reached.
bool IsKnownSetting(std::string_view key, const Json& value) {
  constexpr std::array<std::string_view, 8> kKnown = {
      "com.docker.network.bridge.default_bridge",
      "com.docker.network.bridge.enable_icc",
      "com.docker.network.bridge.enable_ip_masquerade",
      "com.docker.network.bridge.host_binding_ipv4",
      "com.docker.network.driver.mtu",
      "com.docker.network.enable_ipv4",
      "com.docker.network.enable_ipv6",
      "mtu"};
  if (!value.is_string()) return false;
  if (key == "com.docker.network.bridge.name") return value == "docker0";
  return std::ranges::find(kKnown, key) != kKnown.end();
}

std::string NetworkDoubt(const EngineName& name, const Json& body) {
  const std::string id = Text(body, "Id");
  if (Text(body, "Name") != name.name && !id.starts_with(name.name))
    return "the engine speaks of another network";
  if (Text(body, "Driver") != "bridge") return "it has another driver";
  const auto options = body.find("Options");
  if (IsEmpty(body, "Options")) return "";
  if (options == body.end() || !options->is_object())
    return "the engine's answer is not understood";
  for (const auto& [key, value] : options->items())
    if (!IsKnownSetting(key, value)) return "it has options";
  return "";
}

std::string VolumeDoubt(const EngineName& name, const Json& body) {
  if (Text(body, "Name") != name.name)
    return "the engine speaks of another volume";
  if (Text(body, "Driver") != "local") return "it has another driver";
  return IsEmpty(body, "Options") ? "" : "it has options";
}

std::string MayStandFor(const EngineName& name) {
  return name.network ? "the network " + Visible(name.name) +
                            " may be one of this machine's own"
                      : "the volume " + Visible(name.name) +
                            " may stand for a directory of this machine";
}

// Adds what one invocation calls volumes and networks; what is wrong.
std::string Collect(const parser::Invocation& invocation,
                    std::vector<EngineName>* names) {
  const parser::Reading reading = parser::ReadArguments(invocation.argv);
  const bool volumes =
      HasOption(reading, "--volume") || HasOption(reading, "--mount");
  const bool networks = HasOption(reading, "--network");
  if (!volumes && !networks) return "";
  const std::string& program = invocation.program;
  if (!reading.known || !reading.complete || reading.unread ||
      reading.acts.hides_options)
    return "not all of its options are known";
  if (invocation.argv[0].text != program || !invocation.via.empty())
    return "`" + program + "` is started by something else";
  if (reading.acts.redirects != 0) return "it names engine or configuration";
  for (const parser::EnvironmentSetting& setting : invocation.environment)
    if (ChoosesEngine(setting.name)) return "it sets " + setting.name;
  size_t found_volumes = 0, found_networks = 0;
  for (const parser::Finding& finding : reading.findings) {
    const bool network = finding.role == parser::Role::kSystem &&
                         finding.detail == "container-network";
    if (!network && finding.role != parser::Role::kWrite) continue;
    if (finding.words.size() != 1 || !finding.words[0].known ||
        finding.words[0].splits || finding.words[0].glob)
      return "a name is not known";
    // Of --mount the rest follows: src=NAME,dst=/x.
    std::string name = finding.words[0].text;
    if (!network) name = name.substr(0, name.find(','));
    network ? ++found_networks : ++found_volumes;
    if (network && name == "none") continue;
    if (!IsEngineName(name) || (network && IsNetworkMode(name)))
      return "`" + Visible(name) + "` is no name of the engine's own";
    EngineName one{network, std::move(name), program};
    if (std::ranges::find(*names, one) == names->end())
      names->push_back(std::move(one));
  }
  if ((volumes && found_volumes == 0) || (networks && found_networks == 0))
    return "a name is not known";
  return "";
}

}  // namespace

EngineNames FindEngineNames(const parser::Analysis& analysis,
                            const std::string& line) {
  constexpr std::array<std::string_view, 3> kClients = {"docker", "podman",
                                                        "nerdctl"};
  EngineNames found;
  for (const parser::Invocation& invocation : analysis.invocations) {
    if (std::ranges::find(kClients, invocation.program) == kClients.end())
      continue;
    std::string trouble = Collect(invocation, &found.names);
    if (!trouble.empty() && found.trouble.empty())
      found.trouble = std::move(trouble);
  }
  if (!found.names.empty() && found.trouble.empty() &&
      MaySetVariables(analysis, line))
    found.trouble = "the line may set variables";
  if (found.names.size() > kMaxEngineNames) {
    found.names.resize(kMaxEngineNames);
    if (found.trouble.empty()) found.trouble = "there are too many names";
  }
  return found;
}

std::string AnswerDoubt(const EngineName& name, const EngineAnswer& answer) {
  if (answer.status == 404) {
    // Not of a server that has no such path at all.
    const std::string message = Text(answer.body, "message");
    return message.find(name.name) != std::string::npos
               ? ""
               : "the engine's answer is not understood";
  }
  if (answer.status != 200)
    return "the engine answers " + std::to_string(answer.status);
  return name.network ? NetworkDoubt(name, answer.body)
                      : VolumeDoubt(name, answer.body);
}

std::string NotLookedAt(const EngineNames& names, const std::string& why) {
  return (names.names.empty() ? std::string("a volume or network may stand for "
                                            "a part of this machine")
                              : MayStandFor(names.names[0])) +
         " (gate could not look: " + why + ")";
}

std::string EngineDoubt(const ProcessFacts& facts, const EngineNames& names,
                        const std::vector<std::string>& writable,
                        uint64_t patience_ms) {
  if (!names.trouble.empty()) return NotLookedAt(names, names.trouble);
  const uint64_t deadline = MonotonicUs() + patience_ms * 1000;
  std::map<std::string, std::string> sockets;  // by program
  for (const EngineName& name : names.names) {
    const auto could_not = [&name](const std::string& why) {
      return MayStandFor(name) + " (gate could not look: " + why + ")";
    };
    auto [socket, is_new] = sockets.try_emplace(name.program);
    if (is_new) {
      auto found = FindEngineSocket(facts, name.program, writable);
      if (!found) return could_not(found.error().message);
      socket->second = std::move(*found);
    }
    const auto answer = AskEngine(
        socket->second, (name.network ? "/networks/" : "/volumes/") + name.name,
        deadline);
    if (!answer) return could_not(answer.error().message);
    if (const std::string doubt = AnswerDoubt(name, *answer); !doubt.empty())
      return MayStandFor(name) + ": " + doubt;
  }
  return "";
}

}  // namespace gate::cli
