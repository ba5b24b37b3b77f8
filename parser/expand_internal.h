// Internal to expansion: what its files share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/expand.h"

namespace gate::parser {

// A piece of an expanded word, before it is split into fields.
struct Piece {
  enum class Kind : uint8_t {
    kText,
    kBreak,  // a field ends here, whatever IFS is ("$@")
  };
  Kind kind = Kind::kText;
  Value value;
  bool quoted = false;  // never splits, never a pattern
  bool split = false;   // unquoted result of an expansion
  Span span;
};
using Pieces = std::vector<Piece>;
using Alternatives = std::vector<Pieces>;  // at least one

// The pieces of one part or parameter. `quoted`: inside double quotes.
// `assigning`: where no fields are made, so that $@ is joined.
Alternatives ExpandParameter(Expander& x, const Parameter& parameter,
                             bool quoted, bool assigning, Span span);
// `split_literals`: unquoted literal text splits, too (the operand of
// ${x:-a b}).
Alternatives ExpandWordPieces(Expander& x, WordId word, bool assigning,
                              bool split_literals, bool tilde_after_colon);
Alternatives ExpandPart(Expander& x, PartId part, bool quoted, bool assigning,
                        bool split_literals);
// Every a followed by every b; bounded.
void AppendAlternatives(Alternatives* a, const Alternatives& b);
// The pieces as one text.
Values Joined(const Alternatives& alternatives);
// An operand as text: `quoted` when the expansion stands in quotes.
Values OperandValues(Expander& x, WordId word, bool quoted);

// IFS when it is known; nullopt when not. Unset is the default.
std::optional<std::string> CurrentIfs(const State& state);

// `text` read in the manner of double quotes; its substitutions are run.
Values ExpandText(Expander& x, const Value& text, Span span);

bool IsName(std::string_view text);
Values MapKnown(const Values& values,
                const std::function<Value(std::string_view)>& f);
// The variable that `name` stands for through `declare -n`; empty when that
// is not known.
std::string ResolveReference(const State& state, const std::string& name);
// "a[b]" -> "a", "b".
bool SplitSubscript(const std::string& text, std::string* name,
                    std::string* subscript);
Variable* FindVariable(State& state, const std::string& name);
// The text of a subscript: for an associative array as a word, else the text
// of an arithmetic expression.
Values SubscriptText(Expander& x, const std::string& name, WordId subscript);
// The key of an associative array, or "" and `index`; nullopt when unknown.
std::optional<std::string> SubscriptKey(Expander& x, const Variable* variable,
                                        const Values& subscript, Span span,
                                        int64_t* index);
Values Element(Expander& x, const std::string& name, const Values& subscript,
               std::optional<bool>* set, Span span);
void AssignElement(Expander& x, const std::string& name,
                   const Values& subscript, const Values& value, bool append,
                   Span span);

}  // namespace gate::parser
