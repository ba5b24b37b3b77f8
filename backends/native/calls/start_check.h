// Comparing what a program start that was let through really started.
//
// The kernel reads a path and its arguments again after gate has looked. So
// what the process is afterwards - its file, that file's time of change, its
// whole command line, the scripts on the way - is compared with what was
// judged. Two occasions:
//
// A thread of the process makes a call that gate sees; a new program does so
// first of all (set_tid_address, which the C library makes before anything of
// the program runs). The thread is held, so nothing about its program changes:
// what is read is certain if the caller was still held after it was read.
//
// The clock, for a program without a C library. Nobody is held, and image.h has
// what may be seen. What fits does so at one look; what differs must be found
// twice; what is not there yet, or cannot be seen, is looked at again, and the
// start is not forgotten before the process has ended. Not seen is a program
// that ends before the clock: a millisecond at first, more when the start
// itself takes long (kMaxWaitMs at most).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/native/calls/process_image.h"
#include "base/file.h"

namespace gate::backends {

// The program that a call names, as the caller finds it.
struct NamedProgram {
  Fd file;              // O_PATH
  std::string path;     // absolute, as seen inside; not through /proc/self
  std::string real;     // `path` without links
  std::string used;     // as the kernel will call it
  int error = 0;        // there is none: why
  bool opaque = false;  // the error is that gate cannot follow the name
};
// `directory` and `text` of execveat; AT_FDCWD for execve. `root` is the
// sandbox's.
NamedProgram FindProgram(int root, pid_t thread, int directory,
                         const std::string& text);

// What may run when a program is started.
struct Expectation {
  std::string path;
  // The program itself, and handlers of the kernel's, which choose their
  // arguments. Neither: the start is expected to fail.
  std::vector<FileIdentity> files, handlers;
  std::string command_line;  // NUL after each word
  struct Script {
    std::string path;
    FileIdentity identity;
  };
  std::vector<Script> scripts;
  std::vector<ExecInterpreter> interpreters;  // one for each of `scripts`
};
// 0, or the errno that the start gets at once: ENOENT for an interpreter that
// is not there, EACCES for a program that gate cannot read.
int Expect(int root, const NamedProgram& program, const std::string& cwd,
           const std::vector<std::string>& argv, Expectation* expected);

// Whether a thread still waits for gate's answer, and has done so until now.
using Held = std::function<bool()>;

class StartCheck {
 public:
  static constexpr int kMaxWaitMs = 100;
  // A process that nothing can be seen of for so long, at so many looks, is
  // taken for one that hides. One that only cannot die has one thread, which
  // shows.
  static constexpr uint64_t kDarkMs = 10000;
  static constexpr int kDarkLooks = 50;

  // The thread is about to go on with a start. False: it must not, for it
  // cannot be told afterwards what it has started.
  [[nodiscard]] bool LetThrough(pid_t thread, const Held& held,
                                Expectation expected);
  // `thread` makes a call. Empty, or how what was started differs.
  std::string Called(int root, pid_t thread, const Held& held);
  // By the clock. `*wait`: milliseconds until the next time, -1: never.
  std::string Tick(int root, int* wait);

 private:
  struct Pending {
    pid_t process = 0, thread = 0;
    uint64_t started = 0;  // of the process
    ProcessImage before;
    StartNumber number = {};
    Expectation expected;
    uint64_t since_ms = 0;
    uint64_t dark_since_ms = 0;
    int dark_looks = 0;
  };
  enum class Verdict : uint8_t { kNotYet, kFailed, kFits, kDiffers };

  void DropEarlier(pid_t process, uint64_t started);
  static bool Fits(int root, const Expectation& expected,
                   const ProcessImage& now);
  static Verdict JudgeHeld(int root, const Pending& pending, pid_t caller,
                           const ProcessImage& now);
  std::string Settle(pid_t process, const std::vector<Verdict>& verdicts);
  std::string TickProcess(int root, pid_t process, uint64_t started);
  std::string StayDark(pid_t process);

  std::vector<Pending> pending_;
};

}  // namespace gate::backends
