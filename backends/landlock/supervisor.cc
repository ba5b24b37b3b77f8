#include "backends/landlock/supervisor.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "backends/process/program_search.h"
#include "backends/process/supervise.h"
#include "backends/process/sys.h"

namespace gate::backends {
namespace {

constexpr int kReport = 3;
constexpr int kControl = 4;

constexpr uint64_t kExecute = 1 << 0;
constexpr uint64_t kReadFile = 1 << 2;
constexpr uint64_t kRefer = 1 << 13;
struct [[gnu::packed]] PathRule {
  uint64_t allowed = 0;
  int32_t parent = -1;
};

void Send(const SupervisorReport& report) {
  (void)!write(kReport, &report, sizeof(report));
}

[[noreturn]] void FailAt(const char* step, int error) {
  SupervisorReport report;
  report.kind = SupervisorReport::kFailed;
  report.step = step;
  report.error = error;
  Send(report);
  _exit(127);
}

bool DropCapabilities() {
  constexpr int kMaxCapability = 63;
  // Only with CAP_SETPCAP; who lacks it has nothing to bound either, since
  // no_new_privs keeps every set from growing.
  for (int capability = 0; capability <= kMaxCapability; ++capability)
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) break;
  if (geteuid() == 0 &&
      prctl(PR_SET_SECUREBITS,
            SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                SECBIT_NO_CAP_AMBIENT_RAISE |
                SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
            0, 0, 0) != 0 &&
      // A container's root may lack CAP_SETPCAP. Empty sets stay empty then:
      // no_new_privs forbids an exec to give uid 0 what it has not.
      errno != EPERM)
    return false;
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct sets[2] = {};
  return syscall(SYS_capset, &header, sets) == 0;
}

// The second layer: nothing is read or executed but what is below `plan.read`.
// A layer that says nothing of moving files to another directory refuses it, so
// this one leaves that to the first. What would become readable by being moved
// the kernel does not move.
bool RestrictReads(const SupervisorPlan& plan) {
  constexpr uint64_t kReads = kExecute | kReadFile, kHandled = kReads | kRefer;
  const int ruleset = static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &kHandled, sizeof(kHandled), 0u));
  if (ruleset < 0) return false;
  const auto allow = [ruleset](const char* path, uint64_t rights) {
    const int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return true;  // not granted
    PathRule rule;
    rule.allowed = rights;
    rule.parent = fd;
    const bool added =
        syscall(SYS_landlock_add_rule, ruleset, 1, &rule, 0u) == 0;
    close(fd);
    // Some objects take no rule (a name of another kind by now): not granted.
    return added || errno == EBADFD || errno == EINVAL;
  };
  if (!allow("/", kRefer)) return false;
  for (const char* path : plan.read)
    if (!allow(path, kReads)) return false;
  if (syscall(SYS_landlock_restrict_self, ruleset, 0u) != 0) return false;
  close(ruleset);
  return true;
}

[[noreturn]] void Execute(const SupervisorContext& context, pid_t supervisor) {
  const SupervisorPlan& plan = *context.plan;
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != supervisor) _exit(127);
  if (!plan.terminal) setsid();
  if (chdir(plan.cwd) != 0) FailAt("the working directory", errno);
  if (RestrictWrites(plan.abi, plan.write.data(), plan.write.size(),
                     plan.no_tcp) != 0)
    FailAt("Landlock, writing", errno);
  if (!RestrictReads(plan)) FailAt("Landlock, reading", errno);
  for (const Limit& limit : plan.limits)
    if (ApplyLimit(limit) != 0) FailAt("the limits", errno);
  if (InstallFilter(plan.filter) != 0 || InstallFilter(plan.more) != 0)
    FailAt("seccomp", errno);
  SupervisorReport report;
  report.kind = SupervisorReport::kNotExecuted;
  report.error = ExecuteFirst(plan.programs, plan.argv.data(), plan.envp.data(),
                              context.mask);
  Send(report);
  _exit(127);
}

// Sends `signal` to every child there is, by the kernel's own list.
bool SignalChildren(int signal) {
  const int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  char text[4096];
  const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
  if (fd >= 0) close(fd);
  if (got <= 0) return false;
  text[got] = '\0';
  char* at = text;
  while (true) {
    char* end = nullptr;
    const long pid = strtol(at, &end, 10);
    // The last number of a full buffer may be cut.
    if (end == at || pid <= 1 || *end == '\0') return true;
    kill(static_cast<pid_t>(pid), signal);
    at = end;
  }
}

// Ends everything that was started. What loses its parent becomes a child of
// this process, so that no child left means nothing left.
void EndAll(bool scoped) {
  while (true) {
    if (scoped) kill(-1, SIGKILL);
    SignalChildren(SIGKILL);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    siginfo_t info = {};
    if (waitid(P_ALL, 0, &info, WEXITED) != 0 && errno == ECHILD) return;
  }
}

}  // namespace

void RunSupervisor(const SupervisorContext& context) {
  const SupervisorPlan& plan = *context.plan;
  if (!sys::ArrangeDescriptors({context.in, context.out, context.err,
                                context.report, context.control})) {
    SupervisorReport report;
    report.kind = SupervisorReport::kFailed;
    report.step = "the streams";
    report.error = errno;
    (void)!write(context.report, &report, sizeof(report));
    _exit(127);
  }
  prctl(PR_SET_NAME, "gate-keeper", 0, 0, 0);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
    FailAt("the keeper", errno);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    FailAt("no_new_privs", errno);
  bool scoped = false;
  if (plan.abi >= 6) {
    if (RestrictScopeBelowOthers(plan.abi) != 0)
      FailAt("Landlock, scope", errno);
    // kill(-1) is only ever used when gate itself is provably out of reach.
    scoped = getppid() == context.gate && kill(context.gate, 0) != 0 &&
             errno == EPERM;
    if (!scoped) FailAt("Landlock, scope: it does not hold", 0);
  }
  if (plan.user.switched && (syscall(SYS_setgroups, size_t{0}, nullptr) != 0 ||
                             syscall(SYS_setresgid, plan.user.gid,
                                     plan.user.gid, plan.user.gid) != 0 ||
                             syscall(SYS_setresuid, plan.user.uid,
                                     plan.user.uid, plan.user.uid) != 0))
    FailAt("the workspace's owner", errno);
  if (!DropCapabilities()) FailAt("the capabilities", errno);

  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, nullptr);
  const int wake = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  const pid_t self = getpid();
  int pidfd = -1;
  const pid_t command = wake < 0 ? -1 : sys::Clone(0, &pidfd);
  if (command == 0) Execute(context, self);
  if (command < 0) FailAt("a new process", errno);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  close(0);
  close(1);
  close(2);

  SupervisorReport report;
  pollfd fds[] = {{kControl, POLLIN, 0}, {wake, POLLIN, 0}};
  while (true) {
    int status = 0;
    const pid_t gone = waitpid(-1, &status, WNOHANG);
    if (gone == command) {
      EndAll(scoped);
      report.kind = SupervisorReport::kEnded;
      report.wait_status = status;
      Send(report);
      _exit(0);
    }
    if (gone > 0) continue;
    poll(fds, 2, -1);
    if (fds[1].revents & POLLIN) {
      signalfd_siginfo info;
      while (read(wake, &info, sizeof(info)) > 0) {
      }
    }
    if (fds[0].revents == 0) continue;
    unsigned char byte = 0;
    if (read(kControl, &byte, 1) != 1 || byte == kKillAll) {
      EndAll(scoped);
      _exit(0);
    }
    if (byte == kTerminateAll) {
      for (const int signal : {SIGTERM, SIGCONT})
        if (scoped)
          kill(-1, signal);
        else
          SignalChildren(signal);
      continue;
    }
    // It may not have made its group yet.
    const bool one = plan.terminal || IsNotice(byte) || kill(-command, 0) != 0;
    const pid_t target = one ? command : -command;
    kill(target, byte);
    if (IsEnding(byte)) kill(target, SIGCONT);
  }
}

}  // namespace gate::backends
