// What both readers' trees are reduced to for the comparison, and the
// rewriting of what tree-sitter-bash misreads. Private to tree_check.cc.
//
// What tree-sitter-bash 0.25 misreads, what bash makes of it, and what it is
// rewritten to:
//
// - A newline before `\x` ends the command. The grammar eats the newline, so
//   that the next command becomes arguments: `;`.
// - A newline after a pipeline of three commands, then `&&`, ends the command.
//   The grammar takes the next command for arguments: `;`.
// - `\` before a newline vanishes, also inside a word. The grammar parts the
//   word, or hides the next one: blanks, or `__` inside a word.
// - `\x` in a word, `\` before CR and `\` at the end are characters of the
//   word. The grammar parts the word or sees a line continuation: `__`.
// - CR, VT, FF and bytes from 0x80 are characters of a word. The grammar takes
//   them for blanks: `_`.
// - `-x=1` and `@v=1` at the front are names of commands. The grammar sees an
//   assignment: `_` for `=`.
// - `{a,b}`, `a%`, `a@` and `$` are words. The grammar has an error: `_`.
// - `time`, a second `!` and `coproc NAME` are reserved words. The grammar
//   takes them for names of commands: blanks.
// - `a <>b` opens for both. The grammar has an error: `< `.
// - `a >b <<<c` and `{ a; } <<<c` apply in order. Errors: `<  `.
// - `{fd}>b` opens and sets `fd`. The grammar has an error: a number.
// - Several here-documents, words after them, and `<<E"F"` apply in order.
//   Errors: operators and bodies are blanked.
// - `?(…)` and its like are one word. The grammar has an error: `_`.
// - `${s:$i:1}`, `${x~~}` and patterns in `${…}` are expansions. Errors: `_`,
//   when no command stands inside.
// - `$((…))` without a command inside is arithmetic, at times an error: a
//   number.
// - An empty or nested backquote, or one in `${…}`, is a substitution. The
//   grammar has an error or hides it: `_`; gate alone reads what is inside.
// - `((a); (b))` and `$((a); (b))` are subshells. The grammar sees arithmetic:
//   the inner parentheses are blanked.
// - `(a) then`, `{ (a) }` and `for i do` need no `;`. Errors: the blank
//   becomes `;`.
// - Words after a redirection's target are arguments. The grammar sees further
//   targets: they are taken as arguments.
// - Comments end at the line's end. The grammar eats them with what follows:
//   blanks.
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
