// The table of bash's builtins.
#include "parser/eval/builtins/builtins.h"

#include <algorithm>

namespace gate::parser {
namespace {

struct Entry {
  std::string_view name;
  Builtin builtin;
};

using namespace builtins;  // NOLINT: the table below is their list

constexpr Entry kBuiltins[] = {
    {".", Source},
    {":", True},
    {"[", Test},
    {"alias", Alias},
    {"bg", Prints},
    {"bind", Interactive},
    {"break", Break},
    {"builtin", BuiltinCommand},
    {"caller", Prints},
    {"cd", Cd},
    {"command", Command},
    {"compgen", Compgen},
    {"complete", Interactive},
    {"compopt", Prints},
    {"continue", Break},
    {"declare", Declare},
    {"dirs", Dirs},
    {"disown", Prints},
    {"echo", Echo},
    {"enable", Enable},
    {"eval", Eval},
    {"exec", Exec},
    {"exit", Exit},
    {"export", Declare},
    {"false", False},
    {"fc", Interactive},
    {"fg", Prints},
    {"getopts", Getopts},
    {"hash", Hash},
    {"help", Prints},
    {"history", History},
    {"jobs", Jobs},
    {"kill", Kill},
    {"let", Let},
    {"local", Declare},
    {"logout", Logout},
    {"mapfile", Mapfile},
    {"popd", Popd},
    {"printf", Printf},
    {"pushd", Pushd},
    {"pwd", Pwd},
    {"read", Read},
    {"readarray", Mapfile},
    {"readonly", Declare},
    {"return", Return},
    {"set", Set},
    {"shift", Shift},
    {"shopt", Shopt},
    {"source", Source},
    {"suspend", Prints},
    {"test", Test},
    {"times", Prints},
    {"trap", Trap},
    {"true", True},
    {"type", Type},
    {"typeset", Declare},
    {"ulimit", Prints},
    {"umask", Prints},
    {"unalias", Unalias},
    {"unset", Unset},
    {"wait", Wait},
};

}  // namespace

Builtin FindBuiltin(std::string_view name) {
  const Entry* found =
      std::lower_bound(std::begin(kBuiltins), std::end(kBuiltins), name,
                       [](const Entry& entry, std::string_view key) {
                         return entry.name < key;
                       });
  if (found == std::end(kBuiltins) || found->name != name) return nullptr;
  return found->builtin;
}

namespace builtins {

std::optional<std::string> OptionWord(const Fields& fields, size_t* i) {
  if (*i >= fields.size()) return std::nullopt;
  std::optional<std::string> word = Known(fields[*i]);
  if (!word || word->size() < 2 || (*word)[0] != '-') return std::nullopt;
  if (*word != "--") return word;
  ++*i;
  return std::nullopt;
}

Values ArgumentValue(Evaluator& e, const Shell& shell, const Field& field) {
  (void)e;
  if (field.glob && !shell.noglob) {
    if (field.value.known()) {
      // The name of a file, or the pattern itself when nothing matches.
      return {field.value,
              PatternValue(
                  field.pattern.empty() ? field.value.text() : field.pattern,
                  field.span)};
    }
  }
  return {field.value};
}

Values JoinArguments(Evaluator& e, const Shell& shell, const Fields& fields,
                     size_t from) {
  Values out = {Value::Of("")};
  for (size_t i = from; i < fields.size(); ++i) {
    if (i > from) {
      for (Value& value : out) value.Append(" ");
    }
    Values more = ArgumentValue(e, shell, fields[i]);
    if (more.size() == 1) {
      for (Value& value : out) value.Append(more[0]);
    } else {
      out = Concatenate(out, more);
    }
  }
  return out;
}

Span SpanFrom(Evaluator& e, const Call& call, size_t from) {
  if (from >= call.fields.size() || call.script == nullptr) return call.span;
  Span first = e.Map(*call.script, call.fields[from].span);
  Span last = e.Map(*call.script, call.fields.back().span);
  if (last.end < first.begin || first.end == 0) return call.span;
  return Span{first.begin, std::max(first.end, last.end)};
}

void True(Evaluator&, Shell& shell, Call&) { shell.status = 0; }
void False(Evaluator&, Shell& shell, Call&) { shell.status = 1; }

void Prints(Evaluator& e, Shell& shell, Call& call) {
  if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
  shell.status.reset();
}

void Wait(Evaluator& e, Shell& shell, Call& call) {
  Prints(e, shell, call);
  const auto known = [&](size_t i) -> std::optional<std::string> {
    if (i >= call.fields.size() || (call.fields[i].glob && !shell.noglob))
      return std::nullopt;
    return Known(call.fields[i]);
  };
  for (size_t i = 1; i < call.fields.size(); ++i) {
    const std::optional<std::string> word = known(i);
    if (!word) {
      const Value& value = call.fields[i].value;
      const bool number = !value.chunks.empty() && value.chunks[0].digits;
      const std::string begin = value.Prefix();
      if (number || (!begin.empty() && begin.find_first_of("-*?[") != 0)) break;
      e.NoteAt(UnknownCode::kUnmodelled, call.span, "wait");
      return;
    }
    if (word->size() < 2 || word->front() != '-' || *word == "--") break;
    // `-p NAME` sets it; the value may be attached, also to a bundle.
    const size_t value = word->find('p', 1);
    if (value == std::string::npos) continue;
    const std::optional<std::string> name =
        value + 1 < word->size() ? word->substr(value + 1) : known(++i);
    if (i >= call.fields.size()) return;
    if (!name || call.script == nullptr) {
      e.NoteAt(UnknownCode::kUnmodelled, call.span, "wait");
      return;
    }
    // Unset where no process ended.
    Expander x{shell, *call.script, e};
    SetVariable(x, *name, e.UnknownValue(call.span));
  }
}

}  // namespace builtins
}  // namespace gate::parser
