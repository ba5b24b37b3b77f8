// The one layout of rule files (JSON with comments), for `gate rules fmt`.
//
// Where a line is broken stays the author's choice, as do comments, the order
// of everything and how a string is escaped. The rest is fixed: one blank
// after `:` and `,`, none inside brackets or at the end of a line, at most one
// empty line. What follows an opening bracket on its own line is indented by
// two and its closing bracket stands alone; what follows one that is not the
// last of its line stands below its first member.
//
//     "rules": [
//       {"id": "a.b", "action": "deny",
//        "match": {"prefix": ["git", "push"]}}
//     ]
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "rules/files/tree.h"

namespace gate::rules {

// `text` in that layout; the error when it is not JSON with comments.
// Formatting what was formatted changes nothing, and both texts read as the
// same value with the same comments.
std::expected<std::string, TreeError> FormatRuleFile(std::string_view text);

}  // namespace gate::rules
