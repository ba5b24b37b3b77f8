// Words -> fields, as bash expands them (bash(1), EXPANSION; 5.2).
//
// Brace, tilde, parameter, command and arithmetic expansion, field splitting,
// quote removal; pathname expansion is left to the caller (a Field says that
// it is a pattern). Everything that is constant is computed exactly; the rest
// becomes unknown parts. What runs commands goes through the Host.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parser/expand/state.h"
#include "parser/expand/value.h"
#include "parser/read.h"

namespace gate::parser {

// What expansion needs from execution. Spans are those of the script that is
// being evaluated; the host maps them to the line's source.
class Host {
 public:
  virtual ~Host() = default;
  // Runs the body of $(…) in a copy of `state` and returns what it prints,
  // without trailing newlines. `body` may be kNone.
  virtual Values Substitute(State& state, const Script& script, NodeId body,
                            Span span) = 0;
  // Runs the body of <(…) or >(…); returns the path that stands for it.
  virtual Value Process(State& state, const Script& script, NodeId body,
                        char direction, Span span) = 0;
  // Home directory of a user; empty when unknown.
  virtual std::string HomeOf(const std::string& user) = 0;
  virtual void Note(UnknownCode code, Span span, std::string text) = 0;
  // An expansion error may have happened: bash drops what is left of the line
  // (or ends) and goes on with the next one in the state as it is now. What
  // follows on the line is evaluated all the same.
  virtual void Fail(State& state) { (void)state; }
  // What `name` holds where its elements are not known one by one.
  virtual void Holds(const std::string& name, const Values& values) {
    (void)name, (void)values;
  }
  // Counts work; false when the budget is used up: stop and make unknown parts.
  virtual bool Spend(size_t steps) = 0;
};

// One evaluation: which state, which script, which host.
struct Expander {
  State& state;
  const Script& script;
  Host& host;
};

// A list of words as a command sees them: alternatives, 1..kMaxAlternatives.
std::vector<Fields> ExpandWords(Expander& x, const std::vector<WordId>& words);

// Whether braces make several words of `word`, so that an argument of declare
// that looks like an assignment is none.
bool BracesExpand(Expander& x, WordId word);

// One word without brace expansion, splitting and pathname expansion: the
// value of an assignment, the subject of case, a redirection target, a
// here-string. `tilde_after_colon` for assignments.
Values ExpandToValue(Expander& x, WordId word, bool tilde_after_colon = false);

// A here-document body or other text in the manner of double quotes.
Values ExpandQuoted(Expander& x, WordId word);

// A word as a pattern for case, [[ == ]], ${x#p}: text in which quoted pattern
// characters are escaped by backslashes.
Values ExpandToPattern(Expander& x, WordId word);

// Executes an assignment; `declare_*` attributes of the variable apply.
// `local_scope` is up to the caller.
void Assign(Expander& x, const Assignment& assignment);
// In two steps, for name=word and name[subscript]=word: what is assigned, and
// the assignment of it.
Values AssignedValue(Expander& x, const Assignment& assignment);
void AssignValue(Expander& x, const Assignment& assignment,
                 const Values& value);
// name=value with the variable's attributes (integer, lower, upper, reference)
// and with arithmetic in the subscript ("a[1+1]" style names are accepted).
void SetVariable(Expander& x, const std::string& name, const Values& value,
                 bool append = false);
void UnsetVariable(Expander& x, const std::string& name);
// The value of $name, ${name[0]}; an unknown part for what is not known. `set`
// receives: true set, false unset, nullopt unknown.
Values GetVariable(Expander& x, const std::string& name,
                   std::optional<bool>* set = nullptr);

// Arithmetic as in $((…)): the text is evaluated with assignments and with
// bash's re-evaluation of variables' texts (which can run commands through
// array subscripts). nullopt when not constant; then everything the text could
// run has been noted.
std::optional<int64_t> EvaluateArithmetic(Expander& x, const Value& text,
                                          Span span);

// `text` as bash would read it in a new command, in the manner of double
// quotes: for ${x@P}, PS4.  Command substitutions in it are run.
Values ExpandPrompt(Expander& x, const Value& text, Span span);

// Whether `text` is one that a pattern matches, as bash's fnmatch says (with
// extglob when asked). nullopt when it took too much work or depends on the
// locale. Bounded work.
std::optional<bool> TryMatchPattern(std::string_view pattern,
                                    std::string_view text, bool extglob,
                                    bool ignore_case = false);
// TryMatchPattern under the options of `state` (extglob, nocasematch), also
// where they differ between branches. `conditional`: for [[ ]], where extended
// patterns always count.
std::optional<bool> MatchInState(const State& state, std::string_view pattern,
                                 std::string_view text, bool conditional);
// TryMatchPattern with false for "not known": only where that is on the safe
// side.
bool MatchPattern(std::string_view pattern, std::string_view text, bool extglob,
                  bool ignore_case = false);

// Splits a known string by IFS as an unquoted expansion is split.
std::vector<std::string> SplitFields(std::string_view text,
                                     std::string_view ifs);

// printf(1) of bash: format and arguments; nullopt when something is not
// known. `%b`, `%q`, `%d`…, reuse of the format.
std::optional<std::string> FormatPrintf(const std::vector<std::string>& args);

// echo's escapes (-e); stops at \c.
std::string ExpandEchoEscapes(std::string_view text, bool* stop);

}  // namespace gate::parser
