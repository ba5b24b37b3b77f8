#include <algorithm>

#include "backends/engines/backend.h"

namespace gate::backends {
namespace {

constexpr uint64_t kDefaultProcesses = 4096;
// What the engine itself needs before the command is started.
constexpr uint64_t kLeastProcesses = 16;

// One field of a --mount, which is read as a line of CSV.
std::string Field(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string BindOption(const std::string& source, const std::string& target,
                       bool read_only) {
  // Not recursive where read-only: engines before docker 25 leave what is
  // mounted below writable.
  return "--mount=type=bind," + Field("source=" + source) + "," +
         Field("target=" + target) +
         (read_only ? ",readonly,bind-nonrecursive=true" : "");
}

std::string Tmpfs(const std::string& target, const std::string& mode) {
  return "--mount=type=tmpfs," + Field("target=" + target) +
         ",tmpfs-mode=" + mode;
}

}  // namespace

Result<std::vector<std::string>> ContainerArguments(
    const ContainerInputs& inputs) {
  std::vector<std::string> out = {"--name=" + inputs.name,
                                  "--label=gate.run=1",
                                  "--pull=never",
                                  "--interactive",
                                  "--sig-proxy=false",
                                  "--read-only",
                                  "--cap-drop=ALL",
                                  "--security-opt=no-new-privileges",
                                  "--security-opt=seccomp=" + inputs.seccomp,
                                  "--ipc=private",
                                  "--hostname=gate",
                                  "--log-driver=none",
                                  "--ulimit=core=1:1"};
  const auto add = [&out](std::string word) { out.push_back(std::move(word)); };
  if (inputs.terminal) add("--tty");
  add(inputs.network == Network::kOpen ? "--network=host" : "--network=none");
  add("--user=" + std::to_string(inputs.uid) + ":" +
      std::to_string(inputs.gid));
  if (inputs.keep_id) add("--userns=keep-id");
  if (inputs.podman) add("--http-proxy=false");
  if (inputs.configured) {
    // Nothing of the image runs but what the command names.
    add("--entrypoint=");
    add("--no-healthcheck");
    if (inputs.podman) add("--image-volume=ignore");
    if (!inputs.init.empty()) add("--init");
    if (!inputs.init.empty() && inputs.podman)
      add("--init-path=" + inputs.init);
  }
  const Limits& limits = inputs.limits;
  // One more for process 1. Fewer than the engine needs are counted by gate.
  add("--pids-limit=" +
      std::to_string(limits.processes > 0
                         ? std::max(limits.processes + 1, kLeastProcesses)
                         : kDefaultProcesses));
  if (limits.memory_bytes > 0) {
    const std::string bytes = std::to_string(limits.memory_bytes);
    add("--memory=" + bytes);
    add("--memory-swap=" + bytes);
  }
  const auto ulimit = [&](const char* name, uint64_t soft, uint64_t hard) {
    if (soft > 0)
      add(std::string("--ulimit=") + name + "=" + std::to_string(soft) + ":" +
          std::to_string(hard));
  };
  // Behind gate's own count of the whole run (engine_account.h).
  if (limits.cpu_s > 0) ulimit("cpu", limits.cpu_s + 1, limits.cpu_s + 2);
  ulimit("nofile", limits.open_files, limits.open_files);
  ulimit("fsize", limits.file_bytes, limits.file_bytes);
  if (inputs.podman && limits.open_files == 0)
    add("--ulimit=nofile=" + inputs.open_files + ":" + inputs.open_files);
  if (inputs.podman)
    add("--ulimit=nproc=" + inputs.processes + ":" + inputs.processes);

  const View& view = inputs.view;
  const std::string after = inputs.podman ? ",notmpcopyup" : "";
  for (const std::string& root : inputs.roots)
    if (!inputs.configured) add(BindOption(root, root, !view.write_everything));
  for (const ViewMount& mount : view.mounts) {
    const std::string& target = mount.target;
    switch (mount.kind) {
      case MountKind::kDevices:
        break;  // the engine's
      case MountKind::kFresh:
        // The engine's own, as large as a container's usually is.
        if (target != "/dev/shm")
          add(Tmpfs(target, (mount.mode == 01777 ? "1777" : "0755") + after));
        break;
      case MountKind::kBacked:
        add(BindOption(mount.source, target, false));
        break;
      case MountKind::kLent:      // not given (Feature::kLending)
      case MountKind::kResolver:  // nor a network by name
        break;
      case MountKind::kShown:
      case MountKind::kBind:
        add(BindOption(target, target, mount.read_only));
        break;
      case MountKind::kHidden:
        add(mount.directory
                ? Tmpfs(target, (mount.holds_others ? "0711" : "0000") + after)
                : BindOption("/dev/null", target, true));
        break;
    }
  }
  add("--workdir=" + inputs.cwd);
  for (const std::string& entry : inputs.environment) add("--env=" + entry);
  for (const std::string& word : out)
    if (!word.starts_with("--env=") &&
        word.find_first_of("\n\r") != std::string::npos)
      return Fail(ErrorCode::kInvalid, "a path with a line break in it");
  add(inputs.image);
  if (!inputs.configured && !inputs.init.empty())
    out.insert(out.end(), {inputs.init, "-g", "--"});
  return out;
}

}  // namespace gate::backends
