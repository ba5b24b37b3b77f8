// What is known of a client's version: whether it runs what gate's hook puts in
// place of a command.
//
// A version that was seen to run a command as it was, after gate had put
// another in its place, has a record in `clients/` of the state directory. With
// kDropsToMark of them it is marked: its lines are refused, with the command to
// run instead. A person lets gate try again (`gate doctor --prove`); the first
// rewritten command that is run as it was rewritten then clears the record, and
// one more that is not marks the version again at once. What cannot be read is
// marked. Safe under hooks that run at the same time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace gate::app {

inline constexpr uint64_t kDropsToMark = 3;
// Versions with a record. The oldest that is not marked makes room; where all
// are marked, a new one counts as marked without a record.
inline constexpr size_t kMaxClientRecords = 32;

enum class Standing : uint8_t {
  kMarked,  // the default of what cannot be read
  kTrial,   // a person lets gate try again
  kGood,
};

struct ClientRecord {
  std::string client;  // name and version, as hooks::ClientSign has them
  uint64_t drops = 0;
  Standing standing = Standing::kMarked;
  uint64_t changed_ms = 0;
};

// How `client` stands. One open() where it has no record.
Standing StandingOf(const std::string& state_dir, const std::string& client);

// Counts one more rewrite that `client` dropped; the record after that.
Result<ClientRecord> NoteDrop(const std::string& state_dir,
                              const std::string& client, uint64_t now_ms);

// On trial, and a rewrite was applied: there is no record any more. Nothing
// where it is not on trial.
Status NoteApplied(const std::string& state_dir, const std::string& client);

// Puts every marked version on trial, and removes what cannot be read. Returns
// their names.
Result<std::vector<std::string>> TryAgain(const std::string& state_dir,
                                          uint64_t now_ms);

// All records; one that cannot be read has no name and is marked.
std::vector<ClientRecord> ListClients(const std::string& state_dir);

}  // namespace gate::app
