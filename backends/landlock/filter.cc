#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>

#include "backends/landlock/supervisor.h"
#include "backends/native/calls/filter_writer.h"

namespace gate::backends {
namespace {

// Newer than the headers; the same on every architecture.
enum : uint32_t {
  kFchmodat2 = 452,
  kSetxattrat = 463,
  kRemovexattrat = 466,
  kFileSetattr = 469,
};

constexpr auto kMetadata = std::to_array<uint32_t>({
#ifdef SYS_chmod
    SYS_chmod,        SYS_chown,      SYS_lchown,      SYS_utime,
    SYS_utimes,       SYS_futimesat,
#endif
    SYS_fchmod,       SYS_fchmodat,   kFchmodat2,      SYS_fchown,
    SYS_fchownat,     SYS_utimensat,  SYS_setxattr,    SYS_lsetxattr,
    SYS_fsetxattr,    kSetxattrat,    SYS_removexattr, SYS_lremovexattr,
    SYS_fremovexattr, kRemovexattrat, kFileSetattr});

// Objects that a user's processes share by number or name, around every path.
constexpr auto kSharedObjects = std::to_array<uint32_t>(
    {SYS_shmget, SYS_msgget, SYS_semget, SYS_mq_open, SYS_mq_unlink});

struct Argument {
  uint32_t number;
  uint8_t index;
};
// Calls that act on the process whose number they are given; 0 is the caller.
constexpr auto kOnProcess =
    std::to_array<Argument>({{SYS_prlimit64, 0},
                             {SYS_sched_setaffinity, 0},
                             {SYS_sched_setscheduler, 0},
                             {SYS_sched_setparam, 0},
                             {SYS_sched_setattr, 0},
                             {SYS_setpriority, 1},
                             {SYS_ioprio_set, 1},
                             {SYS_migrate_pages, 0},
                             {SYS_move_pages, 0}});
// Calls with a mode, whose set-user-id and set-group-id bits are refused.
constexpr auto kModes = std::to_array<Argument>({
#ifdef SYS_chmod
    {SYS_chmod, 1},
#endif
    {SYS_fchmod, 1},
    {SYS_fchmodat, 2},
    {kFchmodat2, 2}});

}  // namespace

Filter MakeLandlockFilter(bool sockets, bool freeze) {
  FilterWriter w;
  const auto allow = w.Verdict(kAllow), refuse = w.Verdict(Errno(EPERM));
  const auto no_family = w.Verdict(Errno(EAFNOSUPPORT));
  const auto socket = w.NewLabel();
  // What looks at each argument.
  std::array<FilterWriter::Label, 2> process = {};
  std::array<FilterWriter::Label, 3> modes = {};
  for (auto& label : process) label = w.NewLabel();
  for (auto& label : modes) label = w.NewLabel();
  w.LoadNumber();
  w.OnCall(SYS_socket, sockets ? socket : no_family);
  for (const uint32_t number : kSharedObjects)
    w.OnCall(number, w.Verdict(Errno(ENOSYS)));
  for (const Argument& call : kOnProcess)
    w.OnCall(call.number, process[call.index]);
  for (const Argument& call : kModes)
    w.OnCall(call.number, freeze ? refuse : modes[call.index]);
  if (freeze)
    for (const uint32_t number : kMetadata) w.OnCall(number, refuse);
  w.Dispatch(allow);
  w.Place(socket);
  w.LoadArgument(0);
  w.IfEqual(AF_UNIX, no_family, allow);
  for (size_t n = 0; n < process.size(); ++n) {
    w.Place(process[n]);
    w.LoadArgument(n);
    w.IfEqual(0, allow, refuse);
  }
  for (size_t n = 0; n < modes.size(); ++n) {
    w.Place(modes[n]);
    w.LoadArgument(n);
    w.IfAny(S_ISUID | S_ISGID, refuse, allow);
  }
  return w.Finish();
}

}  // namespace gate::backends
