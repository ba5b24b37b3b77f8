// What ${x#p}, ${x/p/r}, ${x:o:l}, ${x^p} and ${x@Q} make of a value (bash(1),
// Parameter Expansion; bash 5.2 with patsub_replacement on, its default).
//
// Text with characters beyond ASCII is read in both manners that a locale may
// ask for, characters and bytes; where the results differ both are kept.
#include <cctype>

#include "base/ascii.h"
#include "parser/expand/internal.h"
#include "parser/expand/pattern.h"

namespace gate::parser {
namespace {

void Add(Values* results, Values more) {
  *results = results->empty() ? std::move(more) : Union(*results, more);
}

size_t CharacterSize(std::string_view text) {
  size_t size = 1;
  if ((static_cast<unsigned char>(text[0]) & 0xC0) != 0xC0) return 1;
  while (size < text.size() && size < 4 &&
         (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80)
    ++size;
  return size;
}

std::vector<std::string_view> Characters(std::string_view text, bool bytes) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const size_t size = bytes ? 1 : CharacterSize(text);
    all.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return all;
}

class Operation {
 public:
  Operation(Expander& x, const Parameter& parameter, Span span)
      : x_(x), p_(parameter), span_(span) {}

  Values Apply(const Values& values) {
    switch (p_.op) {
      case ParameterOp::kRemovePrefix:
      case ParameterOp::kRemoveSuffix:
        Prepare();
        return EachPattern(
            values, [this](std::string_view text, Pattern& pattern, bool) {
              return Remove(text, pattern);
            });
      case ParameterOp::kReplace:
        Prepare();
        return EachPattern(
            values, [this](std::string_view text, Pattern& pattern, bool) {
              return Replace(text, pattern);
            });
      case ParameterOp::kUpper:
      case ParameterOp::kLower:
      case ParameterOp::kToggle:
        Prepare();
        if (p_.all && patterns_.size() == 1 && patterns_[0].known() &&
            patterns_[0].text().empty())
          return MapChunks(values);
        return EachPattern(values, [this](std::string_view text,
                                          Pattern& pattern, bool bytes) {
          return ChangeCase(text, pattern, bytes);
        });
      case ParameterOp::kSlice:
        return Slice(values);
      default:
        return values;
    }
  }

 private:
  // The pattern and the replacement are expanded once, also for many elements.
  void Prepare() {
    if (prepared_) return;
    prepared_ = true;
    patterns_ =
        p_.operand == kNone ? Values{Value{}} : ExpandToPattern(x_, p_.operand);
    if (p_.op == ParameterOp::kReplace) replacements_ = Replacements();
  }

  template <class F>
  Values EachPattern(const Values& values, F f) {
    Values results;
    const State& state = x_.state;
    const bool replace = p_.op == ParameterOp::kReplace;
    const bool changes_case = p_.op != ParameterOp::kRemovePrefix &&
                              p_.op != ParameterOp::kRemoveSuffix && !replace;
    for (const Value& value : values) {
      for (const Value& pattern : patterns_) {
        x_.host.Spend(1 + value.text().size() / 64);
        if (!value.known() || !pattern.known()) {
          Add(&results, {Partly(value, pattern)});
          continue;
        }
        const int locales = IsAscii(value.text()) ? 1 : 2;
        const int globs = state.extglob_unknown && !changes_case ? 2 : 1;
        const int cases = replace && state.nocasematch_unknown ? 2 : 1;
        for (int l = 0; l < locales; ++l) {
          for (int g = 0; g < globs; ++g) {
            for (int c = 0; c < cases; ++c) {
              PatternOptions options;
              options.bytes = l > 0;
              options.extglob = changes_case || state.extglob != (g > 0);
              options.ignore_case = replace && state.nocasematch != (c > 0);
              Pattern compiled(pattern.text(), options);
              Add(&results, f(value.text(), compiled, options.bytes));
            }
          }
        }
      }
    }
    return results;
  }

  // What is known of the result when the value has unknown parts: a prefix or
  // suffix that lies in what is known of its beginning or end.
  Value Partly(const Value& value, const Value& pattern_text) const {
    const bool prefix = p_.op == ParameterOp::kRemovePrefix;
    if (!pattern_text.known() || value.known() || x_.state.extglob_unknown ||
        (!prefix && p_.op != ParameterOp::kRemoveSuffix))
      return UnknownAt(span_);
    PatternOptions options;
    options.extglob = x_.state.extglob;
    Pattern pattern(pattern_text.text(), options);
    // Which known end decides: the shortest prefix and the longest suffix lie
    // in the beginning.
    const bool at_end = prefix == p_.longest;
    const std::string known = at_end ? value.Suffix() : value.Prefix();
    if (known.empty() || !IsAscii(known)) return UnknownAt(span_);
    if (p_.longest &&
        !(prefix ? pattern.star_then_fixed() : pattern.fixed_then_star()))
      return UnknownAt(span_);
    Pattern::Positions positions;
    bool clear = true;
    if (p_.longest && !prefix) {
      Pattern::Positions ends;
      for (uint32_t at = 0; clear && at <= known.size() && positions.empty();
           ++at) {
        clear = pattern.EndsFrom(known, at, &ends);
        if (!ends.empty()) positions.push_back(at);
      }
    } else {
      clear = prefix ? pattern.EndsFrom(known, 0, &positions)
                     : pattern.StartsOf(known, &positions);
    }
    if (!clear || positions.empty()) return UnknownAt(span_);
    const size_t at = at_end ? positions.back() : positions.front();
    if (p_.longest)  // what is unknown goes away with what matches
      return Value::Of(prefix ? known.substr(at) : known.substr(0, at));
    Value out = value;
    if (prefix) {
      out.chunks.front().text.erase(0, at);
      if (out.chunks.front().text.empty()) out.chunks.erase(out.chunks.begin());
    } else {
      out.chunks.back().text.resize(at);
      if (out.chunks.back().text.empty()) out.chunks.pop_back();
    }
    return out;
  }

  Values Remove(std::string_view text, Pattern& pattern) const {
    const bool suffix = p_.op == ParameterOp::kRemoveSuffix;
    Pattern::Positions positions;
    const bool clear = suffix ? pattern.StartsOf(text, &positions)
                              : pattern.EndsFrom(text, 0, &positions);
    if (!clear) return {UnknownAt(span_)};
    if (positions.empty()) return {Value::Of(std::string(text))};
    const bool last = suffix != p_.longest;
    const size_t at = last ? positions.back() : positions.front();
    return {
        Value::Of(std::string(suffix ? text.substr(0, at) : text.substr(at)))};
  }

  // The replacement's text, `&` standing for what matched.
  static void Substitute(std::string_view replacement, std::string_view matched,
                         std::string* out) {
    for (size_t i = 0; i < replacement.size(); ++i) {
      if (replacement[i] == '\\' && i + 1 < replacement.size() &&
          (replacement[i + 1] == '&' || replacement[i + 1] == '\\'))
        *out += replacement[++i];
      else if (replacement[i] == '&')
        *out += matched;
      else
        *out += replacement[i];
    }
  }

  // The replacement with quoted `&` and backslashes escaped; those of unquoted
  // expansions count.
  Values Replacements() {
    if (p_.replacement == kNone) return {Value{}};
    Values all;
    WordPlace place;
    place.assigning = true;
    for (const Pieces& pieces :
         ExpandWordPieces(x_, x_.script.ast.words[p_.replacement], place)) {
      Value value;
      for (const Piece& piece : pieces) {
        for (const Chunk& chunk : piece.value.chunks) {
          if (chunk.unknown) {
            Value unknown;
            unknown.chunks.push_back(chunk);
            value.Append(unknown);
            continue;
          }
          std::string text;
          for (const char c : chunk.text) {
            if (piece.quoted && (c == '&' || c == '\\')) text += '\\';
            text += c;
          }
          value.Append(text);
        }
      }
      Add(&all, {value});
    }
    return all;
  }

  struct Match {
    size_t begin;
    size_t end;
  };

  // The matches that are replaced; false when that is not known.
  bool Find(std::string_view text, Pattern& pattern,
            std::vector<Match>* matches) const {
    Pattern::Positions positions;
    if (p_.replace == ReplaceMode::kPrefix) {
      if (!pattern.EndsFrom(text, 0, &positions)) return false;
      if (!positions.empty()) matches->push_back({0, positions.back()});
      return true;
    }
    if (p_.replace == ReplaceMode::kSuffix) {
      if (!pattern.StartsOf(text, &positions)) return false;
      if (!positions.empty())
        matches->push_back({positions.front(), text.size()});
      return true;
    }
    const bool all = p_.replace == ReplaceMode::kAll;
    if (const std::string* literal = pattern.literal()) {
      size_t at = 0;
      while ((at = text.find(*literal, at)) != std::string_view::npos) {
        matches->push_back({at, at + literal->size()});
        at += literal->size();
        if (!all) break;
      }
      return true;
    }
    if (text.empty()) {
      // Only a pattern that matches nothing at all replaces nothing.
      if (!pattern.EndsFrom(text, 0, &positions)) return false;
      if (!positions.empty()) matches->push_back({0, 0});
      return true;
    }
    size_t at = 0;
    while (at < text.size()) {
      if (!pattern.EndsFrom(text, static_cast<uint32_t>(at), &positions))
        return false;
      if (positions.empty()) {
        if (pattern.begins_with_star()) return true;
        ++at;
        continue;
      }
      const size_t end = positions.back();
      matches->push_back({at, end});
      if (!all) return true;
      at = end > at ? end : at + 1;
    }
    return true;
  }

  Values Replace(std::string_view text, Pattern& pattern) const {
    // An empty pattern matches nothing, except before or behind all.
    const std::string* literal = pattern.literal();
    std::vector<Match> matches;
    if (literal != nullptr && literal->empty()) {
      if (p_.replace == ReplaceMode::kPrefix) matches.push_back({0, 0});
      if (p_.replace == ReplaceMode::kSuffix)
        matches.push_back({text.size(), text.size()});
    } else if (!Find(text, pattern, &matches)) {
      return {UnknownAt(span_)};
    }
    if (matches.empty()) return {Value::Of(std::string(text))};
    Values results;
    for (const Value& replacement : replacements_) {
      Value result;
      size_t done = 0;
      for (const Match& match : matches) {
        result.Append(text.substr(done, match.begin - done));
        done = match.end;
        std::string between;
        for (const Chunk& chunk : replacement.chunks) {
          if (!chunk.unknown) {
            Substitute(chunk.text, text.substr(match.begin, done - match.begin),
                       &between);
            continue;
          }
          result.Append(between);
          between.clear();
          Value unknown;
          unknown.chunks.push_back(chunk);
          result.Append(unknown);
        }
        result.Append(between);
      }
      result.Append(text.substr(done));
      Add(&results, {result});
    }
    return results;
  }

  // One character in the case that is asked for; false when the locale
  // decides.
  bool Changed(std::string_view c, std::string* out) const {
    const auto u = static_cast<unsigned char>(c[0]);
    if (u >= 0x80) return false;
    const bool upper = p_.op == ParameterOp::kUpper ||
                       (p_.op == ParameterOp::kToggle && std::islower(u) != 0);
    *out += static_cast<char>(upper ? std::toupper(u) : std::tolower(u));
    return true;
  }

  Values ChangeCase(std::string_view text, Pattern& pattern, bool bytes) const {
    const std::string* literal = pattern.literal();
    const bool any = literal != nullptr && literal->empty();
    Value out;
    bool first = true;
    for (const std::string_view c : Characters(text, bytes)) {
      std::optional<bool> change = p_.all || first;
      first = false;
      if (*change && !any) change = pattern.Matches(c);
      std::string changed;
      if (change == false)
        out.Append(c);
      else if (change == true && Changed(c, &changed))
        out.Append(changed);
      else
        out.Append(UnknownAt(span_));
    }
    return {out};
  }

  // ${x^^}: also of what stands beside unknown parts.
  Values MapChunks(const Values& values) const {
    Values results;
    for (const Value& value : values) {
      Value out;
      for (const Chunk& chunk : value.chunks) {
        if (chunk.unknown) {
          Value unknown;
          unknown.chunks.push_back(chunk);
          out.Append(unknown);
          continue;
        }
        std::string plain;
        for (const std::string_view c : Characters(chunk.text, false)) {
          if (Changed(c, &plain)) continue;
          out.Append(plain);
          plain.clear();
          out.Append(UnknownAt(span_));
        }
        out.Append(plain);
      }
      Add(&results, {out});
    }
    return results;
  }

  Values Slice(const Values& values) {
    std::optional<int64_t> offset;
    std::optional<int64_t> length;
    const bool known = SliceBounds(x_, p_, span_, &offset, &length);
    Values results;
    for (const Value& value : values) {
      if (!known) {
        Add(&results, {UnknownAt(span_)});
      } else if (!value.known()) {
        Add(&results, {SlicePartly(value, *offset, *length)});
      } else {
        Add(&results, {SliceKnown(value.text(), *offset, *length, false)});
        if (!IsAscii(value.text()))
          Add(&results, {SliceKnown(value.text(), *offset, *length, true)});
      }
    }
    return results;
  }

  Value SliceKnown(std::string_view text, int64_t offset, int64_t length,
                   bool bytes) const {
    const auto all = Characters(text, bytes);
    const auto size = static_cast<int64_t>(all.size());
    const int64_t from = offset < 0 ? size + offset : offset;
    if (from < 0 || from > size) return Value{};
    int64_t to = size;
    if (length < 0)
      to = size + length;
    else if (length < size - from)
      to = from + length;
    if (to < from) {
      x_.host.Fail(x_.state);  // substring expression < 0
      return UnknownAt(span_);
    }
    std::string out;
    for (int64_t i = from; i < to; ++i) out += all[static_cast<size_t>(i)];
    return Value::Of(std::move(out));
  }

  // The part that lies in the known beginning.
  Value SlicePartly(const Value& value, int64_t offset, int64_t length) const {
    const std::string prefix = value.Prefix();
    if (offset < 0 || length < 0 || !IsAscii(prefix) ||
        static_cast<uint64_t>(offset) > prefix.size())
      return UnknownAt(span_);
    const auto from = static_cast<size_t>(offset);
    if (static_cast<uint64_t>(length) <= prefix.size() - from)
      return Value::Of(prefix.substr(from, static_cast<size_t>(length)));
    if (length != INT64_MAX) {
      Value out = Value::Of(prefix.substr(from));
      out.Append(UnknownAt(span_));
      return out;
    }
    Value out = Value::Of(prefix.substr(from));
    for (size_t i = prefix.empty() ? 0 : 1; i < value.chunks.size(); ++i) {
      Value chunk;
      chunk.chunks.push_back(value.chunks[i]);
      out.Append(chunk);
    }
    return out;
  }

  Expander& x_;
  const Parameter& p_;
  Span span_;
  bool prepared_ = false;
  Values patterns_;
  Values replacements_;
};

// An offset or a length; nullopt when not known.
std::optional<int64_t> Bound(Expander& x, WordId word, Span span) {
  if (word == kNone) return 0;
  std::optional<int64_t> result;
  bool first = true;
  for (const Value& value : ExpandQuoted(x, word)) {
    const auto one = EvaluateArithmetic(x, value, span);
    result = first ? one : (result == one ? result : std::nullopt);
    first = false;
  }
  return result;
}

}  // namespace

bool SliceBounds(Expander& x, const Parameter& parameter, Span span,
                 std::optional<int64_t>* offset,
                 std::optional<int64_t>* length) {
  *offset = Bound(x, parameter.operand, span);
  *length = parameter.replacement == kNone
                ? std::optional<int64_t>(INT64_MAX)
                : Bound(x, parameter.replacement, span);
  return offset->has_value() && length->has_value();
}

void ApplyOperation(Expander& x, const Parameter& parameter, Span span,
                    std::vector<Values>* values) {
  Operation operation(x, parameter, span);
  // The operand is evaluated even where there is no element.
  if (values->empty()) (void)operation.Apply({Value{}});
  for (Values& value : *values) value = operation.Apply(value);
}

Values LengthOf(const Values& values, Span span) {
  Values lengths;
  for (const Value& value : values) {
    if (!value.known()) {
      Add(&lengths, {UnknownAt(span, true)});
      continue;
    }
    const std::string_view text = value.text();
    Add(&lengths, {Value::Of(std::to_string(Characters(text, false).size()))});
    if (!IsAscii(text)) Add(&lengths, {Value::Of(std::to_string(text.size()))});
  }
  return lengths;
}

}  // namespace gate::parser
