#include "audit/fold.h"

#include <fcntl.h>
#include <unistd.h>

#include "audit/chain.h"
#include "audit/log_impl.h"
#include "audit/schema.h"
#include "base/file.h"
#include "base/json.h"

namespace gate::audit {
namespace {

Result<bool> HasRecord(Database* db, uint64_t sequence, const Hash& hash) {
  GATE_TRY(Statement row, db->Prepare("SELECT hash FROM log WHERE seq=?"));
  row.Bind(1, sequence);
  const int code = row.Step();
  if (code == SQLITE_DONE) return false;
  if (code != SQLITE_ROW) return db->Failed(code, "read a record");
  Hash found{};
  return row.ReadHash(0, &found) && Equal(found, hash);
}

Status Note(Database* db, const char* mode, std::string reason, Json detail) {
  Record note;
  note.kind = Kind::kNote;
  note.time_ns = NowNanoseconds();
  note.id = NewUuid(note.time_ns / 1000000u);
  note.mode = mode;
  note.reason = std::move(reason);
  note.detail = Dump(detail);
  return InsertRecord(db, &note);
}

// Moves what could not be read out of the way, whole.
Status KeepDamaged(Database* db, const std::string& bytes) {
  const std::string path = PendingPath(db->directory) + ".damaged-" +
                           NewUuid(NowNanoseconds() / 1000000u);
  const Fd file(open(path.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     0600));
  if (!file) return FailErrno("audit log " + path);
  GATE_CHECK(WriteAll(file.get(), bytes));
  Json detail = Json::object();
  detail["bytes"] = bytes.size();
  detail["file"] = path;
  return Note(db, "damaged",
              "pending records were damaged: " + std::to_string(bytes.size()) +
                  " bytes could not be read and were put into " + path,
              std::move(detail));
}

Status Insert(Database* db, const PendingEntries& entries) {
  GATE_CHECK(CheckTable(db));
  GATE_TRY(Newest newest, ReadNewest(db));
  bool broken = false;
  for (const PendingEntry& entry : entries.whole) {
    Record record;
    uint64_t sequence = 0;
    Hash previous{};
    if (!ParseCanonical(entry.bytes, &record, &sequence, &previous)) {
      return Fail(ErrorCode::kCorrupt,
                  "audit log " + PendingPath(db->directory) +
                      ": holds a record of another version");
    }
    if (!broken && sequence <= newest.sequence) {
      GATE_TRY(const bool there, HasRecord(db, sequence, entry.hash));
      if (there) continue;
    }
    const bool stands =
        newest.sequence == 0
            ? sequence == 1
            : sequence == newest.sequence + 1 && Equal(previous, newest.hash);
    if (!broken && stands) {
      GATE_CHECK(InsertRow(db, record, sequence, previous, entry.hash));
      newest = {sequence, entry.hash};
      continue;
    }
    if (!broken) {
      broken = true;
      Json detail = Json::object();
      detail["sequence"] = sequence;
      detail["newest"] = newest.sequence;
      GATE_CHECK(Note(db, "chained_again",
                      "the next records were written after another audit.db, "
                      "as record " +
                          std::to_string(sequence) +
                          " and later, and are chained again here",
                      std::move(detail)));
    }
    GATE_CHECK(InsertRecord(db, &record));
  }
  if (!entries.damaged.empty()) {
    GATE_CHECK(KeepDamaged(db, entries.damaged));
  }
  return {};
}

}  // namespace

Result<DatabaseState> StateOfDatabase(const std::string& database) {
  DatabaseState state;
  GATE_TRY(state.database, StateOf(database));
  GATE_TRY(state.wal, StateOf(database + "-wal"));
  return state;
}

Result<PendingHeader> Fold(Database* db, PendingFile* pending) {
  GATE_TRY(const PendingEntries entries, pending->ReadEntries());
  if (!entries.whole.empty() || !entries.damaged.empty()) {
    Transaction transaction(db);
    GATE_CHECK(transaction.Begin());
    GATE_CHECK(Insert(db, entries));
    GATE_CHECK(transaction.Commit());
  } else {
    GATE_CHECK(CheckTable(db));
  }
  GATE_TRY(const Newest newest, ReadNewest(db));
  PendingHeader header;
  header.newest = newest.sequence;
  header.hash = newest.hash;
  header.end = kPendingStart;
  GATE_TRY(header.database, StateOfDatabase(db->path));
  GATE_CHECK(pending->Reset(header));
  return header;
}

}  // namespace gate::audit
