#include "audit/schema.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace gate::audit {

// Few objects, because every process that writes a record parses them all, and
// no index, because every index is another page in the WAL for each record.
// Readers scan: sequence numbers grow with time, and the log is at most
// 256 MB.
// The texts are what SQLite keeps of them in sqlite_schema: compared as they
// stand. Gate's own connections run no triggers (database.cc); these two stop
// plain statements of other programs.
#define GATE_TABLE                                                     \
  "CREATE TABLE log(seq INTEGER PRIMARY KEY,v INT NOT NULL,"           \
  "kind TEXT NOT NULL,id TEXT NOT NULL,parent TEXT NOT NULL,"          \
  "time_ns INT NOT NULL,agent TEXT NOT NULL,session TEXT NOT NULL,"    \
  "mode TEXT NOT NULL,enforced INT NOT NULL,command TEXT NOT NULL,"    \
  "cwd TEXT NOT NULL,action TEXT NOT NULL,reason TEXT NOT NULL,"       \
  "rule_id TEXT NOT NULL,policy_revision TEXT NOT NULL,"               \
  "backend TEXT NOT NULL,status TEXT NOT NULL,exit_code INT NOT NULL," \
  "duration_ms INT NOT NULL,detail TEXT NOT NULL,prev BLOB NOT NULL,"  \
  "hash BLOB NOT NULL)STRICT"
#define GATE_UPDATE_GUARD                                    \
  "CREATE TRIGGER log_no_update BEFORE UPDATE ON log BEGIN " \
  "SELECT RAISE(ABORT,'the audit log is append-only');END"
#define GATE_DELETE_GUARD                                    \
  "CREATE TRIGGER log_no_delete BEFORE DELETE ON log BEGIN " \
  "SELECT RAISE(ABORT,'the audit log is append-only');END"

namespace {

constexpr MigrationStep kSteps[] = {
    {0, GATE_TABLE ";" GATE_UPDATE_GUARD ";" GATE_DELETE_GUARD ";"},
};

struct Object {
  std::string_view type, name, sql;
};
// The schema of kSchemaVersion.
constexpr Object kObjects[] = {
    {"table", "log", GATE_TABLE},
    {"trigger", "log_no_update", GATE_UPDATE_GUARD},
    {"trigger", "log_no_delete", GATE_DELETE_GUARD},
};

uint32_t BigEndian(const unsigned char* bytes) {
  return static_cast<uint32_t>(bytes[0]) << 24 |
         static_cast<uint32_t>(bytes[1]) << 16 |
         static_cast<uint32_t>(bytes[2]) << 8 | bytes[3];
}

}  // namespace

std::span<const MigrationStep> MigrationSteps() { return kSteps; }

Result<Header> ReadHeader(Database* db) {
  // Through SQLite's own descriptor: closing another one of the same file
  // would drop this process's locks on it.
  sqlite3_file* file = nullptr;
  sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file == nullptr || file->pMethods == nullptr) {
    return Fail(ErrorCode::kInternal, "audit log: no file handle");
  }
  Header header;
  unsigned char bytes[100] = {};
  const int code = file->pMethods->xRead(file, bytes, sizeof bytes, 0);
  if (code == SQLITE_IOERR_SHORT_READ) {
    sqlite3_int64 size = 0;
    if (file->pMethods->xFileSize(file, &size) == SQLITE_OK && size == 0) {
      header.empty = true;
    }
    return header;
  }
  if (code != SQLITE_OK) return db->Failed(code, "read the header");
  header.database = std::memcmp(bytes, "SQLite format 3", 16) == 0;
  header.wal = bytes[18] == 2 && bytes[19] == 2;
  header.version = BigEndian(bytes + 60);
  header.application = BigEndian(bytes + 68);
  return header;
}

Status Migrate(Database* db, std::span<const MigrationStep> steps,
               uint32_t target) {
  if (!db->wal) {
    // A database in WAL mode is opened here without shared memory, which is
    // what does not work over a network, and turned back.
    GATE_CHECK(db->Execute("PRAGMA locking_mode=EXCLUSIVE"));
    GATE_CHECK(db->Execute("PRAGMA journal_mode=DELETE"));
    GATE_CHECK(db->Execute("PRAGMA locking_mode=NORMAL"));
  } else {
    GATE_TRY(Statement mode, db->Prepare("PRAGMA journal_mode=WAL"));
    const int code = mode.Step();
    if (code != SQLITE_ROW) return db->Failed(code, "turn on the WAL");
    db->wal = mode.Text(0) == "wal";
  }
  GATE_CHECK(db->Execute("PRAGMA synchronous=NORMAL"));
  {
    Transaction transaction(db);
    GATE_CHECK(transaction.Begin());
    GATE_TRY(const uint64_t version, db->Number("PRAGMA user_version"));
    GATE_TRY(const uint64_t application, db->Number("PRAGMA application_id"));
    GATE_TRY(const uint64_t objects,
             db->Number("SELECT count(*) FROM sqlite_master"));
    if (objects > 0 && application != kApplicationId) {
      return Fail(ErrorCode::kCorrupt,
                  "audit log " + db->path + ": another program's database");
    }
    if (version > target) {
      return Fail(ErrorCode::kInvalid,
                  "audit log " + db->path + ": made by a newer gate (schema " +
                      std::to_string(version) + ", this one knows " +
                      std::to_string(target) + ")");
    }
    if (version < target) {
      for (uint32_t at = static_cast<uint32_t>(version); at < target; ++at) {
        const MigrationStep* step = nullptr;
        for (const MigrationStep& known : steps) {
          if (known.from == at) step = &known;
        }
        if (step == nullptr) {
          return Fail(ErrorCode::kCorrupt, "audit log " + db->path +
                                               ": unknown schema " +
                                               std::to_string(at));
        }
        GATE_CHECK(db->Execute(step->sql));
      }
      const std::string stamp =
          "PRAGMA user_version=" + std::to_string(target) +
          ";PRAGMA application_id=" + std::to_string(kApplicationId);
      GATE_CHECK(db->Execute(stamp.c_str()));
      GATE_CHECK(transaction.Commit());
    }
  }
  if (db->wal) {
    // The header of the file is current now, which is what the next Open
    // looks at. The commit after it starts the new WAL: that costs an fsync,
    // which would otherwise fall on the next record.
    sqlite3_wal_checkpoint_v2(db->handle, nullptr, SQLITE_CHECKPOINT_TRUNCATE,
                              nullptr, nullptr);
    const std::string touch = "PRAGMA user_version=" + std::to_string(target);
    GATE_CHECK(db->Execute(touch.c_str()));
  }
  return {};
}

Status CheckTable(Database* db) {
  GATE_TRY(Statement row,
           db->Prepare("SELECT type,sql FROM sqlite_schema WHERE "
                       "name='log' COLLATE NOCASE"));
  int code = row.Step();
  const bool own = code == SQLITE_ROW && row.Text(0) == kObjects[0].type &&
                   row.Text(1) == kObjects[0].sql;
  if (own) code = row.Step();
  if (own && code == SQLITE_DONE) return {};
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    return db->Failed(code, "read the schema");
  return Fail(ErrorCode::kCorrupt,
              "audit log " + db->path + ": its table was changed");
}

Result<std::string> SchemaDifference(Database* db) {
  std::string difference;
  const auto add = [&](const std::string& what) {
    difference += (difference.empty() ? "" : ", ") + what;
  };
  const auto is_own = [](const Object& object) {
    return std::find_if(
        std::begin(kObjects), std::end(kObjects), [&](const Object& own) {
          return own.type == object.type && own.name == object.name;
        });
  };
  bool seen[std::size(kObjects)] = {};
  GATE_TRY(Statement row,
           db->Prepare("SELECT type,name,sql FROM sqlite_schema"));
  int code = 0;
  while ((code = row.Step()) == SQLITE_ROW) {
    const std::string type = row.Text(0), name = row.Text(1), sql = row.Text(2);
    const Object* own = is_own({type, name, sql});
    const auto which = static_cast<size_t>(own - kObjects);
    if (own == std::end(kObjects) || std::exchange(seen[which], true)) {
      add("the " + type + " `" + name + "` is not gate's");
    } else if (own->sql != sql) {
      add("the " + type + " `" + name + "` was changed");
    }
  }
  if (code != SQLITE_DONE) return db->Failed(code, "read the schema");
  for (size_t i = 0; i < std::size(kObjects); ++i) {
    if (seen[i]) continue;
    add("the " + std::string(kObjects[i].type) + " `" +
        std::string(kObjects[i].name) + "` is missing");
  }
  return difference;
}

}  // namespace gate::audit
