// The system call filter as the kernel would run it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <initializer_list>

#include "backends/native/calls/filter_writer.h"
#include "backends/native/calls/seccomp.h"

namespace gate::backends {
namespace {

#ifdef __x86_64__
constexpr uint32_t kHere = AUDIT_ARCH_X86_64, kOther = AUDIT_ARCH_I386;
#else
constexpr uint32_t kHere = AUDIT_ARCH_AARCH64, kOther = AUDIT_ARCH_ARM;
#endif
constexpr uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;
constexpr int kSetUid = 04755;

struct Verdict {
  uint32_t value = 0;
  int steps = 0;
};

// The instructions that the filter is made of; any other fails the test.
Verdict Judge(const Filter& filter, const seccomp_data& data) {
  Verdict verdict;
  uint32_t value = 0;
  for (unsigned at = 0; at < filter.size; ++at) {
    const sock_filter& step = filter.code[at];
    ++verdict.steps;
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        memcpy(&value, reinterpret_cast<const char*>(&data) + step.k,
               sizeof(value));
        break;
      case BPF_JMP | BPF_JA:
        at += step.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += value == step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += value >= step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        at += (value & step.k) != 0 ? step.jt : step.jf;
        break;
      case BPF_RET | BPF_K:
        verdict.value = step.k;
        return verdict;
      default:
        ADD_FAILURE() << "an unknown instruction: " << step.code;
        return verdict;
    }
  }
  ADD_FAILURE() << "no verdict";
  return verdict;
}

seccomp_data Call(int number, std::initializer_list<uint64_t> arguments) {
  seccomp_data data = {};
  data.arch = kHere;
  data.nr = number;
  size_t n = 0;
  for (const uint64_t argument : arguments) data.args[n++] = argument;
  return data;
}

seccomp_data Open(int flags, int mode = 0) {
  return Call(SYS_openat, {0, 0, static_cast<uint64_t>(flags),
                           static_cast<uint64_t>(mode)});
}

TEST(Filter, LetsFilesBeOpenedAfterAFewSteps) {
  for (const FilterAsks asks : {FilterAsks{}, FilterAsks{true, true}}) {
    const Filter filter = MakeFilter(asks);
    for (const int flags :
         {O_RDONLY, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, O_PATH | O_DIRECTORY}) {
      const Verdict verdict = Judge(filter, Open(flags, kSetUid));
      EXPECT_EQ(verdict.value, SECCOMP_RET_ALLOW) << flags;
      EXPECT_LE(verdict.steps, 8) << flags;
    }
  }
}

TEST(Filter, LooksAtTheModeOfEveryFileThatAnOpenMakes) {
  for (const FilterAsks asks : {FilterAsks{}, FilterAsks{true, true}}) {
    const Filter filter = MakeFilter(asks);
    for (const int flags : {O_CREAT, O_CREAT | O_WRONLY, O_CREAT | O_RDWR,
                            O_TMPFILE | O_RDWR, O_TMPFILE | O_WRONLY})
      EXPECT_EQ(Judge(filter, Open(flags, kSetUid)).value, kRefused) << flags;
  }
  const Filter filter = MakeFilter();
  for (const int flags : {O_WRONLY, O_RDWR, O_CREAT | O_WRONLY, O_TMPFILE})
    EXPECT_EQ(Judge(filter, Open(flags, 0755)).value, SECCOMP_RET_ALLOW);
}

TEST(Filter, AsksAboutEveryOpenForWriting) {
  const Filter filter = MakeFilter({false, true});
  for (const int flags : {O_WRONLY, O_RDWR, O_CREAT, O_TRUNC,
                          O_CREAT | O_EXCL | O_RDWR, O_TMPFILE | O_RDWR})
    EXPECT_EQ(Judge(filter, Open(flags)).value, SECCOMP_RET_USER_NOTIF)
        << flags;
}

TEST(Filter, LeavesPairsThatReachNobodyElse) {
  const Filter all = MakeFilter();
  const Filter filter = MakeFilter({}, {.local = LocalSockets::kPairsOnly});
  const uint32_t refused = SECCOMP_RET_ERRNO | EAFNOSUPPORT;
  const auto judge = [&](int call, int family, int type) {
    EXPECT_EQ(Judge(all, Call(call, {static_cast<uint64_t>(family),
                                     static_cast<uint64_t>(type)}))
                  .value,
              SECCOMP_RET_ALLOW);
    return Judge(filter, Call(call, {static_cast<uint64_t>(family),
                                     static_cast<uint64_t>(type)}))
        .value;
  };
  for (const int flags : {0, SOCK_CLOEXEC | SOCK_NONBLOCK}) {
    for (const int type : {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM}) {
      EXPECT_EQ(judge(SYS_socket, AF_UNIX, type | flags), refused);
      EXPECT_EQ(judge(SYS_socket, AF_INET, type | flags), SECCOMP_RET_ALLOW);
    }
    for (const int type : {SOCK_STREAM, SOCK_SEQPACKET})
      EXPECT_EQ(judge(SYS_socketpair, AF_UNIX, type | flags),
                SECCOMP_RET_ALLOW);
    for (const int type : {SOCK_DGRAM, SOCK_RAW})
      EXPECT_EQ(judge(SYS_socketpair, AF_UNIX, type | flags), refused);
  }
}

// By these a program is told from the next one while starts are watched.
TEST(Filter, LeavesThePlacesOfAProgramToTheKernel) {
  const Filter filter = MakeFilter({true, false});
  EXPECT_EQ(Judge(filter, Call(SYS_prctl, {PR_SET_MM})).value, kRefused);
  EXPECT_EQ(
      Judge(filter, Call(SYS_prctl, {PR_SET_MM | uint64_t{1} << 32})).value,
      kRefused);
  EXPECT_EQ(Judge(filter, Call(SYS_prctl, {PR_SET_NAME})).value,
            SECCOMP_RET_ALLOW);
  EXPECT_EQ(Judge(MakeFilter(), Call(SYS_prctl, {PR_SET_MM})).value,
            SECCOMP_RET_ALLOW);
}

TEST(Filter, NothingTakesRoomUncountedWhereWritesAreCounted) {
  constexpr uint32_t kUnsupported = SECCOMP_RET_ERRNO | EOPNOTSUPP;
  for (const FilterAsks asks : {FilterAsks{}, FilterAsks{true, true, true}}) {
    const Filter filter = MakeFilter(asks, {.taking_room = true}),
                 plain = MakeFilter(asks);
    for (const uint64_t mode : {0u, 1u, 0x10u, 0x11u, 0x20u, 0x40u}) {
      const seccomp_data call = Call(SYS_fallocate, {3, mode, 0, 1 << 30});
      EXPECT_EQ(Judge(filter, call).value, kUnsupported) << mode;
      EXPECT_EQ(Judge(plain, call).value, SECCOMP_RET_ALLOW) << mode;
    }
    // Making holes gives room back.
    EXPECT_EQ(Judge(filter, Call(SYS_fallocate, {3, 3, 0, 1 << 30})).value,
              SECCOMP_RET_ALLOW);
    for (const uint64_t request : kTakesRoom) {
      const seccomp_data call =
          Call(SYS_ioctl, {3, request | uint64_t{7} << 32, 0});
      EXPECT_EQ(Judge(filter, call).value, kUnsupported) << request;
      EXPECT_EQ(Judge(plain, call).value, SECCOMP_RET_ALLOW) << request;
    }
    EXPECT_EQ(Judge(filter, Call(SYS_ioctl, {3, 0x5413, 0})).value,
              SECCOMP_RET_ALLOW);
    EXPECT_EQ(Judge(filter, Call(SYS_ioctl, {3, 0x5412, 0})).value, kRefused);
  }
}

TEST(Filter, KnowsItsArchitectureFirst) {
  const Filter filter = MakeFilter();
  seccomp_data foreign = Open(O_RDONLY);
  foreign.arch = kOther;
  EXPECT_EQ(Judge(filter, foreign).value, SECCOMP_RET_KILL_PROCESS);
#ifdef __x86_64__
  seccomp_data x32 = Open(O_RDONLY);
  x32.nr |= 0x40000000;
  EXPECT_EQ(Judge(filter, x32).value, kRefused);
#endif
}

TEST(Filter, RefusesWhatItsListNames) {
  const Filter filter = MakeFilter();
  for (const int number : {SYS_ptrace, SYS_mount, SYS_setns, SYS_bpf,
                           SYS_io_uring_setup, SYS_open_by_handle_at})
    EXPECT_EQ(Judge(filter, Call(number, {})).value, kRefused) << number;
  for (const int number : {SYS_read, SYS_write, SYS_close, SYS_mmap})
    EXPECT_EQ(Judge(filter, Call(number, {})).value, SECCOMP_RET_ALLOW);
}

TEST(Filter, LeavesTracingWhereItIsGiven) {
  const Filter filter = MakeFilter({}, {.tracing = false});
  for (const int number :
       {SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev})
    EXPECT_EQ(Judge(filter, Call(number, {})).value, SECCOMP_RET_ALLOW);
  EXPECT_EQ(Judge(filter, Call(SYS_pidfd_getfd, {})).value, kRefused);
}

// Installing it costs the kernel these steps for every number there is.
TEST(Filter, FindsEveryNumberInAFewSteps) {
  for (const FilterAsks asks :
       {FilterAsks{}, FilterAsks{true, true}, FilterAsks{true, true, true}}) {
    const Filter filter = MakeFilter(asks);
    for (int number = 0; number < 700; ++number)
      EXPECT_LE(Judge(filter, Call(number, {})).steps, 20) << number;
  }
}

TEST(FilterWriter, SendsEachNumberWhereItIsToGo) {
  FilterWriter writer;
  const auto refuse = writer.Verdict(kRefused);
  const auto allow = writer.Verdict(kAllow);
  const auto look = writer.NewLabel();
  writer.LoadNumber();
  writer.OnCallsFrom(500, refuse);
  for (const uint32_t number : {0u, 7u, 8u, 9u, 11u, 499u, 600u})
    writer.OnCall(number, refuse);
  writer.OnCall(7, look);  // the first entry counts
  writer.OnCall(10, look);
  writer.Dispatch(allow);
  writer.Place(look);
  writer.LoadArgument(0);
  writer.IfEqual(1, allow, refuse);
  const Filter filter = writer.Finish();
  for (int number = 0; number < 1000; ++number) {
    const bool refused = number == 0 || (number >= 7 && number <= 9) ||
                         number == 11 || number >= 499;
    EXPECT_EQ(Judge(filter, Call(number, {1})).value,
              refused ? kRefused : kAllow)
        << number;
    EXPECT_EQ(Judge(filter, Call(number, {2})).value,
              refused || number == 10 ? kRefused : kAllow)
        << number;
  }
}

TEST(FilterWriter, RefusesEverythingWhenItIsTooLarge) {
  FilterWriter far;  // a jump over more than it can
  const auto allow = far.Verdict(kAllow), refuse = far.Verdict(kRefused);
  far.LoadNumber();
  far.IfEqual(1, refuse, FilterWriter::kNext);
  for (int i = 0; i < 300; ++i) far.IfEqual(2, allow, FilterWriter::kNext);
  far.IfEqual(2, allow, allow);
  FilterWriter lost;  // a jump to nowhere
  lost.LoadNumber();
  lost.IfEqual(1, lost.NewLabel(), lost.Verdict(kAllow));
  FilterWriter many;  // more numbers than there is room for
  for (uint32_t i = 0; i < 400; ++i) many.OnCall(2 * i, many.Verdict(kAllow));
  many.LoadNumber();
  many.Dispatch(many.Verdict(kAllow));
  for (FilterWriter* writer : {&far, &lost, &many}) {
    const Filter filter = writer->Finish();
    for (const int number : {0, 1, 2, 3})
      EXPECT_EQ(Judge(filter, Call(number, {})).value,
                SECCOMP_RET_KILL_PROCESS);
  }
}

TEST(MakeFilter, FitsAndEndsInAVerdict) {
  const Filter filter = MakeFilter();
  ASSERT_GT(filter.size, 100);
  ASSERT_LT(filter.size, kMaxFilter);
  EXPECT_EQ(filter.code[filter.size - 1u].code, BPF_RET | BPF_K);
  for (unsigned i = 0; i < filter.size; ++i) {
    const sock_filter& at = filter.code[i];
    if ((at.code & 7) != BPF_JMP) continue;
    EXPECT_LT(i + 1 + at.jt, filter.size);
    EXPECT_LT(i + 1 + at.jf, filter.size);
  }
}

}  // namespace
}  // namespace gate::backends
