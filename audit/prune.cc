// What happens to the log besides appending: truncating the WAL, and removing
// what is too old or too much. A prune removes a prefix of the log and leaves
// a checkpoint record that says so, in one transaction; Verify starts there.
#include <algorithm>

#include "audit/chain.h"
#include "audit/log_impl.h"
#include "audit/schema.h"
#include "base/json.h"

namespace gate::audit {
namespace {

constexpr uint32_t kMaxWalBytes = 128 * 1024;
constexpr uint32_t kWalFrameOverhead = 24;
constexpr uint32_t kPageBytes = 4096;
constexpr uint64_t kMaxDatabaseBytes = 256ull << 20;
// Age is looked at with a day's slack, so that old logs lose a day's records
// at a time and not one record at every checkpoint.
constexpr uint64_t kAgeSlackDays = 1;
// Records removed in one transaction: what other writers wait for, about
// 20 ms.
constexpr uint64_t kChunk = 4096;
// With a rollback journal there is no WAL to tell when maintenance is due.
constexpr uint64_t kRollbackInterval = 256;

// Copies the WAL into the database and empties it. The copying is done first
// without the writers' lock (PASSIVE), so that the part that holds it is short.
bool TruncateWal(Database* db) {
  int left = 0;
  int copied = 0;
  if (sqlite3_wal_checkpoint_v2(db->handle, nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                &left, &copied) != SQLITE_OK) {
    return false;
  }
  if (sqlite3_wal_checkpoint_v2(db->handle, nullptr, SQLITE_CHECKPOINT_TRUNCATE,
                                nullptr, nullptr) != SQLITE_OK) {
    return false;
  }
  // The first commit into an empty WAL syncs its header; better here than in
  // the next record.
  const std::string touch =
      "PRAGMA user_version=" + std::to_string(kSchemaVersion);
  return db->Execute(touch.c_str()).has_value();
}

struct First {
  uint64_t sequence = 0;  // 0: the log is empty
  std::string previous;   // hex
};

Result<First> ReadFirst(Database* db) {
  GATE_TRY(Statement row,
           db->Prepare("SELECT seq,prev FROM log ORDER BY seq LIMIT 1"));
  const int code = row.Step();
  if (code == SQLITE_DONE) return First{};
  if (code != SQLITE_ROW) return db->Failed(code, "read the first record");
  Hash previous{};
  row.ReadHash(1, &previous);
  return First{row.Number(0), Hex(previous)};
}

// The name of the log: from its first record, or from a checkpoint when that
// one is gone.
Result<std::string> LogName(Database* db, const First& first) {
  if (first.sequence == 1) return first.previous.substr(0, 16);
  GATE_TRY(Statement row,
           db->Prepare("SELECT detail FROM log WHERE kind='checkpoint' "
                       "ORDER BY seq DESC LIMIT 1"));
  if (row.Step() != SQLITE_ROW) return std::string();
  const auto detail = ParseJson(row.Text(0));
  if (!detail || !detail->is_object() || !detail->contains("log") ||
      !(*detail)["log"].is_string()) {
    return std::string();
  }
  return (*detail)["log"].get<std::string>();
}

// Removes the records up to `through`, at most kChunk of them. Returns how
// many went.
Result<uint64_t> PruneChunk(Database* db, uint64_t through,
                            const std::string& reason) {
  Transaction transaction(db);
  GATE_CHECK(transaction.Begin());
  GATE_TRY(const First first, ReadFirst(db));
  if (first.sequence == 0 || through < first.sequence) return uint64_t{0};
  GATE_TRY(const uint64_t newest, db->Number("SELECT max(seq) FROM log"));
  through = std::min({through, newest, first.sequence + kChunk - 1});

  Json actions = Json::object();
  {
    GATE_TRY(Statement rows,
             db->Prepare("SELECT action,count(*) FROM log WHERE seq<=? AND "
                         "kind='decision' GROUP BY action"));
    rows.Bind(1, through);
    int code = 0;
    while ((code = rows.Step()) == SQLITE_ROW) {
      actions[rows.Text(0)] = rows.Number(1);
    }
    if (code != SQLITE_DONE) return db->Failed(code, "count records");
  }
  GATE_TRY(Statement last, db->Prepare("SELECT hash FROM log WHERE seq=?"));
  last.Bind(1, through);
  Hash hash{};
  if (last.Step() != SQLITE_ROW || !last.ReadHash(0, &hash)) {
    return Fail(ErrorCode::kCorrupt, "audit log " + db->path + ": record " +
                                         std::to_string(through) +
                                         " is missing; not pruned");
  }
  last = Statement();
  GATE_TRY(const std::string log, LogName(db, first));

  const uint64_t removed = through - first.sequence + 1;
  Record checkpoint;
  checkpoint.kind = Kind::kCheckpoint;
  checkpoint.time_ns = NowNanoseconds();
  checkpoint.id = NewUuid(checkpoint.time_ns / 1000000u);
  checkpoint.reason = reason;
  Json detail = Json::object();
  detail["through"] = through;
  detail["hash"] = Hex(hash);
  detail["log"] = log;
  detail["removed"] = removed;
  detail["actions"] = std::move(actions);
  checkpoint.detail = Dump(detail);
  GATE_CHECK(InsertRecord(db, &checkpoint));

  {
    // The trigger that refuses this to others does not run here.
    GATE_TRY(Statement gone, db->Prepare("DELETE FROM log WHERE seq<=?"));
    gone.Bind(1, through);
    const int code = gone.Step();
    if (code != SQLITE_DONE) return db->Failed(code, "remove records");
  }
  GATE_CHECK(transaction.Commit());
  return removed;
}

// A prefix: up to the first record that is not old enough, whatever the clock
// did before it.
Result<uint64_t> PruneOld(Database* db, uint64_t before_ns,
                          const std::string& reason) {
  uint64_t through = 0;
  {
    GATE_TRY(Statement kept,
             db->Prepare("SELECT seq FROM log WHERE time_ns>=? ORDER BY seq "
                         "LIMIT 1"));
    kept.Bind(1, std::min<uint64_t>(before_ns, INT64_MAX));
    const int code = kept.Step();
    if (code == SQLITE_ROW) {
      through = kept.Number(0) - 1;
    } else if (code == SQLITE_DONE) {
      GATE_TRY(through, db->Number("SELECT max(seq) FROM log"));
    } else {
      return db->Failed(code, "read");
    }
  }
  return PruneChunk(db, through, reason);
}

}  // namespace

bool Log::MaintenanceDue() const {
  const Database& db = impl_->db;
  if (impl_->pending_end - kPendingStart > kPendingDueBytes) return true;
  if (!db.wal) return db.newest != 0 && db.newest % kRollbackInterval == 0;
  return db.wal_pages > kMaxWalBytes / (kPageBytes + kWalFrameOverhead);
}

namespace {

// Whether there is work for Maintain, in a process that has not appended.
bool IsLarge(Database* db, const PendingHeader* header) {
  if (header != nullptr && header->end - kPendingStart > kPendingDueBytes) {
    return true;
  }
  const auto wal = StateOf(db->path + "-wal");
  return !wal || wal->size > kMaxWalBytes;
}

// Truncates the WAL and prunes a first part of what is too old or too much.
void Shrink(Database* db, uint64_t now_ns) {
  if (db->wal && !TruncateWal(db)) return;
  const auto pages = db->Number("PRAGMA page_count");
  const auto unused = db->Number("PRAGMA freelist_count");
  const auto oldest =
      db->Number("SELECT time_ns FROM log ORDER BY seq LIMIT 1");
  if (!pages || !unused || !oldest) return;
  const uint64_t bytes = (*pages - *unused) * kPageBytes;
  const uint64_t age = now_ns > *oldest ? now_ns - *oldest : 0;
  // A failure leaves the log longer than it should be: nothing is lost.
  if (bytes > kMaxDatabaseBytes) {
    (void)PruneChunk(db, UINT64_MAX, "size above 256 MB");
  } else if (*oldest != 0 &&
             age > (kMaxAgeDays + kAgeSlackDays) * kNanosecondsPerDay) {
    (void)PruneOld(db, now_ns - kMaxAgeDays * kNanosecondsPerDay,
                   "older than 90 days");
  } else {
    return;
  }
  if (db->wal) TruncateWal(db);
}

}  // namespace

void Log::Maintain(uint64_t now_ns) {
  Impl& impl = *impl_;
  Database& db = impl.db;
  if (impl.closed || impl.read_only) return;
  const int timeout = std::exchange(db.busy_timeout_ms, 0);
  db.armed_for_first = false;
  db.Arm();
  if (!impl.pending) {
    if (MaintenanceDue()) Shrink(&db, now_ns);
  } else if (impl.pending->Lock(db.deadline_us)) {
    const PendingLock lock(&*impl.pending);
    const auto header = impl.pending->ReadHeader();
    if (IsLarge(&db, header ? &*header : nullptr) && impl.Refresh()) {
      Shrink(&db, now_ns);
      // The header says what the database is now. Where this fails, the next
      // record finds out for itself.
      (void)impl.Refresh();
    }
  }
  db.busy_timeout_ms = timeout;
}

Result<uint64_t> Log::Prune(uint64_t before_ns, const std::string& reason) {
  Impl& impl = *impl_;
  if (impl.read_only) {
    return Fail(ErrorCode::kPermission, "audit log: opened for reading");
  }
  uint64_t removed = 0;
  while (true) {
    GATE_CHECK(impl.CheckOpen());
    impl.db.Arm();
    // Let go between two chunks: a writer waits for one of them at most.
    std::optional<PendingLock> lock;
    if (impl.pending) {
      GATE_CHECK(impl.pending->Lock(impl.db.deadline_us));
      lock.emplace(&*impl.pending);
      if (auto done = impl.Refresh(); !done)
        return std::unexpected(done.error());
    } else {
      GATE_CHECK(impl.Connect());
    }
    GATE_TRY(const uint64_t chunk, PruneOld(&impl.db, before_ns, reason));
    removed += chunk;
    if (impl.db.wal) TruncateWal(&impl.db);
    if (impl.pending) {
      if (auto done = impl.Refresh(); !done)
        return std::unexpected(done.error());
    }
    if (chunk < kChunk) return removed;
  }
}

Result<std::string> Log::Head() const {
  GATE_CHECK(impl_->Settle());
  Database& db = impl_->db;
  GATE_TRY(const Newest newest, ReadNewest(&db));
  if (newest.sequence == 0) return std::string();
  Anchor anchor;
  anchor.sequence = newest.sequence;
  anchor.hash = Hex(newest.hash);
  GATE_TRY(const First first, ReadFirst(&db));
  GATE_TRY(anchor.log, LogName(&db, first));
  return Format(anchor);
}

}  // namespace gate::audit
