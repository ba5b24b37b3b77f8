#include "audit/database.h"

#include <unistd.h>

#include <algorithm>

#include "audit/clock.h"

namespace gate::audit {
namespace {

// SQLite's own handler sleeps up to 100 ms at a time; a record takes 0.1 ms,
// so short naps keep the tail of many writers short. The process id spreads
// writers that were woken together.
int OnBusy(void* self, int count) {
  const auto* db = static_cast<const Database*>(self);
  if (MonotonicMicroseconds() >= db->deadline_us) return 0;
  const unsigned nap = 50u << std::min(count, 6);
  usleep(nap + static_cast<unsigned>(getpid()) % 97);
  return 1;
}

// Counts the pages in the WAL. It also replaces SQLite's automatic checkpoint,
// which would run on the way to an answer.
int OnCommit(void* self, sqlite3*, const char*, int pages) {
  static_cast<Database*>(self)->wal_pages = static_cast<uint32_t>(pages);
  return SQLITE_OK;
}

// SQLite lays out 20 pages for its cache and 48 KB for small objects when it
// opens a file, and touches all of it: 25 page faults for the six pages and few
// objects that a record needs.
void KeepSmall() {
  [[maybe_unused]] static const bool once = [] {
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, nullptr, 0, 0);
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 1200, 12);
    return true;
  }();
}

}  // namespace

std::string Statement::Text(int column) const {
  const auto* text = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (text == nullptr) return "";
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(size)};
}

bool Statement::ReadHash(int column, Hash* out) const {
  const void* blob = sqlite3_column_blob(statement_, column);
  if (blob == nullptr ||
      sqlite3_column_bytes(statement_, column) != kHashBytes) {
    return false;
  }
  std::copy_n(static_cast<const unsigned char*>(blob), kHashBytes,
              out->begin());
  return true;
}

Status Database::Open(const std::string& file) {
  path = file;
  KeepSmall();
  const int code = sqlite3_open_v2(
      file.c_str(), &handle,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
      nullptr);
  if (code != SQLITE_OK) {
    auto failed = Failed(code, "open");
    Close();
    return failed;
  }
  // Without this the last process to close would checkpoint and delete the
  // WAL: for processes that live a millisecond, at every record.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // A database file is not program text: no triggers or views may call
  // anything with side effects, whatever was planted in its schema.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // Nor may they stand between gate and its table: a trigger can drop a record
  // without an error, and a view can take the table's place.
  for (const int entry_file :
       {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW}) {
    int open = 1;
    sqlite3_db_config(handle, entry_file, 0, &open);
    if (open == 0) continue;
    Close();
    return Fail(ErrorCode::kInternal, "audit log " + file +
                                          ": this SQLite cannot do without "
                                          "triggers and views");
  }
  sqlite3_busy_handler(handle, OnBusy, this);
  sqlite3_wal_hook(handle, OnCommit, this);
  return {};
}

void Database::Close() {
  sqlite3_close(handle);
  handle = nullptr;
}

void Database::StartClock() {
  deadline_us = MonotonicMicroseconds() +
                static_cast<uint64_t>(std::max(busy_timeout_ms, 0)) * 1000u;
}

void Database::Arm() {
  // Open and the first record share one time limit, because the caller has
  // one deadline for both.
  if (!std::exchange(armed_for_first, false)) StartClock();
}

std::unexpected<Error> Database::Failed(int code, const char* doing) const {
  ErrorCode kind = ErrorCode::kInternal;
  const char* meaning = "unexpected result";
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      kind = ErrorCode::kTimeout;
      meaning = "another process holds the lock";
      break;
    case SQLITE_FULL:
      kind = ErrorCode::kIo;
      meaning = "the disk is full";
      break;
    case SQLITE_IOERR:
    case SQLITE_TOOBIG:
    case SQLITE_NOMEM:
      kind = ErrorCode::kIo;
      meaning = "reading or writing failed";
      break;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      kind = ErrorCode::kPermission;
      meaning = "no access";
      break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
    case SQLITE_ERROR:  // a table or column that is not there
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
      kind = ErrorCode::kCorrupt;
      meaning = "not a database of gate, or damaged";
      break;
    default:
      break;
  }
  std::string message =
      "audit log " + path + ": cannot " + doing + ": " + meaning + " (sqlite " +
      std::to_string(handle != nullptr ? sqlite3_extended_errcode(handle)
                                       : code) +
      ": " +
      (handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code)) + ")";
  return Fail(kind, std::move(message));
}

Status Database::Execute(const char* sql) {
  const int code = sqlite3_exec(handle, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return Failed(code, "write");
  return {};
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(
      handle, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return Failed(code, "read");
  return Statement(statement);
}

Result<uint64_t> Database::Number(const char* sql) {
  GATE_TRY(Statement statement, Prepare(sql));
  const int code = statement.Step();
  if (code == SQLITE_DONE) return uint64_t{0};
  if (code != SQLITE_ROW) return Failed(code, "read");
  return statement.Number(0);
}

Transaction::~Transaction() {
  if (open_) sqlite3_exec(db_->handle, "ROLLBACK", nullptr, nullptr, nullptr);
}

Status Transaction::Run(const char* sql, const char* doing) {
  const int code = sqlite3_exec(db_->handle, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return db_->Failed(code, doing);
  open_ = !open_;
  return {};
}

Record ReadRecord(const Statement& row) {
  Record record;
  record.sequence = row.Number(0);
  // A note where it is none.
  (void)ParseKind(row.Text(2), &record.kind);
  record.id = row.Text(3);
  record.parent = row.Text(4);
  record.time_ns = row.Number(5);
  record.agent = row.Text(6);
  record.session = row.Text(7);
  record.mode = row.Text(8);
  record.enforced = row.Number(9) != 0;
  record.command = row.Text(10);
  record.cwd = row.Text(11);
  record.action = row.Text(12);
  record.reason = row.Text(13);
  record.rule_id = row.Text(14);
  record.policy_revision = row.Text(15);
  record.backend = row.Text(16);
  record.status = row.Text(17);
  record.exit_code = static_cast<int>(static_cast<int64_t>(row.Number(18)));
  record.duration_ms = row.Number(19);
  record.detail = row.Text(20);
  Hash hash{};
  if (row.ReadHash(kColumnPrevious, &hash)) record.previous = Hex(hash);
  if (row.ReadHash(kColumnHash, &hash)) record.hash = Hex(hash);
  return record;
}

}  // namespace gate::audit
