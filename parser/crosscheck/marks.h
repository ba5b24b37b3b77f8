// What both readers' trees are reduced to for the comparison, and the
// rewriting of what tree-sitter-bash misreads. Private to tree_check.cc.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "parser/ast.h"
#include "parser/crosscheck/tree_check.h"

namespace gate::parser {

// A word of a command: [begin, end) of the text.
struct Mark {
  enum Role : uint8_t { kFirst, kWord, kAssignment, kTarget };
  uint32_t begin = 0;
  uint32_t end = 0;
  Role role = kWord;

  friend auto operator<=>(const Mark&, const Mark&) = default;
};

// The marks of everything that the tree reaches, but for what stands in `…`
// (a text of its own), sorted.
void CollectMarks(std::string_view source, const Ast& ast,
                  std::vector<Mark>* out);

// Rewrites in `text`, which holds what `ast` was read from, what tree-sitter
// is known to misread, byte for byte in place; takes away marks that stand in
// what was blanked out. False when there is nothing to rewrite.
bool Rewrite(const Ast& ast, const std::vector<Suspect>& suspects,
             std::string* text, std::vector<Mark>* marks);

}  // namespace gate::parser
