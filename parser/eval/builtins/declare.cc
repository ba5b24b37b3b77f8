// declare, typeset, local, export and readonly.
#include <algorithm>

#include "parser/eval/builtins/builtins.h"

namespace gate::parser::builtins {
namespace {

struct Options {
  std::string name;     // of the builtin
  std::string on, off;  // letters
  bool functions = false;
  bool prints = false;
  bool global = false;
  bool unexport = false;
  bool local = false;
  size_t first = 1;  // field after the options
  bool Has(char c) const { return on.find(c) != std::string::npos; }
  bool Lacks(char c) const { return off.find(c) != std::string::npos; }
};

Options ParseOptions(const Fields& fields) {
  Options options;
  options.name = Known(fields[0]).value_or("declare");
  for (; options.first < fields.size(); ++options.first) {
    const std::optional<std::string> word = Known(fields[options.first]);
    if (!word || word->size() < 2 || ((*word)[0] != '-' && (*word)[0] != '+'))
      break;
    if (*word == "--") {
      ++options.first;
      break;
    }
    std::string& side = (*word)[0] == '-' ? options.on : options.off;
    side += word->substr(1);
  }
  options.functions = options.on.find_first_of("fF") != std::string::npos;
  options.prints = fields.size() == 1 || options.Has('p');
  options.global = options.Has('g');
  if (options.name == "export") {
    options.unexport = options.Has('n');
    options.on = options.unexport ? "" : options.on + 'x';
  }
  options.local = options.name == "local" ||
                  ((options.name == "declare" || options.name == "typeset") &&
                   !options.global);
  return options;
}

enum class Scope : uint8_t { kGlobal, kFunction, kUnclear };

// Whether a function is running in this shell. In a process of its own it may
// be the function's or a new shell's.
Scope ScopeOf(const Evaluator& e) {
  bool left = false;
  for (size_t i = e.frames_.size(); i-- > 0;) {
    const Frame::Kind kind = e.frames_[i].kind;
    if (kind == Frame::Kind::kFunction)
      return left ? Scope::kUnclear : Scope::kFunction;
    left = left || kind == Frame::Kind::kProcess;
  }
  return Scope::kGlobal;
}

// Remembers `name` as it was before the running function made it local. False
// when bash refuses.
bool MakeLocal(Evaluator& e, Shell& shell, const std::string& name) {
  for (size_t i = e.frames_.size(); i-- > 0;) {
    Frame& frame = e.frames_[i];
    if (frame.kind == Frame::Kind::kProcess) return true;  // gone with it
    if (frame.kind != Frame::Kind::kFunction) continue;
    for (const auto& [saved, variable] : frame.saved) {
      if (saved == name) return true;
    }
    auto it = shell.variables.find(name);
    if (it != shell.variables.end() && it->second.readonly) return false;
    frame.saved.emplace_back(name, it == shell.variables.end()
                                       ? std::optional<Variable>()
                                       : std::optional<Variable>(it->second));
    Variable fresh;
    if (it != shell.variables.end()) {
      fresh.exported = it->second.exported;
      fresh.maybe_readonly = it->second.maybe_readonly;
      if (shell.posix || fresh.maybe_readonly) {
        // dash keeps the value.
        fresh = it->second;
        fresh.maybe_unset = true;
      }
    }
    shell.variables[name] = std::move(fresh);
    return true;
  }
  return true;
}

// The global variable where a running function has a local one of its name.
std::optional<Variable>* Global(Evaluator& e, const std::string& name) {
  for (Frame& frame : e.frames_) {
    if (frame.kind != Frame::Kind::kFunction) continue;
    for (auto& [saved, variable] : frame.saved) {
      if (saved == name) return &variable;
    }
  }
  return nullptr;
}

// A plain variable becomes element 0; false when bash refuses.
bool Convert(Variable& variable, Variable::Shape shape) {
  if (variable.shape == shape) return true;
  if (variable.shape != Variable::Shape::kScalar) return false;
  variable.shape = shape;
  if (!variable.scalar.empty()) {
    if (shape == Variable::Shape::kIndexed) {
      variable.indexed[0] = variable.scalar;
    } else {
      variable.associative["0"] = variable.scalar;
    }
    variable.scalar.clear();
  }
  return true;
}

bool ApplyFlags(Variable& variable, const Options& options) {
  if (options.Has('A') && !Convert(variable, Variable::Shape::kAssociative))
    return false;
  if (options.Has('a') && !options.Has('A') &&
      !Convert(variable, Variable::Shape::kIndexed))
    return false;
  if (options.Has('i')) variable.integer = true;
  if (options.Lacks('i')) variable.integer = false;
  if (options.Has('l')) variable.lower = true, variable.upper = false;
  if (options.Lacks('l')) variable.lower = false;
  if (options.Has('u')) variable.upper = true, variable.lower = false;
  if (options.Lacks('u')) variable.upper = false;
  if (options.Has('x')) variable.exported = true;
  if (options.Lacks('x')) variable.exported = false;
  return true;
}

bool IsIdentifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  });
}

// One word after the options.
struct Target {
  const Field* field = nullptr;
  const Declared* declared = nullptr;  // it is an assignment in the source
  std::string name;                    // with its subscript
  std::string base;                    // without
  bool has_value = false;
  bool append = false;
  Values value;
};

// Text such as `(a $(b))` that becomes the elements of an array: it is read as
// code. False when it is no such text.
bool AssignList(Evaluator& e, Shell& shell, const Call& call,
                const Target& target, const Options& options) {
  const Variable& variable = shell.variables[target.base];
  const bool array = variable.shape != Variable::Shape::kScalar ||
                     options.Has('a') || options.Has('A');
  if (!array || target.declared != nullptr) return false;
  bool some = false;
  for (const Value& value : target.value) {
    if (value.known()) {
      const std::string_view text = value.text();
      if (!text.starts_with('(') || !text.ends_with(')')) continue;
      some = true;
      Evaluator::TextOptions how;
      how.via = Via{ViaKind::kDeclare};
      std::string code = target.base;
      code += target.append ? "+=" : "=";
      code += text;
      e.RunText(shell, {Value::Of(code)}, call.span, how);
      continue;
    }
    const std::string prefix = value.Prefix();
    const std::string suffix = value.Suffix();
    if ((prefix.empty() || prefix[0] == '(') &&
        (suffix.empty() || suffix.ends_with(')')))
      e.NoteAt(UnknownCode::kDynamicCode, call.span, options.name);
  }
  return some;
}

// declare -n name[=target]
void DeclareReference(Evaluator& e, Shell& shell, const Call& call,
                      const Target& target) {
  Variable& variable = shell.variables[target.base];
  if (target.has_value) {
    const std::optional<std::string> text = Known(target.value);
    if (!text) {
      e.NoteAt(UnknownCode::kUnmodelled, call.span, "name reference");
    } else if (!IsIdentifier(text->substr(0, text->find('['))) ||
               *text == target.base) {
      shell.status = 1;
      // Inside a function it may name the variable outside of it.
      if (*text == target.base && ScopeOf(e) != Scope::kGlobal)
        e.NoteAt(UnknownCode::kUnmodelled, call.span, "name reference");
      return;
    }
    variable.scalar = target.value;
  } else if (variable.scalar.empty()) {
    variable.scalar = {Value::Of("")};
  }
  variable.shape = Variable::Shape::kScalar;
  variable.reference = true;
}

void DeclareOne(Evaluator& e, Shell& shell, const Call& call,
                const Options& options, const Target& target) {
  const std::string& base = target.base;
  if (options.Has('n')) {
    DeclareReference(e, shell, call, target);
    return;
  }
  if (options.Lacks('n')) {
    if (Variable* variable = shell.variables.Find(base))
      variable->reference = false;
  }
  // Attributes go to what a reference stands for.
  std::string resolved = base;
  for (int i = 0; i < 8; ++i) {
    const auto it = shell.variables.find(resolved);
    if (it == shell.variables.end() || !it->second.reference) break;
    resolved = Known(it->second.scalar).value_or("");
  }
  if (!IsIdentifier(resolved)) {
    e.NoteAt(UnknownCode::kUnmodelled, call.span, "name reference");
    return;
  }
  if (!shell.variables.contains(resolved)) {
    Variable fresh;
    // What an inherited variable holds is not known.
    if (!target.has_value && !options.local) {
      fresh.scalar = e.UnknownValue(call.span);
      fresh.maybe_unset = true;
      fresh.tainted = true;
      fresh.inherited = true;
    }
    shell.variables.emplace(resolved, std::move(fresh));
  }
  {
    Variable& variable = shell.variables[resolved];
    if ((variable.readonly && target.has_value) ||
        !ApplyFlags(variable, options)) {
      shell.status = 1;
      return;
    }
    if (options.unexport) variable.exported = false;
    // Undocumented: the first letter becomes a capital.
    if (options.Has('c'))
      e.NoteAt(UnknownCode::kUnmodelled, call.span, "declare -c");
  }
  static const Script kEmpty;
  Expander x{shell, call.script != nullptr ? *call.script : kEmpty, e};
  if (target.has_value) {
    if (AssignList(e, shell, call, target, options)) {
      // done
    } else if (target.declared != nullptr) {
      AssignValue(x, *target.declared->assignment, target.value);
    } else {
      SetVariable(x, target.name, target.value, target.append);
    }
    auto it = shell.variables.find(resolved);
    if (it != shell.variables.end() &&
        (it->second.exported || options.name == "export")) {
      if (e.exports_.size() < kMaxMaybeWrittenPaths) e.exports_.insert(base);
      e.CheckEnvironment(shell, base, Values(it->second.scalar), call.span);
    }
  }
  if (options.name == "readonly" || options.Has('r')) {
    if (Variable* variable = shell.variables.Find(resolved))
      variable->readonly = true;
  }
}

// Declares it where the variable is: in the function, or outside of it.
void DeclareInScope(Evaluator& e, Shell& shell, const Call& call,
                    const Options& options, const Target& target) {
  if (options.local) {
    const Scope scope = ScopeOf(e);
    if (scope != Scope::kGlobal && !MakeLocal(e, shell, target.base)) {
      shell.status = 1;
      return;
    }
    DeclareOne(e, shell, call, options, target);
    return;
  }
  if (options.global) {
    if (std::optional<Variable>* global = Global(e, target.base)) {
      if (ScopeOf(e) == Scope::kUnclear) {
        e.NoteAt(UnknownCode::kUnmodelled, call.span, "declare -g");
        return;
      }
      Variable here = shell.variables[target.base];
      if (*global) {
        shell.variables[target.base] = std::move(**global);
      } else {
        shell.variables.erase(target.base);
      }
      DeclareOne(e, shell, call, options, target);
      *Global(e, target.base) = shell.variables[target.base];
      shell.variables[target.base] = std::move(here);
      return;
    }
  }
  DeclareOne(e, shell, call, options, target);
}

// A word that is no assignment in the source: `name`, "name=value".
bool ReadTarget(Evaluator& e, const Call& call, const Options& options,
                Shell& shell, Target* target) {
  const Field& field = *target->field;
  const std::string text = field.value.Prefix();
  const size_t equals = text.find('=');
  target->has_value = equals != std::string::npos;
  target->name = text.substr(0, equals);
  if (target->has_value && target->name.ends_with('+')) {
    target->append = true;
    target->name.pop_back();
  }
  if (!field.value.known() && !target->has_value) {
    // The name itself is not known; with a value it could be any variable.
    e.NoteAt(UnknownCode::kUnmodelled, call.span, options.name);
    return false;
  }
  if (field.splits) {
    e.NoteAt(UnknownCode::kUnmodelled, call.span, options.name);
  }
  const size_t open = target->name.find('[');
  target->base = target->name.substr(0, open);
  if (!options.functions &&
      (!IsIdentifier(target->base) ||
       (open != std::string::npos && !target->name.ends_with(']')))) {
    shell.status = 1;  // not a valid identifier
    return false;
  }
  if (target->has_value) {
    Value value = field.value;
    value.chunks[0].text.erase(0, equals + 1);
    if (value.chunks[0].text.empty()) value.chunks.erase(value.chunks.begin());
    target->value = {std::move(value)};
  }
  return true;
}

}  // namespace

void DeclareArray(Evaluator& e, Shell& shell, const Script& script,
                  const Fields& before, const Assignment& assignment,
                  Span span) {
  Options options = ParseOptions(before);
  // The other attributes come when the builtin itself runs.
  std::erase_if(options.on, [](char c) {
    return std::string_view("aAgilu").find(c) == std::string_view::npos;
  });
  Call call;
  call.span = span;
  call.script = &script;
  Target target;
  target.name = target.base = assignment.name;
  Expander x{shell, script, e};
  if (options.local && ScopeOf(e) != Scope::kGlobal &&
      !MakeLocal(e, shell, target.base))
    return;
  if (options.global && Global(e, target.base) != nullptr)
    e.NoteAt(UnknownCode::kUnmodelled, span, "declare -g");
  if (!shell.variables.contains(target.base) && !assignment.append)
    shell.variables.emplace(target.base, Variable{});
  if (Variable* variable = shell.variables.Find(target.base)) {
    if (!variable->reference && !ApplyFlags(*variable, options)) return;
  }
  Assign(x, assignment);
}

void Declare(Evaluator& e, Shell& shell, Call& call) {
  const Options options = ParseOptions(call.fields);
  if (options.first < call.fields.size() &&
      !Known(call.fields[options.first])) {
    e.NoteAt(UnknownCode::kDynamicArgument, call.span, options.name);
  }
  if (options.prints || options.first >= call.fields.size()) {
    if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
  }
  shell.status = 0;
  std::optional<Shell> outside;
  if (options.name == "local") {
    const Scope scope = ScopeOf(e);
    if (scope == Scope::kGlobal) {
      shell.status = 1;
      return;
    }
    if (scope == Scope::kUnclear) {
      outside = shell;
      outside->status = 1;
    }
  }
  for (size_t i = options.first; i < call.fields.size(); ++i) {
    Target target;
    target.field = &call.fields[i];
    for (const Declared& declared : call.declared) {
      if (declared.span == target.field->span) target.declared = &declared;
    }
    if (target.declared != nullptr) {
      const Assignment& assignment = *target.declared->assignment;
      target.name = target.base = assignment.name;
      // Elements were assigned when the words were expanded.
      target.has_value = !assignment.is_array;
      target.append = assignment.append;
      target.value = target.declared->value;
    } else if (!ReadTarget(e, call, options, shell, &target)) {
      continue;
    }
    if (options.name == "export" || options.name == "readonly") {
      const bool element = target.declared != nullptr
                               ? target.declared->assignment->subscript != kNone
                               : target.name.find('[') != std::string::npos;
      if (element) {
        shell.status = 1;  // not a valid identifier
        continue;
      }
    }
    if (options.functions) {
      if (options.Has('x')) shell.exported_functions.insert(target.name);
      if (options.unexport) shell.exported_functions.erase(target.name);
      continue;
    }
    DeclareInScope(e, shell, call, options, target);
  }
  if (outside) JoinInto(shell, *outside);
}

}  // namespace gate::parser::builtins
