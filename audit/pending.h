// audit.pending: the newest records, chained and stored, not yet in the table.
// Internal to audit/.
//
// Opening a database, replaying its WAL and parsing its schema takes a process
// that writes one record longer than its decision. So a record is appended to
// this file, and the records are folded into audit.db by groups and before
// anything reads the log (fold.cc).
//
// The file (mode 0600) is a header and entries, written under an exclusive
// flock. Numbers are 8 bytes, most significant first:
//
//     0  "gate.audit.pending/1\n", filled with zeros to 24 bytes
//    24  number of the newest record, its hash (32 bytes), the offset behind
//        the last committed entry
//    72  device, inode, size and time of change in nanoseconds of audit.db,
//        then of audit.db-wal, as the newest record left them
//   136  SHA-256 of the 136 bytes before
//   256  entries: length of the bytes, the canonical bytes that are hashed for
//        the chain (docs/audit-format.md), their SHA-256
//
// The header is written after the entry, by one write within one page, so that
// a killed writer leaves either the record or no trace of it. What lies beyond
// the committed end was never acknowledged. Where audit.db or its WAL is not as
// the header says, the database is opened and compared before the next record
// is stored:
//
// - a record that the table has already is passed over;
// - records that do not stand on the table's newest follow it with new numbers,
//   after a note with mode chained_again;
// - of entries that do not hash to what they say, or a file shorter than its
//   header says, a note with mode damaged names the file with what could not be
//   read; with a damaged header every whole entry is taken;
// - beside a table that is not gate's nothing is stored.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/record.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"

namespace gate::audit {

// kPermission unless `info`, of `path`, is a regular file that is the caller's
// alone: its owner, mode 0600, one name.
Status CheckOwnFile(const struct stat& info, const std::string& path);

// What a file was when it was looked at last. All zero when it is not there.
struct FileState {
  uint64_t device = 0, inode = 0, size = 0, modified_ns = 0;
  bool operator==(const FileState&) const = default;
};
// kIo and the like when `path` cannot be looked at; links are not followed.
Result<FileState> StateOf(const std::string& path);

// Whether an entry may follow without a look into the database: what is in it
// has not changed since `newest` was its newest record.
struct DatabaseState {
  FileState database, wal;
  bool operator==(const DatabaseState&) const = default;
};

struct PendingHeader {
  uint64_t newest = 0;  // sequence number of the newest record; 0: none
  Hash hash{};          // its hash
  uint64_t end = 0;     // offset behind the last committed entry
  DatabaseState database;
};

// A committed entry. `bytes` are the canonical bytes.
struct PendingEntry {
  std::string bytes;
  Hash hash{};
};

struct PendingEntries {
  std::vector<PendingEntry> whole;
  // Bytes of the committed part that are no entry (a damaged file), from the
  // first one that is not.
  std::string damaged;
};

// The open file. One thread at a time; writers exclude each other by Lock.
class PendingFile {
 public:
  // Opens `<state_dir>/audit.pending`, making it when `create`. kNotFound when
  // it is not there, kPermission when it is not the caller's alone (owner,
  // mode 0600, one name, a regular file).
  static Result<PendingFile> Open(const std::string& state_dir, bool create);

  // The exclusive lock on the file that has the name now, waiting until
  // `deadline_us` of CLOCK_MONOTONIC: kTimeout after it. Where the file system
  // has no locks, there is none.
  Status Lock(uint64_t deadline_us);
  void Unlock();

  // kCorrupt when there is no valid header. A file of no bytes has none.
  Result<PendingHeader> ReadHeader() const;

  // Writes `entry` at `header->end` and then the header that commits it.
  // `sync`: both are on disk before this returns. On failure (kIo: the disk is
  // full) nothing is committed and `header` is unchanged.
  Status Append(std::string_view canonical, const Hash& hash, uint64_t sequence,
                bool sync, PendingHeader* header);

  // What is committed. Without a valid header all that can be read.
  Result<PendingEntries> ReadEntries() const;

  // Forgets all entries, which the database has now.
  Status Reset(const PendingHeader& header);

 private:
  PendingFile(Fd file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  Status WriteHeader(const PendingHeader& header);

  Fd file_;
  std::string path_;
};

// Where the first entry stands, and what an empty file's `end` is.
inline constexpr uint64_t kPendingStart = 256;
// Larger files are folded after the answer…
inline constexpr uint64_t kPendingDueBytes = 128 * 1024;
// …and before it, when nobody did.
inline constexpr uint64_t kPendingMostBytes = 1024 * 1024;

std::string PendingPath(const std::string& state_dir);

}  // namespace gate::audit
