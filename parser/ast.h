// The shell syntax tree of gate: a plain value over one source text.
//
// Nodes live in vectors and name each other by index, so that a tree is one
// value without ownership questions, can be copied, and is destroyed without
// recursion. Every node has the byte range it came from. What the tree says
// is bash's grammar (bash 5.2, POSIX.1-2017 section 2, bash(1)): quoting is
// resolved into parts, here-document bodies hang on their redirection, line
// continuations are gone, aliases are not expanded (that is evaluation).
//
// Read() builds the tree; nothing here evaluates anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/span.h"

namespace gate::parser {

using NodeId = uint32_t;
using WordId = uint32_t;
using PartId = uint32_t;
using RedirectId = uint32_t;
inline constexpr uint32_t kNone = UINT32_MAX;

// The pieces of a word.
enum class PartKind : uint8_t {
  kLiteral,       // unquoted characters: `text`. Subject to brace, tilde and
                  // pathname expansion, but not to field splitting.
  kEscaped,       // one character after a backslash outside quotes: `text`
  kSingleQuoted,  // '…': `text`
  kAnsiQuoted,    // $'…': `text` decoded
  kDoubleQuoted,  // "…": `parts` (kQuotedText, kParameter, kCommand, …)
  kLocaleQuoted,  // $"…": the same
  kQuotedText,    // text inside double quotes, a here-document or arithmetic,
                  // its backslash escapes removed: `text`
  kParameter,     // $x, ${…}: `parameter`
  kCommand,       // $(…), `…`, ${ …; }: `body` (a list node or kNone when
                  // empty); `backquoted` for `…`
  kArithmetic,    // $((…)), $[…]: `parts` is the expression as in quotes
  kProcess,       // <(…), >(…): `body`; `text` is "<" or ">"
  kExtendedGlob,  // ?(…) *(…) +(…) @(…) !(…) where extglob reads one:
                  // `text` is the operator, `words` the alternatives
};

struct Part {
  PartKind kind = PartKind::kLiteral;
  bool backquoted = false;
  // kCommand, kProcess: bash finds an error inside when it gets there; `body`
  // holds the lines before it. (An error that bash finds before it runs
  // anything is a syntax error of the whole text instead.)
  bool unreadable = false;
  Span span;
  std::string text;
  std::vector<PartId> parts;
  std::vector<WordId> words;
  NodeId body = kNone;
  uint32_t parameter = kNone;  // index into Ast::parameters
};

// ${!name[subscript]OPERATOR operand / replacement}
enum class ParameterOp : uint8_t {
  kPlain,         // $x ${x}
  kLength,        // ${#x}
  kDefault,       // ${x-w}  (colon: ${x:-w}), likewise below
  kAssign,        // ${x=w}
  kError,         // ${x?w}
  kAlternative,   // ${x+w}
  kRemovePrefix,  // ${x#p}    longest: ##
  kRemoveSuffix,  // ${x%p}    longest: %%
  kReplace,       // ${x/p/r}  all: //, prefix: /#, suffix: /%
  kSlice,         // ${x:o:l}  operand = offset, replacement = length
  kUpper,         // ${x^p}    all: ^^
  kLower,         // ${x,p}    all: ,,
  kToggle,        // ${x~p}    all: ~~
  kTransform,     // ${x@Q}: operand text is the letter
  kNames,         // ${!prefix*} ${!prefix@}: `name` is the prefix
  kKeys,          // ${!x[*]} ${!x[@]}
  kBad,           // not a legal expansion: bash stops with an error when it
                  // gets there
};

enum class ReplaceMode : uint8_t { kFirst, kAll, kPrefix, kSuffix };

struct Parameter {
  std::string name;       // x, 1, 10, @ * # ? - $ ! _
  bool indirect = false;  // ${!x…}
  bool has_subscript = false;
  WordId subscript = kNone;  // text "@" or "*" stands for all elements
  ParameterOp op = ParameterOp::kPlain;
  bool colon = false;
  bool longest = false;   // ## and %%
  bool all = false;       // ^^ ,, ~~
  bool at_names = false;  // kNames with @ rather than *
  ReplaceMode replace = ReplaceMode::kFirst;
  WordId operand = kNone;      // as a word; inside "…" read as in quotes
  WordId replacement = kNone;  // kReplace, kSlice; kNone when absent
  bool in_quotes = false;      // stands inside double quotes
};

struct Word {
  Span span;
  std::vector<PartId> parts;  // empty only for words that the source omits
};

// [n]> word and friends.
enum class RedirectKind : uint8_t {
  kRead,          // <
  kWrite,         // >
  kClobber,       // >|
  kAppend,        // >>
  kReadWrite,     // <>
  kBothWrite,     // &>  and >&word with a word that is not a descriptor
  kBothAppend,    // &>>
  kDuplicateIn,   // <&
  kDuplicateOut,  // >&
  kHereDocument,  // << and <<-
  kHereString,    // <<<
};

struct Redirect {
  RedirectKind kind = RedirectKind::kRead;
  Span span;              // operator and target; not a here-document's body
  int descriptor = -1;    // explicit number, or -1 for the default
  std::string variable;   // {name}> ; empty when there is none
  WordId target = kNone;  // file, descriptor or here-string word
  // kHereDocument: the body as a word of kQuotedText and expansions (one
  // kSingleQuoted part when the delimiter was quoted), tabs stripped for <<-.
  WordId body = kNone;
  Span body_span;
  bool quoted_delimiter = false;
};

// name=word, name+=word, name[subscript]=word, name=(…)
struct ArrayElement {
  WordId subscript = kNone;  // kNone when plain
  bool append = false;       // [k]+=v
  WordId value = kNone;
};
struct Assignment {
  Span span;
  std::string name;
  WordId subscript = kNone;
  bool append = false;
  bool is_array = false;  // (…): `elements`; else `value`
  WordId value = kNone;   // kNone for an empty value
  std::vector<ArrayElement> elements;
};

enum class NodeKind : uint8_t {
  kSimple,         // assignments, words, redirects
  kPipeline,       // children; `negated`, `timed`, `pipe_stderr`
  kAnd,            // children[0] && children[1]
  kOr,             // children[0] || children[1]
  kList,           // children in order; `asynchronous[i]` after a `&`
  kSubshell,       // (…)  children[0]
  kGroup,          // {…}  children[0]
  kIf,             // children: condition, body, [condition, body]…, [else]
  kFor,            // name; words when `has_in`; children[0] body
  kArithmeticFor,  // words: the three expressions; children[0] body
  kSelect,         // like kFor
  kWhile,          // children: condition, body
  kUntil,          // children: condition, body
  kCase,           // words[0] subject; `clauses`
  kFunction,       // name; children[0] body
  kConditional,    // [[ … ]]: `words` in order, operators included as words
  kArithmetic,     // (( … )): words[0]
  kCoproc,         // name (may be empty); children[0]
};

enum class ClauseEnd : uint8_t {
  kBreak,
  kFallThrough,
  kContinue
};  // ;; ;& ;;&

struct Clause {
  std::vector<WordId> patterns;
  NodeId body = kNone;
  ClauseEnd end = ClauseEnd::kBreak;
};

struct Node {
  NodeKind kind = NodeKind::kSimple;
  Span span;
  std::vector<Assignment> assignments;  // kSimple; in declaration builtins the
                                        // assignment-like words stay words
  // kSimple. For words after a declaration builtin (declare, typeset, local,
  // export, readonly) that look like assignments, `declared[i]` is the index
  // into `declarations` of the i-th word, or kNone; empty when there are none.
  std::vector<WordId> words;
  std::vector<Assignment> declarations;
  std::vector<uint32_t> declared;
  std::vector<RedirectId> redirects;  // any kind of command
  std::vector<NodeId> children;
  std::vector<bool> asynchronous;  // kList
  std::vector<bool> pipe_stderr;   // kPipeline: `|&` after child i
  std::vector<Clause> clauses;     // kCase
  // kConditional: which of `words` stood quoted nowhere and are operators
  // (! && || ( ) == =~ -f …) is decided by the reader: true for operators.
  std::vector<bool> operators;
  std::string name;
  bool negated = false;
  bool timed = false;
  bool has_in = false;
};

struct Ast {
  std::vector<Node> nodes;
  std::vector<Word> words;
  std::vector<Part> parts;
  std::vector<Parameter> parameters;
  std::vector<Redirect> redirects;
  NodeId root = kNone;  // kNone for an empty script
};

}  // namespace gate::parser
