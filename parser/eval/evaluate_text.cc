// The evaluator: texts that are read and run, with aliases replaced.
#include <algorithm>

#include "base/text.h"
#include "parser/eval/evaluate.h"

namespace gate::parser {

std::shared_ptr<const Script> Evaluator::ReadText(std::string_view text,
                                                  Span span, bool extglob) {
  // Loops and traps run the same text again and again.
  std::string key;
  if (text.size() <= 4096) {
    key = std::to_string(span.begin) + ":" + std::to_string(span.end) +
          (extglob ? "x" : ":");
    key += text;
    auto it = read_.find(key);
    if (it != read_.end()) return it->second;
  }
  ReadOptions options;
  options.extglob = extglob;
  auto script = std::make_shared<Script>(Read(text, options));
  Spend(50 + text.size() / 4);
  switch (script->status) {
    case ReadStatus::kOk:
      break;
    case ReadStatus::kSyntaxError:
      NoteAt(UnknownCode::kSyntaxError, span, script->message);
      break;
    case ReadStatus::kDisagreement:
      NoteAt(UnknownCode::kParseDisagreement, span, script->message);
      break;
    case ReadStatus::kTooLarge:
      NoteAt(UnknownCode::kTooLarge, span, script->message);
      break;
  }
  scripts_.push_back(script);
  mappings_[script.get()] = Mapping{false, span};
  if (!key.empty() && read_.size() < 4096) read_.emplace(key, script);
  return script;
}

namespace {

// True when all that is not known of `code` are numbers in places where a
// number makes no difference to what runs. A number that is not known is
// written as kNumber, which shows itself as unknown where it turns up again.
bool OnlyNumbers(const Value& code) {
  for (const Chunk& chunk : code.chunks) {
    if (chunk.unknown && !chunk.digits) return false;
    if (chunk.unknown) continue;
    // What calculates would make another number of it.
    for (std::string_view risky :
         {"((", "$[", "let", "[[", "${", "{", "-i", "seq", "expr", "printf",
          "alias", "cut", "tr", "rev"}) {
      if (chunk.text.find(risky) != std::string::npos) return false;
    }
  }
  return true;
}

}  // namespace

void Evaluator::NoteCode(const Values& code, Span span) {
  for (const Value& value : code) {
    if (value.known() || OnlyNumbers(value)) continue;
    NoteAt(UnknownCode::kDynamicCode, span, TextAt(span));
    return;
  }
}

void Evaluator::KeepText(std::string_view code, Span span) {
  // `bash -c 'ls'` shows what it runs.
  if (span.begin <= span.end && span.end <= source_.size() &&
      std::string_view(source_)
              .substr(span.begin, span.end - span.begin)
              .find(code) != std::string_view::npos)
    return;
  if (run_text_bytes_ + code.size() > kMaxRunTextBytes) {
    if (!run_texts_.contains(std::string(code)))
      NoteLimit("more text that is made and run than gate looks at");
    return;
  }
  const auto [text, added] = run_texts_.emplace(code);
  if (!added) return;
  run_text_bytes_ += code.size();
  analysis_.run_texts.push_back(*text);
}

void Evaluator::RunText(Shell& shell, const Values& code, Span span,
                        const TextOptions& options) {
  if (!options.quiet_hole) NoteCode(code, span);
  AddCodeFlows(code, last_invocation_, span);
  if (code.size() == 1 && code[0].known()) {
    RunKnownText(shell, code[0].text(), span, options);
    return;
  }
  if (code.size() == 1 && OnlyNumbers(code[0])) {
    std::string text;
    for (const Chunk& chunk : code[0].chunks) {
      text += chunk.unknown ? kNumber : std::string_view(chunk.text);
    }
    RunKnownText(shell, text, span, options);
    return;
  }
  std::optional<Shell> out;
  Scoped<bool> uncertain(certain_, false);
  for (const Value& value : code) {
    Shell copy = shell;
    if (!Spend(CopyCost(copy))) break;
    if (value.known()) {
      RunKnownText(copy, value.text(), span, options);
    } else {
      // The known parts say what is likely to run: the unknown parts become
      // variables that nothing is known of. That the text is not known has
      // been noted.
      std::string text;
      bool numbers = OnlyNumbers(value);
      for (const Chunk& chunk : value.chunks) {
        if (!chunk.unknown) {
          text += chunk.text;
        } else if (numbers) {
          text += kNumber;
        } else {
          text += "${_gate_unknown}";
        }
      }
      if (value.chunks.size() > 1) {
        RunKnownText(copy, text, span, options);
      }
    }
    MergeInto(out, copy);
  }
  if (out) shell = std::move(*out);
  shell.status.reset();
}

void Evaluator::RunKnownText(Shell& shell, std::string_view code, Span span,
                             const TextOptions& options) {
  if (!Spend(10)) return;
  if (code.find_first_not_of(" \t\n") == std::string_view::npos) {
    shell.status = 0;
    return;
  }
  if (text_depth_ >= kMaxTextNesting) {
    NoteAt(UnknownCode::kLimit, span, "code within code too deep");
    return;
  }
  Scoped<int> depth(text_depth_, text_depth_ + 1);
  size_t zero = code.find('\0');
  std::string without_nul;
  if (zero != std::string_view::npos) {
    // bash drops NUL bytes of a substitution and stops at one in a file.
    without_nul = code;
    std::erase(without_nul, '\0');
    code = without_nul;
  }
  KeepText(code, span);
  if (shell.extglob_unknown && code.find('(') != std::string_view::npos &&
      code.find_first_of("@!+") != std::string_view::npos) {
    NoteAt(UnknownCode::kUnmodelled, span, "extglob");
  }
  std::shared_ptr<const Script> script = ReadText(code, span, shell.extglob);
  std::optional<ScopedVia> via;
  if (options.via) via.emplace(*this, *options.via, span);
  if (!options.new_frame) {
    RunRoot(shell, script);
    return;
  }
  frames_.push_back({});
  frames_.back().kind = Frame::Kind::kSource;
  frames_.back().depth = process_depth_;
  RunRoot(shell, script);
  if (frames_.back().left) shell = JoinShells(shell, *frames_.back().left);
  frames_.pop_back();
}

namespace {

// Reads only a part of a source again with aliases replaced.
bool StartsNewLine(const std::string& source, uint32_t from, uint32_t to) {
  return to <= source.size() && from <= to && source.find('\n', from) < to;
}

}  // namespace

void Evaluator::RunRoot(Shell& shell, std::shared_ptr<const Script> script) {
  if (script->ast.root == kNone) {
    shell.status = 0;
    return;
  }
  Scoped<const Script*> current(script_, script.get());
  // An expansion error drops what is left of a line, not the next one.
  struct Line {
    Line(Evaluator& e, Shell& s) : evaluator(e), shell(s) {
      index = e.frames_.size();
      e.frames_.push_back({});
      e.frames_.back().kind = Frame::Kind::kLine;
      e.frames_.back().depth = e.process_depth_;
    }
    ~Line() {
      End();
      evaluator.frames_.pop_back();
    }
    void End() {
      std::optional<Shell>& left = evaluator.frames_[index].left;
      if (!left) return;
      shell = JoinShells(shell, *left);
      left.reset();
    }
    Evaluator& evaluator;
    Shell& shell;
    size_t index;
  } line(*this, shell);
  const Node& root = script->ast.nodes[script->ast.root];
  std::map<std::string, Values> aliases_read;
  auto run_child = [&](const Script& from, const Node& list, size_t i) {
    if (i < list.asynchronous.size() && list.asynchronous[i]) {
      RunAsync(shell, from, list.children[i]);
    } else {
      Execute(shell, from, list.children[i]);
    }
  };
  // bash replaces aliases when it reads a line, by the definitions of that
  // moment. Runs what is made of [from, to); false when nothing was replaced.
  auto run_replaced = [&](uint32_t from, uint32_t to) {
    if (!shell.expand_aliases || shell.aliases.empty()) return false;
    bool changed = false;
    const std::string_view source(script->source);
    to = std::min<uint32_t>(to, static_cast<uint32_t>(source.size()));
    if (from >= to) return false;
    const Span span = Map(*script, Span{from, to});
    const std::optional<std::string> text =
        ExpandAliasText(shell, source.substr(from, to - from), {}, &changed);
    if (!text) {
      NoteAt(UnknownCode::kDynamicCode, span, "aliases");
      return false;
    }
    if (!changed) return false;
    if (text_depth_ >= kMaxTextNesting) {
      NoteAt(UnknownCode::kLimit, span, "aliases too deep");
      return true;
    }
    Scoped<int> depth(text_depth_, text_depth_ + 1);
    const std::shared_ptr<const Script> next =
        ReadText(*text, span, shell.extglob);
    ScopedVia via(*this, {ViaKind::kAlias}, span);
    Scoped<const Script*> inner(script_, next.get());
    if (next->ast.root == kNone) return true;
    const Node& top = next->ast.nodes[next->ast.root];
    if (top.kind != NodeKind::kList) {
      Execute(shell, *next, next->ast.root);
      return true;
    }
    for (size_t i = 0; i < top.children.size() && !exhausted_; ++i) {
      if (i > 0 && StartsNewLine(next->source,
                                 next->ast.nodes[top.children[i - 1]].span.end,
                                 next->ast.nodes[top.children[i]].span.begin)) {
        line.End();
        // An alias that holds several lines: what the first of them defines
        // is not followed into the next.
        if (shell.aliases != aliases_read)
          NoteAt(UnknownCode::kDynamicCode, span, "aliases");
      }
      run_child(*next, top, i);
    }
    return true;
  };
  const auto end = static_cast<uint32_t>(script->source.size());
  if (root.kind != NodeKind::kList) {
    aliases_read = shell.aliases;
    if (!run_replaced(0, end)) Execute(shell, *script, script->ast.root);
    return;
  }
  const auto begin_of = [&](size_t i) {
    return script->ast.nodes[root.children[i]].span.begin;
  };
  const auto starts_line = [&](size_t i) {
    return i > 0 &&
           StartsNewLine(script->source,
                         script->ast.nodes[root.children[i - 1]].span.end,
                         begin_of(i));
  };
  for (size_t i = 0; i < root.children.size() && !exhausted_; ++i) {
    const bool starts = starts_line(i);
    if (starts) line.End();
    if ((starts || i == 0) && shell.expand_aliases && !shell.aliases.empty()) {
      size_t after = i + 1;
      while (after < root.children.size() && !starts_line(after)) ++after;
      aliases_read = shell.aliases;
      if (run_replaced(i == 0 ? 0 : begin_of(i),
                       after < root.children.size() ? begin_of(after) : end)) {
        i = after - 1;
        continue;
      }
    }
    run_child(*script, root, i);
  }
}

namespace {

// Whether the value of an alias may begin a here-document. Where its body is
// read from is not followed.
bool OpensHereDocument(std::string_view value) {
  for (size_t at = value.find("<<"); at != std::string_view::npos;
       at = value.find("<<", at)) {
    if (!value.substr(at).starts_with("<<<")) return true;
    at += 3;
  }
  return false;
}

}  // namespace

std::optional<std::string> Evaluator::ExpandAliasText(
    const Shell& shell, std::string_view text,
    const std::vector<std::string>& active, bool* changed) {
  if (active.size() > 8) return std::nullopt;
  ReadOptions options;
  options.extglob = shell.extglob;
  options.compare = false;
  Script script = Read(text, options);
  if (!Spend(20 + text.size() / 4)) return std::nullopt;
  auto mentions = [&] {
    for (const auto& [name, value] : shell.aliases) {
      if (text.find(name) != std::string_view::npos) return true;
    }
    return false;
  };
  if (script.status != ReadStatus::kOk) {
    // What aliases make of text that cannot be read alone is not followed.
    if (mentions()) return std::nullopt;
    return std::string(text);
  }
  struct Edit {
    Span span;
    std::string text;
  };
  std::vector<Edit> edits;
  for (const Node& node : script.ast.nodes) {
    // The name of a function is replaced, too.
    if (node.kind == NodeKind::kFunction && shell.aliases.contains(node.name))
      return std::nullopt;
    if (node.kind != NodeKind::kSimple) continue;
    bool next = true;
    for (size_t i = 0; i < node.words.size() && next; ++i) {
      next = false;
      const Word& word = script.ast.words[node.words[i]];
      if (word.parts.size() != 1) break;
      const Part& part = script.ast.parts[word.parts[0]];
      if (part.kind != PartKind::kLiteral) break;
      auto it = shell.aliases.find(part.text);
      if (it == shell.aliases.end()) {
        break;
      }
      if (std::find(active.begin(), active.end(), part.text) != active.end()) {
        break;
      }
      std::optional<std::string> value = Known(it->second);
      if (!value || OpensHereDocument(*value)) return std::nullopt;
      if (word.span.end > text.size() ||
          text.substr(word.span.begin, word.span.size()) != part.text) {
        return std::nullopt;  // inside a backquoted command
      }
      std::vector<std::string> deeper = active;
      deeper.push_back(part.text);
      bool inner_changed = false;
      std::optional<std::string> inner =
          ExpandAliasText(shell, *value, deeper, &inner_changed);
      if (!inner) return std::nullopt;
      next = !value->empty() && (value->back() == ' ' || value->back() == '\t');
      edits.push_back({word.span, std::move(*inner)});
    }
  }
  for (const auto& [name, value] : shell.aliases) {
    // Reserved words can be aliases, which changes the grammar.
    static constexpr std::string_view kReserved[] = {
        "!",      "{",    "}",    "[[",    "]]",    "case",     "do", "done",
        "elif",   "else", "esac", "fi",    "for",   "function", "if", "in",
        "select", "then", "time", "until", "while", "coproc"};
    if (std::find(std::begin(kReserved), std::end(kReserved), name) !=
            std::end(kReserved) &&
        text.find(name) != std::string_view::npos) {
      return std::nullopt;
    }
  }
  if (edits.empty()) return std::string(text);
  *changed = true;
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return a.span.begin < b.span.begin;
  });
  std::string out;
  size_t at = 0;
  for (const Edit& edit : edits) {
    if (edit.span.begin < at) return std::nullopt;
    out += text.substr(at, edit.span.begin - at);
    out += edit.text;
    at = edit.span.end;
    if (out.size() > kMaxSourceBytes) return std::nullopt;
  }
  out += text.substr(at);
  return out;
}

}  // namespace gate::parser
