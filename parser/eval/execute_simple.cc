// Simple commands and functions.
#include <fnmatch.h>

#include <algorithm>

#include "parser/eval/builtins/builtins.h"

namespace gate::parser {
namespace {

bool IsDeclaration(std::string_view name) {
  return name == "declare" || name == "typeset" || name == "local" ||
         name == "export" || name == "readonly";
}

// Builtins that leave the shell as it is, apart from the status.
bool ChangesNothing(std::string_view name) {
  return name == "echo" || name == "test" || name == "[" || name == ":" ||
         name == "true" || name == "false" || name == "kill" ||
         name == "type" || name == "pwd" || name == "jobs" || name == "exec";
}

// Builtins of bash that change the shell's state and that dash does not have.
bool IsBashOnly(std::string_view name) {
  return name == "declare" || name == "typeset" || name == "let" ||
         name == "mapfile" || name == "readarray" || name == "shopt" ||
         name == "pushd" || name == "popd" || name == "source";
}

// Commands that only change the shell's state; see Analysis::state_only.
bool IsStateBuiltin(std::string_view name) {
  return name == "cd" || name == "export" || name == "unset" ||
         name == "umask" || name == "set" || name == "." || name == "source";
}

// `set`, `export` and `export -p` print all variables, the secret ones as well.
bool PrintsVariables(const Fields& fields) {
  const std::string_view name = fields[0].value.text();
  if (name == "set") return fields.size() == 1;
  if (name != "export") return false;
  for (size_t i = 1; i < fields.size(); ++i) {
    if (!fields[i].value.text().starts_with("-")) return false;
  }
  return true;
}

// An opening bracket that nothing closes makes no pattern: `[` is a command.
bool IsPattern(const Field& field) {
  if (!field.value.known()) return true;
  std::string_view text = field.value.text();
  if (text.find_first_of("*?(") != std::string_view::npos) return true;
  size_t open = text.find('[');
  return open != std::string_view::npos &&
         text.find(']', open + 1) != std::string_view::npos;
}

// Whether the pattern `field`, the word at `at`, may find a name by which the
// builtin sets a variable, changes the shell or runs something. Of the others
// the names of files are data.
bool MayActByName(const Fields& fields, size_t at) {
  const std::string_view name = fields[0].value.text();
  if (name == "printf")  // `-v`, its name and the format
    return at == 1 || (at <= 3 && fields[1].value.text().starts_with("-"));
  if (name == "test" || name == "[") {
    // Only these look at a subscript, which is evaluated.
    for (const std::string_view operation : {"-v", "-R"}) {
      const std::string& pattern = fields[at].pattern;
      if (pattern.empty() || pattern.find('(') != std::string::npos ||
          ::fnmatch(pattern.c_str(), operation.data(), 0) == 0)
        return true;
      for (const Field& field : fields)
        if (field.value.known() && field.value.text() == operation) return true;
    }
    return false;
  }
  // These take patterns for what they are, or do nothing by a name.
  for (const std::string_view other :
       {"echo", ":", "true", "false", "type", "pwd", "cd", "pushd", "set",
        "source", ".", "exec", "eval", "command", "builtin", "exit", "return"})
    if (name == other) return false;
  return true;
}

// Makes such patterns words that are not known.
void ForgetNames(Call& call) {
  for (size_t i = 1; i < call.fields.size(); ++i) {
    Field& field = call.fields[i];
    const bool declared = std::any_of(
        call.declared.begin(), call.declared.end(),
        [&](const Declared& each) { return each.span == field.span; });
    if (!field.glob || declared || !MayActByName(call.fields, i)) continue;
    if (field.value.known())
      field.value = PatternValue(
          field.pattern.empty() ? field.value.text() : field.pattern,
          field.span);
    field.glob = false;
    field.splits = true;
  }
}

// The word that an assignment is, as the command sees it.
Field AssignmentField(const Assignment& assignment, const Values& values,
                      Span span) {
  Field field;
  field.span = span;
  field.value = Value::Of(assignment.name + (assignment.append ? "+=" : "="));
  if (!assignment.is_array && assignment.subscript == kNone &&
      values.size() == 1) {
    field.value.Append(values.front());
  } else {
    field.value.Append(
        Value::Unknown(UnknownCode::kDynamicArgument, assignment.span));
  }
  return field;
}

}  // namespace

void Evaluator::ExecuteSimple(Shell& shell, const Script& script,
                              const Node& node) {
  Span span = Map(script, node.span);
  ForgetDirections(shell);
  if (shell.traps.contains("DEBUG")) RunTrap(shell, "DEBUG", true);
  Expander x{shell, script, *this};
  if (shell.xtrace && !in_prompt_ && shell.variables.contains("PS4")) {
    Scoped<bool> once(in_prompt_, true);
    std::optional<int> status = shell.status;
    for (const Value& value : Values(GetVariable(x, "PS4"))) {
      ScopedVia via(*this, {ViaKind::kVariable, "PS4"}, span);
      if (value.known()) {
        ExpandPrompt(x, value, span);
      } else {
        NoteAt(UnknownCode::kDynamicCode, span, "PS4");
      }
    }
    shell.status = status;
  }
  size_t mark = pending_.size();
  std::map<int, Descriptor> fds = shell.fds;
  keep_fds_ = false;

  auto assign_only = [&](Shell& target) {
    state_only_ = false;
    Expander here{target, script, *this};
    // The values see the status as it was; a substitution in them sets it.
    const size_t before = substitutions_;
    const bool known_before = target.status.has_value();
    for (const Assignment& assignment : node.assignments) {
      std::optional<Shell> other;
      if (target.posix && assignment.append) {
        // dash takes it for a command.
        RecordForeign(
            target,
            script.source.substr(assignment.span.begin, assignment.span.size()),
            span);
        other = target;
      }
      Assign(here, assignment);
      if (other) JoinInto(target, *other);
      auto it = target.variables.find(assignment.name);
      if (it != target.variables.end() && !assignment.is_array) {
        CheckEnvironment(target, assignment.name, Values(it->second.scalar),
                         span);
      }
    }
    const bool error = known_before && !target.status;
    if (!node.redirects.empty() || error) {
      target.status.reset();
    } else if (substitutions_ == before) {
      target.status = 0;
    }
  };

  std::vector<Fields> alternatives;
  std::vector<Declared> declared;
  if (node.words.empty()) {
    if (!node.redirects.empty()) {
      state_only_ = false;
      Redirect(shell, script, node.redirects);
    }
    assign_only(shell);
  } else {
    if (node.declarations.empty()) {
      alternatives = ExpandWords(x, node.words);
    } else {
      alternatives = {{}};
      for (size_t i = 0; i < node.words.size(); ++i) {
        bool declares = i < node.declared.size() && node.declared[i] != kNone;
        // `declare x={a,b}` is x=a x=b.
        bool braces = declares &&
                      !node.declarations[node.declared[i]].is_array &&
                      BracesExpand(x, node.words[i]);
        if (declares && !braces) {
          const Assignment& assignment = node.declarations[node.declared[i]];
          Declared one;
          one.span = script.ast.words[node.words[i]].span;
          one.assignment = &assignment;
          if (assignment.is_array) {
            builtins::DeclareArray(*this, shell, script, alternatives[0],
                                   assignment, span);
          } else {
            one.value = AssignedValue(x, assignment);
          }
          for (Fields& fields : alternatives) {
            fields.push_back(AssignmentField(assignment, one.value, one.span));
          }
          declared.push_back(std::move(one));
          continue;
        }
        std::vector<Fields> more = ExpandWords(x, {node.words[i]});
        if (more.size() * alternatives.size() > kMaxAlternatives) {
          NoteAt(UnknownCode::kUnmodelled, span, "a declaration");
          more.resize(1);
        }
        std::vector<Fields> lines;
        for (const Fields& fields : alternatives) {
          for (const Fields& tail : more) {
            lines.push_back(fields);
            for (Field field : tail) {
              // Not the word of the assignment any more.
              if (braces) field.span.end = field.span.begin;
              lines.back().push_back(std::move(field));
            }
          }
        }
        alternatives = std::move(lines);
      }
    }
    const size_t first_effect = analysis_.effects.size();
    if (!node.redirects.empty()) {
      state_only_ = false;
      Redirect(shell, script, node.redirects);
    }
    const size_t last_effect = analysis_.effects.size();
    const size_t first_invocation = analysis_.invocations.size();
    std::optional<Shell> out;
    bool several = alternatives.size() > 1;
    Scoped<bool> certain(certain_, certain_ && !several);
    for (Fields& fields : alternatives) {
      if (exhausted_) break;
      for (Field& field : fields) {
        if (field.glob && !IsPattern(field)) field.glob = false;
      }
      std::optional<Shell> copy;
      if (several) {
        Spend(CopyCost(shell));
        copy = shell;
      }
      Shell& target = several ? *copy : shell;
      if (fields.empty()) {
        std::optional<int> status = target.status;
        assign_only(target);
        if (node.assignments.empty()) target.status = status;
      } else {
        Call call;
        call.fields = std::move(fields);
        call.span = span;
        call.script = &script;
        call.node = &node;
        call.declared = declared;
        // Where a redirection fails, a builtin or a function does not run.
        std::optional<Shell> before;
        if (!node.redirects.empty() && !target.exited) {
          const std::string name =
              Known(call.fields[0]).value_or(std::string());
          const bool here =
              target.functions.contains(name) ||
              (FindBuiltin(name) != nullptr && !ChangesNothing(name));
          if (here && RedirectMayFail(script, node.redirects) &&
              Spend(CopyCost(target)))
            before = target;
        }
        ExecuteWithAssignments(target, call);
        if (before) JoinFailed(target, std::move(*before));
      }
      if (several) MergeInto(out, target);
    }
    if (out) shell = std::move(*out);
    // What the redirections do belongs to the command that they stand at.
    if (first_invocation < analysis_.invocations.size()) {
      for (size_t i = first_effect; i < last_effect; ++i) {
        Effect& effect = analysis_.effects[i];
        if (effect.invocation == UINT32_MAX) {
          effect.invocation = static_cast<uint32_t>(first_invocation);
        }
      }
    }
  }
  if (!keep_fds_) shell.fds = std::move(fds);
  keep_fds_ = false;
  RunPendingProcesses(shell, mark);
  if (!shell.traps.empty()) RunPendingTraps(shell);
}

void Evaluator::ExecuteWithAssignments(Shell& shell, Call& call) {
  const Node& node = *call.node;
  if (state_only_) {
    std::optional<std::string> name = Known(call.fields[0]);
    bool constant = name && IsStateBuiltin(*name) && node.assignments.empty();
    for (const Field& field : call.fields) {
      constant = constant && field.value.known() && !field.splits;
    }
    if (!constant || PrintsVariables(call.fields)) state_only_ = false;
  }
  if (node.assignments.empty()) {
    ExecuteCall(shell, call);
    return;
  }
  std::vector<std::pair<std::string, std::optional<Variable>>> saved;
  std::vector<EnvironmentSetting> settings;
  Expander x{shell, *call.script, *this};
  for (const Assignment& assignment : node.assignments) {
    // Expanding the value may change the variable for good.
    Values value;
    if (!assignment.is_array) value = AssignedValue(x, assignment);
    auto it = shell.variables.find(assignment.name);
    saved.emplace_back(assignment.name,
                       it == shell.variables.end()
                           ? std::optional<Variable>()
                           : std::optional<Variable>(it->second));
    if (assignment.is_array) {
      Assign(x, assignment);
    } else {
      AssignValue(x, assignment, value);
    }
    it = shell.variables.find(assignment.name);
    EnvironmentSetting setting;
    setting.name = assignment.name;
    if (it != shell.variables.end() && !it->second.scalar.empty()) {
      shell.variables[assignment.name].exported = true;
      const Values exported = shell.variables.at(assignment.name).scalar;
      Field field;
      field.value = exported.front();
      field.span = assignment.span;
      setting.value = ToArgument(field, shell);
      CheckEnvironment(shell, assignment.name, exported, call.span);
    } else {
      setting.value.known = false;
    }
    settings.push_back(std::move(setting));
  }
  settings_ = std::move(settings);
  ExecuteCall(shell, call);
  settings_.clear();
  for (auto it = saved.rbegin(); it != saved.rend(); ++it) {
    if (it->second) {
      shell.variables[it->first] = std::move(*it->second);
    } else {
      shell.variables.erase(it->first);
    }
    if (it->first == "IFS") shell.ifs_unknown = false;
  }
}

void Evaluator::ExecuteCall(Shell& shell, Call& call) {
  Field& name = call.fields[0];
  if (!name.value.known() || name.splits || IsPlaceholder(name.value.text())) {
    uint32_t index = Record(shell, call.fields, call.span, false);
    NoteAt(UnknownCode::kDynamicCommand,
           call.script != nullptr ? Map(*call.script, name.span) : name.span,
           TextAt(call.script != nullptr ? Map(*call.script, name.span)
                                         : name.span));
    AddCodeFlows({name.value}, index, call.span);
    ProgramCall program;
    program.argv = call.fields;
    program.span = call.span;
    RunUnnamed(shell, program, index);
    return;
  }
  if (name.glob && !shell.noglob) {
    ResolveCommandGlob(shell, call);
    return;
  }
  ExecuteName(shell, call, true, true);
}

void Evaluator::ExecuteName(Shell& shell, Call& call, bool functions,
                            bool builtins) {
  std::string name(call.fields[0].value.text());
  if (functions && !shell.functions.empty()) {
    auto it = shell.functions.find(name);
    if (it != shell.functions.end()) {
      std::vector<Function> alternatives = it->second;
      state_only_ = false;
      bool several = alternatives.size() > 1;
      Scoped<bool> certain(certain_, certain_ && !several);
      std::optional<Shell> out;
      for (const Function& function : alternatives) {
        if (!Spend(several ? CopyCost(shell) : 1)) break;
        std::optional<Shell> copy;
        if (several) copy = shell;
        Shell& target = several ? *copy : shell;
        if (function.script == nullptr || function.body == kNone) {
          ExecuteName(target, call, false, builtins);
        } else {
          CallFunction(target, function, call);
        }
        if (several) MergeInto(out, target);
      }
      if (out) shell = std::move(*out);
      return;
    }
  }
  if (builtins) {
    if (Builtin builtin = FindBuiltin(name)) {
      if (state_only_ && !call.declared.empty() && IsDeclaration(name)) {
        for (const Field& field : call.fields) {
          if (!field.value.known()) state_only_ = false;
        }
      }
      if (!shell.noglob) ForgetNames(call);
      Record(shell, call.fields, call.span, true);
      std::optional<Shell> before;
      if (shell.posix && !shell.exited && IsBashOnly(name) &&
          Spend(CopyCost(shell)))
        before = shell;
      builtin(*this, shell, call);
      if (before) JoinInto(shell, *before);
      return;
    }
  }
  state_only_ = false;
  if (name.empty()) {
    shell.status = 127;
    return;
  }
  ProgramCall program;
  program.argv = call.fields;
  program.span = call.span;
  RunProgram(shell, program);
  auto handler = shell.functions.find("command_not_found_handle");
  if (handler != shell.functions.end() && !in_trap_ &&
      name.find('/') == std::string::npos) {
    Scoped<bool> once(in_trap_, true);
    Scoped<bool> uncertain(certain_, false);
    Call handled = call;
    handled.node = nullptr;
    handled.fields.insert(
        handled.fields.begin(),
        KnownField("command_not_found_handle", call.fields[0].span));
    for (const Function& function : std::vector<Function>(handler->second)) {
      if (function.script == nullptr || function.body == kNone) continue;
      Shell child = Fork(shell);
      CallFunction(child, function, handled);
      Join(shell, std::move(child));
    }
  }
}

void Evaluator::CallFunction(Shell& shell, const Function& function,
                             const Call& call) {
  Record(shell, call.fields, call.span, true);
  std::vector<Values> positional;
  bool unknown = false;
  for (size_t i = 1; i < call.fields.size(); ++i) {
    const Field& field = call.fields[i];
    if (field.splits || (field.glob && !shell.noglob)) unknown = true;
    if (!field.value.known()) Holds("@", {field.value});
    positional.push_back(
        {field.glob && !shell.noglob && field.value.known()
             ? PatternValue(
                   field.pattern.empty() ? field.value.text() : field.pattern,
                   field.span)
             : field.value});
  }
  if (unknown) positional.clear();
  for (const Active& active : active_) {
    if (shell.exited && active.body == function.body &&
        active.script == function.script.get()) {
      return;  // listed already, and it does not run
    }
    if (active.script == function.script.get() &&
        active.body == function.body && active.positional == positional &&
        active.variables == shell.variables) {
      // The same call is running already from the same state: it can start
      // nothing new. When nothing stands in its way it never ends.
      if (certain_ && !shell.exited) {
        NoteAt(UnknownCode::kLimit, call.span, "endless recursion");
      }
      shell.status.reset();
      return;
    }
  }
  if (active_.size() >= static_cast<size_t>(kMaxCallDepth) ||
      !Spend(2 + CopyCost(shell))) {
    NoteAt(UnknownCode::kLimit, call.span, "function calls too deep");
    shell.status.reset();
    return;
  }
  active_.push_back(
      {function.script.get(), function.body, positional, shell.variables});
  std::vector<Values> old = std::move(shell.positional);
  bool old_unknown = shell.positional_unknown;
  const bool old_set = shell.positional_set;
  shell.positional = std::move(positional);
  shell.positional_unknown = unknown;
  frames_.push_back({});
  frames_.back().kind = Frame::Kind::kFunction;
  frames_.back().depth = process_depth_;
  {
    ScopedVia via(*this, {ViaKind::kFunction, call.fields[0].value.Prefix()},
                  call.span);
    const Script& script = *function.script;
    Scoped<const Script*> current(script_, &script);
    const Node& node = script.ast.nodes[function.body];
    if (node.kind == NodeKind::kFunction) {
      std::map<int, Descriptor> fds = shell.fds;
      size_t mark = pending_.size();
      if (!node.redirects.empty()) Redirect(shell, script, node.redirects);
      if (!node.children.empty()) Execute(shell, script, node.children[0]);
      shell.fds = std::move(fds);
      RunPendingProcesses(shell, mark);
    } else {
      Execute(shell, script, function.body);
    }
    if (frames_.back().left) {
      shell = JoinShells(shell, *frames_.back().left);
      frames_.back().left.reset();
    }
    if (shell.traps.contains("RETURN")) RunTrap(shell, "RETURN", false);
  }
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  for (auto it = frame.saved.rbegin(); it != frame.saved.rend(); ++it) {
    if (it->second) {
      shell.variables[it->first] = std::move(*it->second);
    } else {
      shell.variables.erase(it->first);
    }
  }
  shell.positional = std::move(old);
  shell.positional_unknown = old_unknown;
  shell.positional_set = old_set;
  active_.pop_back();
}

}  // namespace gate::parser
