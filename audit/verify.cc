// One pass over the log in order. Each record must hash to what it says, stand
// on the record before it, and have the next number. The first that does not
// is classified and ends the pass: whatever follows a break proves nothing.
//
// The chain has no key. Who may write the file can rewrite all of it, and a
// cut tail leaves a shorter log that is whole; both show only against an
// anchor that was kept elsewhere. They can also remove records at the front
// and add a checkpoint that calls it a prune; so of a checkpoint that is newer
// than the anchor nothing is believed that could not have been due.
#include <algorithm>
#include <iterator>

#include "audit/chain.h"
#include "audit/log_impl.h"
#include "audit/schema.h"
#include "audit/time.h"
#include "base/json.h"

namespace gate::audit {
namespace {

struct Walk {
  uint64_t first = 0;
  std::string first_previous;
  uint64_t last = 0;
  Hash hash{};
  uint64_t first_time_ns = 0;
  uint64_t anchor_seen = 0;  // number of the record with the anchor's hash
  std::string at_anchor;     // hash of the record with its number
  // From the first checkpoint that explains where the log starts.
  bool start_explained = false;
  std::string log;
  uint64_t pruned_through = 0;
  std::string pruned_hash;
  Record checkpoint;
};

void ReadCheckpoint(const Record& record, Walk* walk) {
  const auto detail = ParseJson(record.detail);
  if (!detail || !detail->is_object()) return;
  const auto text = [&](const char* key) {
    const auto found = detail->find(key);
    return found != detail->end() && found->is_string()
               ? found->get<std::string>()
               : std::string();
  };
  const auto through = detail->find("through");
  if (through == detail->end() || !through->is_number_unsigned()) return;
  if (walk->log.empty()) walk->log = text("log");
  if (!walk->start_explained && through->get<uint64_t>() + 1 == walk->first &&
      text("hash") == walk->first_previous) {
    walk->start_explained = true;
    walk->log = text("log");
    walk->pruned_through = through->get<uint64_t>();
    walk->pruned_hash = text("hash");
    walk->checkpoint = record;
  }
}

// Whether `row` holds exactly what a writer of gate's puts there. ReadRecord
// makes the nearest record of anything: a blob in the place of a text, another
// number than 0 and 1 for a flag, a word that is no kind, a number too great
// for an exit code would hash to what was written. Types are asked before
// anything is read, which may turn a value into the type that is wanted.
bool HasTypes(const Statement& row) {
  constexpr int kNumbers[] = {0, kColumnVersion, 5, 9, 18, 19};
  for (int column = 0; column <= kColumnHash; ++column) {
    int type = SQLITE_TEXT;
    if (std::find(std::begin(kNumbers), std::end(kNumbers), column) !=
        std::end(kNumbers))
      type = SQLITE_INTEGER;
    if (column == kColumnPrevious || column == kColumnHash) type = SQLITE_BLOB;
    if (sqlite3_column_type(row.get(), column) != type) return false;
  }
  return true;
}

bool IsAsWritten(const Statement& row, const Record& record) {
  const auto number = [&](int column) {
    return sqlite3_column_int64(row.get(), column);
  };
  return number(0) > 0 && row.Text(2) == Name(record.kind) &&
         number(9) == (record.enforced ? 1 : 0) &&
         number(18) == record.exit_code;
}

// What telling a moved record from an edited one may hash: a quarter of the
// largest log, whatever number the last row claims.
constexpr uint64_t kMaxMovedBytes = 64ull << 20;

// Whether `record` is whole at another place of the log than where it stands.
bool BelongsElsewhere(const Record& record, const Hash& previous,
                      const Hash& hash, uint64_t first, uint64_t newest) {
  const uint64_t tries =
      kMaxMovedBytes / CanonicalBytes(record, first, previous).size();
  newest = std::min(newest, first + tries);
  for (uint64_t sequence = first; sequence <= newest; ++sequence) {
    if (ChainHash(record, sequence, previous) == hash) return true;
  }
  return false;
}

VerifyReport& Bad(VerifyReport* verdict, VerifyStatus finding,
                  uint64_t sequence, std::string message) {
  verdict->finding = finding;
  verdict->sequence = sequence;
  verdict->message = std::move(message);
  return *verdict;
}

// As SQLite has it: somebody may have written a negative one.
std::string Number(uint64_t sequence) {
  return std::to_string(static_cast<int64_t>(sequence));
}

// A prune by age leaves a first record that is about as old as those that
// went: records that are not due have younger ones behind them.
constexpr uint64_t kDueSlackDays = 2;

// Whether what is gone at the front was gone when the record `anchor` was
// made, or was due since.
bool StartIsVouchedFor(const Walk& walk) {
  const uint64_t now = NowNanoseconds();
  const uint64_t due = (kMaxAgeDays - kDueSlackDays) * kNanosecondsPerDay;
  return walk.pruned_through == 0 ||
         walk.checkpoint.sequence <= walk.anchor_seen ||
         (walk.first <= walk.anchor_seen && walk.first_time_ns < now &&
          now - walk.first_time_ns > due);
}

void CompareAnchor(const Anchor& anchor, const Walk& walk,
                   VerifyReport* verdict) {
  if (!anchor.log.empty() && !walk.log.empty() && anchor.log != walk.log) {
    Bad(verdict, VerifyStatus::kWrongFile, 0,
        "this is another log than the anchor's");
    return;
  }
  if (walk.anchor_seen != 0 &&
      (anchor.sequence == 0 || walk.at_anchor == anchor.hash)) {
    verdict->anchored = StartIsVouchedFor(walk);
    verdict->message =
        verdict->anchored
            ? "ok, and the anchor is part of the log"
            : "ok but unanchored: the anchor is part of the log, but records "
              "before it were removed after it was made, and nothing shows "
              "that they were due";
    return;
  }
  if (anchor.sequence != 0 && anchor.sequence == walk.pruned_through &&
      anchor.hash != walk.pruned_hash) {
    Bad(verdict, VerifyStatus::kEdited, anchor.sequence,
        "the log was rewritten: record " + Number(anchor.sequence) +
            " was another one");
    return;
  }
  if (walk.pruned_through != 0 &&
      (anchor.sequence != 0 ? anchor.sequence <= walk.pruned_through
                            : anchor.hash == walk.pruned_hash)) {
    verdict->message =
        "ok but unanchored: the anchor's record is among those that were "
        "removed, so it proves nothing any more";
    return;
  }
  if (walk.pruned_through != 0 && anchor.sequence == 0) {
    verdict->message =
        "ok but unanchored: no record has the anchor's hash. It is one of "
        "those that were removed, or the log's tail was cut, or it was "
        "replaced by an older copy; an anchor with a number would tell";
    return;
  }
  if (anchor.sequence != 0 && anchor.sequence <= walk.last) {
    Bad(verdict, VerifyStatus::kEdited, anchor.sequence,
        "the log was rewritten: record " + Number(anchor.sequence) +
            " is not the anchor's");
    return;
  }
  Bad(verdict, VerifyStatus::kTruncated, walk.last + 1,
      "the log ends before the anchor: its tail was cut, or it was replaced "
      "by an older copy");
}

}  // namespace

const char* Name(VerifyStatus finding) {
  switch (finding) {
    case VerifyStatus::kOk:
      return "ok";
    case VerifyStatus::kEdited:
      return "edited";
    case VerifyStatus::kMissing:
      return "missing";
    case VerifyStatus::kReordered:
      return "reordered";
    case VerifyStatus::kTruncated:
      return "truncated";
    case VerifyStatus::kWrongFile:
      return "wrong file";
    case VerifyStatus::kUnreadable:
      return "unreadable";
  }
  return "unreadable";
}

Result<VerifyReport> Log::Verify(const std::string& anchor_text) const {
  Database& db = impl_->db;
  Anchor anchor;
  if (!anchor_text.empty() && !ParseAnchor(anchor_text, &anchor)) {
    return Fail(ErrorCode::kInvalid,
                "not an anchor: expected LOG:SEQUENCE:HASH or a hash");
  }
  const Status settled = impl_->Settle();
  if (!settled && settled.error().code != ErrorCode::kCorrupt) {
    return std::unexpected(settled.error());
  }
  // A changed table takes no record and can still be read.
  GATE_CHECK(impl_->Connect());
  VerifyReport verdict;
  GATE_TRY(const std::string schema, SchemaDifference(&db));
  auto newest = db.Number("SELECT max(seq) FROM log");
  auto read =
      db.Prepare(std::string("SELECT ") + kColumns + " FROM log ORDER BY seq");
  if (!newest || !read) {
    if (schema.empty())
      return std::unexpected(newest ? read.error() : newest.error());
    return Bad(&verdict, VerifyStatus::kUnreadable, 0, schema);
  }
  Statement row = std::move(*read);
  Walk walk;
  int code = 0;
  while ((code = row.Step()) == SQLITE_ROW) {
    const bool typed = HasTypes(row);
    const Record record = ReadRecord(row);
    const uint64_t sequence = record.sequence;
    Hash previous{};
    Hash hash{};
    if (!row.ReadHash(kColumnPrevious, &previous) ||
        !row.ReadHash(kColumnHash, &hash)) {
      return Bad(&verdict, VerifyStatus::kEdited, sequence,
                 "record " + Number(sequence) + " has no hash");
    }
    if (row.Number(kColumnVersion) != kRecordVersion) {
      return Bad(&verdict, VerifyStatus::kUnreadable, sequence,
                 "record " + Number(sequence) +
                     " is of a version this gate does not know");
    }
    if (!typed || !IsAsWritten(row, record)) {
      return Bad(&verdict, VerifyStatus::kEdited, sequence,
                 "record " + Number(sequence) +
                     " holds a value that gate does not write");
    }
    if (walk.first == 0) {
      walk.first = sequence;
      walk.first_previous = record.previous;
      walk.first_time_ns = record.time_ns;
      walk.hash = previous;
      if (sequence == 1) {
        walk.start_explained = true;
        walk.log = record.previous.substr(0, 16);
      }
    } else if (sequence != walk.last + 1) {
      return Bad(&verdict, VerifyStatus::kMissing, walk.last + 1,
                 "records " + Number(walk.last + 1) + " to " +
                     Number(sequence - 1) + " are missing");
    }
    if (ChainHash(record, sequence, previous) != hash) {
      if (BelongsElsewhere(record, previous, hash, walk.first, *newest)) {
        return Bad(
            &verdict, VerifyStatus::kReordered, sequence,
            "record " + Number(sequence) + " stands where another one was");
      }
      return Bad(&verdict, VerifyStatus::kEdited, sequence,
                 "record " + Number(sequence) + " was edited");
    }
    if (previous != walk.hash) {
      return Bad(&verdict, VerifyStatus::kEdited, sequence - 1,
                 "record " + Number(sequence - 1) +
                     " is not the one that record " + Number(sequence) +
                     " was written after");
    }
    if (record.kind == Kind::kCheckpoint) ReadCheckpoint(record, &walk);
    walk.last = sequence;
    walk.hash = hash;
    ++verdict.records;
    if (record.hash == anchor.hash) walk.anchor_seen = sequence;
    if (sequence == anchor.sequence) walk.at_anchor = record.hash;
  }
  if (code != SQLITE_DONE) {
    return Bad(&verdict, VerifyStatus::kUnreadable, walk.last + 1,
               db.Failed(code, "read").error().message);
  }
  if (walk.first != 0 && !walk.start_explained) {
    return Bad(&verdict, VerifyStatus::kMissing, walk.first - 1,
               "records up to " + Number(walk.first - 1) +
                   " are missing, and no checkpoint says that they were "
                   "pruned");
  }
  verdict.finding = VerifyStatus::kOk;
  verdict.first = walk.first;
  verdict.pruned_through = walk.pruned_through;
  if (walk.pruned_through != 0)
    verdict.pruned = "records up to " + Number(walk.pruned_through) +
                     " were removed by a prune, says record " +
                     Number(walk.checkpoint.sequence) + " of " +
                     FormatTime(walk.checkpoint.time_ns) + " (" +
                     walk.checkpoint.reason + ")";
  if (walk.first != 0) {
    verdict.head = Hex(walk.hash);
    verdict.anchor = Format(Anchor{walk.log, walk.last, verdict.head});
  }
  verdict.message =
      "ok but unanchored: whether records were cut off at the end cannot be "
      "known";
  if (!anchor_text.empty()) CompareAnchor(anchor, walk, &verdict);
  // The records stand, and records may have been kept out of the log.
  if (verdict.finding == VerifyStatus::kOk && !schema.empty()) {
    Bad(&verdict, VerifyStatus::kEdited, 0, schema);
  }
  if (verdict.finding == VerifyStatus::kOk && !settled) {
    Bad(&verdict, VerifyStatus::kUnreadable, 0, settled.error().message);
  }
  return verdict;
}

}  // namespace gate::audit
