// Comparing what a program start that was let through really started.
//
// The kernel reads a path and its arguments again after gate has looked. So
// what the process is afterwards - its file, that file's time of change, its
// whole command line, the scripts on the way - is compared with what was
// judged. It is looked at when the new program makes its first system call
// that gate sees (set_tid_address, which the C library makes before anything
// of the program runs), when any thread of the process makes another such
// call, and by the clock. Not seen is a program without a C library that ends
// before the clock, a millisecond at first.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"

namespace gate::backends {

// A file, and when its content last changed.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  int64_t changed = 0;  // nanoseconds; 0 when no file is meant
  bool operator==(const FileIdentity&) const = default;
};
FileIdentity IdentityOf(const struct stat& info);

// The program that a call names, as the caller finds it.
struct NamedProgram {
  Fd file;              // O_PATH
  std::string path;     // absolute, as seen inside; not through /proc/self
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
  std::vector<FileIdentity> files;  // none: the start is expected to fail
  bool any_arguments = false;       // some handler of the kernel chooses them
  std::string command_line;         // NUL after each word
  struct Script {
    std::string path;
    FileIdentity identity;
  };
  std::vector<Script> scripts;
};
// 0, or the errno that the start gets at once: ENOENT for an interpreter that
// is not there, EACCES for a program that gate cannot read.
int Expect(int root, const NamedProgram& program, const std::string& cwd,
           const std::vector<std::string>& argv, Expectation* expected);

class StartCheck {
 public:
  // The thread goes on with a start.
  void LetThrough(pid_t thread, Expectation expected);
  // `thread` makes a call. Empty, or how what was started differs.
  std::string Called(int root, pid_t thread);
  // By the clock. `*wait`: milliseconds until the next time, -1: never.
  std::string Tick(int root, int* wait);

 private:
  // What tells one running image from the next.
  struct Image {
    FileIdentity file;
    uint64_t stack = 0, arguments = 0;
    std::string command_line;
    bool operator==(const Image&) const = default;
  };
  struct Pending {
    pid_t process = 0, thread = 0;
    Image before;
    Expectation expected;
    uint64_t since_ms = 0;
  };
  enum class Verdict : uint8_t { kNotYet, kGone, kFits, kDiffers };

  static bool ReadImage(pid_t process, Image* image);
  static Verdict Judge(int root, const Pending& pending, const Image& now);
  static Verdict Compare(int root, const Pending& pending);
  std::string CheckProcess(int root, pid_t process, pid_t caller);

  std::vector<Pending> pending_;
};

}  // namespace gate::backends
