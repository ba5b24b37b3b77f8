// Processes: subshells, substitutions, traps, and paths that leave.

#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxLateReaders = 16;

}  // namespace

Shell Evaluator::Fork(const Shell& shell) {
  Spend(CopyCost(shell));
  Shell child = shell;
  child.traps.erase("EXIT");
  ForgetDirections(child);
  Frame frame;
  frame.kind = Frame::Kind::kProcess;
  ++process_depth_;
  frame.depth = process_depth_;
  frames_.push_back(std::move(frame));
  return child;
}

void Evaluator::Join(Shell& parent, Shell&& child) {
  bool dead = child.exited;
  Frame& frame = frames_.back();
  if (frame.left) {
    child = dead ? std::move(*frame.left) : JoinShells(child, *frame.left);
  }
  child.exited = false;
  if (child.traps.contains("EXIT")) {
    RunExitTrap(child);
  }
  frames_.pop_back();
  --process_depth_;
  parent.status = child.status;
  // What processes share: files, and pipes that both hold.
  parent.files = std::move(child.files);
  parent.made = std::move(child.made);
  parent.streams = std::move(child.streams);
}

void Evaluator::RunExitTrap(Shell& shell) { RunTrap(shell, "EXIT", true); }

void Evaluator::RunTrap(Shell& shell, const std::string& name, bool certain) {
  auto it = shell.traps.find(name);
  if (it == shell.traps.end() || in_trap_ || exhausted_) return;
  Values code = it->second;
  if (name == "EXIT") shell.traps.erase(it);
  Scoped<bool> trap(in_trap_, true);
  TextOptions options;
  options.via = Via{ViaKind::kTrap, name};
  Span span{0, static_cast<uint32_t>(source_.size())};
  if (!code.empty() && !code[0].chunks.empty() && code[0].known()) {
    // Spans of the text are not kept with it; the whole line stands for it.
  }
  std::optional<int> status = shell.status;
  if (certain) {
    RunText(shell, code, span, options);
  } else {
    Shell copy = shell;
    Scoped<bool> uncertain(certain_, false);
    RunText(copy, code, span, options);
    shell = JoinShells(shell, copy);
  }
  ForgetDirections(shell);  // its status is not the trap's
  shell.status = status;
}

void Evaluator::RunPendingTraps(Shell& shell) {
  if (shell.traps.empty() || in_trap_) return;
  std::vector<std::string> names;
  for (const auto& [name, code] : shell.traps) {
    if (name != "EXIT" && name != "RETURN") names.push_back(name);
  }
  for (const std::string& name : names) {
    RunTrap(shell, name, name == "DEBUG");
  }
}

Values Evaluator::Substitute(State& state, const Script& script, NodeId body,
                             Span span) {
  Shell& shell = static_cast<Shell&>(state);
  state_only_ = false;
  ++substitutions_;
  if (body == kNone) {
    shell.status = 0;
    return {Value::Of("")};
  }
  if (!Spend(1)) return UnknownValue(Map(script, span));
  const bool backquotes =
      span.begin < script.source.size() && script.source[span.begin] == '`';
  ScopedVia via(*this,
                {backquotes ? ViaKind::kBackquotes : ViaKind::kSubstitution},
                Map(script, span));
  Shell child = Fork(shell);
  int stream = NewStream(child, {Value::Of("")});
  child.fds[1] = Descriptor{Descriptor::Kind::kStream, stream, ""};
  // $(<file) is the file's text.
  const Node* node = &script.ast.nodes[body];
  while (node->kind == NodeKind::kList && node->children.size() == 1) {
    node = &script.ast.nodes[node->children[0]];
  }
  bool reads_file =
      node->kind == NodeKind::kSimple && node->words.empty() &&
      node->assignments.empty() && node->redirects.size() == 1 &&
      script.ast.redirects[node->redirects[0]].kind == RedirectKind::kRead &&
      script.ast.redirects[node->redirects[0]].descriptor <= 0;
  Values text;
  if (reads_file) {
    Scoped<const Script*> current(script_, &script);
    Redirect(child, script, node->redirects);
    text = ReadRest(child, 0, Map(script, span));
    child.status.reset();
    Join(shell, std::move(child));
  } else {
    Execute(child, script, body);
    Join(shell, std::move(child));
    text = shell.streams[stream];
  }
  shell.streams.erase(stream);
  if (exhausted_) return UnknownValue(Map(script, span));
  for (Value& value : text) {
    for (Chunk& chunk : value.chunks) {
      if (!chunk.unknown && chunk.text.find('\0') != std::string::npos) {
        std::erase(chunk.text, '\0');  // bash drops them
      }
    }
  }
  return StripNewlines(std::move(text));
}

Value Evaluator::Process(State& state, const Script& script, NodeId body,
                         char direction, Span span) {
  Shell& shell = static_cast<Shell&>(state);
  state_only_ = false;
  std::string path =
      std::string(kProcessPath) + std::to_string(next_process_++);
  Span mapped = Map(script, span);
  if (!Spend(1)) return Value::Of(path);
  if (direction == '>') {
    shell.files[path] = {Value::Of("")};
    pending_.push_back({path, shell, &script, body, mapped});
    return Value::Of(path);
  }
  if (body == kNone) {
    shell.files[path] = {Value::Of("")};
    return Value::Of(path);
  }
  ScopedVia via(*this, {ViaKind::kProcessInput}, mapped);
  std::optional<int> status = shell.status;
  Shell child = Fork(shell);
  int stream = NewStream(child, {Value::Of("")});
  child.fds[1] = Descriptor{Descriptor::Kind::kStream, stream, ""};
  Execute(child, script, body);
  Join(shell, std::move(child));
  shell.files[path] = shell.streams[stream];
  shell.streams.erase(stream);
  shell.status = status;
  return Value::Of(path);
}

void Evaluator::RunPendingProcesses(Shell& shell, size_t mark) {
  while (pending_.size() > mark) {
    Pending pending = std::move(pending_.back());
    pending_.pop_back();
    if (pending.body == kNone || exhausted_) continue;
    Values text = {Value::Of("")};
    auto it = shell.files.find(pending.path);
    if (it != shell.files.end()) text = it->second;
    bool late = false;
    for (const auto& [fd, descriptor] : shell.fds) {
      // `exec 3> >(…)`: what follows may still write to it.
      if (descriptor.path != pending.path) continue;
      text = UnknownValue(pending.span);
      late = true;
    }
    if (late && late_.size() < kMaxLateReaders) late_.push_back(pending);
    ScopedVia via(*this, {ViaKind::kProcessOutput}, pending.span);
    Scoped<const Script*> current(script_, pending.script);
    std::optional<int> status = shell.status;
    pending.shell.files = shell.files;
    pending.shell.made = shell.made;
    pending.shell.streams = shell.streams;
    pending.shell.exited = shell.exited;
    Shell child = Fork(pending.shell);
    int stream = NewStream(child, std::move(text));
    child.fds[0] = Descriptor{Descriptor::Kind::kStream, stream, ""};
    Execute(child, *pending.script, pending.body);
    Join(shell, std::move(child));
    shell.streams.erase(stream);
    shell.status = status;
  }
}

void Evaluator::RunLateReaders(Shell& shell) {
  Scoped<bool> uncertain(certain_, false);
  const std::vector<Pending> late = std::move(late_);
  late_.clear();
  for (const Pending& reader : late) {
    const auto file = shell.files.find(reader.path);
    if (exhausted_ || file == shell.files.end() || reader.body == kNone) break;
    // Nothing was written.
    if (file->second.size() == 1 && file->second[0].chunks.empty()) continue;
    if (!Spend(CopyCost(reader.shell))) break;
    ScopedVia via(*this, {ViaKind::kProcessOutput}, reader.span);
    Scoped<const Script*> current(script_, reader.script);
    Shell child = reader.shell;
    child.files = shell.files;
    child.streams = shell.streams;
    const int stream = NewStream(child, Values(file->second));
    child.fds[0] = Descriptor{Descriptor::Kind::kStream, stream, ""};
    Shell inner = Fork(child);
    Execute(inner, *reader.script, reader.body);
    Join(child, std::move(inner));
  }
  // Whether a shell reads from a named pipe was not known when it started.
  if (!analysis_.hides_commands) return;
  for (const std::string& path : pipes_) {
    const auto file = shell.files.find(path);
    if (exhausted_ || file == shell.files.end()) continue;
    Values known = file->second;
    std::erase_if(known, [](const Value& value) { return !value.known(); });
    if (known.empty() || !Spend(CopyCost(shell))) continue;
    Shell child = shell;
    ShellCode how;
    how.via = {ViaKind::kProgram, path};
    how.words = {{Value::Of(how.language)}};
    const Span whole{0, static_cast<uint32_t>(source_.size())};
    RunShellCode(child, known, how, whole);
  }
}

void Evaluator::Leave(Shell& shell, size_t frame, bool continued) {
  if (!shell.exited) {
    Frame& target = frames_[frame];
    MergeInto(continued ? target.continued : target.left, shell);
    Spend(CopyCost(shell));
  }
  shell.exited = true;
}

void Evaluator::Fail(State& state) {
  auto& shell = static_cast<Shell&>(state);
  if (shell.exited || exhausted_) return;
  Shell left = shell;
  Spend(CopyCost(shell));
  left.status = 1;
  for (size_t i = frames_.size(); i-- > 0;) {
    Frame& frame = frames_[i];
    switch (frame.kind) {
      case Frame::Kind::kLoop:
      case Frame::Kind::kSource:
        break;
      case Frame::Kind::kFunction:
        // Its parameters and locals go away with it.
        for (auto it = frame.saved.rbegin(); it != frame.saved.rend(); ++it) {
          if (it->second) {
            left.variables[it->first] = *it->second;
          } else {
            left.variables.erase(it->first);
          }
        }
        left.positional.clear();
        left.positional_unknown = true;
        break;
      case Frame::Kind::kLine:
      case Frame::Kind::kProcess:  // a subshell ends
        MergeInto(frame.left, left);
        return;
    }
  }
}

bool Evaluator::LeaveProcess(Shell& shell) {
  for (size_t i = frames_.size(); i-- > 0;) {
    if (frames_[i].kind == Frame::Kind::kProcess) {
      Leave(shell, i);
      return true;
    }
  }
  shell.exited = true;
  return false;
}

bool Evaluator::LeaveFunction(Shell& shell) {
  size_t process = frames_.size();
  for (size_t i = frames_.size(); i-- > 0;) {
    Frame::Kind kind = frames_[i].kind;
    if (kind == Frame::Kind::kProcess && process == frames_.size()) {
      process = i;
    }
    if (kind == Frame::Kind::kFunction || kind == Frame::Kind::kSource) {
      // In a subshell of a function, return ends the subshell.
      Leave(shell, process < frames_.size() ? process : i);
      return true;
    }
  }
  return false;
}

void Evaluator::RunAsync(Shell& shell, const Script& script, NodeId node) {
  state_only_ = false;
  Shell child = Fork(shell);
  if (!child.fds.contains(0)) {
    child.fds[0] = Descriptor{Descriptor::Kind::kNull, -1, ""};
  }
  {
    Scoped<int> async(async_depth_, async_depth_ + 1);
    Execute(child, script, node);
  }
  // It runs beside what follows: what it writes may be there or not yet.
  auto files = shell.files;
  Join(shell, std::move(child));
  for (auto& [path, text] : shell.files) {
    auto it = files.find(path);
    if (it != files.end() && !(it->second == text)) {
      text = Union(text, it->second);
    }
  }
  shell.status = 0;
  shell.background_pid = {
      Value::Unknown(UnknownCode::kDynamicArgument, Map(script, Span{}), true)};
}

void Evaluator::ExecuteCoproc(Shell& shell, const Script& script,
                              const Node& node) {
  state_only_ = false;
  Span span = Map(script, node.span);
  if (shell.posix) RecordForeign(shell, "coproc", span);
  ScopedVia via(*this, {ViaKind::kCoprocess}, span);
  if (!node.children.empty() && late_.size() < kMaxLateReaders) {
    coprocess_ = std::string(kProcessPath) + std::to_string(next_process_++);
    shell.files[coprocess_] = {Value::Of("")};
    late_.push_back({coprocess_, shell, &script, node.children[0], span});
  }
  Shell child = Fork(shell);
  int input = NewStream(child, UnknownValue(span));
  int output = NewStream(child, {Value::Of("")});
  child.fds[0] = Descriptor{Descriptor::Kind::kStream, input, ""};
  child.fds[1] = Descriptor{Descriptor::Kind::kStream, output, ""};
  if (!node.children.empty()) Execute(child, script, node.children[0]);
  Join(shell, std::move(child));
  shell.streams.erase(input);
  shell.streams.erase(output);
  Variable fds;
  fds.shape = Variable::Shape::kIndexed;
  for (int i = 0; i < 2; ++i) {
    fds.indexed[i] = {
        Value::Unknown(UnknownCode::kDynamicArgument, span, true)};
  }
  shell.variables[node.name.empty() ? "COPROC" : node.name] = fds;
  shell.status = 0;
}

}  // namespace gate::parser
