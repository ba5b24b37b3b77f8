// Reading another process: its memory, its links in /proc, and files as it
// sees them. Everything that is read is the command's, and may be a lie by the
// time it is used.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"

namespace gate::backends::target {

// The words of one program start, each with its NUL and its pointer, counted as
// the kernel counts: for more than this (three quarters of 8 MiB, whatever the
// limit of the stack is) it starts nothing either.
inline constexpr size_t kMaxArgumentBytes = size_t{6} << 20;

// The bytes read.
size_t Read(pid_t thread, uint64_t address, void* out, size_t size);
// A path: false when it is unreadable or longer than PATH_MAX.
bool ReadString(pid_t thread, uint64_t address, std::string* out);
// An argument vector; false when it was not read to its end, with errno: E2BIG
// when it is longer than kMaxArgumentBytes.
bool ReadVector(pid_t thread, uint64_t address, std::vector<std::string>* out);

// What /proc/THREAD/NAME links to; empty when unreadable.
std::string LinkOf(pid_t thread, const char* name);
// The process that a thread belongs to; the thread itself when unreadable.
pid_t ProcessOf(pid_t thread);

// A handle on `path` as seen from `root`, links followed inside it.
Fd OpenIn(int root, const std::string& path, int flags);
bool IsMountPoint(int fd);
// Whether gate's user could write what the handle stands for, in its mount.
// False with errno.
bool MayWrite(int fd);

struct Program {
  enum Kind : uint8_t {
    kNative,  // of this machine: it runs as itself
    // A program of this machine's other width: it runs as itself, where the
    // kernel can, and the filter ends it at its first call.
    kOtherWidth,
    kScript,  // run by `interpreter`, which may be relative to the caller
    kOther,
    kUnreadable,
  };
  Kind kind = kOther;
  std::string interpreter, argument;
};
Program ReadProgram(int fd, const struct stat& info);

}  // namespace gate::backends::target
