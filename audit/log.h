// The decision log: append, query, verify, prune. SQLite is seen only here.
//
// Promises (docs/audit-format.md): when Append returned, the record survives
// SIGKILL of any gate process. Records are never updated. Edits are found by
// Verify; a cut tail only against an anchor, and Verify says so. A connection
// is never carried across fork: Close() before anything forks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "audit/record.h"
#include "base/result.h"

namespace gate::audit {

struct Options {
  int busy_timeout_ms = 5000;
  bool full_durability = false;  // survive power loss as the disk honours sync
  // As on a network file system, where a WAL does not work: slower, and chosen
  // by Open itself there.
  bool rollback_journal = false;
};

struct Filter {
  uint64_t since_ns = 0;
  uint64_t until_ns = UINT64_MAX;
  // Members have initialisers so that a designated one can stand alone.
  std::vector<std::string> actions{};  // any of
  std::string agent{}, session{}, rule_id{}, backend{}, mode{};
  std::string cwd_prefix{};   // this directory and below
  std::string text{};         // substring of the command
  std::vector<Kind> kinds{};  // any of
  bool newest_first = true;
  uint64_t limit = 50;
};

enum class VerifyStatus : uint8_t {
  kOk,
  kEdited,
  kMissing,
  kReordered,
  kTruncated,
  kWrongFile,
  kUnreadable
};
const char* Name(VerifyStatus finding);

struct VerifyReport {
  VerifyStatus finding = VerifyStatus::kUnreadable;
  uint64_t sequence = 0;  // first bad record
  uint64_t records = 0;   // how many were checked
  // The anchor is a record of the log, and vouches for where the log starts.
  bool anchored = false;
  uint64_t first = 0;           // the first record that is there
  uint64_t pruned_through = 0;  // what is gone before it, as a checkpoint says
  std::string pruned;           // the same for a person: when, and why
  std::string head;             // hex hash of the newest record
  std::string anchor;           // LOG:SEQUENCE:HASH of it, to be kept elsewhere
  std::string message;
};

struct Stats {
  uint64_t records = 0;
  uint64_t first_ns = 0, last_ns = 0;
  uint64_t bytes = 0;
  std::vector<std::pair<std::string, uint64_t>> rows;  // by the asked column
};

class Log {
 public:
  // Opens or creates `<state_dir>/audit.db` (directory 0700, file 0600, owner
  // checked). Migrates an older schema; kInvalid for a newer one. kPermission,
  // kCorrupt, kIo as it is. Milliseconds on first use, ~0.2 ms later.
  static Result<Log> Open(const std::string& state_dir, const Options& options);

  // Opens an existing log for queries only.
  static Result<Log> OpenReadOnly(const std::string& state_dir);

  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;
  ~Log();

  // Redacts, chains and commits `record` in one transaction; fills its
  // sequence, previous and hash. kTimeout when the database stays locked,
  // kIo when the disk is full. On failure nothing was stored.
  Status Append(Record* record);

  // To be called after the answer is out: truncates a WAL above 128 KiB, and
  // now and then prunes beyond 256 MB or 90 days. Skips what is busy.
  void Maintain(uint64_t now_ns);
  // Whether Maintain has work after this connection's newest record: about one
  // record in 20. Maintain then takes two to four fsyncs, so that a caller
  // whose client waits for its exit does better to do it in a child that opens
  // the log anew. Costs nothing.
  bool MaintenanceDue() const;

  Result<std::vector<Record>> Query(const Filter& filter) const;
  // By id, by sequence number, or "last".
  Result<Record> Find(const std::string& reference) const;
  Result<std::vector<Record>> Children(const std::string& id) const;
  // Counts by action, rule, agent, backend, mode or status.
  Result<Stats> Count(const std::string& by, const Filter& filter) const;
  // Re-hashes every record; compares with `anchor` when given: a hex hash, or
  // the `anchor` of an earlier Verdict. kInvalid when it is neither. An anchor
  // whose record was pruned proves nothing, and one that is there nothing when
  // records were removed after it was made that age does not account for.
  Result<VerifyReport> Verify(const std::string& anchor) const;
  // The anchor of the newest record, without reading the whole log; empty for
  // an empty log.
  Result<std::string> Head() const;
  // Removes records older than `before_ns` (a checkpoint record says what was
  // removed). Returns how many.
  Result<uint64_t> Prune(uint64_t before_ns, const std::string& reason);

  void Close();

 private:
  struct Impl;
  explicit Log(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// `command` with what looks like secrets replaced by [redacted:KIND]; appends
// the kinds found to `kinds` when given. Linear.
std::string Redact(std::string_view command, std::vector<std::string>* kinds);

}  // namespace gate::audit
