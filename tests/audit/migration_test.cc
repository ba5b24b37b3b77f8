#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "audit/log.h"
#include "audit/schema.h"
#include "tests/audit/log_fixture.h"

namespace gate::audit {
namespace {

class MigrationTest : public TemporaryState {
 protected:
  void Sql(const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(database_.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr),
              SQLITE_OK)
        << sqlite3_errmsg(db);
    sqlite3_close(db);
    chmod(database_.c_str(), 0600);
  }
};

TEST_F(MigrationTest, VersionZeroBecomesOne) {
  // A file of no bytes, and one with a header and nothing else: what a process
  // killed while it made the log leaves behind.
  ASSERT_EQ(mkdir(state_.c_str(), 0700), 0);
  close(open(database_.c_str(), O_CREAT | O_WRONLY, 0600));
  Fill(1);
  EXPECT_EQ(VerifyLog().records, 1u);
  std::filesystem::remove_all(state_);
  ASSERT_EQ(mkdir(state_.c_str(), 0700), 0);
  Sql("PRAGMA journal_mode=WAL;PRAGMA user_version=0;CREATE TABLE t(a);"
      "DROP TABLE t");
  Fill(1);
  EXPECT_EQ(VerifyLog().records, 1u);
}

TEST_F(MigrationTest, NewerSchemaIsRefusedAndLeftAlone) {
  Fill(2);
  Sql("PRAGMA user_version=2;PRAGMA wal_checkpoint(TRUNCATE)");
  for (int i = 0; i < 2; ++i) {
    auto log = Log::Open(state_, Options{});
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().code, ErrorCode::kInvalid);
  }
  EXPECT_EQ(Log::OpenReadOnly(state_).error().code, ErrorCode::kInvalid);
  Sql("PRAGMA user_version=1");
  EXPECT_EQ(VerifyLog().records, 2u);
}

TEST_F(MigrationTest, AnotherProgramsDatabaseIsRefused) {
  ASSERT_EQ(mkdir(state_.c_str(), 0700), 0);
  Sql("CREATE TABLE precious(a)");
  auto log = Log::Open(state_, Options{});
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, ErrorCode::kCorrupt);
}

TEST_F(MigrationTest, ChainVerifiesAfterAStep) {
  Fill(5);
  const std::string anchor = VerifyLog().anchor;
  const MigrationStep steps[] = {
      {1, "ALTER TABLE log ADD COLUMN extra TEXT NOT NULL DEFAULT ''"}};
  {
    Database db;
    ASSERT_TRUE(db.Open(database_));
    const auto migrated = Migrate(&db, steps, 2);
    ASSERT_TRUE(migrated) << migrated.error().message;
    EXPECT_EQ(*db.Number("PRAGMA user_version"), 2u);
    // A step that is not known changes nothing.
    EXPECT_FALSE(Migrate(&db, steps, 4));
    EXPECT_EQ(*db.Number("PRAGMA user_version"), 2u);
  }
  Sql("PRAGMA user_version=1;PRAGMA wal_checkpoint(TRUNCATE)");
  const VerifyReport verdict = VerifyLog(anchor);
  // Only the table is not the one of this version: every record stands.
  EXPECT_EQ(verdict.records, 5u);
  EXPECT_TRUE(verdict.anchored);
  EXPECT_EQ(verdict.message, "the table `log` was changed");
}

}  // namespace
}  // namespace gate::audit
