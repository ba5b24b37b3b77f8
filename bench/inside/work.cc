// work KIND N …: does one kind of work and prints how long it took, in
// nanoseconds of the clock and of the processor (its own and its children's).
//
//   work run N ARGV…    starts a program N times, its output thrown away
//   work open N DIR     opens and closes files of DIR, f0 to f99, for reading
//   work write N DIR    opens the same for writing
//   work make N DIR     makes and deletes a file in DIR
//   work bare 0 ARGV…   runs ARGV where the kernel seems to have no Landlock:
//                       a filter answers its calls with "not implemented"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

extern char** environ;

namespace {

// The three calls of Landlock, the same on every architecture.
constexpr unsigned kFirst = 444, kLast = 446;

long long Clock() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

long long Processor() {
  long long sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage use = {};
    getrusage(who, &use);
    for (const timeval& time : {use.ru_utime, use.ru_stime})
      sum += time.tv_sec * 1000000000ll + time.tv_usec * 1000ll;
  }
  return sum;
}

int Bare(char** argv) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirst, 0, 2),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, kLast, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
    execvp(argv[0], argv);
  perror(argv[0]);
  return 1;
}

bool Run(char** argv) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  int status = 0;
  return posix_spawnp(&pid, argv[0], &actions, nullptr, argv, environ) == 0 &&
         waitpid(pid, &status, 0) == pid && status == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 64;
  const std::string kind = argv[1];
  const int times = atoi(argv[2]);
  if (kind == "bare") return Bare(argv + 3);
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i)
    names.push_back(std::string(argv[3]) + "/f" + std::to_string(i));
  const std::string made = std::string(argv[3]) + "/made";
  bool good = true;
  const long long clock = Clock(), processor = Processor();
  for (int i = 0; good && i < times; ++i) {
    if (kind == "run") {
      good = Run(argv + 3);
      continue;
    }
    const bool makes = kind == "make";
    const int fd = makes ? open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600)
                         : open(names[static_cast<size_t>(i) % 100].c_str(),
                                kind == "write" ? O_WRONLY : O_RDONLY);
    good = fd >= 0 && close(fd) == 0 && (!makes || unlink(made.c_str()) == 0);
  }
  if (!good) {
    perror(argv[3]);
    return 1;
  }
  printf("%lld %lld\n", Clock() - clock, Processor() - processor);
  return 0;
}
