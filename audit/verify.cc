// One pass over the log in order. Each record must hash to what it says, stand
// on the record before it, and have the next number. The first that does not
// is classified and ends the pass: whatever follows a break proves nothing.
//
// The chain has no key. Who may write the file can rewrite all of it, and a
// cut tail leaves a shorter log that is whole; both show only against an
// anchor that was kept elsewhere.
#include "audit/chain.h"
#include "audit/log_impl.h"
#include "base/json.h"

namespace gate::audit {
namespace {

struct Walk {
  uint64_t first = 0;
  std::string first_previous;
  uint64_t last = 0;
  Hash hash{};
  bool anchor_seen = false;  // a record with the anchor's hash
  std::string at_anchor;     // hash of the record with its number
  // From the checkpoint that explains where the log starts.
  bool start_explained = false;
  std::string log;
  uint64_t pruned_through = 0;
  std::string pruned_hash;
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
  if (through->get<uint64_t>() + 1 == walk->first &&
      text("hash") == walk->first_previous) {
    walk->start_explained = true;
    walk->log = text("log");
    walk->pruned_through = through->get<uint64_t>();
    walk->pruned_hash = text("hash");
  }
}

// Whether `record` is whole at another place of the log than where it stands.
bool BelongsElsewhere(const Record& record, const Hash& previous,
                      const Hash& hash, uint64_t newest) {
  for (uint64_t sequence = 1; sequence <= newest; ++sequence) {
    if (ChainHash(record, sequence, previous) == hash) return true;
  }
  return false;
}

Verdict& Bad(Verdict* verdict, Finding finding, uint64_t sequence,
             std::string message) {
  verdict->finding = finding;
  verdict->sequence = sequence;
  verdict->message = std::move(message);
  return *verdict;
}

std::string Number(uint64_t sequence) { return std::to_string(sequence); }

void CompareAnchor(const Anchor& anchor, const Walk& walk, Verdict* verdict) {
  if (!anchor.log.empty() && !walk.log.empty() && anchor.log != walk.log) {
    Bad(verdict, Finding::kWrongFile, 0,
        "this is another log than the anchor's");
    return;
  }
  if (walk.anchor_seen &&
      (anchor.sequence == 0 || walk.at_anchor == anchor.hash)) {
    verdict->anchored = true;
    verdict->message = "ok, and the anchor is part of the log";
    return;
  }
  if (anchor.sequence != 0 && anchor.sequence < walk.first) {
    if (anchor.sequence == walk.pruned_through) {
      if (anchor.hash == walk.pruned_hash) {
        verdict->anchored = true;
        verdict->message = "ok, and the anchor is where the log was pruned";
      } else {
        Bad(verdict, Finding::kEdited, anchor.sequence,
            "the log was rewritten: record " + Number(anchor.sequence) +
                " was another one");
      }
      return;
    }
    verdict->message = "ok but unanchored: the anchor's record has been pruned";
    return;
  }
  if (anchor.sequence != 0 && anchor.sequence <= walk.last) {
    Bad(verdict, Finding::kEdited, anchor.sequence,
        "the log was rewritten: record " + Number(anchor.sequence) +
            " is not the anchor's");
    return;
  }
  Bad(verdict, Finding::kTruncated, walk.last + 1,
      "the log ends before the anchor: its tail was cut, or it was replaced "
      "by an older copy");
}

}  // namespace

const char* Name(Finding finding) {
  switch (finding) {
    case Finding::kOk:
      return "ok";
    case Finding::kEdited:
      return "edited";
    case Finding::kMissing:
      return "missing";
    case Finding::kReordered:
      return "reordered";
    case Finding::kTruncated:
      return "truncated";
    case Finding::kWrongFile:
      return "wrong file";
    case Finding::kUnreadable:
      return "unreadable";
  }
  return "unreadable";
}

Result<Verdict> Log::Verify(const std::string& anchor_text) const {
  Database& db = impl_->db;
  if (db.handle == nullptr) {
    return Fail(ErrorCode::kInternal, "audit log: closed");
  }
  Anchor anchor;
  if (!anchor_text.empty() && !ParseAnchor(anchor_text, &anchor)) {
    return Fail(ErrorCode::kInvalid,
                "not an anchor: expected LOG:SEQUENCE:HASH or a hash");
  }
  db.Arm();
  Verdict verdict;
  GATE_TRY(const uint64_t newest, db.Number("SELECT max(seq) FROM log"));
  GATE_TRY(Statement row, db.Prepare(std::string("SELECT ") + kColumns +
                                     " FROM log ORDER BY seq"));
  Walk walk;
  int code = 0;
  while ((code = row.Step()) == SQLITE_ROW) {
    const Record record = ReadRecord(row);
    const uint64_t sequence = record.sequence;
    Hash previous{};
    Hash hash{};
    if (!row.ReadHash(kColumnPrevious, &previous) ||
        !row.ReadHash(kColumnHash, &hash)) {
      return Bad(&verdict, Finding::kEdited, sequence,
                 "record " + Number(sequence) + " has no hash");
    }
    if (row.Number(kColumnVersion) != kRecordVersion) {
      return Bad(&verdict, Finding::kUnreadable, sequence,
                 "record " + Number(sequence) +
                     " is of a version this gate does not know");
    }
    if (walk.first == 0) {
      walk.first = sequence;
      walk.first_previous = record.previous;
      walk.hash = previous;
      if (sequence == 1) {
        walk.start_explained = true;
        walk.log = record.previous.substr(0, 16);
      }
    } else if (sequence != walk.last + 1) {
      return Bad(&verdict, Finding::kMissing, walk.last + 1,
                 "records " + Number(walk.last + 1) + " to " +
                     Number(sequence - 1) + " are missing");
    }
    if (ChainHash(record, sequence, previous) != hash) {
      if (BelongsElsewhere(record, previous, hash, newest)) {
        return Bad(
            &verdict, Finding::kReordered, sequence,
            "record " + Number(sequence) + " stands where another one was");
      }
      return Bad(&verdict, Finding::kEdited, sequence,
                 "record " + Number(sequence) + " was edited");
    }
    if (previous != walk.hash) {
      return Bad(&verdict, Finding::kEdited, sequence - 1,
                 "record " + Number(sequence - 1) +
                     " is not the one that record " + Number(sequence) +
                     " was written after");
    }
    if (record.kind == Kind::kCheckpoint) ReadCheckpoint(record, &walk);
    walk.last = sequence;
    walk.hash = hash;
    ++verdict.records;
    if (record.hash == anchor.hash) walk.anchor_seen = true;
    if (sequence == anchor.sequence) walk.at_anchor = record.hash;
  }
  if (code != SQLITE_DONE) {
    return Bad(&verdict, Finding::kUnreadable, walk.last + 1,
               db.Failed(code, "read").error().message);
  }
  if (walk.first != 0 && !walk.start_explained) {
    return Bad(&verdict, Finding::kMissing, walk.first - 1,
               "records up to " + Number(walk.first - 1) +
                   " are missing, and no checkpoint says that they were "
                   "pruned");
  }
  verdict.finding = Finding::kOk;
  if (walk.first != 0) {
    verdict.head = Hex(walk.hash);
    verdict.anchor = Format(Anchor{walk.log, walk.last, verdict.head});
  }
  verdict.message =
      "ok but unanchored: whether records were cut off at the end cannot be "
      "known";
  if (!anchor_text.empty()) CompareAnchor(anchor, walk, &verdict);
  return verdict;
}

}  // namespace gate::audit
