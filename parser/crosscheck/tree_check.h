// The second reader: tree-sitter-bash, and what may differ from it.
//
// CheckTree() compares which bytes each reader takes for commands, words,
// assignments and redirections' targets. tree-sitter-bash 0.25 is known to
// misread some valid texts (marks.h has the list). For these the check
// is repeated on a copy of the text in which each such construct, at its own
// place and of its own length, is written in a form that the grammar reads
// rightly; everything else must then agree. So a known error pardons its own
// place and nothing beyond.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "parser/ast.h"

namespace gate::parser {

// Places that the grammar of tree-sitter-bash 0.25 may misread and that the
// tree does not show.
enum class SuspectKind : uint8_t {
  kContinuation,  // \<newline>
  kSeparator,     // a newline between two commands
  kComment,
  kKeyword,         // time, ! and coproc, with what belongs to them
  kHereOperator,    // <<word
  kHereBody,        // the lines up to and with the one that ends it
  kReadWrite,       // <>
  kHereString,      // <<<, behind another redirection or a compound command
  kDescriptorName,  // {name} of {name}>file
  kParenthesis,     // of a subshell that stands first in parentheses
  kCloser,          // a blank between a command and a word that closes
};

struct Suspect {
  Span span;
  SuspectKind kind = SuspectKind::kContinuation;
};

// tree-sitter is stopped after this many hundreds of steps: it takes seconds
// and hundreds of megabytes for a mebibyte of many words. A step is about a
// word, an operator or a node; 40,000 of them are some 5,000 commands.
inline constexpr uint32_t kMaxTreeRounds = 400;
// And after it has been given so many bytes, in pieces of this size: every
// here-document without an end makes it read the rest of the text once more.
inline constexpr size_t kTreePiece = 4096;
inline constexpr size_t kMaxTreeBytes = size_t{4} << 20;

struct TreeCheck {
  std::optional<Span> difference;  // where the readers first differ, if so
  bool too_large = false;          // tree-sitter was stopped
};

// Compares the readers. `source` is what `ast` was read from, without error.
// Linear time. Keeps one tree-sitter parser for each thread.
TreeCheck CheckTree(std::string_view source, const Ast& ast,
                    const std::vector<Suspect>& suspects);

// True for texts so plain that both readers read them alike; these need no
// CheckTree(). One pass, no allocation.
bool IsPlain(std::string_view text);

}  // namespace gate::parser
