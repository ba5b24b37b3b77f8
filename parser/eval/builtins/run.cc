// Builtins that run code, and those that leave.
#include <algorithm>

#include "base/paths.h"
#include "parser/eval/builtins/builtins.h"

namespace gate::parser::builtins {
namespace {

Call WithoutFirst(const Call& call, size_t count) {
  Call inner;
  inner.span = call.span;
  inner.script = call.script;
  inner.node = nullptr;
  inner.declared = call.declared;
  inner.fields.assign(call.fields.begin() + static_cast<std::ptrdiff_t>(count),
                      call.fields.end());
  return inner;
}

// Runs the call after `count` words, its name taken as `command` takes it.
void RunRest(Evaluator& e, Shell& shell, const Call& call, size_t count,
             ViaKind via) {
  // `command command …`: each of them copies the words after it.
  if (!e.Spend(call.fields.size())) return;
  Call inner = WithoutFirst(call, count);
  if (inner.fields.empty()) return;
  ScopedVia chain(e, {via}, call.span);
  const Field& name = inner.fields[0];
  if (!name.value.known() || name.splits || (name.glob && !shell.noglob)) {
    e.ExecuteCall(shell, inner);
    return;
  }
  e.ExecuteName(shell, inner, false, true);
}

std::string SignalName(std::string name) {
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  if (name.starts_with("SIG")) name = name.substr(3);
  if (name == "0") name = "EXIT";
  return name;
}

}  // namespace

void Jobs(Evaluator& e, Shell& shell, Call& call) {
  bool runs = false;
  size_t i = 1;
  while (i < call.fields.size()) {
    const Field& field = call.fields[i];
    if (!Known(field) || (field.glob && !shell.noglob)) {
      e.NoteAt(UnknownCode::kDynamicCommand, call.span, "jobs");
      break;
    }
    const std::optional<std::string> word = OptionWord(call.fields, &i);
    if (!word) break;
    runs = runs || word->find('x') != std::string::npos;
    ++i;
  }
  if (!runs) {
    Prints(e, shell, call);
    return;
  }
  Call inner = WithoutFirst(call, i);
  if (inner.fields.empty()) return;
  ScopedVia chain(e, {ViaKind::kJobs}, call.span);
  e.ExecuteCall(shell, inner);
}

void Eval(Evaluator& e, Shell& shell, Call& call) {
  size_t from = 1;
  if (call.fields.size() > 1 && Known(call.fields[1]) == "--") from = 2;
  if (call.fields.size() <= from) {
    shell.status = 0;
    return;
  }
  Evaluator::TextOptions options;
  options.via = Via{ViaKind::kEval};
  e.RunText(shell, JoinArguments(e, shell, call.fields, from),
            SpanFrom(e, call, from), options);
}

void Source(Evaluator& e, Shell& shell, Call& call) {
  size_t from = 1;
  if (call.fields.size() > 1 && Known(call.fields[1]) == "--") from = 2;
  if (call.fields.size() <= from) {
    shell.status = 2;
    return;
  }
  shell.status.reset();
  const Field& file = call.fields[from];
  Span span = SpanFrom(e, call, from);
  std::optional<std::string> path = Known(file);
  e.AddFileFlows(shell, e.ToArgument(file, shell), call.fields, false,
                 e.last_invocation_, span);
  if (!path || (file.glob && !shell.noglob)) {
    e.state_only_ = false;
    e.NoteAt(UnknownCode::kScriptFile, span, e.TextAt(span));
    if (!shell.files.empty() || file.value.chunks.size() == 1) {
      // It may be a pipe or a file that the line wrote.
      bool text_of_line = !shell.files.empty();
      if (text_of_line) {
        e.NoteAt(UnknownCode::kDynamicCode, span, e.TextAt(span));
      }
    }
    return;
  }
  if (!path->ends_with("/bin/activate")) e.state_only_ = false;
  std::vector<Values> old = shell.positional;
  bool old_unknown = shell.positional_unknown;
  bool old_set = shell.positional_set;
  shell.positional_set = false;
  bool has_arguments = call.fields.size() > from + 1;
  if (has_arguments) {
    shell.positional.clear();
    shell.positional_unknown = false;
    for (size_t i = from + 1; i < call.fields.size(); ++i) {
      if (call.fields[i].splits) shell.positional_unknown = true;
      shell.positional.push_back(ArgumentValue(e, shell, call.fields[i]));
    }
    if (shell.positional_unknown) shell.positional.clear();
  }
  Argument argument;
  argument.text = *path;
  argument.span = span;
  std::vector<std::string> paths;
  if (IsProcessPath(*path)) {
    paths.push_back(*path);
  } else {
    paths = e.KnownPaths(shell, argument);
    if (path->find('/') == std::string::npos) {
      for (const auto& [known, text] : shell.files) {
        if (BaseName(known) == *path) paths.push_back(known);
      }
    }
    e.AddPathEffect(shell, EffectKind::kExecuteFile, argument, span,
                    e.last_invocation_, false);
  }
  std::optional<Shell> out;
  for (const std::string& known : paths) {
    bool known_file = false;
    Shell copy = shell;
    Values content = e.ContentOf(copy, known, span, &known_file);
    if (!known_file) {
      e.NoteAt(UnknownCode::kScriptFile, span, known);
      e.scripts_run_.insert(known);
    } else {
      if (!IsProcessPath(known) && !known.starts_with("/dev/")) {
        e.AddWrittenFlows(known, content, e.last_invocation_, span);
      }
      Scoped<std::string> running(e.running_, known);
      Evaluator::TextOptions options;
      options.via = Via{ViaKind::kSource};
      options.new_frame = true;
      e.RunText(copy, content, span, options);
    }
    MergeInto(out, copy);
  }
  if (out) shell = std::move(*out);
  // Its arguments go with it, unless it gave the shell new ones by `set`.
  if (has_arguments && !shell.positional_set) {
    shell.positional = std::move(old);
    shell.positional_unknown = old_unknown;
  }
  shell.positional_set = shell.positional_set || old_set;
  if (shell.traps.contains("RETURN")) e.RunTrap(shell, "RETURN", false);
}

void Exec(Evaluator& e, Shell& shell, Call& call) {
  size_t i = 1;
  bool login = false;
  while (const std::optional<std::string> word = OptionWord(call.fields, &i)) {
    // What follows `a` in the word is its value, else the next word is.
    const size_t value = word->find('a', 1);
    const std::string letters = word->substr(1, value - 1);
    if (value == std::string::npos && letters.empty()) break;
    if (letters.find_first_not_of("cl") != std::string::npos) break;
    login = login || letters.find('l') != std::string::npos;
    if (value != std::string::npos && value + 1 == word->size()) {
      ++i;
      if (i < call.fields.size() &&
          (call.fields[i].splits || (call.fields[i].glob && !shell.noglob))) {
        // It may be several words, of which others are the command.
        e.NoteAt(UnknownCode::kDynamicCommand, call.span, e.TextAt(call.span));
      }
    }
    if (shell.posix) e.RecordForeign(shell, *word, call.span);
    ++i;
  }
  if (i >= call.fields.size()) {
    e.keep_fds_ = true;
    shell.status.reset();
    return;
  }
  Call inner = WithoutFirst(call, i);
  {
    ScopedVia via(e, {ViaKind::kExec}, call.span);
    const Field& name = inner.fields[0];
    if (!name.value.known() || name.splits || (name.glob && !shell.noglob)) {
      e.ExecuteCall(shell, inner);
    } else {
      ProgramCall program;
      program.argv = inner.fields;
      program.span = call.span;
      e.RunProgram(shell, program);
    }
  }
  e.LeaveProcess(shell);
}

// The status that the word behind `exit` or `return` says, if there is one.
void TakeStatus(Shell& shell, const Call& call) {
  if (call.fields.size() <= 1) return;
  std::optional<std::string> word = Known(call.fields[1]);
  if (word && !word->empty() && word->size() < 5 &&
      word->find_first_not_of("0123456789") == std::string::npos) {
    shell.status = std::stoi(*word) & 255;
  } else {
    shell.status.reset();
  }
}

void Exit(Evaluator& e, Shell& shell, Call& call) {
  TakeStatus(shell, call);
  e.LeaveProcess(shell);
}

void Logout(Evaluator& e, Shell& shell, Call& call) {
  // Outside of a login shell it is an error, after which bash goes on.
  Shell on = shell;
  Exit(e, shell, call);
  on.status = 1;
  shell = JoinShells(shell, on);
}

void Return(Evaluator& e, Shell& shell, Call& call) {
  TakeStatus(shell, call);
  // Outside of functions and sourced files it is an error that the shell
  // survives.
  if (!e.LeaveFunction(shell)) shell.status = 2;
}

void Break(Evaluator& e, Shell& shell, Call& call) {
  bool continues = Known(call.fields[0]) == "continue";
  size_t levels = 1;
  bool known = true;
  if (call.fields.size() > 1) {
    std::optional<std::string> word = Known(call.fields[1]);
    known = word && !word->empty() && word->size() < 4 &&
            word->find_first_not_of("0123456789") == std::string::npos;
    if (known) levels = std::max<size_t>(1, std::stoul(*word));
  }
  std::vector<size_t> loops;
  for (size_t i = e.frames_.size(); i-- > 0;) {
    Frame::Kind kind = e.frames_[i].kind;
    if (kind == Frame::Kind::kLoop) {
      loops.push_back(i);
    } else if (kind != Frame::Kind::kSource) {
      // Subshells and functions keep the loops around them out of reach.
      break;
    }
  }
  shell.status = 0;
  if (loops.empty()) return;
  if (!known) {
    for (size_t loop : loops) {
      Shell copy = shell;
      e.Leave(copy, loop, continues);
    }
    return;
  }
  size_t target = std::min(levels, loops.size()) - 1;
  e.Leave(shell, loops[target], continues);
}

void Trap(Evaluator& e, Shell& shell, Call& call) {
  shell.status = 0;
  size_t i = 1;
  if (i < call.fields.size() && Known(call.fields[i]) == "--") ++i;
  if (i >= call.fields.size() || Known(call.fields[i]) == "-p" ||
      Known(call.fields[i]) == "-l") {
    if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
    return;
  }
  size_t first_signal = i + 1;
  Values code = ArgumentValue(e, shell, call.fields[i]);
  std::optional<std::string> text = Known(code);
  bool only_signal = i + 1 == call.fields.size();
  bool reset = only_signal || text == "-";
  if (only_signal) first_signal = i;
  if (text && !only_signal && !text->empty() &&
      text->find_first_not_of("0123456789") == std::string::npos) {
    reset = true;  // `trap 2 3` resets both
    first_signal = i;
  }
  for (size_t k = first_signal; k < call.fields.size(); ++k) {
    std::optional<std::string> word = Known(call.fields[k]);
    if (!word) {
      if (!reset) shell.traps["unknown"] = code;
      continue;
    }
    std::string name = SignalName(*word);
    if (reset || (text && text->empty())) {
      shell.traps.erase(name);
    } else {
      shell.traps[name] = code;
    }
  }
}

Values FoundFile(std::string_view name, Span span) {
  const size_t slash = name.rfind('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  Value path = Value::Unknown(UnknownCode::kDynamicArgument, span);
  if (!name.empty()) path.Append("/" + std::string(name) + "\n");
  return {path};
}

namespace {

// `command -v NAME`, `type -p NAME`, `hash -t NAME`: the only name that is
// asked for, unless it may be something else than a file.
void PrintFound(Evaluator& e, Shell& shell, const Call& call, size_t from,
                bool files_only) {
  shell.status.reset();
  if (!e.Captured(shell, 1)) return;
  Values text = e.UnknownValue(call.span);
  const std::optional<std::string> name =
      from + 1 == call.fields.size() ? Known(call.fields[from]) : std::nullopt;
  if (name && !shell.functions.contains(*name) &&
      !shell.aliases.contains(*name)) {
    if (files_only || FindBuiltin(*name) == nullptr) {
      text = FoundFile(*name, call.span);
    } else {
      text = {Value::Of(*name + "\n")};
    }
  }
  e.Write(shell, 1, text);
}

}  // namespace

void Type(Evaluator& e, Shell& shell, Call& call) {
  size_t i = 1;
  bool paths = false, forced = false;
  while (const std::optional<std::string> word = OptionWord(call.fields, &i)) {
    paths = paths || word->find('p') != std::string::npos;
    forced = forced || word->find('P') != std::string::npos;
    ++i;
  }
  if (!paths && !forced) return Prints(e, shell, call);
  PrintFound(e, shell, call, i, true);
}

void Command(Evaluator& e, Shell& shell, Call& call) {
  size_t i = 1;
  bool describes = false, long_form = false;
  while (const std::optional<std::string> word = OptionWord(call.fields, &i)) {
    if (word->find_first_not_of("pvV", 1) != std::string::npos) break;
    long_form = long_form || word->find('V') != std::string::npos;
    describes = describes || word->find_first_of("vV") != std::string::npos;
    ++i;
  }
  if (describes && !long_form) return PrintFound(e, shell, call, i, false);
  if (describes || i >= call.fields.size()) {
    if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
    shell.status.reset();
    return;
  }
  RunRest(e, shell, call, i, ViaKind::kCommand);
}

void BuiltinCommand(Evaluator& e, Shell& shell, Call& call) {
  size_t i = 1;
  if (i < call.fields.size() && Known(call.fields[i]) == "--") ++i;
  if (i >= call.fields.size()) {
    shell.status = 0;
    return;
  }
  RunRest(e, shell, call, i, ViaKind::kBuiltin);
}

void Compgen(Evaluator& e, Shell& shell, Call& call) {
  for (size_t i = 1; i + 1 < call.fields.size(); ++i) {
    std::optional<std::string> option = Known(call.fields[i]);
    if (!option) continue;
    Values value = ArgumentValue(e, shell, call.fields[i + 1]);
    if (*option == "-C") {
      Shell child = e.Fork(shell);
      Evaluator::TextOptions options;
      options.via = Via{ViaKind::kCompgen};
      e.RunText(child, Concatenate(value, {Value::Of(" ${_gate_unknown}")}),
                call.span, options);
      e.Join(shell, std::move(child));
    } else if (*option == "-F") {
      e.NoteAt(UnknownCode::kUnmodelled, call.span, "compgen -F");
    } else if (*option == "-W" && call.script != nullptr) {
      Expander x{shell, *call.script, e};
      for (const Value& text : value) ExpandPrompt(x, text, call.span);
    }
  }
  if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
  shell.status.reset();
}

void Kill(Evaluator& e, Shell& shell, Call& call) {
  std::vector<Argument> words;
  for (const Field& field : call.fields) {
    words.push_back(e.ToArgument(field, shell));
  }
  ArgumentAnalysis arguments = ReadArguments(words);
  ProgramCall program;
  program.argv = call.fields;
  program.span = call.span;
  e.AddArgumentEffects(shell, program, arguments, e.last_invocation_);
  if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
  shell.status.reset();
}

void History(Evaluator& e, Shell& shell, Call& call) {
  e.NoteUsesHistory();
  for (size_t i = 1; i < call.fields.size(); ++i) {
    std::string word = Known(call.fields[i]).value_or("-w");
    if (word.size() < 2 || word[0] != '-' ||
        word.find_first_of("warn") == std::string::npos) {
      continue;
    }
    if (word.find_first_of("rn") != std::string::npos) {
      if (i + 1 < call.fields.size()) {
        e.AddPathEffect(shell, EffectKind::kRead,
                        e.ToArgument(call.fields[i + 1], shell), call.span,
                        e.last_invocation_, false);
      }
      break;
    }
    Argument file;
    if (i + 1 < call.fields.size()) {
      file = e.ToArgument(call.fields[i + 1], shell);
    } else {
      file.known = false;  // the history file
      file.span = call.span;
    }
    e.analysis_.shell_writes.push_back(file);
    e.AddPathEffect(shell, EffectKind::kWrite, file, call.span,
                    e.last_invocation_, false);
    break;
  }
  if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
  shell.status.reset();
}

void Interactive(Evaluator& e, Shell& shell, Call& call) {
  std::string name = Known(call.fields[0]).value_or("");
  if (name == "fc") e.NoteUsesHistory();
  bool runs = false;
  for (size_t i = 1; i < call.fields.size(); ++i) {
    std::string word = Known(call.fields[i]).value_or("-x");
    if (name == "bind") runs = runs || word == "-x" || word == "-f";
    if (name == "complete") runs = runs || word == "-C" || word == "-F";
    if (name == "fc") runs = runs || word == "-s" || word == "-e";
  }
  if (name == "fc" && call.fields.size() == 1) runs = true;
  if (runs) e.NoteAt(UnknownCode::kUnmodelled, call.span, name);
  if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
  shell.status.reset();
}

}  // namespace gate::parser::builtins
