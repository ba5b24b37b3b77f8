#include "gateway/programs/engine_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/text.h"
#include "parser/programs.h"
#include "parser/read.h"

namespace gate::app {
namespace {

// A shorter beginning of an identity is no container's name.
constexpr size_t kMinIdDigits = 4;

// What variables decide which engine or client runs.
bool ChoosesEngine(std::string_view variable) {
  return variable == "HOME" || variable == "PATH" ||
         variable.starts_with("XDG_") || variable.starts_with("DOCKER_") ||
         variable.starts_with("CONTAINER");
}

bool RunsInContainer(const parser::Invocation& invocation) {
  return std::ranges::any_of(invocation.via, [](const parser::Via& via) {
    return via.kind == parser::ViaKind::kProgram &&
           (via.name == "docker" || via.name == "podman");
  });
}

// Whether the shell that reads `line` may set a variable before the client
// starts; one that it inherited is passed on without being exported.
bool MaySetVariables(const parser::Analysis& analysis,
                     const std::string& line) {
  constexpr std::array<std::string_view, 5> kHarmless = {":", "cd", "echo",
                                                         "pwd", "true"};
  for (const parser::Invocation& invocation : analysis.invocations)
    // What a container runs sets nothing for a client of this machine.
    if (invocation.builtin && !RunsInContainer(invocation) &&
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

// Sub-commands by which something runs in a container that is there already.
bool StartsAgain(const parser::Invocation& invocation) {
  constexpr std::array<std::string_view, 3> kWords = {"exec", "start",
                                                      "restart"};
  const std::vector<std::string>& words = invocation.subcommand;
  return !words.empty() &&
         std::ranges::find(kWords, words.back()) != kWords.end() &&
         (words.size() == 1 ||
          (words.size() == 2 && words.front() == "container"));
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

bool IsNetworkOfEngine(std::string_view name) {
  return IsEngineName(name) && !IsNetworkMode(name);
}

bool HasOption(const parser::ArgumentAnalysis& arguments,
               std::string_view name) {
  return std::ranges::any_of(arguments.options, [&](std::string_view option) {
    return parser::IsSpelling(option, name);
  });
}

bool IsEmpty(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() &&
         (found->is_null() || (found->is_object() && found->empty()));
}

// Whether a list is empty or not there.
bool IsNothing(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ||
         (found->is_array() && found->empty());
}

// Whether a name space, or a control group, is the container's own.
bool IsOwnMode(const Json& object, const char* key) {
  constexpr std::array<std::string_view, 4> kOwn = {"", "private", "shareable",
                                                    "none"};
  const auto found = object.find(key);
  return found == object.end() ||
         (found->is_string() &&
          std::ranges::find(kOwn, found->get<std::string>()) != kOwn.end());
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
    return "the engine answered about another network";
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
    return "the engine answered about another volume";
  if (Text(body, "Driver") != "local") return "it has another driver";
  return IsEmpty(body, "Options") ? "" : "it has options";
}

// Of what podman's engine tells otherwise than docker's some is refused here
// that is harmless there.
std::string ContainerDoubt(const EngineName& name, const Json& body) {
  const std::string id = Text(body, "Id");
  if (Text(body, "Name") != "/" + name.name &&
      Text(body, "Name") != name.name &&
      !(name.name.size() >= kMinIdDigits && id.starts_with(name.name)))
    return "the engine answered about another container";
  const auto host = body.find("HostConfig");
  const auto mounts = body.find("Mounts");
  if (host == body.end() || !host->is_object() || mounts == body.end() ||
      !mounts->is_array())
    return "the engine's answer is not understood";
  const auto privileged = host->find("Privileged");
  if (privileged == host->end() || *privileged != false)
    return "it is privileged";
  // Absent where the engine is older than the setting.
  for (const char* key : {"CapAdd", "Devices", "DeviceRequests",
                          "DeviceCgroupRules", "SecurityOpt", "VolumesFrom"})
    if (!IsNothing(*host, key))
      return "it was given more of this machine (" + std::string(key) + ")";
  for (const char* key : {"PidMode", "IpcMode", "UTSMode", "UsernsMode",
                          "CgroupnsMode", "CgroupParent"})
    if (!IsOwnMode(*host, key))
      return "it shares a part of this machine (" + std::string(key) + ")";
  const std::string runtime = Text(*host, "Runtime");
  if (!runtime.empty() && runtime != "runc" && runtime != "crun" &&
      runtime != "io.containerd.runc.v2" && runtime != "oci" &&
      runtime != "runsc")
    return "it has another runtime";
  const std::string network = Text(*host, "NetworkMode");
  if (network != "none" && network != "default" && !IsNetworkOfEngine(network))
    return "it shares a network";
  if (const auto settings = body.find("NetworkSettings");
      settings != body.end() && settings->is_object())
    if (const auto networks = settings->find("Networks");
        networks != settings->end() && networks->is_object())
      for (const auto& [one, value] : networks->items())
        if (one != "none" && !IsNetworkOfEngine(one))
          return "it shares a network";
  for (const Json& mount : *mounts) {
    const std::string type = mount.is_object() ? Text(mount, "Type") : "";
    if (type == "tmpfs" && Text(mount, "Source").empty()) continue;
    if (type != "volume" || Text(mount, "Driver") != "local" ||
        !IsEngineName(Text(mount, "Name")))
      return "it has a directory of this machine";
  }
  return "";
}

// What else has to be asked about a container that is itself harmless.
std::vector<EngineName> NamesOf(const EngineName& container, const Json& body) {
  std::vector<EngineName> names;
  if (const auto host = body.find("HostConfig"); host != body.end()) {
    const std::string network = Text(*host, "NetworkMode");
    if (network != "none" && network != "default" && network != "bridge")
      names.push_back({EngineThing::kNetwork, network, container.program});
  }
  // It may have been connected to more of them since it was made.
  if (const auto settings = body.find("NetworkSettings");
      settings != body.end() && settings->is_object())
    if (const auto networks = settings->find("Networks");
        networks != settings->end() && networks->is_object())
      for (const auto& [network, value] : networks->items()) {
        EngineName one{EngineThing::kNetwork, network, container.program};
        if (network != "none" && network != "bridge" &&
            std::ranges::find(names, one) == names.end())
          names.push_back(std::move(one));
      }
  if (const auto mounts = body.find("Mounts"); mounts != body.end())
    for (const Json& mount : *mounts)
      if (Text(mount, "Type") == "volume")
        names.push_back(
            {EngineThing::kVolume, Text(mount, "Name"), container.program});
  return names;
}

std::string PathOf(const EngineName& name) {
  switch (name.thing) {
    case EngineThing::kNetwork:
      return "/networks/" + name.name;
    case EngineThing::kContainer:
      return "/containers/" + name.name + "/json";
    case EngineThing::kVolume:
      break;
  }
  return "/volumes/" + name.name;
}

std::string MayStandFor(const EngineName& name) {
  if (name.thing == EngineThing::kContainer)
    return "the container " + Visible(name.name) +
           " may have rights or directories of this machine";
  return name.thing == EngineThing::kNetwork
             ? "the network " + Visible(name.name) +
                   " may be one of this machine's own"
             : "the volume " + Visible(name.name) +
                   " may stand for a directory of this machine";
}

// Adds the containers that one invocation enters or starts again.
std::string CollectContainers(const parser::Invocation& invocation,
                              const parser::ArgumentAnalysis& arguments,
                              std::vector<EngineName>* names) {
  bool any = false;
  for (const parser::ArgumentEffect& argument_effect : arguments.effects) {
    if (argument_effect.role != parser::Role::kSystem ||
        argument_effect.modifier != parser::Modifier::kUsedContainer)
      continue;
    for (const parser::Argument& word : argument_effect.words) {
      if (!word.known || word.splits || word.glob || !IsEngineName(word.text))
        return "a name is not known";
      any = true;
      EngineName one{EngineThing::kContainer, word.text, invocation.program};
      if (std::ranges::find(*names, one) == names->end())
        names->push_back(std::move(one));
    }
  }
  return any ? "" : "a name is not known";
}

// Adds what one invocation calls volumes and networks; what is wrong.
std::string Collect(const parser::Invocation& invocation,
                    std::vector<EngineName>* names) {
  const parser::ArgumentAnalysis arguments =
      parser::ReadArguments(invocation.argv);
  const bool volumes =
      HasOption(arguments, "--volume") || HasOption(arguments, "--mount");
  const bool networks = HasOption(arguments, "--network");
  const bool containers = StartsAgain(invocation);
  if (!volumes && !networks && !containers) return "";
  const std::string& program = invocation.program;
  if (!arguments.known || !arguments.complete || arguments.unread ||
      arguments.acts.hides_options)
    return "not all of its options are known";
  if (invocation.argv[0].text != program || !invocation.via.empty())
    return "`" + program + "` is started by something else";
  if (arguments.acts.redirects != 0) return "it names engine or configuration";
  for (const parser::EnvironmentSetting& setting : invocation.environment)
    if (ChoosesEngine(setting.name)) return "it sets " + setting.name;
  if (containers) return CollectContainers(invocation, arguments, names);
  size_t found_volumes = 0, found_networks = 0;
  for (const parser::ArgumentEffect& argument_effect : arguments.effects) {
    const bool network =
        argument_effect.role == parser::Role::kSystem &&
        argument_effect.modifier == parser::Modifier::kContainerNetwork;
    if (!network && argument_effect.role != parser::Role::kWrite) continue;
    if (argument_effect.words.size() != 1 || !argument_effect.words[0].known ||
        argument_effect.words[0].splits || argument_effect.words[0].glob)
      return "a name is not known";
    // Of --mount the rest follows: src=NAME,dst=/x.
    std::string name = argument_effect.words[0].text;
    if (!network) name = name.substr(0, name.find(','));
    network ? ++found_networks : ++found_volumes;
    if (network && name == "none") continue;
    if (!IsEngineName(name) || (network && IsNetworkMode(name)))
      return "`" + Visible(name) + "` is no name of the engine's own";
    EngineName one{network ? EngineThing::kNetwork : EngineThing::kVolume,
                   std::move(name), program};
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
  switch (name.thing) {
    case EngineThing::kNetwork:
      return NetworkDoubt(name, answer.body);
    case EngineThing::kContainer:
      return ContainerDoubt(name, answer.body);
    case EngineThing::kVolume:
      break;
  }
  return VolumeDoubt(name, answer.body);
}

std::string NotLookedAt(const EngineNames& names, const std::string& why) {
  return (names.names.empty() ? std::string("a volume or network may stand for "
                                            "a part of this machine")
                              : MayStandFor(names.names[0])) +
         " (gate could not check: " + why + ")";
}

std::string EngineDoubt(const ProcessFacts& facts, const EngineNames& names,
                        const std::vector<std::string>& writable,
                        uint64_t patience_ms) {
  if (!names.trouble.empty()) return NotLookedAt(names, names.trouble);
  const uint64_t deadline = MonotonicUs() + patience_ms * 1000;
  std::map<std::string, std::string> sockets;  // by program
  std::vector<EngineName> asked = names.names;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (i == kMaxEngineNames)
      return MayStandFor(asked[0]) + ": it has too many";
    const EngineName name = asked[i];
    const auto could_not = [&name](const std::string& why) {
      return MayStandFor(name) + " (gate could not check: " + why + ")";
    };
    auto [socket, is_new] = sockets.try_emplace(name.program);
    if (is_new) {
      auto found = FindEngineSocket(facts, name.program, writable);
      if (!found) return could_not(found.error().message);
      socket->second = std::move(*found);
    }
    const auto answer = AskEngine(socket->second, PathOf(name), deadline);
    if (!answer) return could_not(answer.error().message);
    if (const std::string doubt = AnswerDoubt(name, *answer); !doubt.empty())
      return MayStandFor(name) + ": " + doubt;
    if (name.thing != EngineThing::kContainer || answer->status != 200)
      continue;
    for (EngineName& more : NamesOf(name, answer->body))
      if (std::ranges::find(asked, more) == asked.end())
        asked.push_back(std::move(more));
  }
  return "";
}

}  // namespace gate::app
