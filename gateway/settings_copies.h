// Copies of the home's files that mix settings and secrets, in the place of
// those files (settings/copy.h says what is in a copy).
#pragma once

#include <cstdint>
#include <string>

#include "backends/backend.h"
#include "facts/process_facts.h"
#include "rules/lending.h"
#include "settings/copy.h"

namespace gate::app {

// Public keys that are shown; more are left out.
inline constexpr size_t kMaxPublicKeys = 32;

// The copy of the file of `home` as it is now, includes kept. Not parsed where
// it is no plain file of this user's in the home, or is larger than
// settings::kMaxCopyBytes.
settings::Copy CopySettingsOf(const std::string& home,
                              const rules::SettingsFile& file);

// For people: which of those files the home has, and what a sandboxed command
// finds of each. Empty where it has none.
std::string DescribeSettings(const ProcessFacts& facts);

// Hides in `profile` those files of settings that it does not hide, and shows
// the copies of all that are hidden (Profile::substitutes). What `profile`
// lets the line write stays as it is, and so does a file that is in the home
// by a link to elsewhere. `can_show`: the backend can show copies; without it
// a file is hidden only where something in it looks secret or it does not
// parse. Copies are written below the state directory, named by their content,
// so that runs at the same time have each its own; those not used for a day go
// when a new one comes. What cannot be read or written stays hidden.
void ShowSettings(const ProcessFacts& facts, bool can_show,
                  backends::Profile* profile);

// Whether the home's password file of PostgreSQL's clients (~/.pgpass) has an
// entry for `port` of this machine.
bool HasPasswordFor(const ProcessFacts& facts, uint16_t port);

// Shows the entries of that file for the services of this machine that
// `profile` gives (Profile::services), and no others; where it has none, where
// nothing can be shown and where the file is not hidden it stays as it is.
void ShowPasswords(const ProcessFacts& facts, bool can_show,
                   backends::Profile* profile);

}  // namespace gate::app
