// The tables of audit.db and the steps from one version to the next. Internal
// to audit/.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "audit/database.h"
#include "base/result.h"

namespace gate::audit {

inline constexpr uint32_t kSchemaVersion = 1;           // PRAGMA user_version
inline constexpr uint32_t kApplicationId = 0x67617465;  // "gate"

// What the first 100 bytes of the file say. The newest page 1 may still be in
// the WAL, so that only "all is as it should be" can be taken from it.
struct Header {
  bool empty = false;     // a file of no bytes
  bool database = false;  // SQLite's magic is there
  bool wal = false;
  uint32_t version = 0;
  uint32_t application = 0;
};
Result<Header> ReadHeader(Database* db);

// `sql` brings a database of version `from` to from + 1. Hashed columns keep
// their bytes, so that the chain of old records still verifies.
struct MigrationStep {
  uint32_t from;
  const char* sql;
};
std::span<const MigrationStep> MigrationSteps();

// Brings the database to `target` in one transaction, with the journal mode
// that Database::wal asks for. kInvalid when it is newer, kCorrupt when it is
// another program's.
Status Migrate(Database* db, std::span<const MigrationStep> steps,
               uint32_t target);

// Inside the transaction that writes: kCorrupt unless `log` is the table that
// gate makes. Another one may drop or change what is put into it.
Status CheckTable(Database* db);

// How the schema differs from the one that gate makes, in words: a trigger, a
// view or a table that is not gate's, a changed or a missing one. Empty when it
// does not.
Result<std::string> SchemaDifference(Database* db);

}  // namespace gate::audit
