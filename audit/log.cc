// Append is on the way of every answer, so the steps are counted: the
// directory and the two files of the database are looked at, audit.pending is
// opened, locked, read (its header) and written twice. SQLite comes in only
// when the database is not as the newest record left it, and when the log is
// read. Everything else (folding, checkpoint, prune) waits for Maintain.
#include "audit/log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "audit/chain.h"
#include "audit/cut.h"
#include "audit/fold.h"
#include "audit/log_impl.h"
#include "audit/redact.h"
#include "audit/schema.h"
#include "base/file.h"

namespace gate::audit {
namespace {

std::string DatabasePath(const std::string& state_dir) {
  return state_dir + "/audit.db";
}

// The file systems on which shared memory between hosts does not work, and a
// WAL with it (sqlite.org/wal.html).
bool IsNetworkFileSystem(const char* path) {
  struct statfs info{};
  if (statfs(path, &info) != 0) return true;
  switch (static_cast<uint32_t>(info.f_type)) {
    case 0x00006969:  // NFS
    case 0x0000517b:  // SMB
    case 0xfe534d42:  // SMB2
    case 0xff534d42:  // CIFS
    case 0x01021997:  // 9P
    case 0x65735546:  // FUSE, sshfs and virtiofs among them
    case 0x5346414f:  // AFS
    case 0x00c36400:  // Ceph
    case 0x786f4256:  // VirtualBox shared folder
    case 0x0bd00bd0:  // Lustre
    case 0x47504653:  // GPFS
    case 0x01161970:  // GFS2
    case 0x7461636f:  // OCFS2
    case 0x73757245:  // Coda
    case 0x19830326:  // BeeGFS
      return true;
    default:
      return false;
  }
}

Status CheckDirectory(const std::string& path, bool create) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return FailErrno("state directory " + path);
    if (!create) {
      return Fail(ErrorCode::kNotFound,
                  "nothing is recorded yet: no audit log in " + path);
    }
    GATE_CHECK(MakeDirectories(path, 0700));
    if (stat(path.c_str(), &info) != 0) {
      return FailErrno("state directory " + path);
    }
  }
  if (!S_ISDIR(info.st_mode)) {
    return Fail(ErrorCode::kPermission,
                "state directory " + path + ": not a directory");
  }
  if (info.st_uid != geteuid()) {
    return Fail(ErrorCode::kPermission,
                "state directory " + path + ": owned by another user");
  }
  if ((info.st_mode & 077) != 0) {
    return Fail(
        ErrorCode::kPermission,
        "state directory " + path + ": open to others; its mode must be 0700");
  }
  return {};
}

// kNotFound when there is none.
Status CheckFile(const std::string& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) {
      return Fail(ErrorCode::kNotFound, "no audit log at " + path);
    }
    return FailErrno("audit log " + path);
  }
  return CheckOwnFile(info, path);
}

Status CreateFile(const std::string& path) {
  // SQLite gives its -wal and -shm the mode of the database.
  const Fd file(open(path.c_str(),
                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file && errno != EEXIST) return FailErrno("audit log " + path);
  if (file && fchmod(file.get(), 0600) != 0) {
    return FailErrno("audit log " + path);
  }
  return CheckFile(path);
}

// The slow way: creates or migrates, one process at a time. The lock is on the
// directory, so that there is no lock file to trip over.
Status Prepare(Database* db) {
  const Fd directory(
      open(db->directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return FailErrno("state directory " + db->directory);
  for (int waited_ms = 0; flock(directory.get(), LOCK_EX | LOCK_NB) != 0;) {
    if (errno != EWOULDBLOCK && errno != EINTR) break;  // no locks here
    if (waited_ms++ >= db->busy_timeout_ms) {
      return Fail(ErrorCode::kTimeout,
                  "audit log " + db->path + ": another process is making it");
    }
    usleep(1000);
  }
  return Migrate(db, MigrationSteps(), kSchemaVersion);
}

// Takes what looks secret out of every text that came from outside, and says
// in the detail what was taken.
void Clean(Record* record) {
  std::vector<std::string> kinds;
  record->command = Redact(record->command, &kinds);
  record->reason = Redact(record->reason, &kinds);
  record->cwd = Redact(record->cwd, &kinds);
  record->agent = Redact(record->agent, &kinds);
  record->session = Redact(record->session, &kinds);
  record->detail = RedactDetail(record->detail, &kinds);
  Cut(&record->command);
  Cut(&record->reason);
  Cut(&record->cwd);
  Cut(&record->agent);
  Cut(&record->session);
  CutDetail(&record->detail);
  if (kinds.empty()) return;
  std::string list = "\"redacted\":[";
  for (size_t i = 0; i < kinds.size(); ++i) {
    list += (i == 0 ? "\"" : ",\"") + kinds[i] + "\"";
  }
  list += "]}";
  if (record->detail.empty() || record->detail == "{}") {
    record->detail = "{" + list;
  } else if (record->detail.back() == '}') {
    record->detail.back() = ',';
    record->detail += list;
  }
}

// The hash that the next record stands on: `hash` of record `newest`, and for
// the first one a random value, which names this log.
Hash PreviousOf(uint64_t newest, const Hash& hash) {
  if (newest != 0) return hash;
  Hash out{};
  const std::string random = RandomBytes(out.size());
  for (size_t i = 0; i < out.size() && i < random.size(); ++i) {
    out[i] = static_cast<unsigned char>(random[i]);
  }
  return out;
}

// Into the table, in a transaction of its own.
Status StoreInTable(Database* db, Record* record) {
  Transaction transaction(db);
  GATE_CHECK(transaction.Begin());
  GATE_CHECK(InsertRecord(db, record));
  GATE_CHECK(transaction.Commit());
  db->newest = record->sequence;
  return {};
}

}  // namespace

Log::Log(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;
Log::~Log() = default;

Result<Log> Log::Open(const std::string& state_dir, const Options& options) {
  GATE_CHECK(CheckDirectory(state_dir, true));
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  Database& db = impl->db;
  db.directory = state_dir;
  db.busy_timeout_ms = options.busy_timeout_ms;
  db.path = DatabasePath(state_dir);
  db.armed_for_first = true;
  if (auto checked = CheckFile(db.path); !checked) {
    if (checked.error().code != ErrorCode::kNotFound) {
      return std::unexpected(checked.error());
    }
    GATE_CHECK(CreateFile(db.path));
  }
  db.StartClock();
  const bool direct =
      options.rollback_journal || IsNetworkFileSystem(db.path.c_str());
  auto pending = PendingFile::Open(state_dir, !direct);
  if (pending) {
    impl->pending = std::move(*pending);
  } else if (pending.error().code != ErrorCode::kNotFound) {
    return std::unexpected(pending.error());
  }
  if (impl->pending && !direct) {
    const auto header = impl->pending->ReadHeader();
    GATE_TRY(const DatabaseState state, StateOfDatabase(db.path));
    if (header && header->database == state) return Log(std::move(impl));
  }
  // The slow way, which also says what is wrong with the database.
  GATE_CHECK(impl->Connect());
  if (direct && impl->pending) {
    // Left from when the directory was on this machine's own disk.
    GATE_CHECK(impl->Settle());
    impl->pending.reset();
  }
  return Log(std::move(impl));
}

Result<Log> Log::OpenReadOnly(const std::string& state_dir) {
  GATE_CHECK(CheckDirectory(state_dir, false));
  // Records may wait for a database that somebody removed.
  if (auto there = CheckFile(DatabasePath(state_dir));
      !there && (there.error().code != ErrorCode::kNotFound ||
                 access(PendingPath(state_dir).c_str(), F_OK) != 0)) {
    return std::unexpected(there.error());
  }
  GATE_TRY(Log log, Open(state_dir, Options{}));
  GATE_CHECK(log.impl_->Connect());
  log.impl_->read_only = true;
  return log;
}

Status Log::Impl::CheckOpen() const {
  if (!closed) return {};
  return Fail(ErrorCode::kInternal, "audit log: closed");
}

Status Log::Impl::Connect() {
  if (db.handle != nullptr) return {};
  GATE_CHECK(db.Open(db.path));
  db.wal = !options.rollback_journal && !IsNetworkFileSystem(db.path.c_str());
  GATE_TRY(const Header header, ReadHeader(&db));
  if (!header.empty && !header.database) {
    db.Close();
    return Fail(ErrorCode::kCorrupt,
                "audit log " + db.path + ": not a database");
  }
  Status ready{};
  if (header.wal != db.wal || header.version != kSchemaVersion ||
      header.application != kApplicationId) {
    ready = Prepare(&db);
  }
  if (ready) {
    ready = db.Execute(options.full_durability ? "PRAGMA synchronous=FULL"
                                               : "PRAGMA synchronous=NORMAL");
  }
  if (!ready) db.Close();
  return ready;
}

Result<PendingHeader> Log::Impl::Refresh() {
  GATE_CHECK(Connect());
  GATE_TRY(PendingHeader header, Fold(&db, &*pending));
  pending_end = header.end;
  return header;
}

Status Log::Impl::Settle() {
  GATE_CHECK(CheckOpen());
  db.Arm();
  if (pending) {
    GATE_CHECK(pending->Lock(db.deadline_us));
    const PendingLock lock(&*pending);
    const auto header = pending->ReadHeader();
    if (!header || header->end != kPendingStart) {
      GATE_TRY(const PendingHeader settled, Refresh());
      pending_end = settled.end;
    }
  }
  return Connect();
}

void Log::Close() {
  if (impl_ == nullptr) return;
  impl_->db.Close();
  impl_->pending.reset();
  impl_->closed = true;
}

Result<Newest> ReadNewest(Database* db) {
  GATE_TRY(Statement head,
           db->Prepare("SELECT seq,hash FROM log ORDER BY seq DESC LIMIT 1"));
  const int code = head.Step();
  if (code == SQLITE_DONE) return Newest{};
  if (code != SQLITE_ROW) return db->Failed(code, "read the newest record");
  Newest newest;
  newest.sequence = head.Number(0);
  if (!head.ReadHash(1, &newest.hash)) {
    return Fail(ErrorCode::kCorrupt,
                "audit log " + db->path + ": the newest record has no hash");
  }
  return newest;
}

Status InsertRecord(Database* db, Record* record) {
  GATE_CHECK(CheckTable(db));
  GATE_TRY(const Newest newest, ReadNewest(db));
  const uint64_t sequence = newest.sequence + 1;
  const Hash previous = PreviousOf(newest.sequence, newest.hash);
  const Hash hash = ChainHash(*record, sequence, previous);
  GATE_CHECK(InsertRow(db, *record, sequence, previous, hash));
  record->sequence = sequence;
  record->previous = Hex(previous);
  record->hash = Hex(hash);
  return {};
}

Status InsertRow(Database* db, const Record& record, uint64_t sequence,
                 const Hash& previous, const Hash& hash) {
  GATE_TRY(Statement row,
           db->Prepare("INSERT INTO log VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
                       "?,?,?,?,?,?,?)"));
  row.Bind(1, sequence);
  row.Bind(2, uint64_t{kRecordVersion});
  row.Bind(3, Name(record.kind));
  row.Bind(4, record.id);
  row.Bind(5, record.parent);
  row.Bind(6, record.time_ns);
  row.Bind(7, record.agent);
  row.Bind(8, record.session);
  row.Bind(9, record.mode);
  row.Bind(10, uint64_t{record.enforced});
  row.Bind(11, record.command);
  row.Bind(12, record.cwd);
  row.Bind(13, record.action);
  row.Bind(14, record.reason);
  row.Bind(15, record.rule_id);
  row.Bind(16, record.policy_revision);
  row.Bind(17, record.backend);
  row.Bind(18, record.status);
  row.Bind(19, static_cast<uint64_t>(static_cast<int64_t>(record.exit_code)));
  row.Bind(20, record.duration_ms);
  row.Bind(21, record.detail);
  row.Bind(22, previous);
  row.Bind(23, hash);
  const int code = row.Step();
  if (code != SQLITE_DONE) return db->Failed(code, "write the record");
  if (sqlite3_changes64(db->handle) != 1) {
    return Fail(ErrorCode::kCorrupt,
                "audit log " + db->path + ": the record was not taken");
  }
  return {};
}

Status Log::Append(Record* record) {
  Impl& impl = *impl_;
  GATE_CHECK(impl.CheckOpen());
  if (impl.read_only) {
    return Fail(ErrorCode::kPermission, "audit log: opened for reading");
  }
  if (record->id.empty()) record->id = NewUuid(record->time_ns / 1000000u);
  Clean(record);
  impl.db.Arm();
  const Status stored =
      impl.pending ? impl.Store(record) : StoreInTable(&impl.db, record);
  if (!stored) {
    record->sequence = 0;
    record->previous.clear();
    record->hash.clear();
  }
  return stored;
}

Status Log::Impl::Store(Record* record) {
  GATE_CHECK(pending->Lock(db.deadline_us));
  const PendingLock lock(&*pending);
  GATE_TRY(const DatabaseState state, StateOfDatabase(db.path));
  auto header = pending->ReadHeader();
  if (!header || header->database != state || header->end > kPendingMostBytes) {
    header = Refresh();
    if (!header) return std::unexpected(header.error());
  }
  const uint64_t sequence = header->newest + 1;
  const Hash previous = PreviousOf(header->newest, header->hash);
  const std::string bytes = CanonicalBytes(*record, sequence, previous);
  const Hash hash = Sha256(bytes);
  GATE_CHECK(pending->Append(bytes, hash, sequence, options.full_durability,
                             &*header));
  pending_end = header->end;
  record->sequence = sequence;
  record->previous = Hex(previous);
  record->hash = Hex(hash);
  return {};
}

}  // namespace gate::audit
