// Loops: followed round by round while it is known that they go on, then to a
// state that no further round changes.
#include "parser/eval/evaluate.h"

namespace gate::parser {

template <typename Head, typename Body, typename Step>
void Evaluator::Loop(Shell& shell, Head head, Body body, Step step) {
  Scoped<bool> certain(certain_, certain_);
  size_t index = frames_.size();
  frames_.push_back({});
  frames_.back().kind = Frame::Kind::kLoop;
  frames_.back().depth = process_depth_;
  if (shell.exited) {
    head(shell);
    body(shell);
    frames_.pop_back();
    return;
  }
  std::optional<Shell> out;
  bool ran = false;
  int joined = 0;
  // What the loop itself sends to the background counts.
  Scoped<int> async(async_depth_, 0);
  const bool sure = certain_;
  const uint32_t background = background_runs_, waited = waited_runs_;
  // A loop that never ends and waits for nothing that it starts fills the
  // machine with processes.
  const auto note_endless = [&](std::optional<bool> go) {
    if (go != true || frames_[index].left || shell.exited ||
        background_runs_ == background || waited_runs_ != waited)
      return;
    Effect effect;
    effect.kind = EffectKind::kSystem;
    effect.certain = sure;
    effect.path.known = true;
    effect.path.text = "spawn-loop";
    effect.invocation = last_invocation_;
    AddEffect(std::move(effect));
  };
  for (int round = 0; !exhausted_; ++round) {
    if (!Spend(1 + 2 * CopyCost(shell))) break;
    Shell before = shell;
    std::optional<bool> go = head(shell);
    if (!go || !*go || shell.exited) {
      if (!shell.exited) MergeInto(out, shell);
      if (shell.exited || go) {
        if (!ran) {
          Shell dead = shell;
          dead.exited = true;
          certain_ = false;
          body(dead);
        }
        break;
      }
      certain_ = false;
    }
    body(shell);
    ran = true;
    Frame& frame = frames_[index];
    if (frame.continued) {
      shell = JoinShells(shell, *frame.continued);
      frame.continued.reset();
    }
    if (frame.left) certain_ = false;
    if (shell.exited) break;
    step(shell);
    if (SameShell(before, shell)) {  // nothing new can come
      note_endless(go);
      break;
    }
    if (go && round < kMaxRounds) continue;
    certain_ = false;
    shell = JoinShells(before, shell);
    ++joined;
    if (joined >= kWidenAfter) Widen(before, &shell);
    if (SameShell(before, shell)) {
      note_endless(go);
      MergeInto(out, shell);
      break;
    }
    if (joined >= kWidenAfter + 6) {
      // The commands of its body are seen, and only what they are told on later
      // turns is not: the sandbox holds that, and nothing is cut off.
      NoteAt(UnknownCode::kUnmodelled,
             Span{0, static_cast<uint32_t>(source_.size())},
             "a loop that does not settle");
      MergeInto(out, shell);
      break;
    }
  }
  if (frames_[index].left) MergeInto(out, *frames_[index].left);
  frames_.pop_back();
  if (out) {
    shell = std::move(*out);
  } else {
    shell.exited = true;
  }
}

void Evaluator::ExecuteWhile(Shell& shell, const Script& script,
                             const Node& node) {
  if (node.children.size() < 2) return;
  bool until = node.kind == NodeKind::kUntil;
  Loop(
      shell,
      [&](Shell& state) -> std::optional<bool> {
        Execute(state, script, node.children[0]);
        if (!state.status) return std::nullopt;
        return (*state.status == 0) != until;
      },
      [&](Shell& state) { Execute(state, script, node.children[1]); },
      [](Shell&) {});
  shell.status.reset();
}

void Evaluator::ExecuteFor(Shell& shell, const Script& script,
                           const Node& node) {
  NodeId body = node.children.empty() ? kNone : node.children[0];
  std::vector<Fields> alternatives;
  Expander x{shell, script, *this};
  if (node.has_in) {
    if (node.words.empty()) {
      alternatives = {{}};
    } else {
      alternatives = ExpandWords(x, node.words);
    }
  } else {
    Fields fields;
    for (const Values& value : shell.positional) {
      Field field;
      field.value =
          value.size() == 1
              ? value[0]
              : Value::Unknown(UnknownCode::kDynamicArgument, node.span);
      field.span = node.span;
      fields.push_back(std::move(field));
    }
    if (shell.positional_unknown) {
      Field field;
      field.value = Value::Unknown(UnknownCode::kDynamicArgument, node.span);
      field.splits = true;
      fields.push_back(std::move(field));
    }
    alternatives.push_back(std::move(fields));
  }
  std::optional<Shell> out;
  bool several = alternatives.size() > 1;
  Scoped<bool> certain(certain_, certain_ && !several);
  for (const Fields& fields : alternatives) {
    if (exhausted_) break;
    Shell copy = shell;
    Spend(CopyCost(copy));
    // A short list of known words is gone through word by word; of any other
    // the rounds have values that are one of many.
    bool open = fields.size() > static_cast<size_t>(kMaxRounds);
    Values any;
    bool all_known = fields.size() <= kMaxAlternatives;
    for (const Field& field : fields) {
      bool glob = field.glob && !copy.noglob;
      if (field.splits || glob) open = true;
      Value value = glob && field.value.known()
                        ? PatternValue(field.pattern.empty()
                                           ? field.value.text()
                                           : std::string_view(field.pattern),
                                       field.span)
                        : field.value;
      if (all_known) {
        any = any.empty() ? Values{value} : Union(any, {value});
      }
    }
    if (!all_known || any.empty()) any = UnknownValue(node.span);
    if (open) {
      bool digits = true;
      for (const Field& field : fields) {
        std::string_view text = field.value.known() ? field.value.text() : "?";
        digits = digits && !text.empty() && !field.splits && !field.glob &&
                 text.find_first_not_of("0123456789") == std::string_view::npos;
      }
      if (digits && !all_known) {
        any = {Value::Unknown(UnknownCode::kDynamicArgument, node.span, true)};
      }
      Loop(
          copy,
          [&](Shell& state) -> std::optional<bool> {
            Expander here{state, script, *this};
            SetVariable(here, node.name, any);
            return std::nullopt;
          },
          [&](Shell& state) { Execute(state, script, body); }, [](Shell&) {});
    } else {
      size_t next = 0;
      Loop(
          copy,
          [&](Shell& state) -> std::optional<bool> {
            if (next >= fields.size()) {
              if (next == 0) {
                // Never runs; its commands are listed with a value that is
                // not known.
                Expander here{state, script, *this};
                Shell keep = state;
                SetVariable(here, node.name, UnknownValue(node.span));
                (void)keep;
              }
              return false;
            }
            Expander here{state, script, *this};
            SetVariable(here, node.name, {fields[next].value});
            ++next;
            // So that two equal words are not taken for a settled loop.
            state.loop_continue = static_cast<int>(next);
            return true;
          },
          [&](Shell& state) { Execute(state, script, body); }, [](Shell&) {});
      copy.loop_continue = shell.loop_continue;
    }
    MergeInto(out, copy);
  }
  if (out) shell = std::move(*out);
  shell.status.reset();
}

void Evaluator::ExecuteSelect(Shell& shell, const Script& script,
                              const Node& node) {
  NodeId body = node.children.empty() ? kNone : node.children[0];
  Values any = {Value::Of("")};
  Expander x{shell, script, *this};
  if (node.has_in && !node.words.empty()) {
    for (const Fields& fields : ExpandWords(x, node.words)) {
      for (const Field& field : fields) {
        any = Union(any, field.glob
                             ? Values{PatternValue(field.pattern, field.span)}
                             : Values{field.value});
      }
    }
  } else {
    for (const Values& value : shell.positional) any = Union(any, value);
    if (shell.positional_unknown) any = Union(any, UnknownValue(node.span));
  }
  Loop(
      shell,
      [&](Shell& state) -> std::optional<bool> {
        Expander here{state, script, *this};
        SetVariable(here, node.name, any);
        SetVariable(here, "REPLY", UnknownValue(node.span));
        return std::nullopt;
      },
      [&](Shell& state) { Execute(state, script, body); }, [](Shell&) {});
  shell.status.reset();
}

void Evaluator::ExecuteArithmeticFor(Shell& shell, const Script& script,
                                     const Node& node) {
  NodeId body = node.children.empty() ? kNone : node.children[0];
  auto compute = [&](Shell& state, size_t i) -> std::optional<int64_t> {
    if (i >= node.words.size() || node.words[i] == kNone) return 1;
    Expander x{state, script, *this};
    Values text = ExpandQuoted(x, node.words[i]);
    std::optional<int64_t> result;
    for (const Value& value : text) {
      if (value.known() &&
          value.text().find_first_not_of(" \t\n") == std::string_view::npos) {
        result = 1;
        continue;
      }
      result = EvaluateArithmetic(x, value, node.span);
    }
    if (text.size() != 1) result.reset();
    return result;
  };
  compute(shell, 0);
  Loop(
      shell,
      [&](Shell& state) -> std::optional<bool> {
        std::optional<int64_t> go = compute(state, 1);
        if (!go) return std::nullopt;
        return *go != 0;
      },
      [&](Shell& state) { Execute(state, script, body); },
      [&](Shell& state) { compute(state, 2); });
  shell.status.reset();
}

}  // namespace gate::parser
