// A syntax tree as text, for what compares trees.
#pragma once

#include <string>

#include "parser/ast.h"

namespace gate::parser {

// An s-expression of the tree.
std::string Print(const Ast& ast);

}  // namespace gate::parser
