// Brace expansion over a word whose quoted parts are opaque.
#pragma once

#include <string>
#include <vector>

#include "parser/ast.h"
#include "parser/expand.h"

namespace gate::parser {

inline constexpr size_t kMaxBraceResults = 4096;
inline constexpr int kMaxBraceDepth = 64;

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
