// What someone with a copy of SQLite can do to the file, and how Verify calls
// it. Also the stopped writer, which needs a transaction held open.
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "audit/chain.h"
#include "audit/log.h"
#include "tests/audit/log_fixture.h"

namespace gate::audit {
namespace {

// What stops plain statements, and what puts it back as it was.
constexpr char kWithoutGuards[] =
    "DROP TRIGGER log_no_update;DROP TRIGGER log_no_delete;";
constexpr char kGuards[] =
    ";CREATE TRIGGER log_no_update BEFORE UPDATE ON log BEGIN "
    "SELECT RAISE(ABORT,'the audit log is append-only');END;"
    "CREATE TRIGGER log_no_delete BEFORE DELETE ON log BEGIN "
    "SELECT RAISE(ABORT,'the audit log is append-only');END;";

class TamperTest : public TemporaryState {
 protected:
  void Sql(const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(database_.c_str(), &db), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message),
              SQLITE_OK)
        << sql << ": " << (message != nullptr ? message : "");
    sqlite3_free(message);
    sqlite3_close(db);
    // The mode that a tool leaves behind.
    chmod(database_.c_str(), 0600);
  }
};

TEST_F(TamperTest, EachKindIsNamed) {
  const struct {
    const char* what;
    const char* sql;
    VerifyStatus finding;
    uint64_t sequence;
  } cases[] = {
      {"nothing", "SELECT 1", VerifyStatus::kOk, 0},
      {"command", "UPDATE log SET command='ls' WHERE seq=5",
       VerifyStatus::kEdited, 5},
      {"action", "UPDATE log SET action='deny' WHERE seq=1",
       VerifyStatus::kEdited, 1},
      {"time", "UPDATE log SET time_ns=time_ns+1 WHERE seq=10",
       VerifyStatus::kEdited, 10},
      {"enforced", "UPDATE log SET enforced=0 WHERE seq=3",
       VerifyStatus::kEdited, 3},
      {"exit code", "UPDATE log SET exit_code=0 WHERE seq=3",
       VerifyStatus::kEdited, 3},
      {"detail", "UPDATE log SET detail=detail||' ' WHERE seq=3",
       VerifyStatus::kEdited, 3},
      {"kind", "UPDATE log SET kind='other' WHERE seq=3", VerifyStatus::kEdited,
       3},
      {"moved between fields",
       "UPDATE log SET agent='c',session='laudes1' WHERE seq=3",
       VerifyStatus::kEdited, 3},
      {"hash", "UPDATE log SET hash=zeroblob(32) WHERE seq=4",
       VerifyStatus::kEdited, 4},
      {"no hash", "UPDATE log SET hash=x'' WHERE seq=4", VerifyStatus::kEdited,
       4},
      {"previous", "UPDATE log SET prev=zeroblob(32) WHERE seq=4",
       VerifyStatus::kEdited, 4},
      {"first deleted", "DELETE FROM log WHERE seq=1", VerifyStatus::kMissing,
       1},
      {"middle deleted", "DELETE FROM log WHERE seq=6", VerifyStatus::kMissing,
       6},
      {"two deleted", "DELETE FROM log WHERE seq IN (6,7)",
       VerifyStatus::kMissing, 6},
      {"neighbours swapped",
       "UPDATE log SET seq=-1 WHERE seq=4;UPDATE log SET seq=4 WHERE seq=5;"
       "UPDATE log SET seq=5 WHERE seq=-1",
       VerifyStatus::kReordered, 4},
      {"two swapped",
       "UPDATE log SET seq=-1 WHERE seq=3;UPDATE log SET seq=3 WHERE seq=8;"
       "UPDATE log SET seq=8 WHERE seq=-1",
       VerifyStatus::kReordered, 3},
      {"deleted and renumbered",
       "DELETE FROM log WHERE seq=5;UPDATE log SET seq=seq-1 WHERE seq>5",
       VerifyStatus::kReordered, 5},
      {"newer record version", "UPDATE log SET v=2 WHERE seq=5",
       VerifyStatus::kUnreadable, 5},
      {"copied to the end",
       "INSERT INTO log SELECT 11,v,kind,id,parent,time_ns,agent,session,mode,"
       "enforced,command,cwd,action,reason,rule_id,policy_revision,backend,"
       "status,exit_code,duration_ms,detail,prev,hash FROM log WHERE seq=2",
       VerifyStatus::kReordered, 11},
      {"last deleted", "DELETE FROM log WHERE seq=10", VerifyStatus::kOk, 0},
      {"all deleted", "DELETE FROM log", VerifyStatus::kOk, 0},
  };
  for (const auto& c : cases) {
    std::filesystem::remove_all(state_);
    Fill(10);
    const std::string anchor = VerifyLog().anchor;
    Sql(std::string(kWithoutGuards) + c.sql + kGuards);
    const VerifyReport verdict = VerifyLog();
    EXPECT_EQ(verdict.finding, c.finding) << c.what << ": " << verdict.message;
    EXPECT_EQ(verdict.sequence, c.sequence) << c.what;
    EXPECT_FALSE(verdict.anchored);
    if (c.finding == VerifyStatus::kOk) {
      EXPECT_NE(verdict.message.find("unanchored"), std::string::npos);
      // With the anchor the cut tail shows.
      const VerifyReport anchored = VerifyLog(anchor);
      if (std::string(c.what) == "nothing") {
        EXPECT_EQ(anchored.finding, VerifyStatus::kOk);
        EXPECT_TRUE(anchored.anchored);
        EXPECT_TRUE(VerifyLog(verdict.head).anchored);
      } else {
        EXPECT_EQ(anchored.finding, VerifyStatus::kTruncated) << c.what;
      }
    }
  }
}

// The numbers of the rows are whatever somebody wrote.
TEST_F(TamperTest, VerifyEndsWhateverNumbersTheRowsHave) {
  const struct {
    const char* sql;
    VerifyStatus finding;
    uint64_t sequence;
    const char* says;
  } cases[] = {
      {"UPDATE log SET command='x' WHERE seq=1", VerifyStatus::kEdited, 1,
       "record 1 was edited"},
      {"UPDATE log SET command='x' WHERE seq=2", VerifyStatus::kEdited, 2,
       "record 2 was edited"},
      {"UPDATE log SET seq=9 WHERE seq=2;UPDATE log SET seq=2 WHERE seq=3",
       VerifyStatus::kReordered, 2, "record 2 stands where another one was"},
      {"UPDATE log SET seq=-7 WHERE seq=2", VerifyStatus::kEdited,
       static_cast<uint64_t>(-7), "record -7 holds a value"},
  };
  for (const auto& c : cases) {
    std::filesystem::remove_all(state_);
    Fill(4);
    Sql(std::string(kWithoutGuards) +
        "UPDATE log SET seq=9223372036854775807 WHERE seq=4;" + c.sql +
        kGuards);
    const VerifyReport verdict = VerifyLog();
    EXPECT_EQ(verdict.finding, c.finding) << c.sql << verdict.message;
    EXPECT_EQ(verdict.sequence, c.sequence) << c.sql;
    EXPECT_NE(verdict.message.find(c.says), std::string::npos)
        << c.sql << ": " << verdict.message;
  }
}

// The nearest record to each of these hashes to what was written.
TEST_F(TamperTest, OnlyTheVeryValuesThatWereWrittenVerify) {
  const struct {
    const char* what;
    const char* sql;
  } cases[] = {
      {"another true", "UPDATE log SET enforced=2 WHERE seq=2"},
      {"a negative true", "UPDATE log SET enforced=-1 WHERE seq=2"},
      {"a wide exit code",
       "UPDATE log SET exit_code=exit_code+4294967296 WHERE seq=2"},
      {"a kind that is none", "UPDATE log SET kind='notes' WHERE seq=2"},
      {"an empty kind", "UPDATE log SET kind='' WHERE seq=2"},
      {"a zero byte behind a text",
       "UPDATE log SET cwd=cwd||char(0) WHERE seq=2"},
      {"a zero byte in an empty text",
       "UPDATE log SET parent=char(0) WHERE seq=2"},
      {"a wide version", "UPDATE log SET v=4294967297 WHERE seq=2"},
      {"a record before the first",
       "INSERT INTO log SELECT 0,v,kind,id,parent,time_ns,agent,session,mode,"
       "enforced,command,cwd,action,reason,rule_id,policy_revision,backend,"
       "status,exit_code,duration_ms,detail,prev,hash FROM log WHERE seq=1"},
      // As the schema of a table can be rewritten in place, without STRICT.
      {"a blob for a text",
       "UPDATE log SET command=CAST(command AS BLOB) WHERE seq=2"},
      {"nothing for an empty text", "UPDATE log SET parent=NULL WHERE seq=2"},
      {"a text for a hash", "UPDATE log SET hash=CAST(hash AS TEXT)"},
      {"a text for a number",
       "UPDATE log SET duration_ms=duration_ms||'x' WHERE seq=2"},
      {"a real for a number",
       "UPDATE log SET duration_ms=duration_ms+0.5 WHERE seq=2"},
  };
  const std::string table =
      "CREATE TABLE log(seq INTEGER PRIMARY KEY,v INT,kind TEXT,id TEXT,"
      "parent TEXT,time_ns INT,agent TEXT,session TEXT,mode TEXT,"
      "enforced INT,command TEXT,cwd TEXT,action TEXT,reason TEXT,"
      "rule_id TEXT,policy_revision TEXT,backend TEXT,status TEXT,"
      "exit_code INT,duration_ms INT,detail TEXT,prev BLOB,hash BLOB)";
  for (const bool loose : {false, true}) {
    int held = 0;
    for (const auto& c : cases) {
      std::filesystem::remove_all(state_);
      auto log = Log::Open(state_, Options{});
      ASSERT_TRUE(log);
      for (int i = 0; i < 3; ++i) {
        Record record = Decision("command");
        record.kind = Kind::kNote;
        record.exit_code = 0;
        ASSERT_TRUE(log->Append(&record));
      }
      ASSERT_TRUE(log->Head());  // which brings them into the table
      log->Close();
      sqlite3* db = nullptr;
      ASSERT_EQ(sqlite3_open(database_.c_str(), &db), SQLITE_OK);
      std::string before = kWithoutGuards;
      if (loose)
        before += "ALTER TABLE log RENAME TO was;" + table +
                  ";INSERT INTO log SELECT * FROM was;DROP TABLE was;";
      ASSERT_EQ(sqlite3_exec(db, before.c_str(), nullptr, nullptr, nullptr),
                SQLITE_OK);
      // A strict table takes no value of another type in the first place.
      const bool taken =
          sqlite3_exec(db, c.sql, nullptr, nullptr, nullptr) == SQLITE_OK;
      held += taken ? 0 : 1;
      ASSERT_EQ(sqlite3_exec(db, kGuards, nullptr, nullptr, nullptr),
                SQLITE_OK);
      sqlite3_close(db);
      if (!taken) continue;
      const VerifyReport verdict = VerifyLog();
      EXPECT_NE(verdict.finding, VerifyStatus::kOk) << c.what;
      if (loose) {
        EXPECT_EQ(verdict.message.find("the table `log`"), std::string::npos)
            << c.what << ": " << verdict.message;
      }
    }
    EXPECT_EQ(held, loose ? 0 : 5);
  }
}

// A record is in the log when Append said so, whatever stands in the schema.
TEST_F(TamperTest, WhatStandsInTheSchemaDropsNoRecord) {
  const std::string insert = "CREATE TRIGGER t BEFORE INSERT ON log BEGIN ";
  const struct {
    const char* what;
    std::string sql;
    bool written;
    const char* named;
  } cases[] = {
      {"ignores", insert + "SELECT RAISE(IGNORE);END", true,
       "the trigger `t` is not gate's"},
      {"ignores some",
       "CREATE TRIGGER t BEFORE INSERT ON log WHEN NEW.command LIKE 'later%' "
       "BEGIN SELECT RAISE(IGNORE);END",
       true, "the trigger `t` is not gate's"},
      {"deletes again",
       "DROP TRIGGER log_no_delete;CREATE TRIGGER t AFTER INSERT ON log BEGIN "
       "DELETE FROM log WHERE seq=NEW.seq;END",
       true, "the trigger `t` is not gate's"},
      {"a guard that is none",
       "DROP TRIGGER log_no_delete;CREATE TRIGGER log_no_delete AFTER INSERT "
       "ON log BEGIN DELETE FROM log WHERE seq=NEW.seq;END",
       true, "the trigger `log_no_delete` was changed"},
      {"no guard", "DROP TRIGGER log_no_update", true,
       "the trigger `log_no_update` is missing"},
      {"another table", "CREATE TABLE log2 AS SELECT * FROM log", true,
       "the table `log2` is not gate's"},
      {"an index", "CREATE INDEX i ON log(command)", true,
       "the index `i` is not gate's"},
      {"a view in its place",
       "ALTER TABLE log RENAME TO was;CREATE VIEW log AS SELECT * FROM was",
       false, "the view `log` is not gate's"},
      {"a view that takes records",
       "ALTER TABLE log RENAME TO was;CREATE VIEW log AS SELECT * FROM was;"
       "CREATE TRIGGER t INSTEAD OF INSERT ON log BEGIN SELECT 1;END",
       false, "the view `log` is not gate's"},
      {"a table that keeps one record",
       "ALTER TABLE log RENAME TO was;CREATE TABLE log(seq INTEGER PRIMARY "
       "KEY,v UNIQUE ON CONFLICT IGNORE,kind,id,parent,time_ns,agent,session,"
       "mode,enforced,command,cwd,action,reason,rule_id,policy_revision,"
       "backend,status,exit_code,duration_ms,detail,prev,hash);"
       "INSERT INTO log SELECT * FROM was WHERE seq=1",
       false, "the table `log` was changed"},
      {"another column", "ALTER TABLE log ADD COLUMN more TEXT", false,
       "the table `log` was changed"},
  };
  for (const auto& c : cases) {
    std::filesystem::remove_all(state_);
    Fill(2);
    Sql(c.sql);
    auto log = Log::Open(state_, Options{});
    ASSERT_TRUE(log) << c.what << ": " << log.error().message;
    Record record = Decision("later");
    const Status stored = log->Append(&record);
    EXPECT_EQ(stored.has_value(), c.written)
        << c.what << ": " << (stored ? "stored" : stored.error().message);
    if (!stored) {
      EXPECT_EQ(stored.error().code, ErrorCode::kCorrupt) << c.what;
    }
    log->Close();
    const VerifyReport verdict = VerifyLog();
    EXPECT_NE(verdict.finding, VerifyStatus::kOk) << c.what;
    EXPECT_NE(verdict.message.find(c.named), std::string::npos)
        << c.what << ": " << verdict.message;
    if (c.written) {
      EXPECT_EQ(verdict.records, 3u) << c.what;
    }
  }
}

TEST_F(TamperTest, TriggersStopPlainStatements) {
  Fill(3);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(database_.c_str(), &db), SQLITE_OK);
  for (const char* sql : {"UPDATE log SET command='x'", "DELETE FROM log",
                          "DELETE FROM log WHERE seq=3"}) {
    EXPECT_NE(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  }
  sqlite3_close(db);
}

TEST_F(TamperTest, OlderCopyIsFoundWithTheAnchor) {
  Fill(5);
  Sql("PRAGMA wal_checkpoint(TRUNCATE)");
  const std::string copy = root_ + "/copy";
  std::filesystem::copy_file(database_, copy);
  Fill(5);
  const std::string anchor = VerifyLog().anchor;
  for (const char* suffix : {"-wal", "-shm"}) {
    std::filesystem::remove(database_ + suffix);
  }
  std::filesystem::copy_file(copy, database_,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(VerifyLog().finding, VerifyStatus::kOk);
  EXPECT_EQ(VerifyLog(anchor).finding, VerifyStatus::kTruncated);
  // More records on the older copy do not hide it.
  Fill(10);
  const VerifyReport verdict = VerifyLog(anchor);
  EXPECT_EQ(verdict.finding, VerifyStatus::kEdited);
  EXPECT_EQ(verdict.sequence, 10u);
}

TEST_F(TamperTest, AnotherLogIsTheWrongFile) {
  Fill(5);
  const std::string anchor = VerifyLog().anchor;
  std::filesystem::remove_all(state_);
  Fill(5);
  EXPECT_EQ(VerifyLog(anchor).finding, VerifyStatus::kWrongFile);
}

TEST_F(TamperTest, ConsistentRewriteIsFoundWithTheAnchor) {
  Fill(5);
  const std::string anchor = VerifyLog().anchor;
  // The last record replaced by another that fits the chain.
  Sql(std::string(kWithoutGuards) + "DELETE FROM log WHERE seq=5" + kGuards);
  Fill(1);
  EXPECT_EQ(VerifyLog().finding, VerifyStatus::kOk);
  EXPECT_EQ(VerifyLog(anchor).finding, VerifyStatus::kEdited);
}

TEST_F(TamperTest, AnchorMustBeOne) {
  Fill(1);
  auto log = Log::OpenReadOnly(state_);
  ASSERT_TRUE(log);
  for (const char* text :
       {"x", "1:2", "::", "0123456789abcdef:0:ab", "0123456789abcdef:x:ab"}) {
    EXPECT_EQ(log->Verify(text).error().code, ErrorCode::kInvalid) << text;
  }
}

TEST_F(TamperTest, DamagedPagesAreUnreadable) {
  Fill(200);
  Sql("PRAGMA wal_checkpoint(TRUNCATE)");
  const auto size = std::filesystem::file_size(database_);
  FILE* file = fopen(database_.c_str(), "r+");
  ASSERT_NE(file, nullptr);
  fseek(file, static_cast<long>(size / 4096 / 2 * 4096), SEEK_SET);
  const std::string garbage(4096, '\xee');
  fwrite(garbage.data(), 1, garbage.size(), file);
  fclose(file);
  auto log = Log::OpenReadOnly(state_);
  if (!log) return;  // found at once
  const auto verdict = log->Verify("");
  if (verdict) {
    EXPECT_NE(verdict->finding, VerifyStatus::kOk);
  }
}

TEST_F(TamperTest, CanonicalBytesAreFixed) {
  Record record = Decision("ls");
  record.id = "i";
  record.parent = "p";
  Hash previous{};
  previous[0] = 1;
  // The bytes of docs/audit-format.md; a change here breaks every old log.
  const std::string bytes = CanonicalBytes(record, 7, previous);
  EXPECT_EQ(bytes.substr(0, 20), "gate.audit.record/1\n");
  EXPECT_EQ(bytes.substr(20, 2), std::string("\x01\0", 2));
  EXPECT_EQ(bytes.substr(52, 8), std::string("\0\0\0\0\0\0\0\x07", 8));
  EXPECT_EQ(bytes.substr(60, 16),
            std::string("\0\0\0\0\0\0\0\x08", 8) + "decision");
  record.exit_code = -1;
  EXPECT_EQ(Hex(ChainHash(record, 7, previous)),
            Hex(Sha256(CanonicalBytes(record, 7, previous))));
}

// A writer stopped in the middle of its record: the others give up after their
// time limit, and go on when it does.
TEST_F(TamperTest, StoppedWriterDelaysOthersNoLongerThanTheirLimit) {
  Fill(1);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const int file = open((state_ + "/audit.pending").c_str(), O_RDWR);
    if (flock(file, LOCK_EX) != 0) _exit(1);
    if (write(ready[1], "x", 1) != 1) _exit(1);
    raise(SIGSTOP);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  int status = 0;
  waitpid(holder, &status, WUNTRACED);
  auto log = Log::Open(state_, Options{.busy_timeout_ms = 150});
  ASSERT_TRUE(log);
  Record record = Decision("waits");
  timespec before{}, after{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  const auto refused = log->Append(&record);
  clock_gettime(CLOCK_MONOTONIC, &after);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kTimeout);
  EXPECT_LT(after.tv_sec - before.tv_sec, 2);
  kill(holder, SIGCONT);
  waitpid(holder, &status, 0);
  EXPECT_TRUE(log->Append(&record));
  EXPECT_EQ(record.sequence, 2u);
  EXPECT_EQ(VerifyLog().finding, VerifyStatus::kOk);
}

// Another program in the middle of a transaction on the table keeps no record
// from being stored; who reads the log waits for it, no longer than its limit.
TEST_F(TamperTest, AHeldTableDelaysReadersAndNoRecord) {
  Fill(1);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(database_.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr),
            SQLITE_OK);
  auto log = Log::Open(state_, Options{.busy_timeout_ms = 50});
  ASSERT_TRUE(log);
  Record record = Decision("goes on");
  EXPECT_TRUE(log->Append(&record));
  EXPECT_EQ(record.sequence, 2u);
  const auto read = log->Query({});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kTimeout);
  sqlite3_close(db);
  const auto again = log->Query({});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->size(), 2u);
  EXPECT_EQ(VerifyLog().finding, VerifyStatus::kOk);
}

}  // namespace
}  // namespace gate::audit
