// Builtins that set variables.
#include <algorithm>

#include "parser/builtins.h"

namespace gate::parser::builtins {
namespace {

// Remembers `name` as it was before the running function made it local.
void MakeLocal(Evaluator& e, Shell& shell, const std::string& name) {
  for (size_t i = e.frames_.size(); i-- > 0;) {
    Frame& frame = e.frames_[i];
    if (frame.kind == Frame::Kind::kProcess) return;  // gone with the process
    if (frame.kind != Frame::Kind::kFunction) continue;
    for (const auto& [saved, variable] : frame.saved) {
      if (saved == name) return;
    }
    auto it = shell.variables.find(name);
    frame.saved.emplace_back(name, it == shell.variables.end()
                                       ? std::optional<Variable>()
                                       : std::optional<Variable>(it->second));
    Variable fresh;
    if (it != shell.variables.end()) fresh.exported = it->second.exported;
    shell.variables[name] = std::move(fresh);
    return;
  }
}

struct Flags {
  std::string on, off;
  bool Has(char c) const { return on.find(c) != std::string::npos; }
  bool Lacks(char c) const { return off.find(c) != std::string::npos; }
};

void ApplyFlags(Variable& variable, const Flags& flags) {
  if (flags.Has('a')) variable.shape = Variable::Shape::kIndexed;
  if (flags.Has('A')) variable.shape = Variable::Shape::kAssociative;
  if (flags.Has('i')) variable.integer = true;
  if (flags.Lacks('i')) variable.integer = false;
  if (flags.Has('l')) variable.lower = true, variable.upper = false;
  if (flags.Lacks('l')) variable.lower = false;
  if (flags.Has('u')) variable.upper = true, variable.lower = false;
  if (flags.Lacks('u')) variable.upper = false;
  if (flags.Has('x')) variable.exported = true;
  if (flags.Lacks('x')) variable.exported = false;
  if (flags.Lacks('n')) variable.reference = false;
}

std::string BaseOf(const std::string& name) {
  return name.substr(0, name.find('['));
}

}  // namespace

void Declare(Evaluator& e, Shell& shell, Call& call) {
  std::string name = Known(call.fields[0]).value_or("declare");
  Flags flags;
  if (name == "export") flags.on += 'x';
  bool functions = false, prints = call.fields.size() == 1, global = false;
  bool unexport = false;
  size_t i = 1;
  for (; i < call.fields.size(); ++i) {
    std::optional<std::string> word = Known(call.fields[i]);
    if (!word || word->size() < 2 || ((*word)[0] != '-' && (*word)[0] != '+')) {
      if (!word) {
        e.NoteAt(UnknownCode::kDynamicArgument, call.span, name);
      }
      break;
    }
    if (*word == "--") {
      ++i;
      break;
    }
    std::string& side = (*word)[0] == '-' ? flags.on : flags.off;
    side += word->substr(1);
    functions = functions || word->find_first_of("fF") != std::string::npos;
    prints = prints || word->find('p') != std::string::npos;
    global = global || word->find('g') != std::string::npos;
  }
  if (name == "export" && flags.on.find('n', 1) != std::string::npos) {
    unexport = true;
    flags.on.clear();
  }
  bool local =
      name == "local" || ((name == "declare" || name == "typeset") && !global);
  if (prints || i >= call.fields.size()) {
    if (e.Captured(shell, 1)) e.Write(shell, 1, e.Hole(call.span));
  }
  shell.status = 0;
  // Names in the order they stand; assignments come from the tree.
  for (; i < call.fields.size(); ++i) {
    const Field& field = call.fields[i];
    const Assignment* assignment = nullptr;
    if (call.node != nullptr && call.script != nullptr) {
      for (size_t w = 0; w < call.node->words.size(); ++w) {
        if (w < call.node->declared.size() && call.node->declared[w] != kNone &&
            call.script->ast.words[call.node->words[w]].span == field.span) {
          assignment = &call.node->declarations[call.node->declared[w]];
        }
      }
    }
    std::string text = field.value.Prefix();
    size_t equals = text.find('=');
    bool has_value = assignment != nullptr || equals != std::string::npos;
    bool append = false;
    std::string variable_name =
        assignment != nullptr ? assignment->name : text.substr(0, equals);
    if (assignment == nullptr && has_value && equals > 0 &&
        text[equals - 1] == '+') {
      append = true;
      variable_name.pop_back();
    }
    if (!field.value.known() && equals == std::string::npos &&
        assignment == nullptr) {
      // The name itself is not known; with a value it could be any variable.
      e.NoteAt(UnknownCode::kUnmodelled, call.span, name);
      continue;
    }
    if (field.splits && assignment == nullptr) {
      e.NoteAt(UnknownCode::kUnmodelled, call.span, name);
    }
    if (functions) {
      if (flags.Has('x')) {
        if (unexport) {
          shell.exported_functions.erase(variable_name);
        } else {
          shell.exported_functions.insert(variable_name);
        }
      }
      continue;
    }
    std::string base = BaseOf(variable_name);
    if (base.empty()) continue;
    if (local) MakeLocal(e, shell, base);
    if (flags.Has('n') && call.script != nullptr) {
      Values target = {Value::Of("")};
      Expander x{shell, *call.script, e};
      if (assignment != nullptr && assignment->value != kNone) {
        target = ExpandToValue(x, assignment->value);
      } else if (has_value) {
        Value value = field.value;
        value.chunks[0].text.erase(0, equals + 1);
        if (value.chunks[0].text.empty()) {
          value.chunks.erase(value.chunks.begin());
        }
        target = {value};
      }
      Variable& variable = shell.variables[base];
      variable.shape = Variable::Shape::kScalar;
      variable.reference = true;
      variable.scalar = target;
      if (AnyHole(target)) {
        e.NoteAt(UnknownCode::kUnmodelled, call.span, "name reference");
      }
      continue;
    }
    auto it = shell.variables.find(base);
    if (it == shell.variables.end()) {
      Variable fresh;
      // What an inherited variable holds is not known.
      if (!has_value && !local) {
        fresh.scalar = e.Hole(call.span);
        fresh.maybe_unset = true;
        fresh.tainted = true;
      }
      it = shell.variables.emplace(base, std::move(fresh)).first;
    }
    ApplyFlags(it->second, flags);
    if (unexport) it->second.exported = false;
    if (has_value && call.script != nullptr) {
      Expander x{shell, *call.script, e};
      if (assignment != nullptr) {
        Assign(x, *assignment);
      } else {
        Value value = field.value;
        value.chunks[0].text.erase(0, equals + 1);
        if (value.chunks[0].text.empty()) {
          value.chunks.erase(value.chunks.begin());
        }
        SetVariable(x, variable_name, {value}, append);
      }
      it = shell.variables.find(base);
      if (it != shell.variables.end()) {
        if (it->second.exported || name == "export") {
          if (e.exports_.size() < kMaxScribbles) e.exports_.insert(base);
          e.CheckEnvironment(shell, base, it->second.scalar, call.span);
        }
      }
    }
    it = shell.variables.find(base);
    if (it != shell.variables.end() && (name == "readonly" || flags.Has('r'))) {
      it->second.readonly = true;
    }
  }
}

void Unset(Evaluator& e, Shell& shell, Call& call) {
  shell.status.reset();
  bool functions = false, variables = false;
  for (size_t i = 1; i < call.fields.size(); ++i) {
    std::optional<std::string> word = Known(call.fields[i]);
    if (!word) {
      e.NoteAt(UnknownCode::kDynamicArgument, call.span, "unset");
      continue;
    }
    if (word->starts_with("-")) {
      functions = functions || *word == "-f";
      variables = variables || *word == "-v" || *word == "-n";
      continue;
    }
    if (functions) {
      shell.functions.erase(*word);
      continue;
    }
    bool known = shell.variables.contains(BaseOf(*word));
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
