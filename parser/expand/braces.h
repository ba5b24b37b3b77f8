// Brace expansion over a word whose quoted parts are opaque.
#pragma once

#include <vector>

#include "parser/ast.h"
#include "parser/expand/expand.h"

namespace gate::parser {

inline constexpr size_t kMaxBraceResults = 4096;
// Most groups in each other and behind each other.
inline constexpr int kMaxBraceGroups = 256;
// Most characters that are gone over.
inline constexpr size_t kMaxBraceWork = size_t{4} << 20;

// An unquoted character, or a part that braces do not look into.
struct BraceAtom {
  char c = 0;
  PartId part = kNone;
};

// All results in bash's order. False when there would be more than the bound:
// then `out` holds the word unexpanded.
bool ExpandBraceAtoms(const std::vector<BraceAtom>& atoms,
                      std::vector<std::vector<BraceAtom>>* out);

}  // namespace gate::parser
