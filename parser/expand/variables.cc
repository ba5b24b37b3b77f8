// Variables of the shell: reading, writing, subscripts, attributes.
#include <algorithm>
#include <cctype>

#include "base/locale.h"
#include "parser/expand/internal.h"

namespace gate::parser {
namespace {

constexpr int kMaxReferences = 8;
// Most elements of one array that are told apart.
constexpr size_t kMaxElements = 20000;

std::string ChangeCase(std::string_view text, bool upper) {
  std::string out(text);
  for (char& c : out) {
    const auto u = static_cast<unsigned char>(c);
    c = static_cast<char>(upper ? std::toupper(u) : std::tolower(u));
  }
  return out;
}

// `values` as the attributes of `variable` store them.
Values Attributed(Expander& x, const Variable& variable, Values values) {
  if (variable.maybe_reference)
    x.host.Note(UnknownCode::kUnmodelled, Span{}, "a name reference");
  if (variable.maybe_attributes) {
    // As it stands, or as one of the branches stores it: as a number, in
    // which subscripts are evaluated, or in another case.
    for (const Value& value : values) EvaluateArithmetic(x, value, Span{});
    return Union(values, UnknownText());
  }
  if (variable.integer) {
    Values numbers;
    for (const Value& value : values) {
      const auto number = EvaluateArithmetic(x, value, Span{});
      numbers =
          numbers.empty()
              ? Values{number ? Value::Of(std::to_string(*number))
                              : Value::Unknown(UnknownCode::kDynamicArgument,
                                               Span{}, true)}
              : Union(numbers,
                      {number ? Value::Of(std::to_string(*number))
                              : Value::Unknown(UnknownCode::kDynamicArgument,
                                               Span{}, true)});
    }
    return numbers;
  }
  if (!variable.lower && !variable.upper) return values;
  return MapKnown(values, [&](std::string_view text) {
    return Value::Of(ChangeCase(text, variable.upper));
  });
}

// Digits that an integer variable adds: "1" += "2" is 3 with -i.
Values Added(Expander& x, const Variable& variable, const Values& old,
             const Values& more) {
  if (!variable.integer)
    return Concatenate(old.empty() ? Values{Value{}} : old, more);
  Values sum;
  for (const Value& a : old.empty() ? Values{Value::Of("0")} : old) {
    for (const Value& b : more) {
      const auto left = EvaluateArithmetic(x, a, Span{});
      const auto right = EvaluateArithmetic(x, b, Span{});
      Value value =
          left && right
              ? Value::Of(std::to_string(
                    static_cast<int64_t>(static_cast<uint64_t>(*left) +
                                         static_cast<uint64_t>(*right))))
              : Value::Unknown(UnknownCode::kDynamicArgument, Span{}, true);
      sum = sum.empty() ? Values{value} : Union(sum, {value});
    }
  }
  return sum;
}

// The attributes alone: copying elements would make loops quadratic.
Variable Bare(const Variable& variable) {
  Variable bare;
  bare.shape = variable.shape;
  bare.integer = variable.integer;
  bare.lower = variable.lower;
  bare.upper = variable.upper;
  bare.maybe_attributes = variable.maybe_attributes;
  bare.maybe_reference = variable.maybe_reference;
  return bare;
}

}  // namespace

bool Assignable(Expander& x, const std::string& name, const Values& values,
                Span span) {
  // The rest of the text is read in another charset, character by character.
  if (ChoosesCharset(name))
    for (const Value& value : values)
      if (value.known() && !IsSafeLocale(value.text()))
        x.host.Note(UnknownCode::kUnmodelled, span, name);
  const Special& special = FindSpecial(name);
  if (special.kind == SpecialKind::kOrdinary) return true;
  if (special.readonly) return false;
  if (special.integer)
    for (const Value& value : values) EvaluateArithmetic(x, value, span);
  switch (special.kind) {
    case SpecialKind::kZero:
      x.state.zero = values;
      break;
    case SpecialKind::kCommands:
      x.host.Note(UnknownCode::kUnmodelled, span, name);
      break;
    case SpecialKind::kTruncates:
      // Cuts the file that $HISTFILE names, at once and in scripts too
      // (sv_histsize in bash's variables.c).
      x.host.Note(UnknownCode::kUnmodelled, span, name);
      break;
    case SpecialKind::kBehaviour:
      // In posix mode aliases are expanded and $(…) in prompts is not.
      x.state.expand_aliases = true;
      if (name == "BASH_COMPAT")
        x.host.Note(UnknownCode::kUnmodelled, span, name);
      break;
    default:
      break;
  }
  return true;
}

bool IsName(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0)
    return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

Values MapKnown(const Values& values,
                const std::function<Value(std::string_view)>& f) {
  Values mapped;
  for (const Value& value : values) {
    Value one = value.known() ? f(value.text())
                              : Value::Unknown(UnknownCode::kDynamicArgument,
                                               value.chunks[0].span);
    mapped = mapped.empty() ? Values{std::move(one)} : Union(mapped, {one});
  }
  return mapped;
}

std::string ResolveReference(const State& state, const std::string& name) {
  std::string at = name;
  for (int i = 0; i < kMaxReferences; ++i) {
    const auto found = state.variables.find(at);
    if (found == state.variables.end() || !found->second.reference) return at;
    const Values& target = found->second.scalar;
    if (target.size() != 1 || !target[0].known()) return "";
    at = std::string(target[0].text());
    if (at.find('[') != std::string::npos) return at;
  }
  return "";
}

bool SplitSubscript(const std::string& text, std::string* name,
                    std::string* subscript) {
  const size_t open = text.find('[');
  if (open == std::string::npos || !text.ends_with(']')) return false;
  *name = text.substr(0, open);
  *subscript = text.substr(open + 1, text.size() - open - 2);
  return IsName(*name);
}

const Variable* FindVariable(const State& state, const std::string& name) {
  const auto found = state.variables.find(name);
  return found == state.variables.end() ? nullptr : &found->second;
}

Variable* EditVariable(State& state, const std::string& name) {
  return state.variables.Find(name);
}

std::optional<std::string> SubscriptKey(Expander& x, const std::string& name,
                                        const Values& subscript, Span span,
                                        int64_t* index) {
  const Variable* variable = FindVariable(x.state, name);
  const bool associative =
      variable != nullptr && variable->shape == Variable::Shape::kAssociative;
  if (associative) {
    if (subscript.size() != 1 || !subscript[0].known()) return std::nullopt;
    return std::string(subscript[0].text());
  }
  std::optional<int64_t> number;
  for (size_t i = 0; i < subscript.size(); ++i) {
    const auto one = EvaluateArithmetic(x, subscript[i], span);
    number = i == 0 ? one : (number == one ? number : std::nullopt);
  }
  if (!number) return std::nullopt;
  if (*number < 0) {
    variable = FindVariable(x.state, name);  // as it is by now
    // Counted from the end, which must be known.
    if (variable == nullptr || variable->unknown_elements ||
        variable->maybe_unset) {
      x.host.Fail(x.state);
      return std::nullopt;
    }
    if (variable->shape == Variable::Shape::kIndexed) {
      *number +=
          variable->indexed.empty() ? 0 : variable->indexed.rbegin()->first + 1;
    }
    if (*number < 0) {
      x.host.Fail(x.state);  // bad array subscript
      return std::nullopt;
    }
  }
  *index = *number;
  return "";
}

void AssignElement(Expander& x, const std::string& name,
                   const Values& subscript, const Values& value, bool append,
                   Span span) {
  if (name.empty()) {
    x.host.Note(UnknownCode::kUnmodelled, span, "a name reference");
    return;
  }
  if (!Assignable(x, name, value, span)) return;
  const bool fresh = !x.state.variables.contains(name);
  Variable& variable = x.state.variables[name];
  if (variable.readonly) return;
  const bool was_readonly = variable.maybe_readonly;
  if (variable.shape == Variable::Shape::kScalar) {
    variable.shape = Variable::Shape::kIndexed;
    if (!variable.scalar.empty()) variable.indexed[0] = variable.scalar;
    variable.scalar.clear();
  }
  int64_t index = 0;
  const auto key = SubscriptKey(x, name, subscript, span, &index);
  // Evaluating the subscript may have moved the map.
  const Variable attributes = Bare(x.state.variables[name]);
  if (!key || was_readonly) {
    x.host.Holds(name, value);
    Values stored = Attributed(x, attributes, value);
    if (append) stored = {Value::Unknown(UnknownCode::kDynamicArgument, span)};
    Variable& target = x.state.variables[name];
    target.unknown_elements = true;
    for (auto& [i, values] : target.indexed) values = Union(values, stored);
    for (auto& [k, values] : target.associative) values = Union(values, stored);
    return;
  }
  const bool associative = attributes.shape == Variable::Shape::kAssociative;
  if (associative && key->empty()) {
    x.host.Fail(x.state);  // bad array subscript
    return;
  }
  const auto slot = [&]() -> Values& {
    Variable& target = x.state.variables[name];
    return associative ? target.associative[*key] : target.indexed[index];
  };
  Values stored;
  if (append) {
    Values old = slot();
    if (old.empty() && x.state.variables[name].unknown_elements)
      old = UnknownText(span);
    stored = Added(x, attributes, old, value);
    if (!attributes.integer) stored = Attributed(x, attributes, stored);
  } else {
    stored = Attributed(x, attributes, value);
  }
  slot() = std::move(stored);
  // The environment may have set element 0.
  if (fresh && index != 0) x.state.variables[name].unknown_elements = true;
  if (x.state.variables[name].indexed.size() +
          x.state.variables[name].associative.size() >
      kMaxElements) {
    Variable& target = x.state.variables[name];
    target.indexed.clear();
    target.associative.clear();
    target.unknown_elements = true;
  }
}

void SetVariable(Expander& x, const std::string& raw_name, const Values& value,
                 bool append) {
  for (const Value& one : value) {
    if (!one.known()) x.host.Holds(raw_name, {one});
  }
  std::string name = raw_name;
  std::string subscript;
  if (SplitSubscript(raw_name, &name, &subscript)) {
    AssignElement(x, ResolveReference(x.state, name),
                  ExpandText(x, Value::Of(subscript), Span{}), value, append,
                  Span{});
    return;
  }
  if (!IsName(name)) return;
  if (const std::string target = ResolveReference(x.state, name);
      target != name) {
    if (target.empty()) {
      x.host.Note(UnknownCode::kUnmodelled, Span{}, "a name reference");
      return;
    }
    SetVariable(x, target, value, append);
    return;
  }
  if (!Assignable(x, name, value, Span{})) return;
  const bool fresh = !x.state.variables.contains(name);
  Variable& old = x.state.variables[name];
  if (old.readonly) return;
  if (old.shape != Variable::Shape::kScalar) {
    const Values zero = {Value::Of("0")};
    AssignElement(x, name, zero, value, append, Span{});
    return;
  }
  Values before = old.scalar;
  // `fresh`: what the environment says stands before what is added.
  if (append && fresh) before = UnknownText();
  if (append && old.maybe_unset)
    before = before.empty() ? UnknownText() : Union(before, {Value{}});
  const Variable attributes = Bare(old);
  Values stored = append ? Added(x, attributes, before, value)
                         : Attributed(x, attributes, value);
  if (append &&
      (attributes.lower || attributes.upper || attributes.maybe_attributes))
    stored = Attributed(x, attributes, stored);
  Variable& variable = x.state.variables[name];
  if (variable.maybe_readonly)
    stored = Union(stored,
                   variable.scalar.empty() ? Values{Value{}} : variable.scalar);
  variable.scalar = std::move(stored);
  variable.inherited = false;
  variable.exported |= x.state.allexport;
  variable.maybe_unset = variable.maybe_readonly && variable.maybe_unset;
  if (name == "IFS") x.state.ifs_unknown = false;
}

void UnsetVariable(Expander& x, const std::string& raw_name) {
  std::string name = raw_name;
  std::string subscript;
  std::string text = raw_name;
  if (raw_name.find('[') == std::string::npos)
    text = ResolveReference(x.state, raw_name);
  if (SplitSubscript(text, &name, &subscript)) {
    name = ResolveReference(x.state, name);
    const Variable* variable = FindVariable(x.state, name);
    const bool all = subscript == "@" || subscript == "*";
    const bool associative =
        variable != nullptr && variable->shape == Variable::Shape::kAssociative;
    if (all && !associative) {
      if (variable != nullptr && !variable->readonly)
        x.state.variables[name] = Variable{};
      return;
    }
    const Values key = ExpandText(x, Value::Of(subscript), Span{});
    variable = FindVariable(x.state, name);
    if (variable == nullptr || variable->readonly) return;
    int64_t index = 0;
    const auto found = SubscriptKey(x, name, key, Span{}, &index);
    Variable* target = EditVariable(x.state, name);
    if (target == nullptr) return;
    if (!found || target->maybe_readonly) {
      target->unknown_elements = true;
      for (auto& [i, values] : target->indexed)
        values = Union(values, {Value{}});
      for (auto& [k, values] : target->associative)
        values = Union(values, {Value{}});
    } else if (target->shape == Variable::Shape::kAssociative) {
      target->associative.erase(*found);
    } else if (target->shape == Variable::Shape::kIndexed) {
      target->indexed.erase(index);
    } else if (index == 0) {
      x.state.variables[name] = Variable{};
    }
    return;
  }
  if (text.empty()) {
    x.host.Note(UnknownCode::kUnmodelled, Span{}, "a name reference");
    return;
  }
  Variable& variable = x.state.variables[text];
  if (variable.readonly || FindSpecial(text).readonly) return;
  if (variable.maybe_readonly) {
    variable.maybe_unset = true;
    return;
  }
  // A variable without a value: known to be unset.
  variable = Variable{};
  if (text == "IFS") x.state.ifs_unknown = false;
}

Values GetVariable(Expander& x, const std::string& raw_name,
                   std::optional<bool>* set) {
  std::optional<bool> ignored;
  std::optional<bool>& is_set = set != nullptr ? *set : ignored;
  is_set = true;
  const State& state = x.state;
  const auto digits = [] {
    return Values{Value::Unknown(UnknownCode::kDynamicArgument, Span{}, true)};
  };
  if (raw_name.empty()) {
    is_set = std::nullopt;
    return UnknownText();
  }
  if (std::isdigit(static_cast<unsigned char>(raw_name[0])) != 0) {
    if (raw_name == "0") return state.zero;
    size_t index = 0;
    for (const char c : raw_name)
      index =
          index > 1000000 ? index : index * 10 + static_cast<size_t>(c - '0');
    if (index <= state.positional.size() && index > 0)
      return state.positional[index - 1];
    if (state.positional_unknown) {
      is_set = std::nullopt;
      return UnknownText();
    }
    is_set = false;
    return {Value{}};
  }
  if (raw_name.size() == 1) {
    switch (raw_name[0]) {
      case '?':
        return state.status ? Values{Value::Of(std::to_string(*state.status))}
                            : digits();
      case '$':
        return digits();
      case '!':
        if (state.background_pid.empty()) {
          is_set = std::nullopt;
          return {Value{}, digits()[0]};
        }
        return state.background_pid;
      case '#':
        return state.positional_unknown
                   ? digits()
                   : Values{Value::Of(std::to_string(state.positional.size()))};
      case '-':
        return UnknownText();
      case '_':
        return UnknownText();
      default:
        break;
    }
  }
  const std::string name = ResolveReference(state, raw_name);
  std::string array;
  std::string subscript;
  if (SplitSubscript(name, &array, &subscript)) {
    is_set = std::nullopt;
    return Element(x, array, ExpandText(x, Value::Of(subscript), Span{}), set,
                   Span{});
  }
  const auto found = state.variables.find(name);
  switch (FindSpecial(name).kind) {
    case SpecialKind::kDigits:
    case SpecialKind::kNumbers:
      // Unless it was unset.
      is_set =
          found == state.variables.end() ? std::optional(true) : std::nullopt;
      return found == state.variables.end() ? digits() : UnknownText();
    case SpecialKind::kText:
    case SpecialKind::kCommands:
      is_set = std::nullopt;
      return UnknownText();
    case SpecialKind::kZero:
      return state.zero;
    default:
      break;
  }
  if (found == state.variables.end()) {
    is_set = std::nullopt;
    return UnknownText();
  }
  const Variable& variable = found->second;
  if (variable.shape != Variable::Shape::kScalar)
    return Element(x, name, {Value::Of("0")}, set, Span{});
  if (variable.scalar.empty()) {
    is_set = variable.maybe_unset ? std::nullopt : std::optional(false);
    return variable.maybe_unset ? UnknownText() : Values{Value{}};
  }
  if (variable.maybe_unset) is_set = std::nullopt;
  return variable.scalar;
}

Values Element(Expander& x, const std::string& name, const Values& subscript,
               std::optional<bool>* set, Span span) {
  std::optional<bool> ignored;
  std::optional<bool>& is_set = set != nullptr ? *set : ignored;
  int64_t index = 0;
  const auto key = SubscriptKey(x, name, subscript, span, &index);
  const Variable* variable = FindVariable(x.state, name);
  const SpecialKind special = FindSpecial(name).kind;
  if (special == SpecialKind::kNumbers && variable == nullptr) {
    is_set = key && index == 0 ? std::optional(true) : std::nullopt;
    const Value number =
        Value::Unknown(UnknownCode::kDynamicArgument, span, true);
    return is_set ? Values{number} : Values{number, Value{}};
  }
  if (variable == nullptr || special == SpecialKind::kText ||
      special == SpecialKind::kNumbers || special == SpecialKind::kCommands) {
    is_set = std::nullopt;
    return UnknownText(span);
  }
  if (variable->shape == Variable::Shape::kScalar) {
    if (key && index == 0) return GetVariable(x, name, set);
    is_set = key ? std::optional(false) : std::nullopt;
    return key ? Values{Value{}} : UnknownText(span);
  }
  if (key) {
    const Values* found = nullptr;
    if (variable->shape == Variable::Shape::kAssociative) {
      const auto it = variable->associative.find(*key);
      if (it != variable->associative.end()) found = &it->second;
    } else {
      const auto it = variable->indexed.find(index);
      if (it != variable->indexed.end()) found = &it->second;
    }
    if (found != nullptr) {
      // Every assignment to an element that is not known was added to it.
      is_set = variable->unknown_elements || variable->maybe_unset
                   ? std::nullopt
                   : std::optional(true);
      return *found;
    }
    is_set = variable->unknown_elements ? std::nullopt : std::optional(false);
    return variable->unknown_elements ? UnknownText(span) : Values{Value{}};
  }
  // Which element is not known: any of them, or none.
  is_set = std::nullopt;
  if (variable->unknown_elements) return UnknownText(span);
  Values any{Value{}};
  for (const auto& [i, values] : variable->indexed) any = Union(any, values);
  for (const auto& [k, values] : variable->associative)
    any = Union(any, values);
  return any;
}

}  // namespace gate::parser
