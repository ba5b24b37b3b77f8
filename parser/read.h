// Text -> Ast, by bash's grammar, checked against tree-sitter-bash.
//
// Two readers look at every text: gate's own (a lexer and recursive descent
// over bash(1)'s grammar, whose depth is bounded) and tree-sitter-bash. Where
// they disagree about what are commands and where words begin and end, and
// the place is not one where the grammar of tree-sitter-bash 0.25 is known to
// be wrong (parser/crosscheck/marks.h lists these), the script is flagged. So
// a command stays hidden only if both readers miss it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/span.h"
#include "parser/ast.h"

namespace gate::parser {

// Longest text that is read; longer ones are kTooLarge.
inline constexpr size_t kMaxSourceBytes = 1 << 20;
// Deepest nesting of commands and expansions.
inline constexpr int kMaxDepth = 200;
// Most nodes, words and parts together.
inline constexpr size_t kMaxNodes = 100000;

enum class ReadStatus : uint8_t {
  kOk,            // the whole text is one valid script
  kSyntaxError,   // bash would refuse it, or gate cannot read it; `ast` holds
                  // the complete commands before the error (bash runs them
                  // when a newline parted them from it)
  kDisagreement,  // read, but tree-sitter-bash sees other commands, or a
                  // corner where bash's reading is not followed for sure
  kTooLarge,      // a limit was exceeded, found before tree-sitter starts
};

struct Script {
  std::string source;
  Ast ast;
  ReadStatus status = ReadStatus::kSyntaxError;
  Span where;           // of the error, the disagreement, the limit
  std::string message;  // lower case, one line; empty when kOk
};

struct ReadOptions {
  bool compare = true;   // look at tree-sitter-bash's tree, too
  bool extglob = false;  // as after `shopt -s extglob`
  int depth = 0;         // nesting already used by enclosing texts
};

// Never fails: what is wrong is in `status`. Linear time; the same text gives
// the same result. Thread-safe; each thread keeps one tree-sitter parser. Needs
// less than 1 MiB of stack.
Script Read(std::string_view source, const ReadOptions& options = {});

}  // namespace gate::parser
