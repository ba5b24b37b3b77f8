#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "base/hash.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate {
namespace {

constexpr size_t kChunk = size_t{64} << 10;
// A hook's event is smaller; clearing more memory than that costs as much as
// the read.
constexpr size_t kFirstChunk = size_t{4} << 10;

std::string Quoted(const std::string& path) {
  return "`" + Visible(path) + "`";
}

std::unexpected<Error> TooLarge(const std::string& what, size_t limit) {
  return Fail(ErrorCode::kTooLarge,
              what + " is larger than " + std::to_string(limit) + " bytes");
}

// Waits until a non-blocking descriptor is ready for `events`.
void Await(int fd, short events) {
  pollfd wait = {fd, events, 0};
  poll(&wait, 1, -1);
}

// Reads `fd` to its end. `expected` is the first guess of the size.
Result<std::string> Drain(int fd, size_t limit, size_t expected,
                          const std::string& what) {
  std::string out;
  size_t used = 0;
  // One byte more than expected, so that a right guess needs no growing.
  out.resize(std::min(expected, limit) + 1);
  while (true) {
    if (used == out.size()) {
      if (used > limit) return TooLarge(what, limit);
      out.resize(std::min(limit + 1, used + std::max(used, kChunk)));
    }
    const ssize_t got = read(fd, out.data() + used, out.size() - used);
    if (got > 0) {
      used += static_cast<size_t>(got);
      continue;
    }
    if (got == 0) break;
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {
      Await(fd, POLLIN);
      continue;
    }
    return FailErrno("cannot read " + what);
  }
  if (used > limit) return TooLarge(what, limit);
  out.resize(used);
  return out;
}

// FailErrno, with a path through something that is no directory as absent.
std::unexpected<Error> FailOpen(const std::string& path) {
  if (errno == ENOTDIR) {
    return Fail(ErrorCode::kNotFound,
                "cannot open " + Quoted(path) + ": not a directory");
  }
  return FailErrno("cannot open " + Quoted(path));
}

Status SyncDirectory(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return FailErrno("cannot open " + Quoted(path));
  // Some file systems cannot sync a directory and say EINVAL.
  if (fsync(fd.get()) != 0 && errno != EINVAL)
    return FailErrno("cannot sync " + Quoted(path));
  return {};
}

Status WriteNew(const std::string& path, std::string_view content,
                mode_t mode) {
  const Fd fd(open(path.c_str(),
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return FailErrno("cannot create " + Quoted(path));
  GATE_CHECK(WriteAll(fd.get(), content));
  if (fchmod(fd.get(), mode) != 0)
    return FailErrno("cannot set the mode of " + Quoted(path));
  if (fsync(fd.get()) != 0) return FailErrno("cannot sync " + Quoted(path));
  return {};
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Fd::~Fd() { reset(); }

void Fd::reset() {
  // close() is not repeated on EINTR: Linux has released the number already.
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

Result<std::string> ReadFile(const std::string& path, size_t limit,
                             bool follow) {
  // The type is looked at before opening, because opening a device can act
  // (a watchdog, a tape), and again after, because the name may have changed.
  struct stat info = {};
  if ((follow ? stat(path.c_str(), &info) : lstat(path.c_str(), &info)) != 0)
    return FailOpen(path);
  if (S_ISLNK(info.st_mode)) {
    return Fail(ErrorCode::kPermission,
                Quoted(path) + " is a symbolic link, which is not followed");
  }
  if (!S_ISREG(info.st_mode))
    return Fail(ErrorCode::kInvalid, Quoted(path) + " is not a regular file");
  const Fd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
                                     (follow ? 0 : O_NOFOLLOW)));
  if (!fd) return FailOpen(path);
  if (fstat(fd.get(), &info) != 0)
    return FailErrno("cannot read " + Quoted(path));
  if (!S_ISREG(info.st_mode))
    return Fail(ErrorCode::kInvalid, Quoted(path) + " is not a regular file");
  const auto size = static_cast<size_t>(info.st_size);
  if (size > limit) return TooLarge(Quoted(path), limit);
  return Drain(fd.get(), limit, size, Quoted(path));
}

Result<std::string> ReadAll(int fd, size_t limit) {
  return Drain(fd, limit, kFirstChunk - 1, "the input");
}

Status WriteFileAtomically(const std::string& path, std::string_view content,
                           mode_t mode) {
  const std::string directory(DirName(path));
  const std::string temporary = directory + "/." + std::string(BaseName(path)) +
                                "." + Hex(RandomBytes(8)) + ".tmp";
  Status written = WriteNew(temporary, content, mode);
  if (written && rename(temporary.c_str(), path.c_str()) != 0)
    written = FailErrno("cannot replace " + Quoted(path));
  if (!written) {
    unlink(temporary.c_str());
    return written;
  }
  return SyncDirectory(directory);
}

Status MakeDirectories(const std::string& path, mode_t mode) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), mode) != 0) {
      // Some kernels say EROFS or EACCES for a directory that exists.
      const int error = errno;
      struct stat info = {};
      if (stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        errno = error == EEXIST ? ENOTDIR : error;
        return FailErrno("cannot make directory " + Quoted(part));
      }
    }
    if (slash == std::string::npos) return {};
  }
}

Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put >= 0) {
      bytes.remove_prefix(static_cast<size_t>(put));
    } else if (errno == EAGAIN) {
      Await(fd, POLLOUT);
    } else if (errno != EINTR) {
      return FailErrno("cannot write");
    }
  }
  return {};
}

Status CheckTrusted(const std::string& path, uid_t owner) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return FailOpen(path);
  if (info.st_uid != 0 && info.st_uid != owner) {
    return Fail(ErrorCode::kPermission, Quoted(path) + " belongs to user " +
                                            std::to_string(info.st_uid) +
                                            ", not to you or root");
  }
  // With an access control list the group bits are its mask, so this covers
  // every other writer.
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Fail(ErrorCode::kPermission,
                Quoted(path) + " can be written by others (chmod go-w)");
  }
  return {};
}

std::string RealPath(const std::string& path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) == nullptr ? "" : buffer;
}

bool IsDirectory(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

DirectoryId IdOf(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return {};
  return {info.st_dev, info.st_ino};
}

Status CheckTrustedPlace(const std::string& path, uid_t owner) {
  constexpr int kMaxLinks = 40;
  struct stat root = {};
  if (stat("/", &root) != 0) return FailErrno("`/` cannot be looked at");
  const auto ours = [&](const struct stat& info) {
    return info.st_uid == 0 || info.st_uid == owner ||
           info.st_uid == root.st_uid;
  };
  std::string at;  // without the last slash; all of it is looked at
  std::string rest = path;
  if (!path.starts_with('/')) {
    std::string cwd(PATH_MAX, '\0');
    if (getcwd(cwd.data(), cwd.size()) == nullptr)
      return FailErrno("the directory this is started in is not known");
    rest = cwd.c_str() + ("/" + path);
  }
  struct stat above = root;
  for (int links = 0; !rest.empty();) {
    const size_t begin = rest.find_first_not_of('/');
    if (begin == std::string::npos) break;
    const size_t end = std::min(rest.find('/', begin), rest.size());
    const std::string name = rest.substr(begin, end - begin);
    rest.erase(0, end);
    if (name == ".") continue;
    if (name == "..") {
      at.resize(at.empty() ? 0 : at.rfind('/'));
      if (stat((at + "/").c_str(), &above) != 0) return FailErrno(Quoted(at));
      continue;
    }
    const std::string directory = at.empty() ? "/" : at;
    const bool shared = (above.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if (!ours(above))
      return Fail(ErrorCode::kPermission, "it lies in " + Quoted(directory) +
                                              ", which belongs to user " +
                                              std::to_string(above.st_uid) +
                                              ", not to you or root");
    if (shared && (above.st_mode & S_ISVTX) == 0)
      return Fail(ErrorCode::kPermission,
                  "it lies in " + Quoted(directory) +
                      ", which can be written by others (chmod go-w)");
    const std::string entry = at + "/" + name;
    struct stat info = {};
    if (lstat(entry.c_str(), &info) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return {};
      return FailErrno(Quoted(entry) + " cannot be looked at");
    }
    if (shared && !ours(info))
      return Fail(ErrorCode::kPermission,
                  Quoted(entry) +
                      ", in a directory that others can write, "
                      "belongs to user " +
                      std::to_string(info.st_uid) + ", not to you or root");
    if (S_ISLNK(info.st_mode)) {
      if (++links > kMaxLinks)
        return Fail(ErrorCode::kPermission,
                    Quoted(path) + " has too many links on its way");
      std::string target(PATH_MAX, '\0');
      const ssize_t size =
          readlink(entry.c_str(), target.data(), target.size());
      if (size <= 0) return FailErrno(Quoted(entry) + " cannot be read");
      target.resize(static_cast<size_t>(size));
      rest = target + rest;
      if (target[0] == '/') {
        at.clear();
        above = root;
      }
      continue;
    }
    at = entry;
    above = info;
  }
  return {};
}

std::optional<std::string> FollowLinks(
    const std::string& path,
    const std::function<bool(const std::string& at, const std::string& rest)>&
        step) {
  constexpr int kMaxLinks = 40;
  std::string rest = path;
  std::string at;  // without a final slash; empty for the root
  int links = 0;
  while (!rest.empty()) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string part = rest.substr(0, slash);
    rest.erase(0, std::min(slash + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      at.resize(at.empty() ? 0 : at.rfind('/'));
      continue;
    }
    const std::string next = at + "/" + part;
    char target[PATH_MAX];
    const ssize_t size = readlink(next.c_str(), target, sizeof(target));
    if (size < 0) {
      at = next;
      if (step && !step(at, rest)) break;
      continue;
    }
    if (++links > kMaxLinks) return std::nullopt;
    if (size > 0 && target[0] == '/') at.clear();
    rest = std::string(target, static_cast<size_t>(size)) + "/" + rest;
  }
  return at.empty() ? "/" : at;
}

}  // namespace gate
