// What a Log holds. Internal to audit/.
#pragma once

#include <optional>

#include "audit/clock.h"
#include "audit/database.h"
#include "audit/log.h"
#include "audit/pending.h"

namespace gate::audit {

struct Log::Impl {
  Options options;
  Database db;  // without a handle until something needs the table
  // None where records go straight into the table: on network file systems,
  // whose locks and caches are not to be relied on.
  std::optional<PendingFile> pending;
  bool read_only = false;
  bool closed = false;
  uint64_t pending_end = kPendingStart;  // as this connection saw it last

  // Opens the database, and makes or migrates its table.
  Status Connect();
  // With the lock of `pending` held: brings every pending record into the
  // table and writes the header anew.
  Result<PendingHeader> Refresh();
  // Appends a clean record to `pending`, and fills in how it is chained.
  Status Store(Record* record);
  // Before the table is read: everything that was answered is in it.
  Status Settle();
  // kInternal after Close.
  Status CheckOpen() const;
};

// Holds the lock of a pending file until it goes.
class PendingLock {
 public:
  explicit PendingLock(PendingFile* file) : file_(file) {}
  PendingLock(const PendingLock&) = delete;
  PendingLock& operator=(const PendingLock&) = delete;
  ~PendingLock() { file_->Unlock(); }

 private:
  PendingFile* file_;
};

inline constexpr uint64_t kNanosecondsPerDay = 86400ull * 1000000000ull;
// What is older is pruned.
inline constexpr uint64_t kMaxAgeDays = 90;

}  // namespace gate::audit
