// Parameter expansion: $x and every form of ${…} (bash(1), Parameter
// Expansion). Which parameter is meant is decided once, with its subscript;
// then one function does the rest, for names, elements and what ${!x} names.
#include <algorithm>

#include "parser/expand/internal.h"

namespace gate::parser {
namespace {

bool IsAll(std::string_view text) { return text == "@" || text == "*"; }

// What stands between ${ and the operator, evaluated.
struct Target {
  std::string name;      // through name references; empty: not known
  std::string all;       // "@" or "*": every element
  bool element = false;  // name[subscript]
  Values subscript;
};

// The text of a subscript when it is a plain "@" or "*".
std::string AllSubscript(const Expander& x, const Parameter& parameter) {
  if (!parameter.has_subscript || parameter.subscript == kNone) return "";
  const Word& word = x.script.ast.words[parameter.subscript];
  if (word.parts.size() != 1) return "";
  const Part& part = x.script.ast.parts[word.parts[0]];
  const bool plain =
      part.kind == PartKind::kLiteral || part.kind == PartKind::kQuotedText;
  return plain && IsAll(part.text) ? part.text : "";
}

// "a[…]" as the text of a variable or of a name reference names it.
bool NameElement(Expander& x, const std::string& text, Span span,
                 Target* target) {
  std::string base;
  std::string subscript;
  if (!SplitSubscript(text, &base, &subscript)) return false;
  target->name = ResolveReference(x.state, base);
  if (IsAll(subscript)) {
    target->all = subscript;
    return true;
  }
  target->element = true;
  target->subscript = ExpandText(x, Value::Of(subscript), span);
  return true;
}

Target TargetOf(Expander& x, const Parameter& parameter, Span span) {
  Target target;
  if (IsAll(parameter.name)) {
    target.name = target.all = parameter.name;
    return target;
  }
  target.name = IsName(parameter.name)
                    ? ResolveReference(x.state, parameter.name)
                    : parameter.name;
  if (target.name.find('[') != std::string::npos && !parameter.has_subscript) {
    const std::string text = target.name;
    NameElement(x, text, span, &target);
    return target;
  }
  target.all = AllSubscript(x, parameter);
  if (target.all.empty() && parameter.has_subscript) {
    target.element = true;
    target.subscript = SubscriptText(x, target.name, parameter.subscript);
  }
  return target;
}

Alternatives ValuePieces(const Values& values, bool quoted, bool assigning,
                         Span span) {
  Alternatives all;
  for (const Value& value : values)
    all.push_back(
        {{Piece::Kind::kText, value, quoted, !quoted && !assigning, span}});
  return all;
}

// The operand of -, =, +: as a word of its own context.
Alternatives OperandPieces(Expander& x, const Parameter& parameter, bool quoted,
                           bool assigning) {
  if (parameter.operand == kNone)
    return ValuePieces({Value{}}, quoted, assigning, Span{});
  const Word& word = x.script.ast.words[parameter.operand];
  if (!quoted) {
    WordPlace place;
    place.assigning = assigning;
    place.split_literals = true;
    Alternatives all = ExpandWordPieces(x, word, place);
    for (Pieces& pieces : all)
      for (Piece& piece : pieces)
        if (piece.kind == Piece::Kind::kNothing) piece.vanishes = true;
    return all;
  }
  if (word.parts.empty())
    return ValuePieces({Value{}}, quoted, assigning, word.span);
  Alternatives all{{}};
  for (const PartId part : word.parts) {
    Alternatives more = ExpandPart(x, part, true, assigning, false);
    // "${x:-$@}" without parameters is an empty field.
    for (Pieces& pieces : more) {
      for (Piece& piece : pieces) {
        if (piece.kind != Piece::Kind::kNothing) continue;
        piece.kind = Piece::Kind::kText;
        piece.vanishes = x.script.ast.parts[part].kind != PartKind::kParameter;
      }
    }
    AppendAlternatives(&all, more);
  }
  return all;
}

void Extend(Alternatives* all, const Alternatives& more) {
  for (const Pieces& pieces : more) {
    const auto same = [&pieces](const Pieces& other) {
      return std::equal(pieces.begin(), pieces.end(), other.begin(),
                        other.end(), [](const Piece& a, const Piece& b) {
                          return a.kind == b.kind && a.value == b.value &&
                                 a.quoted == b.quoted && a.split == b.split &&
                                 a.vanishes == b.vanishes;
                        });
    };
    if (std::none_of(all->begin(), all->end(), same)) all->push_back(pieces);
  }
  if (all->size() <= kMaxAlternatives) return;
  const Piece unknown{Piece::Kind::kText, UnknownAt(Span{}), false, true,
                      Span{}};
  *all = {{unknown}};
}

bool MayBeAnything(const Value& value) {
  return std::none_of(
      value.chunks.begin(), value.chunks.end(),
      [](const Chunk& chunk) { return !chunk.unknown || chunk.digits; });
}

void Store(Expander& x, const Target& target, const Values& values, Span span) {
  if (target.name.empty()) return;
  const Variable* variable = FindVariable(x.state, target.name);
  if ((variable != nullptr &&
       (variable->readonly || variable->maybe_readonly)) ||
      FindSpecial(target.name).readonly)
    x.host.Fail(x.state);
  if (target.element)
    AssignElement(x, target.name, target.subscript, values, false, span);
  else
    SetVariable(x, target.name, values);
}

// What a conditional operation decides on and yields.
struct Subject {
  std::optional<bool> set;
  Values values;       // as one text, to see whether it is null
  Alternatives plain;  // what is expanded when it is used
};

// -, =, ?, +: by whether the parameter is set (and not null).
Alternatives Conditional(Expander& x, const Parameter& parameter,
                         const Target& target, const Subject& subject,
                         bool quoted, bool assigning, Span span) {
  std::optional<bool> usable = subject.set;
  if (parameter.colon && usable != false) {
    bool null = false;
    bool filled = false;
    bool unknown = false;
    for (const Value& value : subject.values) {
      if (value.chunks.empty())
        null = true;
      else if (MayBeAnything(value))
        unknown = true;
      else
        filled = true;
    }
    if (null && !filled && !unknown)
      usable = false;
    else if (null || unknown)
      usable = std::nullopt;
  }
  const bool alternative = parameter.op == ParameterOp::kAlternative;
  const bool use_value = !alternative && usable != false;
  const bool use_operand = alternative ? usable != false : usable != true;
  Alternatives all;
  if (use_operand && parameter.op == ParameterOp::kAssign) {
    if (!target.all.empty() || !IsName(target.name)) {
      x.host.Fail(x.state);  // cannot be assigned to
      OperandValues(x, parameter.operand, quoted);
      Extend(&all, ValuePieces({UnknownAt(span)}, quoted, assigning, span));
    } else {
      const Values operand = OperandValues(x, parameter.operand, quoted);
      if (usable == false) {
        Store(x, target, operand, span);
        // As the attributes store it.
        const Values stored =
            target.element
                ? Element(x, target.name, target.subscript, nullptr, span)
                : GetVariable(x, target.name);
        Extend(&all, ValuePieces(stored, quoted, assigning, span));
      } else {
        Store(x, target, Union(operand, subject.values), span);
        Extend(&all, ValuePieces(operand, quoted, assigning, span));
      }
    }
  } else if (use_operand && parameter.op == ParameterOp::kError) {
    // The shell ends here; what is expanded for the message still runs.
    x.host.Fail(x.state);
    OperandValues(x, parameter.operand, quoted);
    if (usable == false)
      Extend(&all, ValuePieces({UnknownAt(span)}, quoted, assigning, span));
  } else if (use_operand) {
    Extend(&all, OperandPieces(x, parameter, quoted, assigning));
  }
  if (use_value) Extend(&all, subject.plain);
  if (alternative && usable != true) {
    Piece piece{Piece::Kind::kText, Value{}, quoted, !quoted && !assigning,
                span};
    if (target.all == "@" && quoted && !assigning) {
      // "${@+x}" without parameters is no field.
      if (subject.set == false) piece.kind = Piece::Kind::kNothing;
      piece.vanishes = !subject.set.has_value();
    }
    Extend(&all, {{piece}});
  }
  return all;
}

// ${a@a}: the attributes. Whether the environment exported it is not known.
Values Attributes(Expander& x, const Target& target, Span span) {
  const Variable* variable = FindVariable(x.state, target.name);
  if (variable == nullptr || !variable->exported || variable->reference ||
      variable->maybe_readonly || variable->maybe_unset)
    return {UnknownAt(span)};
  std::string text;
  if (variable->shape == Variable::Shape::kIndexed) text += 'a';
  if (variable->shape == Variable::Shape::kAssociative) text += 'A';
  if (variable->integer) text += 'i';
  if (variable->readonly) text += 'r';
  text += 'x';
  if (variable->lower) text += 'l';
  if (variable->upper) text += 'u';
  return {Value::Of(text)};
}

// Where one parameter's expansion stands.
struct Place {
  bool quoted;
  bool assigning;
  Span span;
};

Alternatives ExpandElements(Expander& x, const Parameter& parameter,
                            const Target& target, const Place& place) {
  const bool positional = IsAll(target.name);
  const bool star = target.all == "*";
  const auto [quoted, assigning, span] = place;
  Elements elements;
  if (target.name.empty())
    elements.unknown = true;
  else
    elements = ElementsOf(x, target.name);
  const auto pieces = [&](const std::vector<Values>& values) {
    // Joined by blanks where IFS is empty, unlike ${a[*]} itself.
    if (star && !positional && !place.quoted && !place.assigning &&
        parameter.op != ParameterOp::kPlain && values.size() > 1 &&
        CurrentIfs(x.state).value_or("").empty())
      elements.unknown = true;
    // What an operation makes of elements that are not all known is not.
    const bool none = elements.unknown && parameter.op != ParameterOp::kPlain;
    return ElementPieces(x, none ? std::vector<Values>{} : values,
                         elements.unknown, star, place.quoted, place.assigning,
                         place.span);
  };
  switch (parameter.op) {
    case ParameterOp::kPlain:
      break;
    case ParameterOp::kLength:
      return ValuePieces(
          {elements.unknown
               ? UnknownAt(span, true)
               : Value::Of(std::to_string(elements.values.size()))},
          quoted, assigning, span);
    case ParameterOp::kKeys:
      return pieces(elements.keys);
    case ParameterOp::kSlice: {
      const Variable* scalar = FindVariable(x.state, target.name);
      if (!positional && scalar != nullptr && !elements.unknown &&
          scalar->shape == Variable::Shape::kScalar) {
        // Of a plain variable it is the text that is cut.
        ApplyOperation(x, parameter, span, &elements.values);
        break;
      }
      std::optional<int64_t> offset;
      std::optional<int64_t> length;
      SliceBounds(x, parameter, span, &offset, &length);
      const Variable* variable = FindVariable(x.state, target.name);
      const bool associative = variable != nullptr &&
                               variable->shape == Variable::Shape::kAssociative;
      if (associative ||
          !SliceElements(x, offset, length, positional, &elements))
        elements.unknown = true;
      break;
    }
    case ParameterOp::kDefault:
    case ParameterOp::kAssign:
    case ParameterOp::kError:
    case ParameterOp::kAlternative: {
      Subject subject;
      subject.set = !elements.values.empty();
      if (elements.unknown) subject.set = std::nullopt;
      subject.values = {Value{}};
      std::string separator = " ";
      // Unquoted, an empty IFS puts blanks between them all the same.
      const std::optional<std::string> ifs = CurrentIfs(x.state);
      if (star) separator = ifs.value_or("").substr(0, 1);
      const bool joins_unclearly = separator.empty() &&
                                   elements.values.size() > 1 &&
                                   (!ifs || assigning);
      if (separator.empty() && !quoted) separator = " ";
      for (size_t i = 0; i < elements.values.size(); ++i) {
        if (i > 0)
          subject.values = Concatenate(subject.values, {Value::Of(separator)});
        subject.values = Concatenate(subject.values, elements.values[i]);
      }
      if (elements.unknown || joins_unclearly)
        subject.values = {UnknownAt(span)};
      if (subject.set != false) subject.plain = pieces(elements.values);
      return Conditional(x, parameter, target, subject, quoted, assigning,
                         span);
    }
    case ParameterOp::kTransform: {
      const std::string letter = TransformLetter(x, parameter);
      const Variable* variable = FindVariable(x.state, target.name);
      const bool associative = variable != nullptr &&
                               variable->shape == Variable::Shape::kAssociative;
      if (!positional && letter == "K") {
        std::string text;
        if (!KeysAndValues(elements, associative, &text) ||
            elements.values.empty())
          elements.unknown = true;
        elements.values = {{Value::Of(text)}};
        break;
      }
      if (!positional && letter == "k") {
        std::vector<Values> both;
        for (size_t i = 0; i < elements.values.size(); ++i) {
          both.push_back(elements.keys[i]);
          both.push_back(elements.values[i]);
        }
        elements.values = std::move(both);
        break;
      }
      if (letter == "a" || letter == "A" || letter.empty()) {
        elements.unknown = true;
        break;
      }
      for (Values& value : elements.values)
        value = Transformed(x, letter, value, span);
      if (letter == "P" && elements.unknown)
        (void)ExpandPrompt(x, UnknownAt(span), span);
      break;
    }
    default:
      ApplyOperation(x, parameter, span, &elements.values);
      break;
  }
  return pieces(elements.values);
}

Alternatives ExpandTarget(Expander& x, const Parameter& parameter,
                          const Target& target, const Place& place) {
  if (!target.all.empty()) return ExpandElements(x, parameter, target, place);
  const auto [quoted, assigning, span] = place;
  std::optional<bool> set;
  Values values;
  if (target.name.empty())
    values = {UnknownAt(span)};
  else if (target.element)
    values = Element(x, target.name, target.subscript, &set, span);
  else
    values = GetVariable(x, target.name, &set);
  for (Value& value : values)
    for (Chunk& chunk : value.chunks)
      if (chunk.unknown && chunk.span.empty()) chunk.span = span;
  // The shell ends here, and an EXIT trap sees the state as it is.
  if (x.state.nounset && x.state.traps.contains("EXIT") && set != true &&
      parameter.op != ParameterOp::kDefault &&
      parameter.op != ParameterOp::kAssign &&
      parameter.op != ParameterOp::kAlternative)
    x.host.Fail(x.state);
  switch (parameter.op) {
    case ParameterOp::kPlain:
      break;
    case ParameterOp::kLength:
      // Through a reference to an element bash finds nothing.
      values = target.element && !parameter.has_subscript
                   ? Values{UnknownAt(span, true)}
                   : LengthOf(values, span);
      break;
    case ParameterOp::kDefault:
    case ParameterOp::kAssign:
    case ParameterOp::kError:
    case ParameterOp::kAlternative: {
      Subject subject;
      subject.set = set;
      subject.values = values;
      if (parameter.colon) {
        // Where it is used it is not null.
        std::erase_if(values,
                      [](const Value& value) { return value.chunks.empty(); });
        if (values.empty()) values = {Value{}};
      }
      subject.plain = ValuePieces(values, quoted, assigning, span);
      return Conditional(x, parameter, target, subject, quoted, assigning,
                         span);
    }
    case ParameterOp::kKeys:
      values = {UnknownAt(span)};
      break;
    case ParameterOp::kTransform: {
      const std::string letter = TransformLetter(x, parameter);
      if (letter == "a") {
        values = Attributes(x, target, span);
        break;
      }
      if (letter == "A") {
        values = {UnknownAt(span)};
        break;
      }
      const Values transformed = Transformed(x, letter, values, span);
      // What is not set stays nothing.
      values = set == true    ? transformed
               : set == false ? Values{Value{}}
                              : Union(transformed, {Value{}});
      break;
    }
    default: {
      std::vector<Values> one{values};
      ApplyOperation(x, parameter, span, &one);
      // What is not set stays nothing.
      values = set == true    ? one[0]
               : set == false ? Values{Value{}}
                              : Union(one[0], {Value{}});
      break;
    }
  }
  return ValuePieces(values, quoted, assigning, span);
}

Alternatives Names(Expander& x, const Parameter& parameter,
                   const Place& place) {
  // The environment may hold more names than are known.
  return ElementPieces(x, {}, /*unknown=*/true, !parameter.at_names,
                       place.quoted, place.assigning, place.span);
}

// ${!x}: what the text of x names.
Alternatives Indirect(Expander& x, const Parameter& parameter,
                      const Place& place) {
  const Span span = place.span;
  Values names;
  const Variable* reference = FindVariable(x.state, parameter.name);
  if (reference != nullptr && reference->reference &&
      !parameter.has_subscript) {
    // The name that a reference stands for, as it is written.
    names =
        reference->scalar.empty() ? Values{UnknownAt(span)} : reference->scalar;
    if (parameter.op == ParameterOp::kPlain)
      return ValuePieces(names, place.quoted, place.assigning, span);
    return ValuePieces({UnknownAt(span)}, place.quoted, place.assigning, span);
  }
  Parameter inner = parameter;
  inner.indirect = false;
  inner.op = ParameterOp::kPlain;
  names = Joined(ExpandParameter(x, inner, true, true, span));
  Parameter outer = parameter;
  outer.indirect = false;
  Alternatives all;
  for (const Value& name : names) {
    const auto unknown = [&] {
      Extend(&all, ValuePieces({UnknownAt(span)}, place.quoted, place.assigning,
                               span));
    };
    if (!name.known()) {
      // Whatever it names may hold anything; a subscript in it runs commands.
      const bool digits =
          std::none_of(name.chunks.begin(), name.chunks.end(),
                       [](const Chunk& c) { return c.unknown && !c.digits; });
      if (!digits)
        x.host.Note(UnknownCode::kDynamicCode, span,
                    "an indirect expansion of an unknown name");
      x.host.Fail(x.state);
      unknown();
      continue;
    }
    Target target;
    const std::string text(name.text());
    const bool special =
        text.size() == 1 &&
        std::string_view("@*#?-$!_").find(text[0]) != std::string_view::npos;
    const bool number = !text.empty() && text.find_first_not_of("0123456789") ==
                                             std::string::npos;
    if (NameElement(x, text, span, &target)) {
      // named
    } else if (IsAll(text)) {
      target.name = target.all = text;
    } else if (special || number) {
      target.name = text;
    } else if (IsName(text)) {
      outer.name = text;
      outer.has_subscript = false;
      target = TargetOf(x, outer, span);
    } else if (text.empty() && parameter.op != ParameterOp::kPlain &&
               parameter.op != ParameterOp::kError) {
      // An unset name: the operation of nothing, or an error.
      x.host.Fail(x.state);
      Extend(&all, Conditional(x, outer, target, {false, {Value{}}, {}},
                               place.quoted, place.assigning, span));
      unknown();
      continue;
    } else {
      x.host.Fail(x.state);  // invalid variable name
      unknown();
      continue;
    }
    Extend(&all, ExpandTarget(x, outer, target, place));
  }
  return all;
}

}  // namespace

Values OperandValues(Expander& x, WordId word, bool quoted) {
  if (word == kNone) return {Value{}};
  return quoted ? ExpandQuoted(x, word) : ExpandToValue(x, word, true);
}

Values SubscriptText(Expander& x, const std::string& name, WordId subscript) {
  if (subscript == kNone) return {Value::Of("0")};
  const Variable* variable = FindVariable(x.state, name);
  if (variable != nullptr && variable->shape == Variable::Shape::kAssociative)
    return ExpandToValue(x, subscript);
  return ExpandQuoted(x, subscript);
}

Alternatives ExpandParameter(Expander& x, const Parameter& parameter,
                             bool quoted, bool assigning, Span span) {
  if (!x.host.Spend(1))
    return {{{Piece::Kind::kText, UnknownAt(span), false, true, span}}};
  const Place place{quoted, assigning, span};
  switch (parameter.op) {
    case ParameterOp::kBad:
      x.host.Note(UnknownCode::kUnmodelled, span, "a bad substitution");
      return ValuePieces({UnknownAt(span)}, quoted, assigning, span);
    case ParameterOp::kNames:
      return Names(x, parameter, place);
    case ParameterOp::kKeys:
      break;
    default:
      if (parameter.indirect) return Indirect(x, parameter, place);
  }
  return ExpandTarget(x, parameter, TargetOf(x, parameter, span), place);
}

}  // namespace gate::parser
