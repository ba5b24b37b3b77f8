#include "backends/process/streams.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace gate::backends {

Status CheckStreams(const Io& io) {
  for (const int fd : {io.in, io.out, io.err}) {
    struct stat info = {};
    if (fstat(fd, &info) != 0)
      return Fail(ErrorCode::kInvalid, "a standard stream is not open");
    if (S_ISDIR(info.st_mode)) {
      return Fail(ErrorCode::kInvalid,
                  "a standard stream is a directory, which would reach around "
                  "the sandbox");
    }
  }
  return {};
}

Result<Fd> MemoryFile(const char* name, const void* content, size_t size) {
  Fd fd(memfd_create(name, MFD_CLOEXEC));
  if (!fd || !WriteAll(fd.get(), {static_cast<const char*>(content), size}) ||
      lseek(fd.get(), 0, SEEK_SET) != 0)
    return FailErrno("cannot make an anonymous file");
  return fd;
}

Result<Fd> CopyInput(int fd) {
  struct stat info = {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return Fd();
  GATE_TRY(const std::string content, ReadAll(fd, kMaxInputCopy));
  return MemoryFile("gate-input", content.data(), content.size());
}

}  // namespace gate::backends
