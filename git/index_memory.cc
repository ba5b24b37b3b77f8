#include "git/index_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <vector>

#include "base/file.h"

namespace gate {
namespace {

constexpr size_t kRemembered = 32;

// As it stands in the file, of this machine's byte order.
struct Seen {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified_s = 0, modified_ns = 0, changed_s = 0, changed_ns = 0;
  uint64_t hash = 0;

  bool operator==(const Seen&) const = default;
  bool IsSameFile(const Seen& other) const {
    return device == other.device && inode == other.inode;
  }
};

Seen SeenOf(const struct stat& info, GitHash hash) {
  return {info.st_dev,
          info.st_ino,
          static_cast<uint64_t>(info.st_size),
          info.st_mtim.tv_sec,
          info.st_mtim.tv_nsec,
          info.st_ctim.tv_sec,
          info.st_ctim.tv_nsec,
          static_cast<uint64_t>(hash)};
}

std::vector<Seen> Load(const std::string& memory) {
  const auto text =
      ReadFile(memory, kRemembered * sizeof(Seen), /*follow=*/false);
  if (!text || text->size() % sizeof(Seen) != 0) return {};
  std::vector<Seen> all(text->size() / sizeof(Seen));
  if (!all.empty()) std::memcpy(all.data(), text->data(), text->size());
  return all;
}

void Store(const std::string& memory, std::vector<Seen> all, const Seen& seen) {
  std::erase_if(all, [&](const Seen& other) { return seen.IsSameFile(other); });
  all.insert(all.begin(), seen);
  if (all.size() > kRemembered) all.resize(kRemembered);
  // Not worth more than the next reading of the index.
  (void)WriteFileAtomically(
      memory,
      {reinterpret_cast<const char*>(all.data()), all.size() * sizeof(Seen)},
      0600);
}

// File systems of this machine's kernel alone: on others somebody else can
// change a file.
bool KeepsTimes(int file) {
  struct statfs info = {};
  if (::fstatfs(file, &info) != 0) return false;
  constexpr std::array<uint32_t, 5> kLocal = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,
                                              BTRFS_SUPER_MAGIC,
                                              F2FS_SUPER_MAGIC, TMPFS_MAGIC};
  return std::ranges::find(kLocal, static_cast<uint32_t>(info.f_type)) !=
         kLocal.end();
}

// Whether nobody writes `file`: a read lease is given only then (fcntl(2),
// F_SETLEASE), to the owner or root. It is given back at once. Whoever opens
// the file for writing in between waits for that, and gate is told by SIGIO.
bool NobodyWrites(int file) {
  struct sigaction ignored = {}, before = {};
  ignored.sa_handler = SIG_IGN;
  if (::sigaction(SIGIO, &ignored, &before) != 0) return false;
  const bool leased = ::fcntl(file, F_SETLEASE, F_RDLCK) == 0;
  const bool nobody = leased && ::fcntl(file, F_SETLEASE, F_UNLCK) == 0;
  ::sigaction(SIGIO, &before, nullptr);
  return nobody;
}

bool IsSettled(const struct stat& info, uint64_t now_ms) {
  if (now_ms < kSettledMs) return false;
  const auto last = static_cast<int64_t>((now_ms - kSettledMs) / 1000);
  return info.st_ctim.tv_sec < last && info.st_mtim.tv_sec < last;
}

}  // namespace

Gitlinks FindGitlinksRemembered(const std::string& path, GitHash hash,
                                const std::string& worktree,
                                const std::string& memory, uint64_t now_ms) {
  struct stat info = {};
  const auto find = [&] { return FindGitlinks(path, hash, worktree); };
  if (memory.empty() || ::stat(path.c_str(), &info) != 0 ||
      !S_ISREG(info.st_mode) || static_cast<size_t>(info.st_size) < kSmallIndex)
    return find();
  const Seen seen = SeenOf(info, hash);
  std::vector<Seen> all = Load(memory);
  if (std::ranges::find(all, seen) != all.end()) return Gitlinks::kNone;

  const Fd file(
      ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  // Before it is read: who opens it for writing after this gives it new times.
  const bool lasts = file && IsSettled(info, now_ms) &&
                     KeepsTimes(file.get()) && NobodyWrites(file.get());
  // Of this very file, whatever the name leads to meanwhile.
  std::string shared;
  const auto text = lasts ? ReadAll(file.get(), kMaxGitIndexBytes)
                          : Result<std::string>(Fail(ErrorCode::kIo, ""));
  if (!text || GitlinksIn(*text, hash, &shared) != Gitlinks::kNone ||
      !shared.empty())
    return find();
  struct stat opened = {}, named = {};
  if (::fstat(file.get(), &opened) != 0 || SeenOf(opened, hash) != seen ||
      ::stat(path.c_str(), &named) != 0 || SeenOf(named, hash) != seen)
    return find();
  Store(memory, std::move(all), seen);
  return Gitlinks::kNone;
}

}  // namespace gate
