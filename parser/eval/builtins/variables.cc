// unset and let.
#include <algorithm>

#include "parser/eval/builtins/builtins.h"

namespace gate::parser::builtins {

namespace {

// Which variables and functions remain is not known.
void UnsetAnything(Evaluator& e, const Call& call, const Field& name) {
  e.NoteAt(UnknownCode::kDynamicArgument, call.span, "unset");
  // A subscript in the name is evaluated.
  const bool digits = std::none_of(
      name.value.chunks.begin(), name.value.chunks.end(),
      [](const Chunk& chunk) { return chunk.unknown && !chunk.digits; });
  if (!digits) e.NoteAt(UnknownCode::kUnmodelled, call.span, "unset");
}

// The reference itself, not what it stands for.
void UnsetReference(Shell& shell, const std::string& name) {
  auto it = shell.variables.find(name);
  // bash takes -n for a request about references only.
  if (it == shell.variables.end() || !it->second.reference) return;
  if (it->second.readonly) return;
  shell.variables[name] = Variable{};
}

}  // namespace

void Unset(Evaluator& e, Shell& shell, Call& call) {
  shell.status.reset();
  bool functions = false, variables = false, references = false;
  size_t i = 1;
  while (const std::optional<std::string> word = OptionWord(call.fields, &i)) {
    functions = functions || word->find('f') != std::string::npos;
    variables = variables || word->find('v') != std::string::npos;
    references = references || word->find('n') != std::string::npos;
    ++i;
  }
  for (; i < call.fields.size(); ++i) {
    std::optional<std::string> word = Known(call.fields[i]);
    if (!word) {
      UnsetAnything(e, call, call.fields[i]);
      continue;
    }
    if (*word == "POSIXLY_CORRECT" && shell.expand_aliases) {
      // Leaving posix mode restores what was before.
      e.NoteAt(UnknownCode::kUnmodelled, call.span, *word);
    }
    if (functions) {
      shell.functions.erase(*word);
      continue;
    }
    if (references) {
      UnsetReference(shell, *word);
      continue;
    }
    bool known = shell.variables.contains(word->substr(0, word->find('[')));
    if (!variables && !known && shell.functions.contains(*word)) {
      shell.functions[*word].push_back(Function{});
    }
    if (call.script != nullptr) {
      Expander x{shell, *call.script, e};
      UnsetVariable(x, *word);
    }
  }
}

void Let(Evaluator& e, Shell& shell, Call& call) {
  shell.status.reset();
  if (call.script == nullptr) return;
  Expander x{shell, *call.script, e};
  std::optional<int64_t> last;
  for (size_t i = 1; i < call.fields.size(); ++i) {
    for (const Value& value : ArgumentValue(e, shell, call.fields[i])) {
      last = EvaluateArithmetic(x, value, call.fields[i].span);
    }
  }
  if (last) shell.status = *last != 0 ? 0 : 1;
}

}  // namespace gate::parser::builtins
