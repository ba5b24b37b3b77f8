#include "backends/bwrap/bwrap.h"

#include <gtest/gtest.h>

namespace gate::backends {
namespace {

std::string Print(const BwrapInputs& inputs) {
  std::string text;
  for (const std::string& word : BwrapArguments(inputs)) {
    if (!text.empty()) text += word.starts_with("--") ? "\n" : " ";
    text += word;
  }
  return text;
}

ViewMount Mount(MountKind kind, const char* target, bool read_only = false) {
  ViewMount mount;
  mount.kind = kind;
  mount.target = target;
  mount.read_only = read_only;
  return mount;
}

TEST(BwrapArguments, BuildTheWholeView) {
  BwrapInputs inputs;
  inputs.cwd = "/w";
  inputs.seccomp_fd = 5;
  inputs.status_fd = 6;
  auto& mounts = inputs.view.mounts;
  mounts.push_back(Mount(MountKind::kDevices, "/dev"));
  mounts.push_back(Mount(MountKind::kFresh, "/run"));
  mounts.push_back(Mount(MountKind::kFresh, "/tmp"));
  mounts.back().mode = 01777;
  mounts.push_back(Mount(MountKind::kBacked, "/var/tmp"));
  mounts.back().source = "/state/tmp";
  mounts.push_back(Mount(MountKind::kShown, "/w"));
  mounts.push_back(Mount(MountKind::kBind, "/w/.git"));
  mounts.push_back(Mount(MountKind::kHidden, "/home/u/.ssh"));
  mounts.push_back(Mount(MountKind::kHidden, "/home/u/.netrc"));
  mounts.back().directory = false;
  mounts.push_back(Mount(MountKind::kBind, "/w/.git/hooks", true));
  EXPECT_EQ(Print(inputs),
            "--unshare-user\n--unshare-pid\n--unshare-ipc\n--unshare-uts\n"
            "--unshare-cgroup-try\n--die-with-parent\n--cap-drop ALL\n"
            "--unshare-net\n--new-session\n--ro-bind / /\n--proc "
            "/proc\n--remount-ro /proc\n"
            "--dev /dev\n--perms 0755\n--tmpfs /run\n--perms 1777\n"
            "--tmpfs /tmp\n--bind /state/tmp /var/tmp\n--bind /w /w\n"
            "--bind /w/.git /w/.git\n--perms 0000\n--tmpfs /home/u/.ssh\n"
            "--ro-bind /dev/null /home/u/.netrc\n"
            "--ro-bind /w/.git/hooks /w/.git/hooks\n"
            "--remount-ro /home/u/.ssh\n--seccomp 5\n--json-status-fd 6\n"
            "--chdir /w");
}

TEST(BwrapArguments, SharesTheNetworkOnlyWhenItIsOpen) {
  BwrapInputs inputs;
  for (const Network network : {Network::kNone, Network::kLoopback}) {
    inputs.network = network;
    EXPECT_NE(Print(inputs).find("--unshare-net"), std::string::npos);
  }
  inputs.network = Network::kOpen;
  EXPECT_EQ(Print(inputs).find("--unshare-net"), std::string::npos);
}

TEST(BwrapArguments, KeepsTheSessionOnATerminal) {
  BwrapInputs inputs;
  inputs.terminal = true;
  EXPECT_EQ(Print(inputs).find("--new-session"), std::string::npos);
}

TEST(BwrapArguments, WritesTheRootOnlyWhenEverythingIsWritable) {
  BwrapInputs inputs;
  inputs.view.write_everything = true;
  EXPECT_NE(Print(inputs).find("--bind / /"), std::string::npos);
}

}  // namespace
}  // namespace gate::backends
