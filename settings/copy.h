// Files that mix settings and secrets, as copies written anew.
//
// `~/.npmrc` says which registry a scope has, and holds the token for it. What
// a sandboxed command finds in its place is written by gate out of the keys
// that rules.d/lending names as harmless, as far as their values parse (a URL
// without a user, query or fragment). Nothing of the original is copied as it
// stands: no comment, no unknown key. A registry that does not parse is written
// as one that does not exist, so that nobody falls back to the public one for a
// private name.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "rules/lending.h"

namespace gate::settings {

// A larger text is not parsed.
inline constexpr size_t kMaxCopyBytes = size_t{1} << 20;
// In the place of a registry that is withheld (RFC 2606: no such name).
inline constexpr std::string_view kWithheldSource = "https://withheld.invalid/";

struct Copy {
  bool parsed = false;  // false: nothing of it is shown
  std::string text;
  bool left_out = false;        // something of it was not shown, comments aside
  bool secret = false;          // …that looks like a secret
  size_t line = 0, column = 0;  // where parsing stopped; 0: nowhere in it
};

// Whether a file that git includes may be named in the copy: git ends where it
// cannot read one.
using MayInclude = std::function<bool(std::string_view path)>;

// The copy of `text`. Pure (but for `may_include`; without it no include is
// kept) and linear. Not parsed where the format's reader refuses it, and where
// it is larger than kMaxCopyBytes or no UTF-8, or holds a NUL byte.
Copy CopyOf(const rules::SettingsFile& file, std::string_view text,
            const MayInclude& may_include = {});

}  // namespace gate::settings
