// The hash chain: which bytes of a record are hashed, and how.
//
// Hash of a record = SHA-256(domain, previous hash, fields): the domain is a
// string with the format's version, every field has a fixed place and carries
// its length, so that no two different records have the same bytes. The exact
// layout is in docs/audit-format.md; it never changes for one version.
#pragma once

#include <string>
#include <string_view>

#include "audit/record.h"
#include "base/hash.h"

namespace gate::audit {

// The version of the canonical bytes; column `v` of each row.
inline constexpr int kRecordVersion = 1;

// What is hashed for `record` when it stands at `sequence` after a record with
// hash `previous`. Reads nothing of record.sequence, .previous and .hash.
std::string CanonicalBytes(const Record& record, uint64_t sequence,
                           const Hash& previous);

// The opposite: false unless `bytes` are what CanonicalBytes makes of a record
// of this version. Leaves record.sequence, .previous and .hash as they are.
bool ParseCanonical(std::string_view bytes, Record* record, uint64_t* sequence,
                    Hash* previous);

Hash ChainHash(const Record& record, uint64_t sequence, const Hash& previous);

// Names a place in one log: LOG:SEQUENCE:HASH. LOG is the start of the random
// value that the first record of a log stands on, so that an anchor of another
// log is told from a damaged one. `Parse` accepts a bare HASH too.
struct Anchor {
  std::string log;        // 16 hex digits; empty when unknown
  uint64_t sequence = 0;  // 0 when unknown
  std::string hash;       // 64 hex digits
};
std::string Format(const Anchor& anchor);
bool ParseAnchor(std::string_view text, Anchor* out);

}  // namespace gate::audit
