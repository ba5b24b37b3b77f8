// What a process runs, read from /proc while it may be starting a program.
//
// In the order of the kernel (fs/exec.c: de_thread, begin_new_exec, the
// format's own loader), a process that starts a program is seen as
//
//   1. its old program, by every thread;
//   2. without memory by its own number, when another thread than the first
//      starts it: the first ends, and its number stands for nothing until the
//      other thread takes it over. Its number stands for nothing as well, for
//      as long as it likes, when the first thread alone has ended. The program
//      is seen by the other threads;
//   3. its old program again, by its own number, and only that;
//   4. the new file, without a place of its code: being loaded;
//   5. the new program, whole. It runs from here on.
//
// What is read in one look may be of two neighbours among these, and never goes
// backwards. So a look starts with what is there last, the places in memory. No
// start can end without gate having been asked, which is why two looks of which
// the second finds the image of the first again are of state 5.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>

namespace gate::backends {

// A file, and when its content last changed.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  int64_t changed = 0;  // nanoseconds; 0 when no file is meant
  bool operator==(const FileIdentity&) const = default;
};
FileIdentity IdentityOf(const struct stat& info);

struct ProcessImage {
  FileIdentity file;
  uint64_t stack = 0, arguments = 0;  // where the kernel has put them
  std::string command_line;           // the program's to change

  // Whether both are of one program start, by what only a start changes: the
  // filter refuses the one call that could (PR_SET_MM). False is certain; true
  // is not where addresses are not random and it is the same file.
  bool SameStart(const ProcessImage& other) const {
    return file.device == other.file.device && file.inode == other.file.inode &&
           stack == other.stack && arguments == other.arguments;
  }
};

enum class Sight : uint8_t {
  kWhole,    // a program
  kLoading,  // one of which nothing runs yet
  kNone,     // no memory at this moment
  kEnded,    // nothing of the process runs any more, ever
  kRefused,  // gate may not look at it
  kFailed,   // gate could not look, for a reason of its own
};
// `directory`: of a thread, in /proc. Never kEnded.
Sight LookAtThread(const std::string& directory, ProcessImage* image);
// By whichever thread has memory. `started` tells the process from a later one
// with its number.
Sight LookAtProcess(pid_t process, uint64_t started, ProcessImage* image);
// When it started, which it keeps over program starts; 0 when unreadable.
uint64_t StartOf(pid_t process);

// The number that the kernel drew for the program when it started it. The
// program can write to it, but cannot know the next one.
using StartNumber = std::array<unsigned char, 16>;
StartNumber StartNumberOf(pid_t thread);  // zeros when unreadable

}  // namespace gate::backends
