#include "backends/native/calls/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "backends/process/sys.h"

namespace gate::backends::target {
namespace {

constexpr size_t kPage = 4096;

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
// elf_check_arch_ia32 of the kernel (arch/x86/include/asm/elf.h); 6 is its
// EM_486 (uapi/linux/elf-em.h).
constexpr uint16_t kOtherWidths[] = {EM_386, 6};
#else
constexpr uint16_t kMachine = EM_AARCH64;
constexpr uint16_t kOtherWidths[] = {EM_ARM};
#endif

// Memory that is read more at a time for as long as what is read is asked for.
class Window {
 public:
  explicit Window(pid_t thread) : thread_(thread) {}

  // Appends up to a NUL, at most `limit` bytes. False with errno: E2BIG, or
  // EFAULT when it is unreadable.
  bool AppendString(uint64_t address, size_t limit, std::string* out) {
    while (true) {
      if (!Covers(address) && !Fill(address)) return false;
      const char* begin = buffer_.data() + (address - begin_);
      const size_t there = begin_ + size_ - address;
      const size_t length = strnlen(begin, std::min(there, limit + 1));
      if (length > limit) {
        errno = E2BIG;
        return false;
      }
      out->append(begin, length);
      used_ += length + kApart;
      if (length < there) return true;
      limit -= length;
      address += length;
    }
  }

 private:
  // What the heap puts between two words.
  static constexpr size_t kApart = 32;

  bool Covers(uint64_t address) const {
    return address >= begin_ && address - begin_ < size_;
  }
  bool Fill(uint64_t address) {
    constexpr size_t kFirst = 256, kMost = 16 * kPage;
    // Words that are scattered on purpose cost no more than eight times what
    // they hold.
    want_ = used_ >= size_ / 8 ? std::clamp(4 * want_, kFirst, kMost) : kFirst;
    if (buffer_.size() < want_) buffer_.resize(want_);
    size_ = used_ = 0;
    begin_ = address;
    // A page may be the last one there is, so each is a part of its own.
    iovec here = {buffer_.data(), want_};
    iovec there[kMost / kPage + 1];
    size_t parts = 0;
    for (size_t left = want_; left != 0; ++parts) {
      const size_t size = std::min(left, kPage - address % kPage);
      there[parts] = {reinterpret_cast<void*>(address), size};
      address += size;
      left -= size;
    }
    const ssize_t got = process_vm_readv(thread_, &here, 1, there, parts, 0);
    if (got <= 0) {
      errno = EFAULT;
      return false;
    }
    size_ = static_cast<size_t>(got);
    return true;
  }

  pid_t thread_;
  std::string buffer_;
  uint64_t begin_ = 0;
  size_t size_ = 0, want_ = 0, used_ = 0;
};

}  // namespace

size_t Read(pid_t thread, uint64_t address, void* out, size_t size) {
  iovec here = {out, size};
  iovec there = {reinterpret_cast<void*>(address), size};
  const ssize_t got = process_vm_readv(thread, &here, 1, &there, 1, 0);
  return got < 0 ? 0 : static_cast<size_t>(got);
}

bool ReadString(pid_t thread, uint64_t address, std::string* out) {
  out->clear();
  return Window(thread).AppendString(address, PATH_MAX, out);
}

bool ReadVector(pid_t thread, uint64_t address, std::vector<std::string>* out) {
  if (address == 0) return true;
  uint64_t pointers[kPage / sizeof(uint64_t)];
  Window words(thread);
  size_t left = kMaxArgumentBytes;
  // Most are short.
  for (size_t want = 16;; want = std::size(pointers)) {
    const size_t room = kPage - address % kPage;  // to the end of its page
    size_t got = Read(thread, address, pointers,
                      std::min(want * sizeof(uint64_t),
                               std::max(room, sizeof(uint64_t)))) /
                 sizeof(uint64_t);
    if (got == 0) {
      errno = EFAULT;
      return false;
    }
    address += got * sizeof(uint64_t);
    for (const uint64_t* pointer = pointers; got > 0; --got, ++pointer) {
      if (*pointer == 0) return true;
      constexpr size_t kOverhead = sizeof(*pointer) + 1;
      if (left < kOverhead) {
        errno = E2BIG;
        return false;
      }
      left -= kOverhead;
      std::string word;
      if (!words.AppendString(*pointer, left, &word)) return false;
      left -= word.size();
      out->push_back(std::move(word));
    }
  }
}

std::string LinkOf(pid_t thread, const char* name) {
  char buffer[PATH_MAX];
  const std::string path = "/proc/" + std::to_string(thread) + "/" + name;
  const ssize_t size = readlink(path.c_str(), buffer, sizeof(buffer));
  return size <= 0 ? "" : std::string(buffer, static_cast<size_t>(size));
}

pid_t ProcessOf(pid_t thread) {
  const Result<std::string> status =
      ReadFile("/proc/" + std::to_string(thread) + "/status", 16384);
  if (!status) return thread;
  const size_t at = status->find("\nTgid:");
  if (at == std::string::npos) return thread;
  const long process = strtol(status->c_str() + at + 6, nullptr, 10);
  return process > 0 ? static_cast<pid_t>(process) : thread;
}

Fd OpenIn(int root, const std::string& path, int flags) {
  // What goes through /proc/self/fd and the like is left alone.
  return Fd(sys::OpenAt2(root, path.c_str(),
                         static_cast<uint64_t>(O_PATH | flags),
                         RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS));
}

bool IsMountPoint(int fd) {
  struct statx info = {};
  return statx(fd, "", AT_EMPTY_PATH, 0, &info) == 0 &&
         (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

bool MayWrite(int fd) {
  // The C library has no way to pass an empty path on.
  if (syscall(SYS_faccessat2, fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) == 0)
    return true;
  if (errno != ENOSYS) return false;
  const std::string handle = "/proc/self/fd/" + std::to_string(fd);
  return faccessat(AT_FDCWD, handle.c_str(), W_OK, AT_EACCESS) == 0;
}

Program ReadProgram(int fd, const struct stat& info) {
  Program program;
  if (!S_ISREG(info.st_mode)) return program;
  const std::string handle = "/proc/self/fd/" + std::to_string(fd);
  const Fd file(open(handle.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    program.kind = Program::kUnreadable;
    return program;
  }
  char head[256] = {};  // as much as the kernel looks at
  const ssize_t got = read(file.get(), head, sizeof(head) - 1);
  if (got >= static_cast<ssize_t>(offsetof(Elf64_Ehdr, e_version)) &&
      memcmp(head, ELFMAG, SELFMAG) == 0) {
    uint16_t machine = 0;
    memcpy(&machine, head + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
    if (machine == kMachine)
      program.kind = Program::kNative;
    else if (std::find(std::begin(kOtherWidths), std::end(kOtherWidths),
                       machine) != std::end(kOtherWidths))
      program.kind = Program::kOtherWidth;
  } else if (got > 2 && head[0] == '#' && head[1] == '!') {
    const std::string_view text(head + 2, strcspn(head + 2, "\n"));
    constexpr std::string_view kBlank = " \t";
    const size_t begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return program;
    const size_t end = text.find_first_of(kBlank, begin);
    program.interpreter = text.substr(begin, end - begin);
    program.kind = Program::kScript;
    const size_t more = text.find_first_not_of(kBlank, end);
    if (end == std::string_view::npos || more == std::string_view::npos)
      return program;
    // All of the rest is one argument.
    program.argument =
        text.substr(more, text.find_last_not_of(kBlank) + 1 - more);
  }
  return program;
}

}  // namespace gate::backends::target
