#include "audit/pending.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "audit/bytes.h"
#include "audit/clock.h"
#include "audit/cut.h"

namespace gate::audit {
namespace {

constexpr std::string_view kMagic = "gate.audit.pending/1\n";
constexpr size_t kMagicBytes = 24;
// Newest, its hash, end, two files of four numbers.
constexpr size_t kHeaderBytes =
    kMagicBytes + kNumberBytes + kHashBytes + kNumberBytes + 8 * kNumberBytes;
static_assert(kHeaderBytes + kHashBytes <= kPendingStart);
// A record has fewer texts than this, each cut at kMaxText and a few words.
constexpr uint64_t kMostEntryBytes = 16 * (kMaxText + 64);
// What one reading takes: more than any writer lets the file become.
constexpr uint64_t kMostReadBytes = 64ull << 20;

Hash HashAt(std::string_view bytes, size_t at) {
  Hash hash{};
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), kHashBytes,
              hash.begin());
  return hash;
}

void PutHash(const Hash& hash, std::string* out) {
  out->append(reinterpret_cast<const char*>(hash.data()), hash.size());
}

void PutState(const FileState& state, std::string* out) {
  PutNumber(state.device, out);
  PutNumber(state.inode, out);
  PutNumber(state.size, out);
  PutNumber(state.modified_ns, out);
}

FileState StateAt(std::string_view bytes, size_t at) {
  return {NumberAt(bytes, at), NumberAt(bytes, at + kNumberBytes),
          NumberAt(bytes, at + 2 * kNumberBytes),
          NumberAt(bytes, at + 3 * kNumberBytes)};
}

// As much of [offset, offset + size) as there is.
Result<std::string> ReadAt(int fd, uint64_t offset, size_t size,
                           const std::string& path) {
  std::string out(size, '\0');
  size_t used = 0;
  while (used < size) {
    const ssize_t got = pread(fd, out.data() + used, size - used,
                              static_cast<off_t>(offset + used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailErrno("audit log " + path);
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  out.resize(used);
  return out;
}

Status WriteAt(int fd, uint64_t offset, std::string_view bytes,
               const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put =
        pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      if (put == 0 || errno == ENOSPC || errno == EDQUOT || errno == EFBIG) {
        return Fail(ErrorCode::kIo,
                    "audit log " + path + ": cannot write: the disk is full");
      }
      return FailErrno("audit log " + path + ": cannot write");
    }
    offset += static_cast<uint64_t>(put);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

Result<Fd> OpenOwn(const std::string& path, bool create) {
  constexpr int kFlags =
      O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Fd file(open(path.c_str(), kFlags));
  if (!file && errno == ENOENT && create) {
    file = Fd(open(path.c_str(), kFlags | O_CREAT, 0600));
  }
  if (!file && errno == ENOENT) {
    return Fail(ErrorCode::kNotFound, "no pending records at " + path);
  }
  if (!file && (errno == ELOOP || errno == EISDIR || errno == ENXIO)) {
    return Fail(ErrorCode::kPermission,
                "audit log " + path + ": not a regular file");
  }
  if (!file) return FailErrno("audit log " + path);
  struct stat info{};
  if (fstat(file.get(), &info) != 0) return FailErrno("audit log " + path);
  GATE_CHECK(CheckOwnFile(info, path));
  return file;
}

}  // namespace

std::string PendingPath(const std::string& state_dir) {
  return state_dir + "/audit.pending";
}

Status CheckOwnFile(const struct stat& info, const std::string& path) {
  const char* wrong = nullptr;
  if (!S_ISREG(info.st_mode)) {
    wrong = "not a regular file";
  } else if (info.st_uid != geteuid()) {
    wrong = "owned by another user";
  } else if ((info.st_mode & 077) != 0) {
    wrong = "open to others; its mode must be 0600";
  } else if (info.st_nlink > 1) {
    wrong = "has another hard link";
  }
  if (wrong == nullptr) return {};
  return Fail(ErrorCode::kPermission, "audit log " + path + ": " + wrong);
}

Result<FileState> StateOf(const std::string& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return FileState{};
    return FailErrno("audit log " + path);
  }
  return FileState{static_cast<uint64_t>(info.st_dev),
                   static_cast<uint64_t>(info.st_ino),
                   static_cast<uint64_t>(info.st_size),
                   static_cast<uint64_t>(info.st_mtim.tv_sec) * 1000000000u +
                       static_cast<uint64_t>(info.st_mtim.tv_nsec)};
}

Result<PendingFile> PendingFile::Open(const std::string& state_dir,
                                      bool create) {
  std::string path = PendingPath(state_dir);
  GATE_TRY(Fd file, OpenOwn(path, create));
  return PendingFile(std::move(file), std::move(path));
}

Status PendingFile::Lock(uint64_t deadline_us) {
  for (unsigned count = 0;;) {
    if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return {};  // no locks here
      if (MonotonicMicroseconds() >= deadline_us) {
        return Fail(ErrorCode::kTimeout,
                    "audit log " + path_ + ": another process holds the lock");
      }
      // A record takes some 20 us. The process id spreads those that were
      // woken together.
      usleep((20u << std::min(count, 6u)) +
             static_cast<unsigned>(getpid()) % 37);
      ++count;
      continue;
    }
    struct stat own{}, named{};
    if (fstat(file_.get(), &own) == 0 && lstat(path_.c_str(), &named) == 0 &&
        own.st_dev == named.st_dev && own.st_ino == named.st_ino) {
      return {};
    }
    // Somebody removed or replaced the file: records that go into this one
    // would be found by nobody.
    GATE_TRY(file_, OpenOwn(path_, true));
    if (MonotonicMicroseconds() >= deadline_us) {
      return Fail(ErrorCode::kTimeout,
                  "audit log " + path_ + ": it is being replaced");
    }
  }
}

void PendingFile::Unlock() { flock(file_.get(), LOCK_UN); }

Result<PendingHeader> PendingFile::ReadHeader() const {
  GATE_TRY(const std::string bytes,
           ReadAt(file_.get(), 0, kHeaderBytes + kHashBytes, path_));
  if (bytes.size() != kHeaderBytes + kHashBytes ||
      bytes.compare(0, kMagic.size(), kMagic) != 0 ||
      !Equal(Sha256(std::string_view(bytes).substr(0, kHeaderBytes)),
             HashAt(bytes, kHeaderBytes))) {
    return Fail(ErrorCode::kCorrupt, "audit log " + path_ + ": no header");
  }
  PendingHeader header;
  size_t at = kMagicBytes;
  header.newest = NumberAt(bytes, at);
  at += kNumberBytes;
  header.hash = HashAt(bytes, at);
  at += kHashBytes;
  header.end = NumberAt(bytes, at);
  at += kNumberBytes;
  header.database.database = StateAt(bytes, at);
  header.database.wal = StateAt(bytes, at + 4 * kNumberBytes);
  if (header.end < kPendingStart) {
    return Fail(ErrorCode::kCorrupt, "audit log " + path_ + ": no header");
  }
  return header;
}

Status PendingFile::WriteHeader(const PendingHeader& header) {
  std::string bytes(kMagic);
  bytes.resize(kMagicBytes, '\0');
  PutNumber(header.newest, &bytes);
  PutHash(header.hash, &bytes);
  PutNumber(header.end, &bytes);
  PutState(header.database.database, &bytes);
  PutState(header.database.wal, &bytes);
  PutHash(Sha256(bytes), &bytes);
  return WriteAt(file_.get(), 0, bytes, path_);
}

Status PendingFile::Append(std::string_view canonical, const Hash& hash,
                           uint64_t sequence, bool sync,
                           PendingHeader* header) {
  if (canonical.size() > kMostEntryBytes) {
    return Fail(ErrorCode::kTooLarge,
                "audit log " + path_ + ": a record is too large");
  }
  std::string entry;
  entry.reserve(kNumberBytes + canonical.size() + kHashBytes);
  PutNumber(canonical.size(), &entry);
  entry.append(canonical);
  PutHash(hash, &entry);
  GATE_CHECK(WriteAt(file_.get(), header->end, entry, path_));
  PendingHeader next = *header;
  next.newest = sequence;
  next.hash = hash;
  next.end += entry.size();
  GATE_CHECK(WriteHeader(next));
  if (sync && fdatasync(file_.get()) != 0) {
    return FailErrno("audit log " + path_ + ": cannot sync");
  }
  *header = next;
  return {};
}

Result<PendingEntries> PendingFile::ReadEntries() const {
  struct stat info{};
  if (fstat(file_.get(), &info) != 0) return FailErrno("audit log " + path_);
  const auto size = static_cast<uint64_t>(info.st_size);
  PendingEntries entries;
  if (size <= kPendingStart) return entries;
  const auto header = ReadHeader();
  const uint64_t end = header ? header->end : size;
  if (end - kPendingStart > kMostReadBytes) {
    return Fail(ErrorCode::kTooLarge,
                "audit log " + path_ + ": larger than gate writes it");
  }
  GATE_TRY(const std::string bytes,
           ReadAt(file_.get(), kPendingStart,
                  static_cast<size_t>(end - kPendingStart), path_));
  std::string_view rest = bytes;
  while (rest.size() >= kNumberBytes) {
    const uint64_t length = NumberAt(rest, 0);
    if (length > kMostEntryBytes ||
        rest.size() < kNumberBytes + length + kHashBytes) {
      break;
    }
    const std::string_view canonical = rest.substr(kNumberBytes, length);
    const Hash hash = HashAt(rest, kNumberBytes + length);
    if (!Equal(Sha256(canonical), hash)) break;
    entries.whole.push_back({std::string(canonical), hash});
    rest.remove_prefix(kNumberBytes + length + kHashBytes);
  }
  // Shorter than its header says, after a power loss: what is missing is
  // counted as damage too.
  entries.damaged = rest;
  if (bytes.size() < end - kPendingStart && rest.empty()) {
    entries.damaged.push_back('\0');
  }
  return entries;
}

Status PendingFile::Reset(const PendingHeader& header) {
  PendingHeader empty = header;
  empty.end = kPendingStart;
  GATE_CHECK(WriteHeader(empty));
  // What lies behind `end` is nothing, so a failure costs only space.
  if (ftruncate(file_.get(), static_cast<off_t>(kPendingStart)) != 0) errno = 0;
  return {};
}

}  // namespace gate::audit
