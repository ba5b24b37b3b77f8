// Machines that lack something: older kernels, containers' filters, Ubuntu's
// restriction of user namespaces. A filter of the test's own makes the calls
// fail as they would there. Whatever a backend then says it gives, it gives, or
// it does not start the command.
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "backends/engines/backend.h"
#include "base/file.h"
#include "tests/support/sandbox_fixture.h"
#include "tests/support/temporary_directory.h"

namespace gate::backends {
namespace {

constexpr int kOpenTree = 428, kMoveMount = 429, kFsopen = 430, kFsmount = 432,
              kPidfdOpen = 434, kClone3 = 435, kCloseRange = 436,
              kOpenat2 = 437, kMountSetattr = 442, kLandlockCreate = 444,
              kPidfdSendSignal = 424;

struct Lack {
  int call;
  int error;
  uint32_t bits = 0;  // only when the first argument has one of them
};
struct Place {
  const char* name;
  std::vector<Lack> lacks;
  const char* works;  // the backends that work there all the same
};

const std::vector<Place>& Places() {
  static const auto* const places = new std::vector<Place>{
      {"nothing", {}, "native bwrap landlock"},
      {"before_clone3", {{kClone3, ENOSYS}}, "native bwrap landlock"},
      {"before_pidfd_open", {{kPidfdOpen, ENOSYS}}, "native"},
      {"before_pidfd_signals", {{kPidfdSendSignal, ENOSYS}}, ""},
      {"before_close_range", {{kCloseRange, ENOSYS}}, ""},
      {"before_openat2", {{kOpenat2, ENOSYS}}, ""},
      {"openat2_refused", {{kOpenat2, EPERM}}, ""},
      {"before_mount_setattr", {{kMountSetattr, ENOSYS}}, ""},
      {"before_open_tree", {{kOpenTree, ENOSYS}, {kMoveMount, ENOSYS}}, ""},
      {"before_fsopen", {{kFsopen, ENOSYS}, {kFsmount, ENOSYS}}, ""},
      {"before_statx", {{SYS_statx, ENOSYS}}, "native bwrap"},
      {"before_renameat2", {{SYS_renameat2, ENOSYS}}, "native"},
      {"without_landlock", {{kLandlockCreate, ENOSYS}}, "native bwrap"},
      {"landlock_switched_off",
       {{kLandlockCreate, EOPNOTSUPP}},
       "native bwrap"},
      {"without_filters", {{SYS_seccomp, ENOSYS}}, ""},
      {"filters_refused", {{SYS_seccomp, EPERM}}, ""},
      {"no_user_namespaces",
       {{kClone3, ENOSYS},
        {SYS_clone, EPERM, CLONE_NEWUSER},
        {SYS_unshare, EPERM, CLONE_NEWUSER}},
       "landlock"},
      {"user_namespaces_without_capabilities",
       {{SYS_mount, EPERM},
        {SYS_umount2, EPERM},
        {SYS_pivot_root, EPERM},
        {kMountSetattr, EPERM},
        {kOpenTree, EPERM},
        {kMoveMount, EPERM},
        {kFsopen, EPERM}},
       "landlock"},
      {"no_new_networks",
       {{SYS_unshare, EPERM, CLONE_NEWNET}, {SYS_clone, EPERM, CLONE_NEWNET}},
       "landlock"},
      // Process 1 then makes its network itself (native/network.h).
      {"no_second_threads",
       {{SYS_clone, EAGAIN, CLONE_THREAD}},
       "native bwrap landlock"},
      {"no_mount_namespaces",
       {{SYS_unshare, EPERM, CLONE_NEWNS}, {SYS_clone, EPERM, CLONE_NEWNS}},
       "landlock"},
  };
  return *places;
}

void Live(const Place& place) {
  std::vector<sock_filter> code;
  const auto add = [&](unsigned op, uint8_t yes, uint8_t no, uint32_t k) {
    code.push_back({static_cast<uint16_t>(op), yes, no, k});
  };
  for (const Lack& lack : place.lacks) {
    add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr));
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, lack.bits != 0 ? 3 : 1,
        static_cast<uint32_t>(lack.call));
    if (lack.bits != 0) {
      add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, args));
      add(BPF_JMP | BPF_JSET | BPF_K, 0, 1, lack.bits);
    }
    add(BPF_RET | BPF_K, 0, 0,
        SECCOMP_RET_ERRNO | static_cast<uint32_t>(lack.error));
  }
  add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
  const sock_fprog program = {static_cast<unsigned short>(code.size()),
                              code.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(77);
}

std::vector<Who> All() {
  std::vector<Who> all = Everyone();
  all.push_back({"landlock", false});
  if (geteuid() == 0) all.push_back({"landlock", true});
  return all;
}

class TiersTest : public Sandbox {};
INSTANTIATE_TEST_SUITE_P(All, TiersTest, testing::ValuesIn(All()), WhoName);

TEST_P(TiersTest, NeverLessThanItSays) {
  const Fd host(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(host.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(host.get(), 64), 0);
  ASSERT_EQ(
      getsockname(host.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  profile_.protect_names = {".bashrc", ".envrc"};
  MakeDirectory(w_ + "/deep/er");

  for (const Place& place : Places()) {
    machine_ = [&] { Live(place); };
    const Availability found = Probe();
    const std::string works = std::string(" ") + place.works + " ";
    if (works.find(std::string(" ") + GetParam().backend + " ") !=
        std::string::npos) {
      EXPECT_TRUE(found.available) << place.name << ": " << found.why;
    }
    if (!found.available) {
      EXPECT_FALSE(found.why.empty()) << place.name;
    }
    // What a profile requires beyond what there is ends in nothing.
    Write(w_ + "/.bashrc", "mine\n");
    const Profile plain = profile_;
    for (int i = 0; i < kFeatures; ++i) {
      const auto feature = static_cast<Feature>(i);
      if (feature == Feature::kOverlay || feature == Feature::kWatchExecs ||
          feature == Feature::kReportBlocked)
        continue;
      if (found.available && found.features.Has(feature)) continue;
      profile_.required = {feature};
      EXPECT_EQ(Bash("echo > ran").outcome.status, OutcomeStatus::kSetupFailed)
          << place.name << " without " << Name(feature);
      EXPECT_FALSE(Exists(w_ + "/ran")) << place.name;
      profile_ = plain;
    }
    // And what it says it gives holds, also for a caller that did not ask.
    profile_.required = found.features;
    for (const Feature aside :
         {Feature::kOverlay, Feature::kWatchExecs, Feature::kReportBlocked})
      profile_.required = [&](FeatureSet of) {
        FeatureSet out;
        for (int i = 0; i < kFeatures; ++i)
          if (static_cast<Feature>(i) != aside &&
              of.Has(static_cast<Feature>(i)))
            out.Add(static_cast<Feature>(i));
        return out;
      }(profile_.required);
    // Modes can be changed where the root is not read-only.
    const bool whole = found.features.Has(Feature::kReadOnlyRoot);
    const auto outside = [&] {
      return whole ? Manifest(x_) + Manifest(h_)
                   : Outside("cd ..; grep -r . outside home | sort");
    };
    const std::string before = outside();
    const pid_t escape_probe = fork();
    if (escape_probe == 0) {
      if (uid_ != geteuid() && (setresgid(gid_, gid_, gid_) != 0 ||
                                setresuid(uid_, uid_, uid_) != 0))
        _exit(1);
      pause();
      _exit(0);
    }
    const Ran ran = Bash(
        "echo x > \"$X/new\"; echo x >> \"$X/existing\"; rm -rf \"$X\"; cat "
        "\"$S\" > copy; cat \"$S\"; echo x >> .bashrc; rm -f .bashrc; echo x > "
        ".envrc; echo x > deep/er/.envrc; mkdir -p deep/.envrc/a; echo x > "
        "deep/.envrc/a/b; : < /dev/tcp/127.0.0.1/" +
        port + "; kill -9 " + std::to_string(escape_probe) +
        "; chmod 700 \"$X/existing\"; unshare -Ur true && echo nested");
    EXPECT_EQ(kill(escape_probe, 0), 0);
    int status = 0;
    EXPECT_EQ(waitpid(escape_probe, &status, WNOHANG), 0) << place.name;
    kill(escape_probe, SIGKILL);
    waitpid(escape_probe, &status, 0);
    profile_ = plain;
    const bool started = ran.outcome.status != OutcomeStatus::kSetupFailed;
    EXPECT_TRUE(found.available || !started)
        << place.name << ": started although it is not available";
    const std::string what =
        std::string(place.name) + ": " + ran.outcome.reason + ran.output;
    EXPECT_EQ(outside(), before) << what;
    EXPECT_EQ(ran.output.find("CANARY"), std::string::npos) << what;
    EXPECT_EQ(Read(w_ + "/copy").find("CANARY"), std::string::npos) << what;
    EXPECT_EQ(ran.output.find("nested"), std::string::npos) << what;
    const Fd reached(accept(host.get(), nullptr, nullptr));
    EXPECT_FALSE(reached) << what;
    EXPECT_FALSE(Exists(w_ + "/.envrc")) << what;
    EXPECT_FALSE(Exists(w_ + "/deep/er/.envrc")) << what;
    // Without a time of birth an empty directory may stay.
    EXPECT_FALSE(Exists(w_ + "/deep/.envrc/a")) << what;
    if (found.features.Has(Feature::kProtectedPaths)) {
      EXPECT_EQ(Read(w_ + "/.bashrc"), "mine\n") << what;
    }
    machine_ = nullptr;
    Outside(
        "rm -rf \"$W\"/.bashrc \"$W\"/.envrc \"$W\"/deep/er/.envrc deep/.envrc "
        "copy; chmod -R u+rw ../outside");
  }
}

// A client that is installed may still start nothing for this user.
TEST(EngineProbeTest, AnEngineThatRefusesThisUserIsNotAvailable) {
  const TemporaryDirectory directory;
  const std::string client = directory / "podman";
  const auto place =
      std::find_if(Places().begin(), Places().end(), [](const Place& one) {
        return std::string_view(one.name) == "no_user_namespaces";
      });
  ASSERT_NE(place, Places().end());
  for (const bool works : {false, true}) {
    ASSERT_TRUE(WriteFileAtomically(
        client,
        works ? "#!/bin/sh\n" : "#!/bin/sh\necho mkdir: denied >&2; exit 125\n",
        0755));
    const pid_t child = fork();
    if (child == 0) {
      Live(*place);
      Engine engine = Podman();
      engine.paths = {client};
      const Availability found = MakeEngineBackend(engine)->Probe();
      _exit(found.available                                        ? 1
            : found.why.find("mkdir: denied") != std::string::npos ? 2
                                                                   : 3);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), works ? 1 : 2);
  }
}

}  // namespace
}  // namespace gate::backends
