#include "backends/process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/landlock.h"
#include "backends/process/program_search.h"
#include "backends/process/sys.h"

namespace gate::backends {
namespace {

struct Prepared {
  std::vector<std::string> programs;
  std::vector<const char*> candidates;
  std::vector<char*> argv, envp;
};

Prepared Prepare(const SpawnRequest& request) {
  Prepared prepared;
  for (const std::string& entry : request.environment)
    prepared.envp.push_back(const_cast<char*>(entry.c_str()));
  prepared.envp.push_back(nullptr);
  for (const std::string& word : request.argv)
    prepared.argv.push_back(const_cast<char*>(word.c_str()));
  prepared.argv.push_back(nullptr);
  prepared.programs = ProgramCandidates(request.argv[0], request.environment);
  for (const std::string& path : prepared.programs)
    prepared.candidates.push_back(path.c_str());
  return prepared;
}

struct Trouble {
  SpawnStage stage;
  int error;
};

[[noreturn]] void Report(int fd, SpawnStage stage, int error) {
  const Trouble trouble = {stage, error};
  (void)!write(fd, &trouble, sizeof(trouble));
  _exit(127);
}

[[noreturn]] void Child(const SpawnRequest& request, const Prepared& prepared,
                        int report) {
  if (request.die_with_parent || request.supervisor)
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (request.own_session) setsid();
  if (request.own_group && !request.own_session) setpgid(0, 0);
  const int from[] = {request.io.in, request.io.out, request.io.err};
  int high[3];
  for (int i = 0; i < 3; ++i) high[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 3);
  for (int i = 0; i < 3; ++i) dup2(high[i], i);
  // Everything but the streams closes at exec, then what stays is opened up.
  syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
  for (const int fd : request.keep) fcntl(fd, F_SETFD, 0);
  if (request.switch_user &&
      // Not the C library's functions, which speak to all threads.
      (syscall(SYS_setgroups, size_t{0}, nullptr) != 0 ||
       syscall(SYS_setresgid, request.gid, request.gid, request.gid) != 0 ||
       syscall(SYS_setresuid, request.uid, request.uid, request.uid) != 0))
    Report(report, SpawnStage::kUser, errno);
  if (request.die_with_parent || request.supervisor)
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (!request.cwd.empty() && chdir(request.cwd.c_str()) != 0)
    Report(report, SpawnStage::kDirectory, errno);
  if (request.directory.inode != 0 && IdOf(".") != request.directory)
    Report(report, SpawnStage::kDirectory, ESTALE);
  for (const Limit& limit : request.limits)
    if (ApplyLimit(limit) != 0) Report(report, SpawnStage::kLimits, errno);
  if (request.scope) {
    const int abi = LandlockAbi();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        (abi > 0 && RestrictScope(abi) != 0))
      Report(report, SpawnStage::kWalls, errno);
  }
  Report(report, SpawnStage::kExec,
         ExecuteFirst(prepared.candidates, prepared.argv.data(),
                      prepared.envp.data(), request.mask));
}

// SIGKILL to every child of this process.
void KillChildren() {
  const int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  char text[4096];
  const ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text));
  if (fd >= 0) close(fd);
  pid_t pid = 0;
  for (ssize_t i = 0; i < got; ++i) {
    if (text[i] >= '0' && text[i] <= '9') {
      pid = pid * 10 + (text[i] - '0');
    } else {
      if (pid > 0) kill(pid, SIGKILL);
      pid = 0;
    }
  }
}

// Between gate and the program. The program may die before what it cloned has
// asked to die with it; that comes to the supervisor then. Async-signal-safe.
[[noreturn]] void Keeper(const SpawnRequest& request, const Prepared& prepared,
                         int report, pid_t gate) {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGUSR1);
  sigprocmask(SIG_BLOCK, &awaited, nullptr);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0);
  if (getppid() != gate) _exit(127);
  int unused = -1;
  const pid_t program = sys::Clone(0, &unused);
  if (program == 0) Child(request, prepared, report);
  if (program < 0) Report(report, SpawnStage::kFork, errno);
  syscall(SYS_close_range, 0u, ~0u, 0u);
  sigset_t terminate;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  sigprocmask(SIG_UNBLOCK, &terminate, nullptr);
  bool alone = false;
  int status = 0, seen = 0;
  while (true) {
    const pid_t ended = waitpid(-1, &seen, alone ? 0 : WNOHANG);
    if (ended == program) status = seen;
    if (ended > 0) {
      // What is left when the program has ended is nobody's.
      alone = alone || ended == program;
      if (alone) KillChildren();
      continue;
    }
    if (ended < 0 && errno == ECHILD) break;
    if (alone || ended < 0) continue;
    alone = sigwaitinfo(&awaited, nullptr) == SIGUSR1;
    if (alone) KillChildren();
  }
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  // No core dump of this one: neither a file nor to a program (limits.cc).
  const rlimit no_core = {1, 1};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(WTERMSIG(status), SIG_DFL);
  sigset_t last;
  sigemptyset(&last);
  sigaddset(&last, WTERMSIG(status));
  sigprocmask(SIG_UNBLOCK, &last, nullptr);
  kill(getpid(), WTERMSIG(status));
  _exit(128 + WTERMSIG(status));
}

}  // namespace

Spawned Spawn(const SpawnRequest& request) {
  Spawned spawned;
  int report[2];
  if (request.argv.empty() || pipe2(report, O_CLOEXEC) != 0) {
    spawned.error = request.argv.empty() ? EINVAL : errno;
    spawned.stage = SpawnStage::kFork;
    return spawned;
  }
  const Fd read_end(report[0]);
  Fd write_end(report[1]);
  const Prepared prepared = Prepare(request);
  int pidfd = -1;
  const pid_t gate = getpid();
  spawned.pid = sys::Clone(0, &pidfd);
  if (spawned.pid == 0) {
    if (request.supervisor) Keeper(request, prepared, report[1], gate);
    Child(request, prepared, report[1]);
  }
  if (spawned.pid < 0) {
    spawned.error = errno;
    spawned.stage = SpawnStage::kFork;
    return spawned;
  }
  spawned.pidfd = Fd(pidfd);
  write_end.reset();
  Trouble trouble = {};
  ssize_t got = 0;
  do {
    got = read(read_end.get(), &trouble, sizeof(trouble));
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof(trouble))) {
    spawned.error = trouble.error;
    spawned.stage = trouble.stage;
    int status = 0;
    while (waitpid(spawned.pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  return spawned;
}

}  // namespace gate::backends
