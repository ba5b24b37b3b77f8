// Files and descriptors.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace gate {

// Owns one file descriptor and closes it. -1 means none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;  // two owners would close twice
  Fd& operator=(const Fd&) = delete;
  ~Fd();

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

// Reads the whole of `path` if it is a regular file of at most `limit` bytes.
// kNotFound when absent; kPermission for a symbolic link at the last
// component when !follow; kInvalid for anything that is not a regular file
// (never blocks on a FIFO); kTooLarge beyond `limit`.
Result<std::string> ReadFile(const std::string& path, size_t limit,
                             bool follow = true);

// Reads `fd` to its end, at most `limit` bytes; kTooLarge beyond.
Result<std::string> ReadAll(int fd, size_t limit);

// Replaces `path` by `content` through a temporary file beside it, fsync and
// rename, so that a reader sees the old or the new content, never a part.
Status WriteFileAtomically(const std::string& path, std::string_view content,
                           mode_t mode);

// Creates `path` and its missing parents with `mode`. OK when it exists.
Status MakeDirectories(const std::string& path, mode_t mode);

// Writes all of `bytes` to `fd`, through short writes and EINTR.
Status WriteAll(int fd, std::string_view bytes);

// kPermission unless `path` (a file or directory) is owned by root or by
// `owner` and is writable by nobody else: the rule for files read as policy.
Status CheckTrusted(const std::string& path, uid_t owner);

// `path` without links, as the kernel finds it; empty when it is not there or
// out of reach.
std::string RealPath(const std::string& path);

// Whether `path` leads to a directory, through links too.
bool IsDirectory(const std::string& path);

// What a directory is, whatever it is called. Without an inode: not known.
struct DirectoryId {
  uint64_t device = 0, inode = 0;
  bool operator==(const DirectoryId&) const = default;
};
// The identity of the directory that `path` leads to.
DirectoryId IdOf(const std::string& path);

// Where the absolute `path` leads, by name from where nothing is there any more
// (path_resolution(7)); nothing beyond the kernel's 40 links. `step`, if any,
// is told of each place on the way that is no link, with the rest of the way
// (without a slash before it), and ends the walk there by false.
std::optional<std::string> FollowLinks(
    const std::string& path,
    const std::function<bool(const std::string& at, const std::string& rest)>&
        step = nullptr);

// kPermission unless nobody but root, `owner` and the owner of `/` can put
// something else at `path`: no directory that leads there,
// through links too, belongs to another or can be written by others. In a
// sticky directory, as /tmp is, what stands there must belong to one of them.
// Says nothing of `path` itself; ends where there is nothing any more.
Status CheckTrustedPlace(const std::string& path, uid_t owner);

}  // namespace gate
