#include <sys/resource.h>

#include "backends/engines/container_seccomp.h"
#include "backends/gvisor/gvisor.h"
#include "backends/process/limits.h"
#include "base/json.h"
#include "base/text.h"

namespace gate::backends {
namespace {

const char* LimitName(int resource) {
  switch (resource) {
    case RLIMIT_CORE:
      return "RLIMIT_CORE";
    case RLIMIT_NOFILE:
      return "RLIMIT_NOFILE";
    case RLIMIT_FSIZE:
      return "RLIMIT_FSIZE";
    default:
      return nullptr;  // gVisor knows it and does not keep to it
  }
}

Json Mount(const std::string& target, const char* type,
           const std::string& source, std::vector<std::string> options) {
  return {{"destination", target},
          {"type", type},
          {"source", source},
          {"options", std::move(options)}};
}

Json BindMount(const std::string& source, const std::string& target,
               bool read_only) {
  return Mount(target, "bind", source,
               {"rbind", "nosuid", "nodev", read_only ? "ro" : "rw"});
}

// gVisor's own file system, in its memory.
Json Fresh(const std::string& target, const char* mode,
           const BundleInputs& inputs, bool read_only) {
  std::vector<std::string> options = {
      "nosuid", "nodev", std::string("mode=") + mode,
      "uid=" + std::to_string(inputs.uid), "gid=" + std::to_string(inputs.gid)};
  if (read_only) options.emplace_back("ro");
  return Mount(target, "tmpfs", "tmpfs", std::move(options));
}

bool AllUtf8(const Json& value) {
  if (value.is_string()) return IsUtf8(value.get_ref<const std::string&>());
  if (!value.is_structured()) return true;
  for (const Json& part : value)
    if (!AllUtf8(part)) return false;
  return true;
}

}  // namespace

Result<std::string> GvisorBundle(const BundleInputs& inputs) {
  Json mounts = Json::array();
  mounts.push_back(Mount("/proc", "proc", "proc", {"nosuid", "noexec"}));
  for (const ViewMount& mount : inputs.view.mounts) {
    const std::string& target = mount.target;
    switch (mount.kind) {
      case MountKind::kDevices:
        break;  // gVisor's own
      case MountKind::kFresh:
        mounts.push_back(Fresh(target, mount.mode == 01777 ? "1777" : "0755",
                               inputs, false));
        break;
      case MountKind::kBacked:
        mounts.push_back(BindMount(mount.source, target, false));
        break;
      case MountKind::kLent:      // not given (Feature::kLending)
      case MountKind::kResolver:  // nor a network by name
        break;
      case MountKind::kShown:
      case MountKind::kBind:
        mounts.push_back(BindMount(target, target, mount.read_only));
        break;
      case MountKind::kHidden:
        // Sockets of the host are not reached anyway.
        if (mount.fleeting) break;
        mounts.push_back(mount.directory
                             ? Fresh(target,
                                     mount.holds_others ? "0711" : "0000",
                                     inputs, true)
                             : BindMount(inputs.empty, target, true));
        break;
    }
  }
  Json limits = Json::array();
  for (const Limit& limit : ProcessLimits(inputs.limits))
    if (const char* name = LimitName(limit.resource); name != nullptr)
      limits.push_back({{"type", name},
                        {"soft", limit.value.rlim_cur},
                        {"hard", limit.value.rlim_max}});
  const Json none = Json::array();
  Json namespaces = Json::array();
  for (const char* type : {"pid", "ipc", "uts", "mount"})
    namespaces.push_back({{"type", type}});
  // Else it is the caller's, which --network=host needs.
  if (inputs.network != Network::kOpen)
    namespaces.push_back({{"type", "network"}});
  const Json bundle = {
      {"ociVersion", "1.0.0"},
      {"hostname", "gate"},
      {"root", {{"path", "/"}, {"readonly", !inputs.view.write_everything}}},
      {"process",
       {{"terminal", false},
        {"user", {{"uid", inputs.uid}, {"gid", inputs.gid}}},
        {"args", inputs.argv},
        {"env", inputs.environment},
        {"cwd", inputs.cwd},
        {"noNewPrivileges", true},
        {"capabilities",
         {{"bounding", none},
          {"effective", none},
          {"inheritable", none},
          {"permitted", none},
          {"ambient", none}}},
        {"rlimits", limits}}},
      {"mounts", mounts},
      {"linux",
       {{"namespaces", namespaces},
        {"seccomp", ContainerSeccomp(/*own_kernel=*/true)}}}};
  if (!AllUtf8(bundle))
    return Fail(ErrorCode::kInvalid,
                "gvisor takes only paths, arguments and variables that are "
                "UTF-8");
  return Dump(bundle);
}

std::vector<std::string> GvisorOptions(const std::string& bundle,
                                       Network network, bool rootless) {
  std::vector<std::string> words = {
      "--root=" + bundle + "/state", "--log=" + bundle + "/log",
      // What gate writes outside meanwhile is seen, and nothing is written to
      // a layer of its own.
      "--file-access=shared", "--file-access-mounts=shared", "--overlay2=none",
      "--host-uds=none", "--oci-seccomp", "--ignore-cgroups",
      network == Network::kOpen ? "--network=host" : "--network=none"};
  if (rootless) words.emplace_back("--rootless");
  return words;
}

}  // namespace gate::backends
