// Parameter expansion: $x and every form of ${…} (bash(1), Parameter
// Expansion; bash 5.2 with patsub_replacement on, as it is by default).
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "parser/escapes.h"
#include "parser/expand_internal.h"

namespace gate::parser {
namespace {

// Longest text that ${x/p/r} is followed on; matching is quadratic.
constexpr size_t kMaxReplacedBytes = 16384;

Value HoleAt(Span span, bool digits = false) {
  return Value::Hole(UnknownCode::kDynamicArgument, span, digits);
}

bool IsAll(const std::string& text) { return text == "@" || text == "*"; }

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

// The elements of $@ or a[@].
struct Elements {
  std::vector<Values> values;
  std::vector<Values> keys;
  bool unknown = false;  // other elements may exist
};

Elements ElementsOf(Expander& x, const std::string& name) {
  Elements elements;
  if (IsAll(name)) {
    elements.values = x.state.positional;
    elements.unknown = x.state.positional_unknown;
    return elements;
  }
  const std::string target = ResolveReference(x.state, name);
  const Variable* variable = FindVariable(x.state, target);
  if (variable == nullptr) {
    elements.unknown = true;
    return elements;
  }
  elements.unknown = variable->unknown_elements || variable->maybe_unset;
  switch (variable->shape) {
    case Variable::Shape::kScalar:
      if (!variable->scalar.empty()) {
        elements.values.push_back(variable->scalar);
        elements.keys.push_back({Value::Of("0")});
      }
      break;
    case Variable::Shape::kIndexed:
      for (const auto& [index, values] : variable->indexed) {
        elements.values.push_back(values);
        elements.keys.push_back({Value::Of(std::to_string(index))});
      }
      break;
    case Variable::Shape::kAssociative:
      // bash's order is that of its hash table: not followed.
      for (const auto& [key, values] : variable->associative) {
        elements.values.push_back(values);
        elements.keys.push_back({Value::Of(key)});
      }
      if (elements.values.size() > 1) elements.unknown = true;
      break;
  }
  return elements;
}

// Elements as pieces: "$@" one field each, "$*" joined, unquoted split.
Alternatives ElementPieces(Expander& x, const std::vector<Values>& values,
                           bool unknown, bool star, bool quoted, bool assigning,
                           Span span) {
  if (unknown || !x.host.Spend(values.size())) {
    const bool one = star && quoted;
    return {{{Piece::Kind::kText, HoleAt(span), quoted && (one || assigning),
              !one && !assigning, span}}};
  }
  std::string separator = " ";
  bool separator_known = true;
  if (star) {
    const auto ifs = CurrentIfs(x.state);
    separator_known = ifs.has_value();
    if (ifs) separator = ifs->substr(0, 1);
  }
  const bool joined = assigning || (star && quoted);
  Alternatives all{{}};
  bool first = true;
  for (const Values& value : values) {
    if (!first) {
      Piece between;
      between.span = span;
      if (!joined) {
        between.kind = Piece::Kind::kBreak;
        between.quoted = quoted;
      } else {
        between.quoted = true;
        between.value = separator_known ? Value::Of(separator) : HoleAt(span);
      }
      AppendAlternatives(&all, {{between}});
    }
    first = false;
    Alternatives one;
    for (const Value& v : value)
      one.push_back(
          {{Piece::Kind::kText, v, quoted, !quoted && !assigning, span}});
    AppendAlternatives(&all, one);
  }
  // "$*" without parameters is an empty field; "$@" is none.
  if (values.empty() && joined && quoted)
    AppendAlternatives(&all,
                       {{{Piece::Kind::kText, Value{}, true, false, span}}});
  return all;
}

std::string Quoted(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return AnsiQuote(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

size_t CharacterSize(std::string_view text) {
  size_t size = 1;
  if ((static_cast<unsigned char>(text[0]) & 0xC0) != 0xC0) return 1;
  while (size < text.size() &&
         (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80)
    ++size;
  return size;
}

std::vector<std::string_view> Characters(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    all.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return all;
}

class Operation {
 public:
  Operation(Expander& x, const Parameter& parameter, bool quoted, Span span)
      : x_(x), p_(parameter), quoted_(quoted), span_(span) {}

  // What the operation makes of one value.
  Values Apply(const Values& values) {
    switch (p_.op) {
      case ParameterOp::kRemovePrefix:
      case ParameterOp::kRemoveSuffix:
        return WithPatterns(
            values, [this](std::string_view text, const std::string& pattern) {
              return Value::Of(Remove(text, pattern));
            });
      case ParameterOp::kReplace:
        return Replace(values);
      case ParameterOp::kUpper:
      case ParameterOp::kLower:
      case ParameterOp::kToggle:
        return WithPatterns(
            values, [this](std::string_view text, const std::string& pattern) {
              return Value::Of(ChangeCase(text, pattern));
            });
      case ParameterOp::kTransform:
        return Transform(values);
      case ParameterOp::kSlice:
        return Slice(values);
      default:
        return values;
    }
  }

  // Offset and length of a slice; nullopt when not known.
  bool Bounds(std::optional<int64_t>* offset, std::optional<int64_t>* length) {
    *offset = Evaluate(p_.operand);
    if (p_.replacement == kNone) {
      *length = INT64_MAX;
      return offset->has_value();
    }
    *length = Evaluate(p_.replacement);
    return offset->has_value() && length->has_value();
  }

 private:
  std::optional<int64_t> Evaluate(WordId word) {
    if (word == kNone) return 0;
    std::optional<int64_t> result;
    bool first = true;
    for (const Value& value : ExpandQuoted(x_, word)) {
      const auto one = EvaluateArithmetic(x_, value, span_);
      result = first ? one : (result == one ? result : std::nullopt);
      first = false;
    }
    return result;
  }

  Values WithPatterns(
      const Values& values,
      const std::function<Value(std::string_view, const std::string&)>& f) {
    const Values patterns =
        p_.operand == kNone ? Values{Value{}} : ExpandToPattern(x_, p_.operand);
    Values results;
    for (const Value& value : values) {
      for (const Value& pattern : patterns) {
        x_.host.Spend(1 + value.text().size() / 256);
        Value one = value.known() && pattern.known()
                        ? f(value.text(), std::string(pattern.text()))
                        : HoleAt(span_);
        results = results.empty() ? Values{one} : Union(results, {one});
      }
    }
    return results;
  }

  bool Matches(const std::string& pattern, std::string_view text) const {
    return MatchPattern(pattern, text, true);
  }

  std::string Remove(std::string_view text, const std::string& pattern) const {
    const bool suffix = p_.op == ParameterOp::kRemoveSuffix;
    for (size_t i = 0; i <= text.size(); ++i) {
      const size_t size = p_.longest ? text.size() - i : i;
      const std::string_view part =
          suffix ? text.substr(text.size() - size) : text.substr(0, size);
      if (Matches(pattern, part))
        return std::string(suffix ? text.substr(0, text.size() - size)
                                  : text.substr(size));
    }
    return std::string(text);
  }

  // The replacement's text, `&` standing for what matched.
  static std::string Substitute(std::string_view replacement,
                                std::string_view matched) {
    std::string out;
    for (size_t i = 0; i < replacement.size(); ++i) {
      if (replacement[i] == '\\' && i + 1 < replacement.size() &&
          (replacement[i + 1] == '&' || replacement[i + 1] == '\\')) {
        out += replacement[++i];
      } else if (replacement[i] == '&') {
        out += matched;
      } else {
        out += replacement[i];
      }
    }
    return out;
  }

  // The replacement with quoted `&` and backslashes escaped.
  Values Replacements() {
    if (p_.replacement == kNone) return {Value{}};
    Values all;
    for (const Pieces& pieces :
         ExpandWordPieces(x_, p_.replacement, true, false, false)) {
      Value value;
      for (const Piece& piece : pieces) {
        for (const Chunk& chunk : piece.value.chunks) {
          if (chunk.hole) {
            Value hole;
            hole.chunks.push_back(chunk);
            value.Append(hole);
            continue;
          }
          std::string text;
          for (const char c : chunk.text) {
            if ((c == '&' && piece.quoted) || c == '\\') text += '\\';
            text += c;
          }
          value.Append(text);
        }
      }
      all = all.empty() ? Values{value} : Union(all, {value});
    }
    return all;
  }

  std::string ReplaceOne(std::string_view text, const std::string& pattern,
                         std::string_view replacement) const {
    if (pattern.empty()) return std::string(text);
    std::string out;
    size_t at = 0;
    while (at <= text.size()) {
      size_t size = std::string_view::npos;
      const bool anchored_end = p_.replace == ReplaceMode::kSuffix;
      for (size_t length = text.size() - at + 1; length-- > 0;) {
        if (anchored_end && at + length != text.size()) continue;
        if (!Matches(pattern, text.substr(at, length))) continue;
        size = length;
        break;
      }
      const bool usable = size != std::string_view::npos &&
                          (size > 0 || p_.replace == ReplaceMode::kPrefix ||
                           anchored_end || text.empty());
      if (usable) {
        out += Substitute(replacement, text.substr(at, size));
        at += size;
        if (p_.replace != ReplaceMode::kAll) {
          out += text.substr(std::min(at, text.size()));
          return out;
        }
        if (at >= text.size()) return out;
        if (size > 0) continue;
      }
      if (p_.replace == ReplaceMode::kPrefix) {
        out += text.substr(at);
        return out;
      }
      if (at < text.size()) out += text[at];
      ++at;
    }
    return out;
  }

  Values Replace(const Values& values) {
    const Values replacements = Replacements();
    const Values patterns =
        p_.operand == kNone ? Values{Value{}} : ExpandToPattern(x_, p_.operand);
    Values results;
    for (const Value& value : values) {
      for (const Value& pattern : patterns) {
        for (const Value& replacement : replacements) {
          x_.host.Spend(1 + value.text().size() / 64);
          const bool known = value.known() && pattern.known() &&
                             replacement.known() &&
                             value.text().size() <= kMaxReplacedBytes;
          Value one = known ? Value::Of(ReplaceOne(value.text(),
                                                   std::string(pattern.text()),
                                                   replacement.text()))
                            : HoleAt(span_);
          results = results.empty() ? Values{one} : Union(results, {one});
        }
      }
    }
    return results;
  }

  std::string ChangeCase(std::string_view text,
                         const std::string& pattern) const {
    std::string out;
    bool first = true;
    for (const std::string_view c : Characters(text)) {
      const bool change =
          (p_.all || first) && (pattern.empty() || Matches(pattern, c));
      first = false;
      if (!change || c.size() != 1) {
        out += c;
        continue;
      }
      const auto u = static_cast<unsigned char>(c[0]);
      const bool upper =
          p_.op == ParameterOp::kUpper ||
          (p_.op == ParameterOp::kToggle && std::islower(u) != 0);
      out += static_cast<char>(upper ? std::toupper(u) : std::tolower(u));
    }
    return out;
  }

  Values Transform(const Values& values) {
    std::string letter;
    if (p_.operand != kNone) {
      const Values operand = ExpandQuoted(x_, p_.operand);
      if (operand.size() == 1 && operand[0].known())
        letter = std::string(operand[0].text());
    }
    if (letter == "P") {
      Values results;
      for (const Value& value : values) {
        const Values one = ExpandPrompt(x_, value, span_);
        results = results.empty() ? one : Union(results, one);
      }
      return results;
    }
    if (letter == "Q")
      return MapKnown(values,
                      [](std::string_view t) { return Value::Of(Quoted(t)); });
    if (letter == "E")
      return MapKnown(values, [](std::string_view text) {
        std::string out;
        bool stop = false;
        while (!text.empty()) {
          if (text[0] != '\\') {
            out += text[0];
            text.remove_prefix(1);
            continue;
          }
          text.remove_prefix(
              DecodeEscape(text, EscapeStyle::kAnsi, &out, &stop));
        }
        return Value::Of(out);
      });
    if (letter == "U" || letter == "L" || letter == "u")
      return MapKnown(values, [&letter](std::string_view text) {
        std::string out(text);
        for (size_t i = 0; i < out.size(); ++i) {
          if (letter == "u" && i > 0) break;
          const auto u = static_cast<unsigned char>(out[i]);
          out[i] = static_cast<char>(letter == "L" ? std::tolower(u)
                                                   : std::toupper(u));
        }
        return Value::Of(out);
      });
    return {HoleAt(span_)};
  }

  Values Slice(const Values& values) {
    std::optional<int64_t> offset;
    std::optional<int64_t> length;
    const bool known = Bounds(&offset, &length);
    return MapKnown(values, [&](std::string_view text) {
      if (!known) return HoleAt(span_);
      const auto all = Characters(text);
      const auto size = static_cast<int64_t>(all.size());
      int64_t from = *offset < 0 ? size + *offset : *offset;
      if (from < 0 || from > size) return Value{};
      int64_t to = size;
      if (*length < 0)
        to = size + *length;
      else if (*length < size - from)
        to = from + *length;
      std::string out;
      for (int64_t i = from; i < to; ++i) out += all[static_cast<size_t>(i)];
      return Value::Of(out);
    });
  }

  Expander& x_;
  const Parameter& p_;
  bool quoted_;
  Span span_;
};

// ${@:o:l} and ${a[@]:o:l}: whole elements.
bool SliceElements(Expander& x, const Parameter& parameter, bool positional,
                   bool quoted, Span span, Elements* elements) {
  std::optional<int64_t> offset;
  std::optional<int64_t> length;
  Operation operation(x, parameter, quoted, span);
  if (!operation.Bounds(&offset, &length) || elements->unknown) return false;
  std::vector<std::pair<int64_t, Values>> numbered;
  int64_t size = 0;
  if (positional) {
    numbered.emplace_back(0, x.state.zero);
    for (const Values& value : elements->values)
      numbered.emplace_back(++size, value);
    ++size;
  } else {
    for (size_t i = 0; i < elements->values.size(); ++i) {
      const int64_t key = std::stoll(std::string(elements->keys[i][0].text()));
      numbered.emplace_back(key, elements->values[i]);
      size = key + 1;
    }
  }
  int64_t from = *offset < 0 ? size + *offset : *offset;
  std::vector<Values> kept;
  if (from >= 0 && *length >= 0)
    for (const auto& [index, value] : numbered)
      if (index >= from && static_cast<int64_t>(kept.size()) < *length)
        kept.push_back(value);
  if (*length < 0) return false;
  elements->values = std::move(kept);
  return true;
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
    return {
        {{Piece::Kind::kText, Value{}, quoted, !quoted && !assigning, Span{}}}};
  if (!quoted)
    return ExpandWordPieces(x, parameter.operand, assigning, true, false);
  Alternatives all{{}};
  const Word& word = x.script.ast.words[parameter.operand];
  if (word.parts.empty())
    return {{{Piece::Kind::kText, Value{}, true, false, word.span}}};
  for (const PartId part : word.parts)
    AppendAlternatives(&all, ExpandPart(x, part, true, assigning, false));
  return all;
}

void Extend(Alternatives* all, const Alternatives& more) {
  all->insert(all->end(), more.begin(), more.end());
  if (all->size() <= kMaxAlternatives) return;
  const Piece hole{Piece::Kind::kText, HoleAt(Span{}), false, true, Span{}};
  *all = {{hole}};
}

// -, =, ?, +: by whether the parameter is set (and not null).
Alternatives Conditional(Expander& x, const Parameter& parameter,
                         const std::string& name, const Values& values,
                         std::optional<bool> set, bool quoted, bool assigning,
                         const Alternatives& plain, Span span) {
  std::optional<bool> usable = set;
  if (parameter.colon && usable != false) {
    bool null = false;
    bool filled = false;
    bool unknown = false;
    for (const Value& value : values) {
      if (value.chunks.empty())
        null = true;
      else if (!value.known() && value.Prefix().empty() &&
               value.Suffix().empty() && value.chunks.size() == 1 &&
               !value.chunks[0].digits)
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
  Alternatives all;
  const bool use_value = !alternative && usable != false;
  const bool use_operand = alternative ? usable != false : usable != true;
  if (use_operand) {
    if (parameter.op == ParameterOp::kAssign) {
      const Values operand = OperandValues(x, parameter.operand, quoted);
      if (usable == false) {
        SetVariable(x, name, operand);
      } else {
        SetVariable(x, name, Union(operand, values));
      }
      Extend(&all, ValuePieces(operand, quoted, assigning, span));
    } else if (parameter.op == ParameterOp::kError) {
      // The shell ends here; what is expanded for the message still runs.
      OperandValues(x, parameter.operand, quoted);
      if (usable == false)
        Extend(&all, ValuePieces({HoleAt(span)}, quoted, assigning, span));
    } else {
      Extend(&all, OperandPieces(x, parameter, quoted, assigning));
    }
  }
  if (use_value) Extend(&all, plain);
  if (alternative && usable != true)
    Extend(&all, ValuePieces({Value{}}, quoted, assigning, span));
  return all;
}

Alternatives Names(Expander& x, const Parameter& parameter, bool quoted,
                   bool assigning, Span span) {
  // The environment may hold more names than are known.
  std::vector<Values> names;
  for (const auto& [name, variable] : x.state.variables)
    if (StartsWith(name, parameter.name)) names.push_back({Value::Of(name)});
  return ElementPieces(x, names, /*unknown=*/true, !parameter.at_names, quoted,
                       assigning, span);
}

// ${!x}: what the text of x names.
Alternatives Indirect(Expander& x, const Parameter& parameter, bool quoted,
                      bool assigning, Span span) {
  Parameter inner = parameter;
  inner.indirect = false;
  inner.op = ParameterOp::kPlain;
  const Values names = Joined(ExpandParameter(x, inner, true, true, span));
  Alternatives all;
  for (const Value& name : names) {
    if (!name.known() || name.text().empty()) {
      // Whatever it names may hold anything; subscripts could run commands.
      x.host.Note(UnknownCode::kDynamicArgument, span,
                  "an indirect expansion of an unknown name");
      Extend(&all, ValuePieces({HoleAt(span)}, quoted, assigning, span));
      continue;
    }
    Parameter target = parameter;
    target.indirect = false;
    std::string text(name.text());
    std::string subscript;
    std::string base;
    if (SplitSubscript(text, &base, &subscript)) {
      if (IsAll(subscript)) {
        const Elements elements = ElementsOf(x, base);
        Extend(&all, ElementPieces(x, elements.values, elements.unknown,
                                   subscript == "*", quoted, assigning, span));
        continue;
      }
      const Values element =
          Element(x, ResolveReference(x.state, base),
                  ExpandText(x, Value::Of(subscript), span), nullptr, span);
      Extend(&all,
             ValuePieces(Operation(x, target, quoted, span).Apply(element),
                         quoted, assigning, span));
      continue;
    }
    target.name = text;
    target.has_subscript = false;
    Extend(&all, ExpandParameter(x, target, quoted, assigning, span));
  }
  return all;
}

}  // namespace

Values OperandValues(Expander& x, WordId word, bool quoted) {
  if (word == kNone) return {Value{}};
  return quoted ? ExpandQuoted(x, word) : ExpandToValue(x, word);
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
    return {{{Piece::Kind::kText, HoleAt(span), false, true, span}}};
  if (parameter.op == ParameterOp::kBad) {
    x.host.Note(UnknownCode::kUnmodelled, span, "a bad substitution");
    return ValuePieces({HoleAt(span)}, quoted, assigning, span);
  }
  if (parameter.op == ParameterOp::kNames)
    return Names(x, parameter, quoted, assigning, span);
  if (parameter.indirect && parameter.op != ParameterOp::kKeys)
    return Indirect(x, parameter, quoted, assigning, span);

  const std::string all_subscript = AllSubscript(x, parameter);
  const bool positional = IsAll(parameter.name);
  if (positional || !all_subscript.empty()) {
    const bool star = positional ? parameter.name == "*" : all_subscript == "*";
    Elements elements = ElementsOf(x, parameter.name);
    switch (parameter.op) {
      case ParameterOp::kLength:
        return ValuePieces(
            {elements.unknown
                 ? HoleAt(span, true)
                 : Value::Of(std::to_string(elements.values.size()))},
            quoted, assigning, span);
      case ParameterOp::kKeys:
        return ElementPieces(x, elements.keys, elements.unknown, star, quoted,
                             assigning, span);
      case ParameterOp::kSlice:
        if (!SliceElements(x, parameter, positional, quoted, span, &elements))
          elements.unknown = true;
        break;
      case ParameterOp::kDefault:
      case ParameterOp::kAssign:
      case ParameterOp::kError:
      case ParameterOp::kAlternative: {
        std::optional<bool> set = !elements.values.empty();
        if (elements.unknown) set = std::nullopt;
        Values text{Value{}};
        for (const Values& value : elements.values)
          text = Concatenate(text, value);
        return Conditional(x, parameter, parameter.name, text, set, quoted,
                           assigning,
                           ElementPieces(x, elements.values, elements.unknown,
                                         star, quoted, assigning, span),
                           span);
      }
      case ParameterOp::kPlain:
        break;
      default: {
        Operation operation(x, parameter, quoted, span);
        for (Values& value : elements.values) value = operation.Apply(value);
        // The operand is evaluated even where there is no element.
        if (elements.values.empty()) (void)operation.Apply({Value{}});
        break;
      }
    }
    return ElementPieces(x, elements.values, elements.unknown, star, quoted,
                         assigning, span);
  }

  std::optional<bool> set;
  Values values;
  std::string name = parameter.name;
  if (parameter.has_subscript) {
    const std::string target = ResolveReference(x.state, parameter.name);
    const Values subscript = SubscriptText(x, target, parameter.subscript);
    if (subscript.size() == 1 && subscript[0].known())
      name += "[" + std::string(subscript[0].text()) + "]";
    values = target.empty() ? Values{HoleAt(span)}
                            : Element(x, target, subscript, &set, span);
  } else {
    values = GetVariable(x, parameter.name, &set);
    for (Value& value : values)
      for (Chunk& chunk : value.chunks)
        if (chunk.hole && chunk.span.empty()) chunk.span = span;
  }
  switch (parameter.op) {
    case ParameterOp::kPlain:
      return ValuePieces(values, quoted, assigning, span);
    case ParameterOp::kLength: {
      Values lengths;
      for (const Value& value : values) {
        Value one =
            value.known()
                ? Value::Of(std::to_string(Characters(value.text()).size()))
                : HoleAt(span, true);
        lengths = lengths.empty() ? Values{one} : Union(lengths, {one});
      }
      return ValuePieces(lengths, quoted, assigning, span);
    }
    case ParameterOp::kDefault:
    case ParameterOp::kAssign:
    case ParameterOp::kError:
    case ParameterOp::kAlternative:
      return Conditional(x, parameter, name, values, set, quoted, assigning,
                         ValuePieces(values, quoted, assigning, span), span);
    case ParameterOp::kKeys:
      return ValuePieces({HoleAt(span)}, quoted, assigning, span);
    default:
      return ValuePieces(Operation(x, parameter, quoted, span).Apply(values),
                         quoted, assigning, span);
  }
}

}  // namespace gate::parser
