// Lists, branches and pipelines.

#include "parser/eval/evaluate.h"

namespace gate::parser {

void Evaluator::Execute(Shell& shell, const Script& script, NodeId id) {
  if (id == kNone || exhausted_) return;
  if (depth_ >= kMaxExecuteDepth) {
    NoteLimit("commands too deep in each other");
    return;
  }
  if (!Spend(1)) return;
  const Node& node = script.ast.nodes[id];
  ForgetDirections(shell);
  Scoped<int> depth(depth_, depth_ + 1);
  Scoped<const Script*> current(script_, &script);
  Scoped<bool> dead(dead_, dead_ || shell.exited);
  if (node.kind == NodeKind::kFunction) {
    state_only_ = false;
    Function function;
    for (const auto& owned : scripts_) {
      if (owned.get() == &script) function.script = owned;
    }
    function.body = id;
    shell.functions[node.name] = {function};
    if (shell.allexport) shell.exported_functions.insert(node.name);
    shell.status = 0;
    return;
  }
  if (node.kind == NodeKind::kSimple) {
    ExecuteSimple(shell, script, node);
    return;
  }
  if (node.redirects.empty()) {
    ExecuteNode(shell, script, node);
    return;
  }
  state_only_ = false;
  size_t mark = pending_.size();
  std::map<int, Descriptor> fds = shell.fds;
  Redirect(shell, script, node.redirects);
  std::optional<Shell> before;
  if (!shell.exited && node.kind != NodeKind::kSubshell &&
      RedirectMayFail(script, node.redirects) && Spend(CopyCost(shell))) {
    before = shell;
  }
  ExecuteNode(shell, script, node);
  if (before) JoinFailed(shell, std::move(*before));
  shell.fds = std::move(fds);
  RunPendingProcesses(shell, mark);
}

void Evaluator::ExecuteNode(Shell& shell, const Script& script,
                            const Node& node) {
  if (node.kind != NodeKind::kList && node.kind != NodeKind::kAnd) {
    state_only_ = false;
  }
  ExecuteKind(shell, script, node);
  // Of anything else the status is not that of the last command in it.
  if (node.kind != NodeKind::kPipeline && node.kind != NodeKind::kAnd &&
      node.kind != NodeKind::kOr && node.kind != NodeKind::kList &&
      node.kind != NodeKind::kGroup) {
    ForgetDirections(shell);
  }
}

void Evaluator::ExecuteKind(Shell& shell, const Script& script,
                            const Node& node) {
  switch (node.kind) {
    case NodeKind::kSimple:
    case NodeKind::kFunction:
      return;
    case NodeKind::kPipeline:
      return ExecutePipeline(shell, script, node);
    case NodeKind::kAnd:
    case NodeKind::kOr:
      return ExecuteAndOr(shell, script, node);
    case NodeKind::kList:
      return ExecuteList(shell, script, node);
    case NodeKind::kSubshell: {
      Shell child = Fork(shell);
      if (!node.children.empty()) Execute(child, script, node.children[0]);
      bool exited = shell.exited;
      Join(shell, std::move(child));
      shell.exited = exited;
      return;
    }
    case NodeKind::kGroup:
      if (!node.children.empty()) Execute(shell, script, node.children[0]);
      return;
    case NodeKind::kIf:
      return ExecuteIf(shell, script, node);
    case NodeKind::kFor:
      return ExecuteFor(shell, script, node);
    case NodeKind::kArithmeticFor:
      return ExecuteArithmeticFor(shell, script, node);
    case NodeKind::kSelect:
      return ExecuteSelect(shell, script, node);
    case NodeKind::kWhile:
    case NodeKind::kUntil:
      return ExecuteWhile(shell, script, node);
    case NodeKind::kCase:
      return ExecuteCase(shell, script, node);
    case NodeKind::kConditional:
      return ExecuteConditional(shell, script, node);
    case NodeKind::kArithmetic:
      return ExecuteArithmetic(shell, script, node);
    case NodeKind::kCoproc:
      return ExecuteCoproc(shell, script, node);
  }
}

void Evaluator::ExecuteList(Shell& shell, const Script& script,
                            const Node& node) {
  for (size_t i = 0; i < node.children.size() && !exhausted_; ++i) {
    if (i < node.asynchronous.size() && node.asynchronous[i]) {
      RunAsync(shell, script, node.children[i]);
    } else {
      Execute(shell, script, node.children[i]);
    }
  }
}

void Evaluator::ExecuteDead(const Shell& shell, const Script& script,
                            NodeId node) {
  if (node == kNone || !Spend(CopyCost(shell))) return;
  Shell copy = shell;
  copy.exited = true;
  Scoped<bool> uncertain(certain_, false);
  Execute(copy, script, node);
}

namespace {

void SetDirectory(Shell& shell, const std::optional<Values>& directory) {
  if (!directory) return;
  shell.cwd = *directory;
  if (Variable* pwd = shell.variables.Find("PWD")) pwd->scalar = *directory;
}

// What is known when a command's status turned out to be `success`.
void Refine(Shell& shell, bool success) {
  SetDirectory(shell, success ? shell.cwd_on_success : shell.cwd_on_failure);
  ForgetDirections(shell);
  if (success) shell.status = 0;
}

// What the shell may be behind a list, by the list's status: at least one.
struct Ways {
  std::optional<Shell> success, failure;
};

Ways Split(Evaluator& evaluator, Shell&& shell) {
  Ways ways;
  if (shell.status) {
    (*shell.status == 0 ? ways.success : ways.failure) = std::move(shell);
    return ways;
  }
  // Where the budget is gone, nothing more is evaluated.
  evaluator.Spend(CopyCost(shell));
  ways.failure = shell;
  Refine(*ways.failure, false);
  ways.success = std::move(shell);
  Refine(*ways.success, true);
  return ways;
}

Shell Together(Ways&& ways) {
  if (!ways.success) return std::move(*ways.failure);
  if (!ways.failure) return std::move(*ways.success);
  Shell shell = std::move(*ways.success);
  const Shell& failed = *ways.failure;
  const bool both = !shell.exited && !failed.exited;
  Values succeeded = shell.cwd;
  JoinInto(shell, failed);
  if (!both) return shell;
  shell.status.reset();
  if (succeeded != failed.cwd) {
    shell.cwd_on_success = std::move(succeeded);
    shell.cwd_on_failure = failed.cwd;
  }
  return shell;
}

}  // namespace

void Evaluator::ExecuteAndOr(Shell& shell, const Script& script,
                             const Node& node) {
  // a && b || c … leans to the left: walk down its spine without recursion.
  std::vector<const Node*> spine;
  const Node* at = &node;
  NodeId first = kNone;
  while (true) {
    spine.push_back(at);
    if (at->children.size() < 2) return;
    first = at->children[0];
    const Node& left = script.ast.nodes[first];
    if ((left.kind == NodeKind::kAnd || left.kind == NodeKind::kOr) &&
        left.redirects.empty()) {
      at = &left;
      continue;
    }
    break;
  }
  Scoped<bool> certain(certain_, certain_);
  bool outer = certain_;
  Execute(shell, script, first);
  Ways ways = Split(*this, std::move(shell));
  for (size_t i = spine.size(); i-- > 0 && !exhausted_;) {
    bool is_and = spine[i]->kind == NodeKind::kAnd;
    if (!is_and) state_only_ = false;
    NodeId right = spine[i]->children[1];
    std::optional<Shell>& enters = is_and ? ways.success : ways.failure;
    std::optional<Shell>& stays = is_and ? ways.failure : ways.success;
    if (!enters) {
      ExecuteDead(*stays, script, right);
      continue;
    }
    Shell run = std::move(*enters);
    enters.reset();
    // `a && b`: b of a plain chain is what the line means to do.
    certain_ = (is_and || !stays) && outer;
    Execute(run, script, right);
    certain_ = outer;
    Ways next = Split(*this, std::move(run));
    if (next.success) MergeInto(ways.success, std::move(*next.success));
    if (next.failure) MergeInto(ways.failure, std::move(*next.failure));
  }
  shell = Together(std::move(ways));
}

void Evaluator::ExecuteIf(Shell& shell, const Script& script,
                          const Node& node) {
  Scoped<bool> certain(certain_, certain_);
  std::optional<Shell> out;
  bool done = false;
  size_t i = 0;
  for (; i + 1 < node.children.size() && !exhausted_; i += 2) {
    if (done) {
      ExecuteDead(shell, script, node.children[i]);
      ExecuteDead(shell, script, node.children[i + 1]);
      continue;
    }
    Execute(shell, script, node.children[i]);
    if (shell.status && *shell.status != 0) {
      ExecuteDead(shell, script, node.children[i + 1]);
      continue;
    }
    if (!Spend(2 * CopyCost(shell))) return;
    Shell taken = shell;
    if (shell.status) {
      done = true;
      Execute(taken, script, node.children[i + 1]);
      MergeInto(out, std::move(taken));
      continue;
    }
    Refine(taken, true);
    certain_ = false;
    Execute(taken, script, node.children[i + 1]);
    MergeInto(out, std::move(taken));
    Refine(shell, false);
  }
  bool has_else = i < node.children.size();
  if (has_else && done) {
    ExecuteDead(shell, script, node.children[i]);
  } else if (has_else) {
    Execute(shell, script, node.children[i]);
  } else {
    shell.status = 0;
  }
  if (!done) MergeInto(out, std::move(shell));
  if (out) shell = std::move(*out);
}

void Evaluator::ExecuteCase(Shell& shell, const Script& script,
                            const Node& node) {
  Values subject = {Value::Of("")};
  if (!node.words.empty()) {
    Expander x{shell, script, *this};
    subject = ExpandToValue(x, node.words[0]);
  }
  Scoped<bool> certain(certain_, certain_);
  std::optional<Shell> out, live = shell, falling;
  for (const Clause& clause : node.clauses) {
    if (!Spend(1 + 3 * CopyCost(shell))) return;
    bool all = false, some = false;
    Shell dead = shell;
    dead.exited = true;
    Shell& tester = live ? *live : dead;
    for (WordId pattern : clause.patterns) {
      Expander x{tester, script, *this};
      Values patterns = ExpandToPattern(x, pattern);
      bool every = true;
      for (const Value& p : patterns) {
        for (const Value& s : subject) {
          if (!p.known() || !s.known()) {
            some = true;
            every = p.known() && p.text() == "*" && every;
          } else {
            std::optional<bool> match =
                MatchInState(tester, p.text(), s.text(), false);
            some = some || match != false;
            every = every && match == true;
          }
        }
      }
      all = all || every;
    }
    std::optional<Shell> enter;
    if (live && some) enter = live;
    bool sure = certain_ && live && all && !falling;
    if (falling) MergeInto(enter, *falling);
    falling.reset();
    if (live && all) live.reset();
    if (!enter) {
      ExecuteDead(dead, script, clause.body);
      continue;
    }
    if (some && !all) certain_ = false;
    if (clause.body == kNone) {
      enter->status = 0;
    } else {
      Scoped<bool> here(certain_, sure);
      Execute(*enter, script, clause.body);
    }
    switch (clause.end) {
      case ClauseEnd::kBreak:
        MergeInto(out, *enter);
        break;
      case ClauseEnd::kFallThrough:
        falling = std::move(enter);
        break;
      case ClauseEnd::kContinue:
        MergeInto(live, *enter);
        break;
    }
  }
  if (falling) MergeInto(out, *falling);
  if (live) MergeInto(out, *live);
  if (out) shell = std::move(*out);
  shell.status.reset();
}

void Evaluator::ExecutePipeline(Shell& shell, const Script& script,
                                const Node& node) {
  if (node.timed && shell.posix)
    RecordForeign(shell, "time", Map(script, node.span));
  if (node.children.size() == 1) {
    Execute(shell, script, node.children[0]);
  } else {
    Scoped<uint32_t> number(pipeline_, next_pipeline_++);
    int input = -1;
    std::optional<int> status = 0;
    for (size_t i = 0; i < node.children.size() && !exhausted_; ++i) {
      bool last = i + 1 == node.children.size();
      bool in_shell = last && shell.lastpipe;
      std::map<int, Descriptor> fds = shell.fds;
      int output = -1;
      if (!last) output = NewStream(shell, {Value::Of("")});
      std::optional<Shell> child;
      if (!in_shell) child = Fork(shell);
      Shell& stage = in_shell ? shell : *child;
      if (input >= 0) {
        stage.fds[0] = Descriptor{Descriptor::Kind::kStream, input, ""};
      }
      if (output >= 0) {
        stage.fds[1] = Descriptor{Descriptor::Kind::kStream, output, ""};
        if (i < node.pipe_stderr.size() && node.pipe_stderr[i]) {
          stage.fds[2] = stage.fds[1];
        }
      }
      Execute(stage, script, node.children[i]);
      if (in_shell) {
        shell.fds = std::move(fds);
      } else {
        bool exited = shell.exited;
        Join(shell, std::move(*child));
        shell.exited = exited;
      }
      if (!shell.status || !status || *status != 0) {
        status.reset();  // pipefail may count the earlier ones
      } else {
        status = shell.status;
      }
      if (input >= 0) shell.streams.erase(input);
      input = output;
    }
    shell.status = status;
    // The last one may have run in this shell, and pipefail counts the others.
    ForgetDirections(shell);
  }
  if (node.negated) {
    if (shell.status) shell.status = *shell.status == 0 ? 1 : 0;
    std::swap(shell.cwd_on_success, shell.cwd_on_failure);
  }
}

void Evaluator::ExecuteArithmetic(Shell& shell, const Script& script,
                                  const Node& node) {
  if (node.words.empty()) return;
  Expander x{shell, script, *this};
  Values text = ExpandQuoted(x, node.words[0]);
  std::optional<int64_t> result;
  bool single = text.size() == 1;
  for (const Value& value : text) {
    result = EvaluateArithmetic(x, value, node.span);
  }
  if (single && result) {
    shell.status = *result != 0 ? 0 : 1;
  } else {
    shell.status.reset();
  }
}

}  // namespace gate::parser
