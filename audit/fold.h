// From audit.pending into the table of audit.db. Internal to audit/.
#pragma once

#include <string>

#include "audit/database.h"
#include "audit/pending.h"
#include "base/result.h"

namespace gate::audit {

// With the pending file's lock held: inserts its records into the table, in
// one transaction, and empties it. Returns the header that was written.
//
// A record that is there already (a fold that was killed after its commit) is
// passed over. Records that do not stand on the table's newest one (audit.db
// was restored from a copy, removed, or written by an older gate) are chained
// again, after a `note` that says so. What is damaged is put beside as
// audit.pending.damaged-ID, and a note says how much. So nothing that was
// answered is lost without a word. kCorrupt for a table that is not gate's and
// for whole records of another version. On failure nothing changed.
Result<PendingHeader> Fold(Database* db, PendingFile* pending);

// What audit.db and its WAL are at the moment.
Result<DatabaseState> StateOfDatabase(const std::string& database);

}  // namespace gate::audit
