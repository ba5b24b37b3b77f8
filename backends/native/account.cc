#include "backends/native/account.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"

namespace gate::backends {
namespace {

constexpr int kSampleMs = 20;
constexpr int kShare = 20;          // a sample takes at most 1/20 of the time
constexpr int kHiddenSamples = 10;  // how long an account may be unreadable

// linux_dirent64, which no header has.
struct Entry {
  uint64_t inode;
  int64_t offset;
  uint16_t size;
  uint8_t type;
  char name[1];
};

// Ticks of a clock that is 100 Hz for user space on every architecture here.
constexpr uint64_t kTickMs = 10;

// "PID/NAME" in `out`.
void ProcPath(int pid, const char* name, char* out) {
  char digits[12];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + pid % 10);
    pid /= 10;
  } while (pid != 0);
  while (count > 0) *out++ = digits[--count];
  *out++ = '/';
  while ((*out++ = *name++) != '\0') {
  }
}

// What fits of a file; the bytes read, -1 with errno.
ssize_t ReadProcFile(int proc, int pid, const char* name, char* buffer,
                     size_t size) {
  char path[64];
  ProcPath(pid, name, path);
  const int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t got = 0;
  do {
    got = read(fd, buffer, size - 1);
  } while (got < 0 && errno == EINTR);
  const int error = errno;
  close(fd);
  errno = error;
  if (got >= 0) buffer[got] = '\0';
  return got;
}

uint64_t ParseNumber(const char* text) {
  while (*text == ' ' || *text == '\t') ++text;
  uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    value = value * 10 + static_cast<uint64_t>(*text - '0');
  return value;
}

// The number after `label` at the start of a line; 0 when it is not there.
uint64_t Labelled(const char* text, const char* label) {
  const size_t size = strlen(label);
  while (text != nullptr && *text != '\0') {
    if (strncmp(text, label, size) == 0) return ParseNumber(text + size);
    text = strchr(text, '\n');
    if (text != nullptr) ++text;
  }
  return 0;
}

// Whether the process still runs. The files of one that has ended and is not
// yet waited for belong to root (Linux, task_dump_owner() in fs/proc/base.c),
// so that an ordinary user is refused them without anything being hidden.
bool HasMemory(int proc, int pid) {
  char text[256];
  // The first field: the size of the address space, in pages.
  if (ReadProcFile(proc, pid, "statm", text, sizeof(text)) > 0)
    return ParseNumber(text) != 0;
  return errno != ENOENT && errno != ESRCH;
}

}  // namespace

int TreeAccount::Open(int own_io, int proc) {
  if (!limits_.Any()) return 0;
  own_io_ = own_io;
  wait_ms_ = kSampleMs;
  page_ = getauxval(AT_PAGESZ);
  proc_ = proc >= 0 ? proc : open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return proc_ < 0 ? -1 : 0;
}

template <typename Each>
bool TreeAccount::ForEach(const Each& each) {
  if (lseek(proc_, 0, SEEK_SET) != 0) return false;
  alignas(8) char buffer[4096];
  while (true) {
    const long size = syscall(SYS_getdents64, proc_, buffer, sizeof(buffer));
    if (size < 0) return false;
    if (size == 0) return true;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
      at += entry->size;
      if (entry->name[0] < '0' || entry->name[0] > '9') continue;
      if (!each(static_cast<int>(ParseNumber(entry->name)))) return false;
    }
  }
}

bool TreeAccount::Add(int pid, Sums* sums) {
  char text[1024];
  if (ReadProcFile(proc_, pid, "stat", text, sizeof(text)) <= 0)
    return errno == ENOENT || errno == ESRCH;  // it has ended meanwhile
  const char* at = strrchr(text, ')');
  if (at == nullptr) return false;
  // Field 3 follows.
  uint64_t fields[25] = {};
  for (int field = 3; field < 25 && *at != '\0'; ++field) {
    at = strchr(at + 1, ' ');
    if (at == nullptr) return false;
    fields[field] = ParseNumber(at + 1);
  }
  sums->ticks += fields[14] + fields[15] + fields[16] + fields[17];
  if (pid != 1 || first_counts_) {
    sums->tasks += fields[20];
    sums->resident += fields[24] * page_;
  }
  if (limits_.written_bytes == 0) return true;
  const ssize_t got = pid == 1
                          ? pread(own_io_, text, sizeof(text) - 1, 0)
                          : ReadProcFile(proc_, pid, "io", text, sizeof(text));
  if (pid == 1 && got > 0) text[got] = '\0';
  if (got > 0)
    sums->written += Labelled(text, "write_bytes:");
  else if (pid == 1 ||
           ((errno == EACCES || errno == EPERM) && HasMemory(proc_, pid)))
    hidden_ = pid;
  return true;
}

// Pages that processes share count once.
uint64_t TreeAccount::ExactMemory() {
  uint64_t bytes = 0;
  ForEach([&](int pid) {
    if (pid == 1 && !first_counts_) return true;
    char text[2048];
    if (ReadProcFile(proc_, pid, "smaps_rollup", text, sizeof(text)) > 0) {
      const char* from = strchr(text, '\n');
      bytes +=
          1024 * (Labelled(from, "Pss_Anon:") + Labelled(from, "Pss_Shmem:") +
                  Labelled(from, "SwapPss:"));
    } else if (ReadProcFile(proc_, pid, "status", text, sizeof(text)) > 0) {
      bytes += 1024 * (Labelled(text, "RssAnon:") +
                       Labelled(text, "RssShmem:") + Labelled(text, "VmSwap:"));
    }
    return true;
  });
  return bytes;
}

TreeLimit TreeAccount::Check() {
  const uint64_t begin = MonotonicUs();
  Sums sums;
  hidden_ = 0;
  const bool complete = ForEach([&](int pid) {
    if (!Add(pid, &sums)) return false;
    // A fork bomb is not counted to its end.
    return limits_.processes == 0 || sums.tasks <= 4 * limits_.processes;
  });
  if (limits_.processes != 0 && sums.tasks > limits_.processes)
    return TreeLimit::kProcesses;
  if (!complete) return TreeLimit::kHidden;
  // What falls was the account of a process whose parent does not keep it.
  if (sums.ticks > last_ticks_) ticks_ += sums.ticks - last_ticks_;
  last_ticks_ = sums.ticks;
  if (sums.written > last_written_) written_ += sums.written - last_written_;
  last_written_ = sums.written;
  if (limits_.cpu_ms != 0 && ticks_ * kTickMs > limits_.cpu_ms)
    return TreeLimit::kCpu;
  if (limits_.written_bytes != 0 && written_ > limits_.written_bytes)
    return TreeLimit::kWritten;
  hidden_samples_ = hidden_ != 0 ? hidden_samples_ + 1 : 0;
  if (hidden_samples_ > kHiddenSamples) return TreeLimit::kHidden;
  if (limits_.memory_bytes != 0 && sums.resident > limits_.memory_bytes &&
      ExactMemory() > limits_.memory_bytes)
    return TreeLimit::kMemory;
  const uint64_t cost_ms = (MonotonicUs() - begin) * kShare / 1000;
  wait_ms_ =
      std::max(kSampleMs, static_cast<int>(std::min<uint64_t>(cost_ms, 2000)));
  return TreeLimit::kNone;
}

}  // namespace gate::backends
