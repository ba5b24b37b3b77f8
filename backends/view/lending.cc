#include "backends/lending.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate::backends {
namespace {

// Directories of killed runs that one run looks at.
constexpr size_t kMaxSwept = 64;
constexpr int kMaxAttempts = 4;

void Remove(const std::string& path) {
  std::error_code ignored;  // does not follow links
  std::filesystem::remove_all(path, ignored);
}

// Whoever still uses copies holds the lock of their directory.
Fd Lock(const std::string& directory) {
  Fd fd(
      open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

std::vector<std::string> EntriesOf(int directory) {
  std::vector<std::string> names;
  const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(
      copy < 0 ? nullptr : fdopendir(copy), closedir);
  if (entries == nullptr) {
    if (copy >= 0) close(copy);
    return names;
  }
  while (const dirent* entry = readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    if (names.size() > kMaxLentFiles) break;
  }
  std::ranges::sort(names);
  return names;
}

void SweepKilled(const std::string& root) {
  const Fd directory(
      open(root.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) return;
  size_t seen = 0;
  for (const std::string& name : EntriesOf(directory.get())) {
    if (++seen > kMaxSwept) return;
    const std::string path = root + "/" + name;
    if (const Fd lock = Lock(path)) Remove(path);
  }
}

class Copier {
 public:
  // `lent`: everything the profile lends, of which some lies below `one`.
  Copier(const Lent& one, const std::vector<Lent>& lent)
      : one_(one), lent_(lent) {}

  Status Run(const std::string& to) {
    if (mkdir(to.c_str(), 0700) != 0)
      return FailErrno("cannot make `" + to + "`");
    GATE_CHECK(MakePlaces(to));
    if (one_.source.empty()) return {};
    Fd from(open(one_.source.c_str(),
                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!from) return {};  // the program begins with an empty one
    waiting_.push_back({std::move(from), to, one_.path, 0});
    while (!waiting_.empty() && files_ < kMaxLentFiles) {
      Directory next = std::move(waiting_.front());
      waiting_.pop_front();
      CopyDirectory(next);
    }
    return {};
  }

 private:
  struct Directory {
    Fd fd;
    std::string to, path;  // of the copy; as the program names it
    int depth = 0;
  };

  bool IsLentItself(const std::string& path) const {
    return path != one_.path &&
           std::ranges::any_of(
               lent_, [&](const Lent& other) { return other.path == path; });
  }

  // For what is mounted in the copy.
  Status MakePlaces(const std::string& to) {
    for (const Lent& other : lent_) {
      if (other.path == one_.path || !IsWithin(other.path, one_.path)) continue;
      const std::string place = to + other.path.substr(one_.path.size());
      struct stat info = {};
      const bool directory =
          other.copy ||
          (stat(other.source.c_str(), &info) == 0 && S_ISDIR(info.st_mode));
      GATE_CHECK(MakeDirectories(
          directory ? place : std::string(DirName(place)), 0700));
      if (directory) continue;
      const Fd file(open(place.c_str(),
                         O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
      if (!file) return FailErrno("cannot make `" + place + "`");
    }
    return {};
  }

  void CopyDirectory(const Directory& from) {
    for (const std::string& name : EntriesOf(from.fd.get())) {
      if (++files_ > kMaxLentFiles) return;
      const std::string path = from.path + "/" + name;
      if (IsLentItself(path)) continue;
      // What is neither a file nor a directory must not be waited for.
      Fd fd(openat(from.fd.get(), name.c_str(),
                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
      struct stat info = {};
      if (!fd || fstat(fd.get(), &info) != 0) continue;
      const std::string to = from.to + "/" + name;
      if (S_ISDIR(info.st_mode)) {
        if (from.depth + 1 < kMaxLentDepth &&
            (mkdir(to.c_str(), 0700) == 0 || errno == EEXIST))
          waiting_.push_back({std::move(fd), to, path, from.depth + 1});
      } else if (S_ISREG(info.st_mode)) {
        CopyFile(fd.get(), static_cast<size_t>(info.st_size), to);
      }
    }
  }

  void CopyFile(int from, size_t size, const std::string& to) {
    if (size > kMaxLentFileBytes || size > kMaxLentBytes - bytes_) return;
    const Result<std::string> content = ReadAll(from, kMaxLentFileBytes);
    if (!content || content->size() > kMaxLentBytes - bytes_) return;
    bytes_ += content->size();
    const Fd file(open(to.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       0600));
    // Half a file would be worse than none.
    if (file && !WriteAll(file.get(), *content)) unlink(to.c_str());
  }

  const Lent& one_;
  const std::vector<Lent>& lent_;
  std::deque<Directory> waiting_;
  size_t files_ = 0, bytes_ = 0;
};

}  // namespace

LentCopies::LentCopies(LentCopies&& other) noexcept
    : path_(std::exchange(other.path_, "")), lock_(std::move(other.lock_)) {}

LentCopies::~LentCopies() {
  if (!path_.empty()) Remove(path_);
}

Result<LentCopies> StageCopies(Profile* profile) {
  LentCopies copies;
  if (std::ranges::none_of(profile->lend, &Lent::copy)) return copies;
  if (profile->state_dir.empty())
    return Fail(ErrorCode::kInvalid, "there is no place for private copies");
  const std::string root = profile->state_dir + "/lent";
  GATE_CHECK(MakeDirectories(root, 0700));
  SweepKilled(root);
  const std::string real = RealPath(root);
  if (real.empty()) return FailErrno("cannot resolve `" + root + "`");
  // Another run that sweeps may hold a new one for a moment, and takes it away.
  for (int attempt = 0; attempt < kMaxAttempts && !copies.lock_; ++attempt) {
    copies.path_ = real + "/" + Hex(RandomBytes(16));
    if (mkdir(copies.path_.c_str(), 0700) != 0)
      return FailErrno("cannot make `" + copies.path_ + "`");
    copies.lock_ = Lock(copies.path_);
  }
  const std::string& path = copies.path_;
  if (!copies.lock_) return Fail(ErrorCode::kIo, "cannot lock `" + path + "`");
  size_t number = 0;
  for (Lent& lent : profile->lend) {
    if (!lent.copy) continue;
    const std::string to = path + "/" + std::to_string(++number);
    GATE_CHECK(Copier(lent, profile->lend).Run(to));
    lent.staged = to;
  }
  return copies;
}

}  // namespace gate::backends
