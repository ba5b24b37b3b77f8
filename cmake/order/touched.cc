// touched OUT SYMBOLS PROGRAM ARGV…: runs PROGRAM and adds to the file OUT the
// addresses of the functions that it enters, each once, in the order of the
// first time. SYMBOLS has a line a function, as `nm` prints them. Processes
// that PROGRAM forks are followed until they start another program.
//
// Each function begins with a breakpoint that its first call removes, so that a
// run costs a stop a function and not one an instruction. A process whose
// memory may not be changed any more (prctl(2), PR_SET_DUMPABLE) is ended with
// what was seen. x86-64 only.
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <unordered_set>

namespace {

constexpr unsigned char kBreakpoint = 0xcc;  // int3

// Where `program` is loaded in `pid`; 0 when it is not.
uintptr_t LoadedAt(pid_t pid, const char* program) {
  char real[PATH_MAX] = {};
  if (realpath(program, real) == nullptr) return 0;
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.ends_with(real)) return std::strtoull(line.c_str(), nullptr, 16);
  return 0;
}

// The functions of `nm`: ADDRESS TYPE NAME.
std::map<uintptr_t, unsigned char> ReadFunctions(const char* path) {
  std::map<uintptr_t, unsigned char> functions;
  std::ifstream symbols(path);
  for (std::string line; std::getline(symbols, line);) {
    char* rest = nullptr;
    const uintptr_t at = std::strtoull(line.c_str(), &rest, 16);
    if (rest[0] == ' ' && rest[1] != '\0' &&
        std::strchr("tTwWi", rest[1]) != nullptr)
      functions[at] = 0;
  }
  return functions;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: touched OUT SYMBOLS PROGRAM ARGV…\n", stderr);
    return 64;
  }
  auto functions = ReadFunctions(argv[2]);
  const pid_t first = fork();
  if (first == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execv(argv[3], argv + 3);
    _exit(127);
  }
  int status = 0;
  if (waitpid(first, &status, 0) != first || !WIFSTOPPED(status)) return 1;
  ptrace(PTRACE_SETOPTIONS, first, 0,
         PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
             PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
  const uintptr_t base = LoadedAt(first, argv[3]);
  const int memory =
      open(("/proc/" + std::to_string(first) + "/mem").c_str(), O_RDWR);
  if (base == 0 || memory < 0) return 1;
  for (auto& [at, byte] : functions) {
    const auto place = static_cast<off_t>(base + at);
    if (pread(memory, &byte, 1, place) != 1 ||
        pwrite(memory, &kBreakpoint, 1, place) != 1)
      byte = kBreakpoint;
  }
  close(memory);

  std::ofstream out(argv[1], std::ios::app);
  std::unordered_set<uintptr_t> seen;
  ptrace(PTRACE_CONT, first, 0, 0);
  int exit_code = 1;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status)) {
      if (pid == first) exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
      continue;
    }
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
      ptrace(PTRACE_DETACH, pid, 0, 0);
      continue;
    }
    int signal = WSTOPSIG(status);
    user_regs_struct registers = {};
    if (signal == SIGTRAP && status >> 16 == 0 &&
        ptrace(PTRACE_GETREGS, pid, 0, &registers) == 0) {
      const uintptr_t at = registers.rip - 1 - base;
      const auto function = functions.find(at);
      if (function != functions.end()) {
        if (seen.insert(at).second) out << at << '\n';
        const uintptr_t word_at = (base + at) & ~uintptr_t{7};
        long word = ptrace(PTRACE_PEEKTEXT, pid, word_at, 0);
        reinterpret_cast<unsigned char*>(&word)[(base + at) & 7] =
            function->second;
        registers.rip -= 1;
        if (ptrace(PTRACE_POKETEXT, pid, word_at, word) != 0 ||
            ptrace(PTRACE_SETREGS, pid, 0, &registers) != 0)
          kill(pid, SIGKILL);
      }
    }
    // SIGALRM: a hook's limit of time is not meant for this.
    if (signal == SIGTRAP || signal == SIGSTOP || signal == SIGALRM) signal = 0;
    ptrace(PTRACE_CONT, pid, 0, signal);
  }
  return exit_code;
}
