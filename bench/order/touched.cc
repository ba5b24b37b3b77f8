// touched OUT PROGRAM ARGV…: runs PROGRAM step by step, its children too until
// they start another program, and adds the addresses it executes to the file
// OUT, each once, in the order of the first time, counted from where the
// program is loaded.
//
// Any tool that sees each instruction would do; valgrind cannot make the
// sandbox's namespaces. A step costs two changes between processes, so a start
// of gate takes some minutes.
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unordered_set>

namespace {

struct Range {
  uintptr_t begin = 0, end = 0;
};

Range LoadedAt(pid_t pid, const char* program) {
  char real[PATH_MAX] = {};
  if (realpath(program, real) == nullptr) return {};
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  Range range;
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with(real)) continue;
    char* rest = nullptr;
    const uintptr_t begin = std::strtoull(line.c_str(), &rest, 16);
    if (range.begin == 0) range.begin = begin;
    range.end = std::strtoull(rest + 1, nullptr, 16);
  }
  return range;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: touched OUT PROGRAM ARGV…\n", stderr);
    return 64;
  }
  const pid_t first = fork();
  if (first == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execv(argv[2], argv + 2);
    _exit(127);
  }
  int status = 0;
  if (waitpid(first, &status, 0) != first || !WIFSTOPPED(status)) return 1;
  ptrace(PTRACE_SETOPTIONS, first, 0,
         PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
             PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
  const Range range = LoadedAt(first, argv[2]);
  std::ofstream out(argv[1], std::ios::app);
  std::unordered_set<uintptr_t> seen;
  ptrace(PTRACE_SINGLESTEP, first, 0, 0);
  int exit_code = 1;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status)) {
      if (pid == first) exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
      continue;
    }
    int signal = WSTOPSIG(status);
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
      ptrace(PTRACE_DETACH, pid, 0, 0);
      continue;
    }
    // SIGALRM: a hook's limit of time is not meant for this.
    if (signal == SIGTRAP || signal == SIGSTOP || signal == SIGALRM) signal = 0;
    user_regs_struct registers = {};
    if (ptrace(PTRACE_GETREGS, pid, 0, &registers) == 0) {
      const uintptr_t at = registers.rip;
      if (at >= range.begin && at < range.end &&
          seen.insert(at - range.begin).second)
        out << at - range.begin << '\n';
    }
    ptrace(PTRACE_SINGLESTEP, pid, 0, signal);
  }
  return exit_code;
}
