#include "backends/native/process_one.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <string>
#include <utility>

#include "backends/native/calls/calls.h"
#include "backends/process/sys.h"

namespace gate::backends {
namespace {

// Writes a map of the child in which `id` (or, for the whole range, every id)
// stays what it is. Only root needs this.
bool WriteMap(pid_t pid, const char* name, unsigned id, bool all) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const Fd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  const std::string map =
      all ? "0 0 4294967295"
          : std::to_string(id) + " " + std::to_string(id) + " 1";
  return fd && write(fd.get(), map.data(), map.size()) ==
                   static_cast<ssize_t>(map.size());
}

// What the caller may run on; false where there is nothing to choose from.
bool Processors(cpu_set_t* all) {
  return sched_getaffinity(0, sizeof(*all), all) == 0 && CPU_COUNT(all) > 1;
}

// Moves `pid` off this processor. A new process is often left on its parent's,
// and does not start there before the parent sleeps (8 of 10 on an idle virtual
// machine of two processors), although the two are to work side by side. Only
// a saving: when it fails nothing is lost but time.
void MoveAside(pid_t pid, cpu_set_t processors) {
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return;
  CPU_CLR(static_cast<size_t>(here), &processors);
  (void)sched_setaffinity(pid, sizeof(processors), &processors);
}

constexpr uint64_t kNew = CLONE_NEWUSER | CLONE_NEWPID;

}  // namespace

bool Beginning::StartsAs(const Beginning& other) const {
  return user.uid == other.user.uid && user.gid == other.user.gid &&
         user.switched == other.user.switched &&
         user.all_ids == other.user.all_ids &&
         new_network == other.new_network && session == other.session &&
         networks_dir == other.networks_dir && io.in == other.io.in &&
         io.out == other.io.out && io.err == other.io.err &&
         probe == other.probe;
}

Result<ProcessOne> ProcessOne::Start(const Beginning& beginning,
                                     const sigset_t& mask) {
  GATE_TRY(PlanSpace space, PlanSpace::Make());
  ProcessOne started(std::move(space), std::make_unique<Cgroup>(
                                           Cgroup::MakeHere(beginning.limits)));
  started.beginning_ = beginning;
  int report[2], control[2];
  // A pipe could not carry the descriptor of the filter's questions.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report) != 0)
    return FailErrno("cannot make a pair of sockets");
  started.report_ = Fd(report[0]);
  const Fd report_write(report[1]);
  if (pipe2(control, O_CLOEXEC) != 0) return FailErrno("cannot make a pipe");
  started.control_read_ = Fd(control[0]);
  started.control_ = Fd(control[1]);

  InitContext context;
  context.space = &started.space_;
  context.user = beginning.user;
  context.new_network = beginning.new_network;
  context.in = beginning.io.in;
  context.out = beginning.io.out;
  context.err = beginning.io.err;
  context.report = report_write.get();
  context.control = started.control_read_.get();
  context.gate = getpid();
  context.uid = geteuid();
  context.gid = getegid();
  context.mask = mask;
  context.probe = beginning.probe;
  if (getrlimit(RLIMIT_NOFILE, &context.open_files) != 0)
    return FailErrno("cannot read the limit of open files");
  context.confined = started.confined_ = Processors(&context.processors);
  if (beginning.new_network && !beginning.session.key.empty() &&
      started.StartJoined(&context))
    return started;
  int pidfd = -1;
  pid_t child = sys::Clone(kNew, &pidfd, started.group_->unified());
  if (child < 0 && started.group_->unified() >= 0) {
    // The group may not be entered from here, for a reason that does not show
    // in its modes. Process 1 counts instead.
    started.group_ = std::make_unique<Cgroup>();
    child = sys::Clone(kNew, &pidfd);
  }
  if (child == 0) RunInit(context);
  if (child < 0) return FailErrno("the kernel refuses new namespaces");
  if (context.confined) MoveAside(child, context.processors);
  started.pid_ = child;
  started.pidfd_ = Fd(pidfd);
  return started;
}

bool ProcessOne::StartJoined(InitContext* context) {
  Result<JoinedNetwork> network =
      JoinSessionNetwork(beginning_.networks_dir, beginning_.session.key,
                         beginning_.session.label, FindSessionSupervisor());
  if (!network) {
    not_joined_ = network.error().message;
    return false;
  }
  const auto init = [](const void* of) {
    RunInit(*static_cast<const InitContext*>(of));
  };
  context->joined = true;
  pid_t child = CloneBelow(*network, kNew, group_->unified(), init, context);
  if (child < 0 && group_->unified() >= 0) {
    group_ = std::make_unique<Cgroup>();
    child = CloneBelow(*network, kNew, -1, init, context);
  }
  context->joined = false;
  if (child < 0) {
    not_joined_ = FailErrno("the kernel refuses it").error().message;
    return false;
  }
  // It cannot be waited for by anybody else, so the number is still its own.
  pid_ = child;
  pidfd_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, child, 0u)));
  if (!pidfd_) {
    not_joined_ = FailErrno("the kernel tells nothing of it").error().message;
    kill(child, SIGKILL);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return false;
  }
  if (confined_) MoveAside(child, context->processors);
  session_ = std::move(network->held);
  return true;
}

ProcessOne::~ProcessOne() {
  if (!pidfd_) return;
  Kill();
  Wait();
}

bool ProcessOne::Become(const Beginning& wanted) {
  if (!beginning_.StartsAs(wanted)) return false;
  if (beginning_.limits == wanted.limits) return true;
  if (group_->Any()) return false;
  auto group = std::make_unique<Cgroup>(Cgroup::MakeHere(wanted.limits));
  if (group->unified() >= 0) return false;  // only entered by being born there
  group_ = std::move(group);
  beginning_.limits = wanted.limits;
  return true;
}

Status ProcessOne::SendDoors() {
  const Cgroup::EntryFiles entry_files = group_->entry_files();
  if (entry_files.count == 0) return {};
  plan()->entry_files = entry_files.count;
  if (SendDescriptors(report_.get(), entry_files.file, entry_files.count) != 0)
    return FailErrno("cannot hand the control groups over");
  return {};
}

void ProcessOne::CloneEarly(const Bind& bind) {
  // As another user process 1 opens paths twice, when it has the maps.
  const RunUser& user = beginning_.user;
  if (user.switched || user.all_ids ||
      !plan()->AddEarlyClone(bind.path, bind.device, bind.inode))
    return;
  if (plan()->early_count.load(std::memory_order_relaxed) %
          kEarlyClonesAtOnce ==
      0)
    Tell(kMoreClones);
}

Status ProcessOne::HandPlanOver() {
  const RunUser& user = beginning_.user;
  if (user.switched || user.all_ids) {
    if (!WriteMap(pid_, "uid_map", user.uid, user.all_ids) ||
        !WriteMap(pid_, "gid_map", user.gid, user.all_ids))
      return FailErrno("cannot map the workspace's owner");
  }
  if (const Status sent = SendDoors(); !sent) return sent;
  Tell(kPlanReady);
  return {};
}

void ProcessOne::GiveProcessor() const {
  if (!confined_ || plan()->begun.load(std::memory_order_relaxed)) return;
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return;
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(static_cast<size_t>(here), &processors);
  (void)sched_setaffinity(pid_, sizeof(processors), &processors);
}

void ProcessOne::Tell(unsigned char word) const {
  (void)!write(control_.get(), &word, 1);
}

void ProcessOne::LetGo() {
  space_.Free();
  report_.reset();
  control_.reset();
  control_read_.reset();
}

void ProcessOne::Kill() const { sys::PidfdSignal(pidfd_.get(), SIGKILL); }

void ProcessOne::Wait() {
  siginfo_t info = {};
  while (waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED) !=
             0 &&
         errno == EINTR) {
  }
  pidfd_.reset();
}

}  // namespace gate::backends
