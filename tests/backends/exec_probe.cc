// Starts a program in ways that could lead a watch past what it judged.
//
//   exec_probe HOW FILE ARGUMENT
//
// Where something is exchanged while the watch looks, the file `judged` in the
// working directory says that it has looked, and `exchanged` that it may go on.
// Where a test looks by itself, descriptor 3 is told the thread, and gives the
// word to go on.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "tests/support/wait.h"

namespace {

void AwaitLook() {
  gate::test::WaitUntil([] { return access("judged", F_OK) == 0; });
}
void SayExchanged() { close(open("exchanged", O_CREAT | O_WRONLY, 0600)); }

int Copy(const char* file) {
  const int from = open(file, O_RDONLY | O_CLOEXEC);
  const int to = static_cast<int>(syscall(SYS_memfd_create, "copy", 0));
  char buffer[65536];
  ssize_t got = 0;
  while ((got = read(from, buffer, sizeof(buffer))) > 0)
    if (write(to, buffer, static_cast<size_t>(got)) != got) return -1;
  close(from);
  return to;
}

#ifdef __x86_64__
// execve of 32-bit programs, whose arguments lie below 4 GiB.
void ExecAsOld(const char* file, const char* argument) {
  char* low =
      static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0));
  if (low == MAP_FAILED) return;
  char* path = low + 1024;
  char* word = low + 4096;
  strcpy(path, file);
  strcpy(word, argument);
  auto* argv = reinterpret_cast<uint32_t*>(low);
  argv[0] = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(path));
  argv[1] = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(word));
  argv[2] = 0;
  long result = 11;
  asm volatile("int $0x80"
               : "+a"(result)
               : "b"(path), "c"(argv), "d"(0)
               : "memory", "r8", "r9", "r10", "r11");
}
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string how = argv[1];
  // What others write to while this starts programs.
  static char path[4096], word[4096];
  snprintf(path, sizeof(path), "%s", argv[2]);
  snprintf(word, sizeof(word), "%s", argv[3]);
  char harmless[] = "harmless";
  char* words[] = {path, word, nullptr};
  char* disguised[] = {harmless, word, nullptr};

  // The first thread ends, or waits for good, while another starts the program.
  const auto start_by_another = [&](bool first_ends, bool told) {
    std::thread([&, told] {
      if (told) {
        const auto self = static_cast<pid_t>(syscall(SYS_gettid));
        if (write(3, &self, sizeof(self)) != sizeof(self)) _exit(7);
        char word_to_go = 0;
        if (read(3, &word_to_go, 1) != 1) _exit(7);
        close(3);
      }
      execve(path, words, environ);
      _exit(9);
    }).detach();
    if (first_ends) syscall(SYS_exit, 0);
    while (true) pause();
  };

  if (how == "thread" || how == "told-thread") {
    start_by_another(false, how == "told-thread");
  } else if (how == "headless" || how == "told-headless") {
    start_by_another(true, how == "told-headless");
  } else if (how == "headless-path") {
    std::thread([&] {
      AwaitLook();
      strcpy(path, argv[4]);
      SayExchanged();
      pause();
    }).detach();
    start_by_another(true, false);
  } else if (how == "places") {
    // PR_SET_MM_MAP_SIZE, which needs no right: 0 where it is known.
    unsigned size = 0;
    _exit(prctl(PR_SET_MM, 15, &size, 0, 0) == 0 ? 0 : errno);
  } else if (how == "argument" || how == "path") {
    std::thread other([&] {
      AwaitLook();
      strcpy(how == "path" ? path : word, argc > 4 ? argv[4] : "evil");
      SayExchanged();
      pause();
    });
    execve(path, words, environ);
    _exit(9);
  } else if (how == "noise") {
    // Another thread's own calls must not end the watch of this one's.
    std::thread other([&] {
      AwaitLook();
      strcpy(path, argv[4]);
      SayExchanged();
      char* none[] = {harmless, nullptr};
      while (true) execve("/no/such/program", none, environ);
    });
    execve(path, words, environ);
    _exit(9);
  } else if (how == "vfork") {
    const pid_t child = vfork();
    if (child == 0) {
      execve(path, words, environ);
      _exit(9);
    }
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WEXITSTATUS(status));
  } else if (how == "descriptor" || how == "devfd") {
    const int fd = open(path, O_RDONLY);
    const std::string name =
        (how == "devfd" ? "/dev/fd/" : "/proc/self/fd/") + std::to_string(fd);
    execve(name.c_str(), disguised, environ);
  } else if (how == "fexecve") {
    syscall(SYS_execveat, open(path, O_RDONLY | O_CLOEXEC), "", disguised,
            environ, AT_EMPTY_PATH);
  } else if (how == "memfd") {
    syscall(SYS_execveat, Copy(path), "", disguised, environ, AT_EMPTY_PATH);
  } else if (how == "link") {
    const int fd = open(path, O_RDONLY);
    const std::string name = "/proc/self/fd/" + std::to_string(fd);
    if (symlink(name.c_str(), "harmless") != 0) _exit(8);
    execve("./harmless", disguised, environ);
  } else if (how == "at") {
    syscall(SYS_execveat, open("/usr/bin", O_PATH), "touch", disguised, environ,
            0);
#ifdef __x86_64__
  } else if (how == "old") {
    ExecAsOld(path, word);
  } else if (how == "x32") {
    syscall(0x40000000 | 520, path, words, environ);
#endif
  } else {
    execve(path, words, environ);
  }
  _exit(9);
}
