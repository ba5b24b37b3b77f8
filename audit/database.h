// One connection to audit.db, and the little of SQLite's interface that the
// log needs. Internal to audit/: nothing outside sees SQLite.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "audit/record.h"
#include "base/hash.h"
#include "base/result.h"

namespace gate::audit {

// Closes by itself. A statement that failed to prepare is null.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept
      : statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(statement_, other.statement_);
    return *this;
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  sqlite3_stmt* get() const { return statement_; }
  // The text must live until the statement is stepped.
  void Bind(int index, std::string_view text) {
    sqlite3_bind_text(statement_, index, text.data() ? text.data() : "",
                      static_cast<int>(text.size()), SQLITE_STATIC);
  }
  void Bind(int index, uint64_t number) {
    sqlite3_bind_int64(statement_, index, static_cast<sqlite3_int64>(number));
  }
  void Bind(int index, const Hash& hash) {
    sqlite3_bind_blob(statement_, index, hash.data(),
                      static_cast<int>(hash.size()), SQLITE_STATIC);
  }
  int Step() { return sqlite3_step(statement_); }
  std::string Text(int column) const;
  uint64_t Number(int column) const {
    return static_cast<uint64_t>(sqlite3_column_int64(statement_, column));
  }
  // False when the column is not 32 bytes.
  bool ReadHash(int column, Hash* out) const;

 private:
  sqlite3_stmt* statement_ = nullptr;
};

struct Database {
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() { Close(); }

  // Opens an existing file. Touches no lock yet, and waits for nobody.
  Status Open(const std::string& file);
  void Close();

  // Starts the clock of the busy handler.
  void StartClock();
  // Starts it for the next step, unless that is the first after Open: the two
  // have one limit.
  void Arm();

  Status Execute(const char* sql);
  Result<Statement> Prepare(std::string_view sql);
  // The single number that `sql` yields.
  Result<uint64_t> Number(const char* sql);
  // SQLite's result `code` as an Error.
  std::unexpected<Error> Failed(int code, const char* doing) const;

  sqlite3* handle = nullptr;
  std::string path;
  std::string directory;
  int busy_timeout_ms = 5000;
  uint64_t deadline_us = 0;  // of the busy handler; CLOCK_MONOTONIC
  bool armed_for_first = false;
  bool wal = true;
  uint32_t wal_pages = 0;  // after the newest commit of this connection
  uint64_t newest = 0;     // of the records that went straight into the table
};

// The columns of table `log`, in the order in which ReadRecord wants them.
inline constexpr const char kColumns[] =
    "seq,v,kind,id,parent,time_ns,agent,session,mode,enforced,command,cwd,"
    "action,reason,rule_id,policy_revision,backend,status,exit_code,"
    "duration_ms,detail,prev,hash";
inline constexpr int kColumnVersion = 1;
inline constexpr int kColumnPrevious = 21;
inline constexpr int kColumnHash = 22;

Record ReadRecord(const Statement& row);

struct Newest {
  uint64_t sequence = 0;  // 0: the table is empty
  Hash hash{};
};
Result<Newest> ReadNewest(Database* db);

// Chains and inserts `record` into the open transaction: no redaction, no
// commit. Fills sequence, previous and hash.
Status InsertRecord(Database* db, Record* record);

// Inserts a record that is chained already. The caller has checked the table.
Status InsertRow(Database* db, const Record& record, uint64_t sequence,
                 const Hash& previous, const Hash& hash);

// Rolls back unless Commit succeeded.
class Transaction {
 public:
  explicit Transaction(Database* db) : db_(db) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  Status Begin() { return Run("BEGIN IMMEDIATE", "begin"); }
  Status Commit() { return Run("COMMIT", "commit"); }

 private:
  Status Run(const char* sql, const char* doing);
  Database* db_;
  bool open_ = false;
};

}  // namespace gate::audit
