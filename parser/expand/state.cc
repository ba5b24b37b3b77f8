#include "parser/expand/state.h"

#include <algorithm>
#include <optional>

namespace gate::parser {
namespace {

Variable Known(std::string text, bool exported) {
  Variable variable;
  variable.scalar.push_back(Value::Of(std::move(text)));
  variable.exported = exported;
  return variable;
}

Values UnionOrEither(const Values& a, const Values& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return Union(a, b);
}

Variable JoinVariables(const Variable& a, const Variable& b) {
  if (a == b) return a;
  Variable joined = a;
  joined.exported |= b.exported;
  joined.inherited &= b.inherited;
  joined.readonly &= b.readonly;
  joined.maybe_readonly |= b.maybe_readonly || a.readonly != b.readonly;
  joined.maybe_unset = a.maybe_unset || b.maybe_unset;
  joined.tainted |= b.tainted;
  joined.maybe_attributes |= b.maybe_attributes;
  joined.maybe_reference |= b.maybe_reference;
  const bool alike = a.shape == b.shape && a.integer == b.integer &&
                     a.lower == b.lower && a.upper == b.upper &&
                     a.reference == b.reference;
  if (!alike) {
    // Attributes that differ change what a later assignment stores.
    joined.scalar = {Value::Unknown(UnknownCode::kDynamicArgument, Span{})};
    joined.unknown_elements = true;
    joined.integer = joined.lower = joined.upper = joined.reference = false;
    joined.tainted = true;
    joined.maybe_attributes = true;
    joined.maybe_reference |= b.maybe_reference || a.reference != b.reference;
    if (a.shape == Variable::Shape::kAssociative ||
        b.shape == Variable::Shape::kAssociative)
      joined.shape = Variable::Shape::kAssociative;
    else if (a.shape != b.shape)
      joined.shape = Variable::Shape::kIndexed;
    joined.indexed.clear();
    joined.associative.clear();
    return joined;
  }
  if (a.shape == Variable::Shape::kScalar &&
      a.scalar.empty() != b.scalar.empty())
    joined.maybe_unset = true;
  joined.scalar = UnionOrEither(a.scalar, b.scalar);
  joined.unknown_elements |= b.unknown_elements;
  const auto join_elements = [&joined](auto& into, const auto& other) {
    bool same = into.size() == other.size();
    const Values anything = {
        Value::Unknown(UnknownCode::kDynamicArgument, Span{})};
    // An element of one side alone is unset on the other, or unknown.
    for (auto& [key, values] : into)
      if (!other.contains(key)) values = Union(values, anything);
    for (const auto& [key, values] : other) {
      const auto [it, added] = into.try_emplace(key, values);
      same &= !added;
      it->second = Union(it->second, added ? anything : values);
    }
    // Which elements there are differs between the branches.
    if (!same) joined.unknown_elements = true;
  };
  join_elements(joined.indexed, b.indexed);
  join_elements(joined.associative, b.associative);
  return joined;
}

// One side alone has the name: it may be what the environment says.
Variable Uncertain(Variable variable) {
  variable.maybe_unset = true;
  variable.maybe_attributes |=
      variable.integer || variable.lower || variable.upper;
  variable.maybe_reference |= variable.reference;
  if (variable.reference) {
    variable.reference = false;
    variable.scalar = {Value::Unknown(UnknownCode::kDynamicArgument, Span{})};
  }
  if (variable.shape == Variable::Shape::kScalar)
    variable.scalar =
        UnionOrEither(variable.scalar,
                      {Value::Unknown(UnknownCode::kDynamicArgument, Span{})});
  else
    variable.unknown_elements = true;
  return variable;
}

template <class Map>
void JoinTexts(Map& into, const Map& other) {
  for (auto& [key, values] : into)
    if (!other.contains(key))
      values = Union(values,
                     {Value::Unknown(UnknownCode::kDynamicArgument, Span{})});
  for (const auto& [key, values] : other) {
    const auto it = into.find(key);
    if (it != into.end())
      it->second = Union(it->second, values);
    else
      into[key] = Union(
          values, {Value::Unknown(UnknownCode::kDynamicArgument, Span{})});
  }
}

}  // namespace

namespace {

SharedMap<Variable> InitialVariables(const Context& context) {
  SharedMap<Variable> variables;
  const auto set = [&variables](const char* name, const std::string& text) {
    if (!text.empty()) variables[name] = Known(text, true);
  };
  set("HOME", context.home);
  set("PWD", context.cwd);
  set("USER", context.user);
  set("LOGNAME", context.user);
  set("SHELL", context.shell);
  set("PATH", context.path);
  variables["IFS"] = Known(" \t\n", false);
  variables["PS4"] = Known("+ ", false);
  variables["BASH"] = Known("/bin/bash", false);
  variables["BASH"].scalar.push_back(Value::Of("/usr/bin/bash"));
  variables["OPTIND"] = Known("1", false);
  variables["OPTIND"].integer = true;
  return variables;
}

}  // namespace

State InitialState(const Context& context) {
  // Line after line of a batch starts alike. Whoever changes the variables gets
  // a copy, so that these stay what they are.
  struct Last {
    Context context;
    SharedMap<Variable> variables;
  };
  static thread_local std::optional<Last> last;
  if (!last || !(last->context == context))
    last = Last{context, InitialVariables(context)};
  State state;
  state.variables = last->variables;
  state.cwd = {Value::Of(context.cwd)};
  state.status = 0;
  return state;
}

State Join(const State& a, const State& b) {
  State joined = a;
  if (!(a.variables == b.variables)) {
    for (auto& [name, variable] : joined.variables.Edit()) {
      const auto other = b.variables.find(name);
      variable = other == b.variables.end()
                     ? Uncertain(std::move(variable))
                     : JoinVariables(variable, other->second);
    }
    for (const auto& [name, variable] : b.variables)
      if (!a.variables.contains(name))
        joined.variables.emplace(name, Uncertain(variable));
  }
  // Where one side does not have the function, the name may be a program.
  for (auto& [name, bodies] : joined.functions) {
    if (!b.functions.contains(name) &&
        std::find(bodies.begin(), bodies.end(), Function{}) == bodies.end())
      bodies.emplace_back();
  }
  for (const auto& [name, bodies] : b.functions) {
    const auto [it, added] = joined.functions.try_emplace(name);
    auto& mine = it->second;
    if (added) mine.emplace_back();
    for (const Function& body : bodies)
      if (std::find(mine.begin(), mine.end(), body) == mine.end())
        mine.push_back(body);
  }
  JoinTexts(joined.aliases, b.aliases);
  if (a.positional.size() != b.positional.size()) {
    joined.positional.clear();
    joined.positional_unknown = true;
  } else {
    for (size_t i = 0; i < joined.positional.size(); ++i)
      joined.positional[i] = Union(joined.positional[i], b.positional[i]);
  }
  joined.positional_unknown |= b.positional_unknown;
  if (a.positional_set != b.positional_set) {
    // Whose they are is not known.
    joined.positional_set = true;
    joined.positional_unknown = true;
    joined.positional.clear();
  }
  joined.zero = Union(a.zero, b.zero);
  joined.cwd = Union(a.cwd, b.cwd);
  if (a.directory_stack != b.directory_stack)
    joined.directory_stack = {
        {Value::Unknown(UnknownCode::kDynamicArgument, Span{})}};
  for (const auto& [name, text] : b.traps) {
    const auto [it, added] = joined.traps.try_emplace(name, text);
    if (!added) it->second = Union(it->second, text);
  }
  JoinTexts(joined.descriptors, b.descriptors);
  JoinTexts(joined.files, b.files);
  joined.background_pid = UnionOrEither(a.background_pid, b.background_pid);
  joined.extglob_unknown |= b.extglob_unknown || a.extglob != b.extglob;
  joined.nocasematch_unknown |=
      b.nocasematch_unknown || a.nocasematch != b.nocasematch;
  joined.brace_unknown |=
      b.brace_unknown || a.brace_expansion != b.brace_expansion;
  joined.nocasematch |= b.nocasematch;
  joined.failglob |= b.failglob;
  // Of two option settings, the one that hides least.
  joined.expand_aliases |= b.expand_aliases;
  joined.xtrace |= b.xtrace;
  joined.allexport |= b.allexport;
  joined.noexec &= b.noexec;
  joined.errexit &= b.errexit;
  joined.nounset &= b.nounset;
  joined.extglob |= b.extglob;
  joined.noglob &= b.noglob;
  joined.nullglob |= b.nullglob;
  joined.lastpipe |= b.lastpipe;
  joined.globstar |= b.globstar;
  joined.dotglob |= b.dotglob;
  joined.nocaseglob |= b.nocaseglob;
  joined.brace_expansion |= b.brace_expansion;
  joined.ifs_unknown |= b.ifs_unknown;
  if (a.status != b.status) joined.status = std::nullopt;
  joined.exited = a.exited && b.exited;
  joined.returning = a.returning && b.returning;
  joined.loop_break = std::min(a.loop_break, b.loop_break);
  joined.loop_continue = std::min(a.loop_continue, b.loop_continue);
  return joined;
}

}  // namespace gate::parser
