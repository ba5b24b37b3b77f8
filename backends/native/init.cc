// Async-signal-safe throughout: the parent may have threads, so nothing is
// allocated and no lock is taken between clone3 and exec.
//
// Process 1 of a pid namespace gets no signal from inside that it has no
// handler for, and it installs none: the command cannot end it. gate speaks to
// it through a pipe.
#include "backends/native/init.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "backends/native/calls/calls.h"
#include "backends/native/network.h"
#include "backends/native/overlay.h"
#include "backends/process/program_search.h"
#include "backends/process/supervise.h"
#include "backends/process/sys.h"
#include "base/clock.h"

// The linker's, around the program's text (ld's default scripts).
extern "C" const char __executable_start[], etext[];

namespace gate::backends {
namespace {

constexpr int kReport = 3;
constexpr int kControl = 4;

[[noreturn]] void SendReport(const InitReport& report) {
  (void)!write(kReport, &report, sizeof(report));
  _exit(0);
}

[[noreturn]] void FinishSetup(const SetupError& error) {
  InitReport report;
  report.kind = InitReport::kSetupFailed;
  report.setup = error;
  SendReport(report);
}

// Runs in the child of vfork: shares the memory of process 1, which waits.
[[noreturn]] void Execute(const InitContext& context, volatile int* error,
                          volatile int* limit_error) {
  const NativePlan& plan = *context.space->plan();
  if (!plan.terminal) setsid();
  setrlimit(RLIMIT_NOFILE, &context.open_files);
  for (const Limit& limit : plan.limits) {
    if (ApplyLimit(limit) != 0) {
      *limit_error = errno;
      _exit(127);
    }
  }
  *error = ExecuteFirst(plan.programs, plan.argv.data(), plan.envp.data(),
                        context.mask);
  _exit(127);
}

// `outside`: the number of gate's network.
uint32_t TryWalls(uint64_t outside) {
  uint32_t works = 0;
  const int fd =
      open("/.gate-probe", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && (errno == EROFS || errno == EACCES)) works |= kWorksReadOnly;
  if (fd >= 0) unlink("/.gate-probe");
  if (getpid() == 1) works |= kWorksProcessOne;
  if (syscall(SYS_umount2, "/proc", 0) != 0 && errno == EPERM &&
      prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
    works |= kWorksFilter;
  const int tmp =
      open("/tmp/.gate-probe", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (tmp >= 0) works |= kWorksTmp;
  const int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in self = {};
  self.sin_family = AF_INET;
  self.sin_port = htons(9);
  self.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const uint64_t own = NetworkNumber();
  // Nobody listens; where the device is down there is no route.
  if (outside != 0 && own != 0 && own != outside && tcp >= 0 &&
      connect(tcp, reinterpret_cast<sockaddr*>(&self), sizeof(self)) != 0 &&
      errno == ECONNREFUSED)
    works |= kWorksOwnNetwork;
  return works;
}

// The next word of gate's; gate's end ends this.
unsigned char NextWord() {
  unsigned char got = 0;
  ssize_t size = 0;
  do {
    size = read(kControl, &got, 1);
  } while (size < 0 && errno == EINTR);
  if (size != 1) _exit(0);
  return got;
}

// Waits for `word`; anything else ends this.
void Await(unsigned char word) {
  if (NextWord() != word) _exit(0);
}

void AwaitPlan(NativePlan* plan) {
  uint32_t cloned = 0;
  unsigned char word = NextWord();
  for (; word == kMoreClones; word = NextWord()) CloneEarly(plan, &cloned);
  if (word != kPlanReady) _exit(0);
}

constexpr int kMaxEnded = 4096;

// Whether something in the group of the command is left. Daemons leave it.
bool IsThere(pid_t group) { return group > 0 && kill(-group, 0) == 0; }

// A port that it listens on, in a network that nobody else is in.
uint16_t PortOfGroup(pid_t group) {
  ListeningPorts ports;
  if (IsThere(group)) ports.Find();
  return ports.Gone(/*shared=*/false);
}

// Ends whatever the command left running, and waits until it is gone. Says in
// `report` how many processes died of it, and not of themselves. `group`: of
// the command, where what it listens on is to be told; else 0. `shared`: others
// may listen in this network, and do so afterwards as well.
void EndOthers(pid_t group, bool shared, InitReport* report) {
  // What ended before was not left running. What starts more and more is not
  // waited for.
  pid_t ended = 1;
  for (int i = 0; i < kMaxEnded && ended > 0; ++i)
    ended = waitpid(-1, nullptr, WNOHANG | __WALL);
  if (ended < 0 && errno == ECHILD) return;
  ListeningPorts ports;
  bool certain = true;
  if (IsThere(group)) ports.Find();
  kill(-1, SIGKILL);  // everybody but this process
  pid_t gone = 0;
  int status = 0;
  while ((gone = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
    if (gone <= 0) continue;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
      ++report->left;
    else
      certain = false;  // it may have been that one
  }
  if (certain && group > 0) report->listening = ports.Gone(shared);
}

// The end of a pipeline, a helper that has just been told to end: what is gone
// by then was not left.
constexpr int kStragglersMs = 10;

// Whether something goes on now that the command has ended. `wake`: of
// children.
bool OthersGoOn(int wake) {
  const uint64_t end = MonotonicMs() + kStragglersMs;
  while (true) {
    pid_t ended = 1;
    for (int i = 0; i < kMaxEnded && ended > 0; ++i)
      ended = waitpid(-1, nullptr, WNOHANG | __WALL);
    if (ended < 0 && errno == ECHILD) return false;
    const uint64_t now = MonotonicMs();
    if (now >= end) return true;
    pollfd child = {wake, POLLIN, 0};
    poll(&child, 1, static_cast<int>(end - now));
    signalfd_siginfo info;
    while (read(wake, &info, sizeof(info)) > 0) {
    }
  }
}

// Only a process that moves itself does so at once: moving another one waits
// for every processor (cgroup_procs_write_start() in kernel/cgroup/cgroup.c).
bool EnterGroups(int count) {
  if (count == 0) return true;
  int entry_files[kMaxDescriptors];
  if (ReceiveDescriptors(kReport, entry_files, count) != 0) return false;
  bool entered = true;
  for (int i = 0; i < count; ++i) {
    entered = entered && write(entry_files[i], "0", 1) == 1;
    const int error = errno;
    close(entry_files[i]);
    errno = error;
  }
  return entered;
}

// What gate may run on, and the command, now that gate does not move this
// process any more.
void TakeProcessors(const InitContext& context) {
  if (!context.confined || sched_setaffinity(0, sizeof(context.processors),
                                             &context.processors) == 0)
    return;
  SetupError error;
  error.error = errno;
  error.stage = Stage::kProcessors;
  FinishSetup(error);
}

// Unmaps the program's text now, while there is time: of what ends a process of
// gate's size that is a third. What of it is run again comes back.
void LeaveText() {
  const auto begin = reinterpret_cast<uintptr_t>(__executable_start);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t end = reinterpret_cast<uintptr_t>(etext) / page * page;
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

// Sends `signal` to the command as its terminal or caller would; to all that is
// left where the command has ended (-1).
void Forward(pid_t command, bool terminal, int signal) {
  if (command < 0) {
    if (!IsEnding(signal)) return;
    kill(-1, signal);
    kill(-1, SIGCONT);
    return;
  }
  const pid_t target = terminal || IsNotice(signal) ? command : -command;
  kill(target, signal);
  if (IsEnding(signal)) kill(target, SIGCONT);
}

}  // namespace

void RunInit(const InitContext& context) {
  SetupError error;
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (!sys::ArrangeDescriptors({context.in, context.out, context.err,
                                context.report, context.control})) {
    error.error = errno;
    error.stage = Stage::kStreams;
    InitReport report;
    report.kind = InitReport::kSetupFailed;
    report.setup = error;
    (void)!write(context.report, &report, sizeof(report));
    _exit(0);
  }
  if (!MakeNamespaces(&error)) FinishSetup(error);
  NetworkMaker network;
  const uint64_t outside = context.probe ? NetworkNumber() : 0;
  const auto no_network = [](Stage stage, int number) {
    SetupError failed;
    failed.stage = stage;
    failed.error = number;
    FinishSetup(failed);
  };
  // On one processor there would be nothing to gain.
  if (context.new_network && !context.joined &&
      !network.Begin(context.confined, no_network, &error))
    FinishSetup(error);
  NumberProcessesFrom(context.gate);  // unique as long as gate lives
  const bool mapped_by_gate = context.user.switched || context.user.all_ids;
  if (!mapped_by_gate && !MapSelf(context.uid, context.gid, &error))
    FinishSetup(error);
  if (!DropBounds(context.user.all_ids, &error)) FinishSetup(error);
  const Early early = mapped_by_gate ? Early() : MakeEarly();
  // A descriptor for each protected path, until it is mounted.
  rlimit files = context.open_files;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  ApplyLimit(kNoCoreDump);  // now: the filter lets nobody set it later
  NativePlan* plan = context.space->plan();
  AwaitPlan(plan);
  plan->begun.store(true, std::memory_order_relaxed);
  if (!EnterGroups(plan->entry_files)) {
    error.error = errno;
    error.stage = Stage::kCgroup;
    FinishSetup(error);
  }
  // While this process is root or dumpable; later the file is root's.
  const int own_io = plan->tree_limits.written_bytes == 0
                         ? -1
                         : open("/proc/self/io", O_RDONLY | O_CLOEXEC);
  if (mapped_by_gate && !BecomeUser(plan, &error)) FinishSetup(error);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // a new identity clears it
  if (!BuildView(plan, early, &error)) FinishSetup(error);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_NAME, "gate-init", 0, 0, 0);

  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, nullptr);
  const int wake = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);

  const bool overlay = context.probe && TryOverlay();
  int listener = -1;
  if (!RaiseWalls(*plan, &network, kReport, &listener, &error))
    FinishSetup(error);
  if (listener >= 0) {
    // Whoever holds it could answer for gate: only gate does.
    if (SendListener(kReport, listener) != 0) {
      error.error = errno;
      error.stage = Stage::kSeccomp;
      FinishSetup(error);
    }
    close(listener);
  }

  InitReport report;
  if (context.probe) {
    report.kind = InitReport::kProbed;
    report.works = TryWalls(outside) | (overlay ? uint32_t{kWorksOverlay} : 0u);
    SendReport(report);
  }

  TreeAccount account(plan->tree_limits);
  if (account.Open(own_io) != 0) {
    error.error = errno;
    error.stage = Stage::kLimits;
    FinishSetup(error);
  }

  // Of lines before this one.
  const uint64_t tried_before = context.joined ? TriesToLeave() : 0;
  Await(kMayStart);
  TakeProcessors(context);
  volatile int exec_error = 0, limit_error = 0;
  pid_t command = vfork();
  if (command == 0) Execute(context, &exec_error, &limit_error);
  if (command < 0 || wake < 0 || limit_error != 0) {
    error.error = limit_error != 0 ? limit_error : errno;
    error.stage = limit_error != 0 ? Stage::kLimits : Stage::kFork;
    FinishSetup(error);
  }
  if (exec_error != 0) {
    report.kind = InitReport::kNotExecuted;
    report.error = exec_error;
    EndOthers(0, context.joined, &report);
    report.alone = true;
    SendReport(report);
  }
  // Whoever reads the command's output must see its end when it ends.
  close(0);
  close(1);
  close(2);
  const bool terminal = plan->terminal, lasts = plan->lasts;
  context.space->Leave();
  LeaveText();

  const auto at_limit = [&](TreeLimit limit) {
    report.kind = InitReport::kLimit;
    report.limit = limit;
    SendReport(report);
  };
  uint64_t sampled = MonotonicMs();
  pollfd fds[] = {{kControl, POLLIN, 0}, {wake, POLLIN, 0}};
  while (true) {
    int status = 0;
    const pid_t gone = waitpid(-1, &status, WNOHANG | (lasts ? __WALL : 0));
    if (gone < 0 && command < 0 && errno == ECHILD) {
      report.kind = InitReport::kEnded;
      report.alone = true;
      SendReport(report);
    }
    if (gone == command && command > 0) {
      // It may have been faster than the samples.
      if (account.Wait() >= 0 && account.Check() == TreeLimit::kWritten)
        at_limit(TreeLimit::kWritten);
      const pid_t group = context.new_network && !terminal ? command : 0;
      report.stays = lasts && OthersGoOn(wake);
      if (report.stays)
        report.listening = context.joined ? 0 : PortOfGroup(group);
      else
        EndOthers(group, context.joined, &report);
      report.kind = InitReport::kEnded;
      if (context.new_network && status != 0)
        report.tried_to_leave = TriedToLeave(tried_before);
      report.wait_status = status;
      report.alone = !report.stays;
      if (!report.stays) SendReport(report);
      // gate ends, and another process of its keeps this one.
      prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
      (void)!write(kReport, &report, sizeof(report));
      report = InitReport();
      command = -1;
      continue;
    }
    if (gone > 0) continue;
    poll(fds, 2, account.Wait());
    if (account.Wait() >= 0) {
      const uint64_t now = MonotonicMs();
      if (now - sampled >= static_cast<uint64_t>(account.Wait())) {
        const TreeLimit limit = account.Check();
        if (limit != TreeLimit::kNone) at_limit(limit);
        sampled = now;
      }
    }
    if (fds[1].revents & POLLIN) {
      signalfd_siginfo info;
      while (read(wake, &info, sizeof(info)) > 0) {
      }
    }
    if (fds[0].revents != 0) {
      unsigned char signal = 0;
      if (read(kControl, &signal, 1) != 1) _exit(0);  // gate is gone
      if (signal == kExpired) {
        kill(-1, SIGTERM);  // everybody but this process
        kill(-1, SIGCONT);
      } else {
        Forward(command, terminal, signal);
      }
    }
  }
}

}  // namespace gate::backends
