// Files of the home that mix settings and secrets, shown inside as copies
// written anew.
//
// `~/.npmrc` says which registry a scope has, and holds the token for it. It
// stays hidden; what a sandboxed command reads there is written by gate out of
// the keys that rules.d/lending names as harmless, as far as their values parse
// (a URL without a user, query or fragment). Nothing of the original is copied
// as it stands: no comment, no unknown key, no include. A registry that does
// not parse is written as one that does not exist, so that nobody falls back to
// the public one for a private name.
#pragma once

#include <string>
#include <string_view>

#include "backends/backend.h"
#include "cli/process_facts.h"
#include "rules/lending.h"

namespace gate::cli {

// A larger file is not read; of public keys more are left out.
inline constexpr size_t kMaxSettingsCopyBytes = size_t{1} << 20;
inline constexpr size_t kMaxPublicKeys = 32;
// In the place of a registry that is withheld (RFC 2606: no such name).
inline constexpr std::string_view kWithheldSource = "https://withheld.invalid/";

struct SettingsCopy {
  bool parsed = false;  // false: nothing of it is shown
  std::string text;
  bool left_out = false;  // something of it was not shown, comments aside
};

// The copy of `text`. Pure and linear.
SettingsCopy CopySettings(const rules::SettingsFile& file,
                          std::string_view text);

// The same of the file of `home` as it is now. Not parsed where it is no plain
// file of this user's, is larger than kMaxSettingsCopyBytes, or a link is on
// the way below `home`.
SettingsCopy CopySettingsOf(const std::string& home,
                            const rules::SettingsFile& file);

// Adds the copies of what `profile` hides to it (Profile::substitutes). They
// are written below the state directory, named by their content, so that
// runs at the same time have each its own; those not used for a day go when a
// new one comes. What cannot be read or written stays hidden.
void ShowSettings(const ProcessFacts& facts, backends::Profile* profile);

}  // namespace gate::cli
