// Words of a program that are another command: `env x`, `find -exec x`.
#include "base/paths.h"
#include "parser/eval/evaluate.h"
#include "parser/eval/fields_by_text.h"

namespace gate::parser {

Value Filled(const std::string& text, std::string_view placeholder,
             UnknownCode code, Span span) {
  // What stands for nothing may stand anywhere.
  if (placeholder.empty()) return Value::Unknown(code, span);
  Value value;
  size_t from = 0;
  for (size_t at = text.find(placeholder); at != std::string::npos;
       at = text.find(placeholder, from)) {
    value.Append(text.substr(from, at - from));
    value.Append(Value::Unknown(code, span));
    from = at + placeholder.size();
  }
  value.Append(text.substr(from));
  return value;
}

std::string FieldsByText::Key(const std::string& prefix,
                              const std::string& suffix, bool splits) {
  return std::to_string(prefix.size()) + (splits ? "+" : "-") + prefix + suffix;
}

const Field* FieldsByText::Find(const Argument& word) {
  if (!made_) {
    made_ = true;
    for (const Field& field : fields_)
      if (!field.value.known())
        by_text_.emplace(
            Key(field.value.Prefix(), field.value.Suffix(), field.splits),
            &field);
  }
  if (by_text_.empty()) return nullptr;
  const auto found = by_text_.find(Key(word.text, word.suffix, word.splits));
  return found == by_text_.end() ? nullptr : found->second;
}

Field Evaluator::ToField(const Argument& word, const Fields& known) const {
  FieldsByText by_text(known);
  return ToField(word, by_text);
}

Field Evaluator::ToField(const Argument& word, FieldsByText& by_text) const {
  const Fields& known = by_text.fields();
  if (!word.known) {
    // The words of the call know more: which parts are unknown.
    if (const Field* field = by_text.Find(word)) return *field;
  }
  Field field;
  field.span = word.span;
  field.value = Value::Of(word.text);
  if (!word.known) {
    field.value.Append(
        Value::Unknown(UnknownCode::kDynamicArgument, word.span));
    field.value.Append(word.suffix);
    field.splits = word.splits;
    // A process substitution is shown as unknown, but is a known path.
    if (word.text.ends_with("/dev/fd/")) {
      // …also behind what the word begins with (`--files-from=<(x)`). Where two
      // look alike, their places tell them apart.
      const size_t before =
          word.text.size() - std::string_view("/dev/fd/").size();
      const Field* found = nullptr;
      size_t from = 0;
      for (const Field& original : known) {
        if (!original.value.known()) continue;
        const std::string_view text = original.value.text();
        const size_t at = text.find(kProcessPath);
        if (at == std::string_view::npos || at < before ||
            text.substr(at - before, word.text.size()) != word.text) {
          continue;
        }
        const bool same = original.span == word.span;
        if (found != nullptr && !same) continue;
        found = &original;
        from = at - before;
        if (same) break;
      }
      if (found != nullptr && from == 0) return *found;
      if (found != nullptr) {
        return KnownField(std::string(found->value.text().substr(from)),
                          word.span);
      }
    }
  }
  if (word.glob) {
    field.glob = true;
    field.pattern = word.text;
  }
  return field;
}

Values Evaluator::ValuesOf(const Argument& word, const Fields& known) const {
  Field field = ToField(word, known);
  if (field.glob && field.value.known()) {
    return {
        PatternValue(field.pattern.empty() ? field.value.text() : field.pattern,
                     field.span)};
  }
  return {field.value};
}

void Evaluator::RunWords(Shell& shell, const ProgramCall& call,
                         const ArgumentAnalysis& arguments,
                         const ArgumentEffect& effect) {
  const bool find = arguments.runs == RunModel::kFoundFiles;
  ScopedVia via(*this,
                {find ? ViaKind::kFound : ViaKind::kProgram,
                 std::string(BaseName(call.argv[0].value.text()))},
                call.span);
  if (effect.from_stdin && arguments.runs == RunModel::kInputWords &&
      RunXargs(shell, call, effect)) {
    return;
  }
  ProgramCall inner;
  inner.span = effect.span;
  inner.from_wrapper = true;
  Origin listed;  // the names that it fills in are of files in these
  for (const ArgumentEffect& other : arguments.effects) {
    if (other.role != Role::kListRead || other.words.empty()) continue;
    listed.files.emplace_back(last_invocation_, Resolve(shell, other.words[0]));
  }
  FieldsByText by_text(call.argv);
  for (const Argument& word : effect.words) {
    Field field = ToField(word, by_text);
    if (!effect.placeholder.empty() && field.value.known()) {
      std::string text(field.value.text());
      size_t at = text.find(effect.placeholder);
      if (at != std::string::npos &&
          !(inner.argv.empty() && arguments.runs == RunModel::kInputWords &&
            XargsKeepsName(shell, call))) {
        field.value = Filled(text, effect.placeholder,
                             UnknownCode::kDynamicArgument, word.span);
        SetOrigin(word.span, listed);
        field.glob = false;
      }
    }
    inner.argv.push_back(std::move(field));
  }
  if (effect.appends_unknown) {
    Field more;
    more.span = call.span;
    more.value = Value::Unknown(UnknownCode::kDynamicArgument, call.span);
    SetOrigin(call.span, listed);
    more.splits = true;
    inner.argv.push_back(std::move(more));
  }
  if (inner.argv.empty()) return;
  Scoped<bool> certain(
      certain_, certain_ && effect.certain && !find && !effect.appends_unknown);
  RunProgram(shell, inner);
}

void Evaluator::RunSplit(Shell& shell, const ProgramCall& call,
                         const ArgumentEffect& effect) {
  // What the reader of arguments could not split for certain: variables and
  // escapes of env -S. Words of plain characters are taken as they are.
  ScopedVia chain(
      *this,
      {ViaKind::kProgram, std::string(BaseName(call.argv[0].value.text()))},
      call.span);
  ProgramCall inner;
  inner.span = effect.span;
  FieldsByText by_text(call.argv);
  for (size_t i = 0; i < effect.words.size(); ++i) {
    if (i > 0 || !effect.words[i].known) {
      inner.argv.push_back(ToField(effect.words[i], by_text));
      continue;
    }
    std::string_view rest = effect.words[0].text;
    while (true) {
      size_t begin = rest.find_first_not_of(" \t\n");
      if (begin == std::string_view::npos) break;
      size_t end = rest.find_first_of(" \t\n", begin);
      std::string word(rest.substr(begin, end - begin));
      Field field = KnownField(word, effect.span);
      if (word.find_first_of("$'\"\\#") != std::string::npos) {
        field.value =
            Value::Unknown(UnknownCode::kDynamicArgument, effect.span);
        field.splits = true;
      }
      inner.argv.push_back(std::move(field));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end);
    }
  }
  if (!inner.argv.empty()) RunProgram(shell, inner);
}

}  // namespace gate::parser
