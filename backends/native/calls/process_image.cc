#include "backends/native/calls/process_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "backends/listing.h"
#include "backends/native/calls/target.h"
#include "base/file.h"

namespace gate::backends {
namespace {

// Of linux/sched.h: the thread is on its way out, and makes no other one.
constexpr uint64_t kExiting = 0x4;
constexpr size_t kMaxStat = 4096;
constexpr size_t kMaxAuxiliary = 4096;

// Of files that have no size; what is beyond `limit` is left out. 0 or errno.
int ReadProcess(const std::string& path, size_t limit, std::string* out) {
  out->clear();
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return errno;
  char buffer[4096];
  while (out->size() < limit) {
    const ssize_t got = read(fd.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    out->append(buffer, static_cast<size_t>(got));
  }
  return 0;
}

struct ThreadStat {
  uint64_t flags = 0, threads = 0, started = 0;
  uint64_t code = 0, stack = 0, arguments = 0;
};
// 0 or errno.
int ReadStat(const std::string& directory, ThreadStat* stat) {
  std::string text;
  if (const int error = ReadProcess(directory + "/stat", kMaxStat, &text);
      error != 0)
    return error;
  // Field 3 follows the name, which may be anything.
  size_t at = text.rfind(')');
  for (int field = 3; at != std::string::npos; ++field) {
    at = text.find(' ', at + 1);
    if (at == std::string::npos) break;
    const auto value = [&] { return strtoull(&text[at + 1], nullptr, 10); };
    if (field == 9) stat->flags = value();
    if (field == 20) stat->threads = value();
    if (field == 22) stat->started = value();
    if (field == 26) stat->code = value();
    if (field == 28) stat->stack = value();
    if (field == 48) {
      stat->arguments = value();
      return 0;
    }
  }
  return EIO;
}

bool IsGone(int error) { return error == ENOENT || error == ESRCH; }

// Its only thread is on its way out. While the first thread's number changes
// hands the kernel counts none, or both.
bool IsEnding(const ThreadStat& stat) {
  return (stat.flags & kExiting) != 0 && stat.threads == 1;
}

Sight Look(const std::string& directory, const ThreadStat& seen,
           ProcessImage* image) {
  image->stack = seen.stack;
  image->arguments = seen.arguments;
  struct stat info = {};
  if (stat((directory + "/exe").c_str(), &info) != 0) {
    if (errno == EACCES || errno == EPERM) return Sight::kRefused;
    return IsGone(errno) ? Sight::kNone : Sight::kFailed;
  }
  image->file = IdentityOf(info);
  // Written after all else, when the arguments are in place (load_elf_binary).
  if (seen.code == 0) return Sight::kLoading;
  // One that is longer than any that was judged differs from all of them.
  const int error =
      ReadProcess(directory + "/cmdline", 4 * target::kMaxArgumentBytes,
                  &image->command_line);
  if (error == 0) return Sight::kWhole;
  return IsGone(error) ? Sight::kNone : Sight::kFailed;
}

std::string ProcessDirectory(pid_t process) {
  return "/proc/" + std::to_string(process);
}

}  // namespace

FileIdentity IdentityOf(const struct stat& info) {
  return {info.st_dev, info.st_ino,
          int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec};
}

Sight LookAtThread(const std::string& directory, ProcessImage* image) {
  ThreadStat stat;
  if (const int error = ReadStat(directory, &stat); error != 0)
    return IsGone(error) ? Sight::kNone : Sight::kFailed;
  return Look(directory, stat, image);
}

Sight LookAtProcess(pid_t process, uint64_t started, ProcessImage* image) {
  const std::string directory = ProcessDirectory(process);
  ThreadStat stat;
  // Of what is on its way out at one look, the other one counts the threads.
  for (bool ending = false;;) {
    if (const int error = ReadStat(directory, &stat); error != 0)
      return IsGone(error) ? Sight::kEnded : Sight::kFailed;
    if (stat.started != started) return Sight::kEnded;
    if (!IsEnding(stat)) break;
    if (ending) return Sight::kEnded;
    ending = true;
  }
  Sight sight = Look(directory, stat, image);
  if (sight != Sight::kNone) return sight;
  const std::string own = std::to_string(process);
  for (const std::string& thread : NamesIn(directory + "/task")) {
    if (thread == own) continue;
    sight = LookAtThread(directory + "/task/" + thread, image);
    if (sight != Sight::kNone) return sight;
  }
  return Sight::kNone;
}

uint64_t StartOf(pid_t process) {
  ThreadStat stat;
  return ReadStat(ProcessDirectory(process), &stat) == 0 ? stat.started : 0;
}

StartNumber StartNumberOf(pid_t thread) {
  StartNumber number = {};
  std::string text;
  if (ReadProcess(ProcessDirectory(thread) + "/auxv", kMaxAuxiliary, &text) !=
      0)
    return number;
  Elf64_auxv_t entry = {};
  for (size_t at = 0; at + sizeof(entry) <= text.size(); at += sizeof(entry)) {
    memcpy(&entry, text.data() + at, sizeof(entry));
    if (entry.a_type != AT_RANDOM) continue;
    if (target::Read(thread, entry.a_un.a_val, number.data(), number.size()) !=
        number.size())
      number = {};
    break;
  }
  return number;
}

}  // namespace gate::backends
