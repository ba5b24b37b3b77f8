// Records that are stored and not yet in the table: what becomes of them when
// the writer, the file or the database is not what it was.
#include "audit/pending.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "audit/chain.h"
#include "audit/database.h"
#include "tests/audit/log_fixture.h"

namespace gate::audit {
namespace {

class PendingTest : public TemporaryState {
 protected:
  std::string pending() const { return state_ + "/audit.pending"; }

  // Appends `count` records that stay pending.
  void Leave(int count) {
    auto log = Log::Open(state_, Options{});
    ASSERT_TRUE(log) << log.error().message;
    for (int i = 0; i < count; ++i) {
      Record record = Decision("pending " + std::to_string(++written_));
      ASSERT_TRUE(log->Append(&record));
    }
  }
  // The commands and notes of the log, oldest first.
  std::vector<std::string> Read() {
    auto log = Log::OpenReadOnly(state_);
    EXPECT_TRUE(log) << log.error().message;
    std::vector<std::string> out;
    if (!log) return out;
    const auto records = log->Query({.newest_first = false, .limit = 1000});
    EXPECT_TRUE(records);
    if (!records) return out;
    for (const Record& record : *records) {
      out.push_back(record.kind == Kind::kNote ? "note: " + record.mode
                                               : record.command);
    }
    return out;
  }
  uint64_t Size() const { return std::filesystem::file_size(pending()); }
  void Overwrite(uint64_t at, const std::string& bytes) {
    std::fstream file(pending(),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file << bytes;
  }
  uint64_t RowsInTable() {
    sqlite3* db = nullptr;
    sqlite3_open(database_.c_str(), &db);
    sqlite3_stmt* row = nullptr;
    sqlite3_prepare_v2(db, "SELECT count(*) FROM log", -1, &row, nullptr);
    const uint64_t rows =
        sqlite3_step(row) == SQLITE_ROW
            ? static_cast<uint64_t>(sqlite3_column_int64(row, 0))
            : 0;
    sqlite3_finalize(row);
    sqlite3_close(db);
    return rows;
  }
  void ExpectOk(uint64_t records) {
    const VerifyReport verdict = VerifyLog();
    EXPECT_EQ(verdict.finding, VerifyStatus::kOk) << verdict.message;
    EXPECT_EQ(verdict.records, records);
  }

  int written_ = 0;
};

TEST_F(PendingTest, ARecordIsStoredBeforeItIsInTheTableAndReadFromThere) {
  Leave(3);
  EXPECT_EQ(RowsInTable(), 0u);
  EXPECT_EQ(Read(),
            (std::vector<std::string>{"pending 1", "pending 2", "pending 3"}));
  EXPECT_EQ(RowsInTable(), 3u);
  EXPECT_EQ(Size(), kPendingStart);
  Leave(1);
  EXPECT_EQ(Read().size(), 4u);
  ExpectOk(4);
}

TEST_F(PendingTest, WhatAKilledWriterLeftBeyondTheEndIsNothing) {
  Leave(2);
  std::ofstream(pending(), std::ios::app | std::ios::binary)
      << std::string(7, '\0') << "\x40" << "the head of an entry";
  Leave(1);
  EXPECT_EQ(Read(),
            (std::vector<std::string>{"pending 1", "pending 2", "pending 3"}));
  ExpectOk(3);
}

TEST_F(PendingTest, AFoldThatWasKilledAfterItsCommitInsertsNothingTwice) {
  Leave(3);
  std::filesystem::copy_file(pending(), root_ + "/before");
  EXPECT_EQ(Read().size(), 3u);
  std::filesystem::copy_file(root_ + "/before", pending(),
                             std::filesystem::copy_options::overwrite_existing);
  Leave(1);
  EXPECT_EQ(Read(), (std::vector<std::string>{"pending 1", "pending 2",
                                              "pending 3", "pending 4"}));
  ExpectOk(4);
}

TEST_F(PendingTest, ADamagedRecordIsPutAsideAndSaid) {
  Leave(3);
  Overwrite(kPendingStart + 200, "X");
  EXPECT_EQ(Read(), std::vector<std::string>{"note: damaged"});
  int kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(state_)) {
    kept += entry.path().string().contains("audit.pending.damaged-") ? 1 : 0;
  }
  EXPECT_EQ(kept, 1);
  Leave(1);
  EXPECT_EQ(Read().size(), 2u);
  ExpectOk(2);
}

TEST_F(PendingTest, RecordsBeforeADamagedOneAreKept) {
  Leave(3);
  Overwrite(Size() - 40, "X");
  EXPECT_EQ(Read(), (std::vector<std::string>{"pending 1", "pending 2",
                                              "note: damaged"}));
  ExpectOk(3);
}

TEST_F(PendingTest, AFileThatWasCutIsSaid) {
  Leave(2);
  std::filesystem::resize_file(pending(), Size() - 10);
  EXPECT_EQ(Read(), (std::vector<std::string>{"pending 1", "note: damaged"}));
  ExpectOk(2);
}

TEST_F(PendingTest, WithoutItsHeaderEveryWholeRecordIsRead) {
  for (const uint64_t at : {0, 24, 60, 130, 160}) {
    std::filesystem::remove_all(state_);
    Leave(3);
    Overwrite(at, "XX");
    EXPECT_EQ(Read().size(), 3u) << at;
    ExpectOk(3);
  }
}

TEST_F(PendingTest, ARemovedDatabaseBeginsANewLogThatSaysSo) {
  Fill(2);
  Leave(2);
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(database_ + suffix);
  }
  Leave(1);
  EXPECT_EQ(Read(),
            (std::vector<std::string>{"note: chained_again", "pending 1",
                                      "pending 2", "pending 3"}));
  ExpectOk(4);
}

TEST_F(PendingTest, PendingRecordsOfARemovedDatabaseAreRead) {
  Leave(2);
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(database_ + suffix);
  }
  EXPECT_EQ(Read(), (std::vector<std::string>{"pending 1", "pending 2"}));
  ExpectOk(2);
}

TEST_F(PendingTest, AnOlderCopyOfTheDatabaseIsContinuedAndSaid) {
  Fill(2);
  const std::string copy = root_ + "/copy";
  std::filesystem::copy(state_, copy);
  Fill(2);
  Leave(2);
  for (const char* suffix : {"", "-wal"}) {
    std::filesystem::copy_file(
        copy + "/audit.db" + suffix, database_ + suffix,
        std::filesystem::copy_options::overwrite_existing);
  }
  std::filesystem::remove(database_ + "-shm");
  const auto read = Read();
  ASSERT_EQ(read.size(), 5u);
  EXPECT_EQ(read[2], "note: chained_again");
  ExpectOk(5);
}

// An older gate knows the table alone.
TEST_F(PendingTest, RecordsOfAnOlderGateAndPendingOnesAreBothKept) {
  Fill(1);
  Leave(2);
  {
    Database db;
    ASSERT_TRUE(db.Open(database_));
    Transaction transaction(&db);
    ASSERT_TRUE(transaction.Begin());
    Record record = Decision("by an older gate");
    ASSERT_TRUE(InsertRecord(&db, &record));
    ASSERT_TRUE(transaction.Commit());
  }
  Leave(1);
  EXPECT_EQ(Read(), (std::vector<std::string>{
                        "command 1", "by an older gate", "note: chained_again",
                        "pending 1", "pending 2", "pending 3"}));
  ExpectOk(6);
}

TEST_F(PendingTest, AFileThatWasRemovedWhileItWasOpenTakesNoRecord) {
  Leave(1);
  auto log = Log::Open(state_, Options{});
  ASSERT_TRUE(log);
  std::filesystem::remove(pending());
  Record record = Decision("after");
  ASSERT_TRUE(log->Append(&record));
  const auto read = Read();
  ASSERT_FALSE(read.empty());
  EXPECT_EQ(read.back(), "after");
}

TEST_F(PendingTest, WithoutMaintenanceTheFileIsFoldedBeforeItIsLarge) {
  auto log = Log::Open(state_, Options{});
  ASSERT_TRUE(log);
  for (int i = 0; i < 60; ++i) {
    Record record = Decision(std::string(50'000, 'x'));
    ASSERT_TRUE(log->Append(&record));
    EXPECT_LT(Size(), kPendingMostBytes + 100'000);
  }
  log->Close();
  ExpectOk(60);
}

TEST_F(PendingTest, RefusesWhatIsNotItsFile) {
  const std::function<void()> cases[] = {
      [&] { mkfifo(pending().c_str(), 0600); },
      [&] { mkdir(pending().c_str(), 0700); },
      [&] { ASSERT_EQ(symlink("/etc/passwd", pending().c_str()), 0); },
      [&] { ASSERT_EQ(symlink("nothing", pending().c_str()), 0); },
      [&] {
        std::ofstream(pending()) << "";
        chmod(pending().c_str(), 0644);
      },
      [&] {
        std::ofstream(pending()) << "";
        chmod(pending().c_str(), 0600);
        ASSERT_EQ(link(pending().c_str(), (root_ + "/other").c_str()), 0);
      },
  };
  int number = 0;
  for (const auto& make : cases) {
    std::filesystem::remove_all(state_);
    Fill(1);
    std::filesystem::remove(pending());
    make();
    const auto log = Log::Open(state_, Options{});
    ASSERT_FALSE(log) << number;
    EXPECT_EQ(log.error().code, ErrorCode::kPermission) << number;
    ++number;
  }
}

TEST_F(PendingTest, CanonicalBytesAreReadAsTheyWereWrittenOrNotAtAll) {
  Record record = Decision("rm -rf x");
  record.exit_code = -1;
  record.detail = "{\"a\":\"\\u0000\"}";
  Hash previous{};
  previous[3] = 7;
  const std::string bytes = CanonicalBytes(record, 9, previous);
  Record read;
  uint64_t sequence = 0;
  Hash stands{};
  ASSERT_TRUE(ParseCanonical(bytes, &read, &sequence, &stands));
  EXPECT_EQ(sequence, 9u);
  EXPECT_EQ(stands, previous);
  EXPECT_EQ(CanonicalBytes(read, sequence, stands), bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(
        ParseCanonical(bytes.substr(0, size), &read, &sequence, &stands))
        << size;
  }
  EXPECT_FALSE(ParseCanonical(bytes + "x", &read, &sequence, &stands));
}

}  // namespace
}  // namespace gate::audit
