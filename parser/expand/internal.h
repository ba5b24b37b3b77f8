// Internal to expansion: what its files share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/expand/braces.h"
#include "parser/expand/expand.h"
#include "parser/expand/special.h"

namespace gate::parser {

// A piece of an expanded word, before it is split into fields.
struct Piece {
  enum class Kind : uint8_t {
    kText,
    kBreak,    // a field ends here, whatever IFS is ("$@")
    kNothing,  // "$@" without parameters: no field, not even an empty one
  };
  Kind kind = Kind::kText;
  Value value;
  bool quoted = false;  // never splits, never a pattern
  bool split = false;   // unquoted result of an expansion
  Span span;
  bool vanishes = false;  // there may be no field at all, or several
};
using Pieces = std::vector<Piece>;
using Alternatives = std::vector<Pieces>;  // at least one

inline Piece TextPiece(Value value, bool quoted, bool split, Span span) {
  return {Piece::Kind::kText, std::move(value), quoted, split, span};
}
inline Alternatives OnlyPiece(Piece piece) { return {{std::move(piece)}}; }

// Any text: `digits`, if it is known to be a number.
inline Value UnknownAt(Span span, bool digits = false) {
  return Value::Unknown(UnknownCode::kDynamicArgument, span, digits);
}
inline Values UnknownText(Span span = {}) { return {UnknownAt(span)}; }

// The pieces of one part or parameter. `quoted`: inside double quotes.
// `assigning`: where no fields are made, so that $@ is joined.
Alternatives ExpandParameter(Expander& x, const Parameter& parameter,
                             bool quoted, bool assigning, Span span);
Alternatives ExpandPart(Expander& x, PartId part, bool quoted, bool assigning,
                        bool split_literals);
// Every a followed by every b; bounded.
void AppendAlternatives(Alternatives* a, const Alternatives& b);
// The pieces as one text.
Values Joined(const Alternatives& alternatives);
// An operand as text: `quoted` when the expansion stands in quotes.
Values OperandValues(Expander& x, WordId word, bool quoted);

// Where unquoted literal text stands, for tilde expansion.
struct LiteralPlace {
  bool at_start = false;      // of the word
  bool last = false;          // nothing of the word follows
  bool after_equals = false;  // a word that looks like an assignment
  bool after_colon = false;   // a value that is assigned
  bool no_tilde = false;
  bool split = false;  // literal text splits, too
};
Alternatives ExpandLiteral(Expander& x, const std::string& text, Span span,
                           const LiteralPlace& place);

// What a word is part of.
struct WordPlace {
  bool assigning = false;       // no fields are made
  bool split_literals = false;  // the operand of ${x:-a b}
  bool after_equals = false;    // name=~ expands
  bool after_colon = false;     // a:~ expands
};
Alternatives ExpandWordPieces(Expander& x, const Word& word,
                              const WordPlace& place);
std::vector<Fields> ExpandWordList(Expander& x,
                                   const std::vector<WordId>& words,
                                   bool assignment_like);

// Whether an unquoted brace stands in the word.
bool HasBrace(const Expander& x, const Word& word);
std::vector<BraceAtom> AtomsOf(const Expander& x, const Word& word);
// One result of brace expansion.
Alternatives ExpandAtoms(Expander& x, const std::vector<BraceAtom>& atoms,
                         Span span);

// Collects the fields of one alternative of a word.
class FieldBuilder {
 public:
  FieldBuilder(const State& state, Span span);
  void Add(const Piece& piece);
  Fields Take();

 private:
  const std::optional<std::string>& Ifs();
  void AppendHole(const Chunk& chunk);
  void Literal(std::string_view text);
  void Split(std::string_view text, const std::string& ifs);
  void Finish();

  const State& state_;
  Span span_;
  std::optional<std::string> ifs_;
  bool ifs_read_ = false;
  Fields fields_;
  Value value_;
  std::string pattern_;
  bool present_ = false;  // there is a field, even if it is empty
  bool splits_ = false;
  bool pending_end_ = false;  // white space came: the next text starts a field
};

// Text as a pattern that matches only itself.
std::string EscapePattern(std::string_view text);
// Whether bash would look for files that `pattern` matches.
bool HasGlob(std::string_view pattern, bool extglob);

// IFS when it is known; nullopt when not. Unset is the default.
std::optional<std::string> CurrentIfs(const State& state);

// `text` read in the manner of double quotes; its substitutions are run.
Values ExpandText(Expander& x, const Value& text, Span span);

// The elements of $@ or a[@].
struct Elements {
  std::vector<Values> values;
  std::vector<Values> keys;
  bool unknown = false;  // other elements may exist, or their order
};
// `name`: "@", "*" or a variable, references resolved.
Elements ElementsOf(Expander& x, const std::string& name);
// Elements as pieces: "$@" one field each, "$*" joined, unquoted split.
Alternatives ElementPieces(Expander& x, const std::vector<Values>& values,
                           bool unknown, bool star, bool quoted, bool assigning,
                           Span span);
// ${@:o:l}; false when the result is not known.
bool SliceElements(Expander& x, const std::optional<int64_t>& offset,
                   const std::optional<int64_t>& length, bool positional,
                   Elements* elements);
// The order in which bash lists a table; `known` false when it is not.
std::vector<const std::string*> BashOrder(
    const std::map<std::string, Values>& table, bool* known);
// Offset and length of ${x:o:l}; false when one is not known.
bool SliceBounds(Expander& x, const Parameter& parameter, Span span,
                 std::optional<int64_t>* offset,
                 std::optional<int64_t>* length);
// #, %, /, ^ and : on each of `values`; operands are expanded once.
void ApplyOperation(Expander& x, const Parameter& parameter, Span span,
                    std::vector<Values>* values);
Values LengthOf(const Values& values, Span span);
// The letter of ${x@Q}; "" when it is not known.
std::string TransformLetter(Expander& x, const Parameter& parameter);
// ${x@Q}, @E, @P, @U, @u, @L, @K and @k of single values.
Values Transformed(Expander& x, const std::string& letter, const Values& values,
                   Span span);
// ${a[@]@K}; false when it is not known.
bool KeysAndValues(const Elements& elements, bool associative,
                   std::string* text);

// What an assignment to a variable of bash itself does besides; false when
// nothing is stored.
bool Assignable(Expander& x, const std::string& name, const Values& values,
                Span span);

bool IsName(std::string_view text);
Values MapKnown(const Values& values,
                const std::function<Value(std::string_view)>& f);
// The variable that `name` stands for through `declare -n`; empty when that
// is not known.
std::string ResolveReference(const State& state, const std::string& name);
// "a[b]" -> "a", "b".
bool SplitSubscript(const std::string& text, std::string* name,
                    std::string* subscript);
const Variable* FindVariable(const State& state, const std::string& name);
// To change it; null when there is none.
Variable* EditVariable(State& state, const std::string& name);
// The text of a subscript: for an associative array as a word, else the text
// of an arithmetic expression.
Values SubscriptText(Expander& x, const std::string& name, WordId subscript);
// The key of an associative array, or "" and `index`; nullopt when unknown.
std::optional<std::string> SubscriptKey(Expander& x, const std::string& name,
                                        const Values& subscript, Span span,
                                        int64_t* index);
Values Element(Expander& x, const std::string& name, const Values& subscript,
               std::optional<bool>* set, Span span);
void AssignElement(Expander& x, const std::string& name,
                   const Values& subscript, const Values& value, bool append,
                   Span span);

// arithmetic_numbers.cc. A number as it is written in arithmetic; nullopt when
// bash would report an error.
std::optional<int64_t> ArithmeticLiteral(std::string_view digits);
// `a op b` in 64 bits that wrap; nullopt for an error (x/0, x**-1).
std::optional<int64_t> ArithmeticOperation(std::string_view op, int64_t a,
                                           int64_t b);

}  // namespace gate::parser
