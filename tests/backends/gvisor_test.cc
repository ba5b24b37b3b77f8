// gVisor: what runsc is given, to the letter; and the filter that it and the
// engines share. Real runs are in engine_test.cc.
#include "backends/gvisor/gvisor.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>

#include "backends/engines/container_seccomp.h"
#include "base/json.h"

namespace gate::backends {
namespace {

ViewMount Mount(MountKind kind, const std::string& target) {
  ViewMount mount;
  mount.kind = kind;
  mount.target = target;
  return mount;
}

BundleInputs Inputs() {
  BundleInputs inputs;
  inputs.empty = "/run/b/empty";
  inputs.argv = {"/bin/true", "a b"};
  inputs.environment = {"A=b"};
  inputs.cwd = "/w";
  inputs.uid = 7;
  inputs.gid = 8;
  return inputs;
}

Json Bundle(const BundleInputs& inputs) {
  const Result<std::string> text = GvisorBundle(inputs);
  EXPECT_TRUE(text) << text.error().message;
  return text ? *ParseJson(*text) : Json();
}

TEST(GvisorBundle, HasNoPrivilegesAndAReadOnlyRoot) {
  const Json bundle = Bundle(Inputs());
  EXPECT_EQ(bundle["root"], Json({{"path", "/"}, {"readonly", true}}));
  const Json& process = bundle["process"];
  EXPECT_EQ(process["args"], Json({"/bin/true", "a b"}));
  EXPECT_EQ(process["env"], Json::array({"A=b"}));
  EXPECT_EQ(process["cwd"], "/w");
  EXPECT_EQ(process["user"], Json({{"uid", 7}, {"gid", 8}}));
  EXPECT_EQ(process["noNewPrivileges"], true);
  EXPECT_EQ(process["terminal"], false);
  for (const char* set :
       {"bounding", "effective", "inheritable", "permitted", "ambient"})
    EXPECT_EQ(process["capabilities"][set], Json::array()) << set;
  EXPECT_EQ(bundle["linux"]["seccomp"], ContainerSeccomp(true));
  // Nothing of the host's is named but what the view names.
  EXPECT_EQ(bundle["mounts"].size(), 1u);
  EXPECT_EQ(bundle["mounts"][0]["type"], "proc");
}

TEST(GvisorBundle, MountsTheViewInItsOrder) {
  BundleInputs inputs = Inputs();
  ViewMount backed = Mount(MountKind::kBacked, "/tmp");
  backed.source = "/s/tmp";
  ViewMount fresh = Mount(MountKind::kFresh, "/run");
  ViewMount shown = Mount(MountKind::kShown, "/w, \"x\"");
  ViewMount held = Mount(MountKind::kBind, "/w/.git/hooks");
  held.read_only = true;
  ViewMount secret = Mount(MountKind::kHidden, "/h/.netrc");
  secret.directory = false;
  ViewMount socket = Mount(MountKind::kHidden, "/x/socket");
  socket.directory = false;
  socket.fleeting = true;
  inputs.view.mounts = {
      Mount(MountKind::kDevices, "/dev"),   backed, fresh, shown, held,
      Mount(MountKind::kHidden, "/h/.ssh"), secret, socket};
  const auto bind = [](const char* source, const char* target,
                       const char* mode) {
    return Json({{"destination", target},
                 {"type", "bind"},
                 {"source", source},
                 {"options", {"rbind", "nosuid", "nodev", mode}}});
  };
  const auto fresh_at = [](const char* target, const char* mode, bool sealed) {
    Json options = {"nosuid", "nodev", mode, "uid=7", "gid=8"};
    if (sealed) options.push_back("ro");
    return Json({{"destination", target},
                 {"type", "tmpfs"},
                 {"source", "tmpfs"},
                 {"options", options}});
  };
  const Json mounts = Bundle(inputs)["mounts"];
  const Json expected = {mounts[0],
                         bind("/s/tmp", "/tmp", "rw"),
                         fresh_at("/run", "mode=0755", false),
                         bind("/w, \"x\"", "/w, \"x\"", "rw"),
                         bind("/w/.git/hooks", "/w/.git/hooks", "ro"),
                         fresh_at("/h/.ssh", "mode=0000", true),
                         bind("/run/b/empty", "/h/.netrc", "ro")};
  EXPECT_EQ(mounts, expected) << mounts.dump(1);
}

TEST(GvisorBundle, HasTheHostsNetworkOnlyWhereItIsOpen) {
  for (const Network network :
       {Network::kNone, Network::kLoopback, Network::kOpen}) {
    BundleInputs inputs = Inputs();
    inputs.network = network;
    const Json spaces = Bundle(inputs)["linux"]["namespaces"];
    const bool own =
        std::ranges::count(spaces, Json({{"type", "network"}})) == 1;
    EXPECT_EQ(own, network != Network::kOpen);
    const auto words = GvisorOptions("/b", network, false);
    EXPECT_EQ(std::ranges::count(words, "--network=none"), own ? 1 : 0);
  }
}

TEST(GvisorBundle, RefusesWhatJsonCannotSay) {
  for (auto spoil : {+[](BundleInputs* i) { i->argv[1] = "\xff"; },
                     +[](BundleInputs* i) { i->environment[0] = "A=\xff"; },
                     +[](BundleInputs* i) { i->cwd = "/\xff"; },
                     +[](BundleInputs* i) {
                       i->view.mounts = {Mount(MountKind::kShown, "/\xfe")};
                     }}) {
    BundleInputs inputs = Inputs();
    spoil(&inputs);
    EXPECT_FALSE(GvisorBundle(inputs));
  }
}

TEST(GvisorOptions, AreTheseToTheLetter) {
  EXPECT_EQ(GvisorOptions("/b", Network::kNone, true),
            (std::vector<std::string>{
                "--root=/b/state", "--log=/b/log", "--file-access=shared",
                "--file-access-mounts=shared", "--overlay2=none",
                "--host-uds=none", "--oci-seccomp", "--ignore-cgroups",
                "--network=none", "--rootless"}));
}

// Whether the filter refuses `name` with these arguments, as engines read it.
bool Refuses(const Json& filter, const std::string& name,
             const std::vector<uint64_t>& arguments) {
  return std::ranges::any_of(filter["syscalls"], [&](const Json& rule) {
    if (std::ranges::count(rule["names"], Json(name)) == 0) return false;
    if (!rule.contains("args")) return true;
    return std::ranges::all_of(rule["args"], [&](const Json& one) {
      const uint64_t is = arguments[one["index"].get<size_t>()];
      const auto value = one["value"].get<uint64_t>();
      const std::string op = one["op"];
      if (op == "SCMP_CMP_MASKED_EQ")
        return (is & value) == one["valueTwo"].get<uint64_t>();
      return op == "SCMP_CMP_EQ"   ? is == value
             : op == "SCMP_CMP_NE" ? is != value
                                   : is >= value;
    });
  });
}

TEST(ContainerSeccomp, RefusesModesThatOutliveTheRun) {
  for (const bool own_kernel : {true, false}) {
    const Json filter = ContainerSeccomp(own_kernel);
    EXPECT_EQ(filter["defaultAction"], "SCMP_ACT_ALLOW");
    EXPECT_TRUE(Refuses(filter, "chmod", {0, 04755}));
    EXPECT_TRUE(Refuses(filter, "fchmodat", {0, 0, 06755}));
    EXPECT_TRUE(Refuses(filter, "openat", {0, 0, 0101, 04755}));
    EXPECT_TRUE(Refuses(filter, "openat", {0, 0, 020200000 | 2, 04755}));
    EXPECT_TRUE(Refuses(filter, "mknod", {0, S_IFCHR | 0600}));
    EXPECT_TRUE(Refuses(filter, "mknodat", {0, 0, S_IFBLK | 0600}));
    EXPECT_FALSE(Refuses(filter, "chmod", {0, 02755}));
    EXPECT_FALSE(Refuses(filter, "openat", {0, 0, 0, 04755}));
    EXPECT_FALSE(Refuses(filter, "mknod", {0, S_IFIFO | 0600}));
  }
}

TEST(ContainerSeccomp, LeavesNoRoomToBeTakenWhereWritesAreCounted) {
  for (const bool counted : {true, false}) {
    const Json filter = ContainerSeccomp(false, {.taking_room = counted});
    EXPECT_EQ(Refuses(filter, "fallocate", {3, 0, 0, 9}), counted);
    EXPECT_EQ(Refuses(filter, "fallocate", {3, 1, 0, 9}), counted);
    EXPECT_FALSE(Refuses(filter, "fallocate", {3, 3, 0, 9}));
    EXPECT_EQ(Refuses(filter, "ioctl", {3, 0x40305828, 0}), counted);
  }
}

TEST(ContainerSeccomp, ShutsTheDoorsOfThisKernel) {
  const Json filter = ContainerSeccomp(false);
  for (const char* name : {"ptrace", "mount", "bpf", "io_uring_setup", "keyctl",
                           "setns", "open_by_handle_at", "kexec_load"})
    EXPECT_TRUE(Refuses(filter, name, {0, 0, 0, 0, 0, 0})) << name;
  EXPECT_TRUE(Refuses(filter, "unshare", {0x10000000}));
  EXPECT_TRUE(Refuses(filter, "clone", {0x10000000 | 17}));
  EXPECT_FALSE(Refuses(filter, "clone", {17}));
  EXPECT_TRUE(Refuses(filter, "ioctl", {0, 0xdead00005412}));
  EXPECT_FALSE(Refuses(filter, "ioctl", {0, 0x5413}));
  for (const uint64_t family : {3u, 17u, 38u, 40u})
    EXPECT_TRUE(Refuses(filter, "socket", {family, 0, 0})) << family;
  for (const uint64_t family : {1u, 2u, 10u, 16u})
    EXPECT_FALSE(Refuses(filter, "socket", {family, 0, 0})) << family;
  EXPECT_TRUE(Refuses(filter, "socket", {16, 0, 9}));
}

TEST(ContainerSeccomp, LeavesPairsThatReachNobodyElse) {
  const Json filter =
      ContainerSeccomp(false, {.local = LocalSockets::kPairsOnly});
  EXPECT_TRUE(Refuses(filter, "socket", {AF_UNIX, SOCK_STREAM, 0}));
  EXPECT_FALSE(Refuses(filter, "socket", {AF_INET, SOCK_STREAM, 0}));
  EXPECT_FALSE(Refuses(filter, "socketpair", {AF_UNIX, SOCK_STREAM, 0}));
  EXPECT_TRUE(Refuses(filter, "socketpair", {AF_UNIX, SOCK_DGRAM, 0}));
}

}  // namespace
}  // namespace gate::backends
