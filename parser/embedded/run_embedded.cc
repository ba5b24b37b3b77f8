// Code in other languages: what it starts is run, what it touches noted.
#include "parser/eval/evaluate.h"

namespace gate::parser {

void Evaluator::RunEmbedded(Shell& shell, const std::string& language,
                            const Values& code, Span span,
                            uint32_t invocation) {
  const Language known = LanguageNamed(language);
  // Dumps of databases are kept compressed; that hides nothing.
  AddCodeFlows(code, invocation, span, language != "sql");
  for (const Value& value : code) {
    if (!value.known()) {
      NoteAt(UnknownCode::kForeignCode, span, TextAt(span));
    }
    std::string text;
    for (const Chunk& chunk : value.chunks) text += chunk.text;
    if (!Spend(1 + text.size() / 64)) return;
    if (maybe_written_paths_.size() < kMaxMaybeWrittenPaths)
      maybe_written_paths_.push_back(text);
    EmbeddedCode found = ScanEmbedded(known, text);
    bool shell_like = known == Language::kAwk || known == Language::kSed;
    if (found.unclear) {
      NoteAt(shell_like && value.known() ? UnknownCode::kDynamicCode
                                         : UnknownCode::kForeignCode,
             span, TextAt(span));
    }
    Scoped<bool> uncertain(certain_, false);
    AddEmbeddedEffects(shell, found, span, invocation);
    if (found.computed && !found.unclear) {
      NoteAt(
          shell_like ? UnknownCode::kDynamicTarget : UnknownCode::kForeignCode,
          span, TextAt(span));
    }
    // What it starts may read what it prints.
    std::optional<Descriptor> outside;
    if (auto it = shell.fds.find(0); it != shell.fds.end()) {
      outside = it->second;
    }
    if (!found.commands.empty()) {
      shell.fds[0] = Descriptor{Descriptor::Kind::kStream,
                                NewStream(shell, UnknownValue(span)), ""};
    }
    for (const EmbeddedCommand& command : found.commands) {
      if (command.argv.empty() || text_depth_ >= kMaxTextNesting) continue;
      Scoped<int> nested(text_depth_, text_depth_ + 1);
      if (command.shell) {
        ShellCode how;
        how.language = "sh";
        how.via = {ViaKind::kProgram, language};
        how.invocation = invocation;
        RunShellCode(shell, {Value::Of(command.argv[0])}, how, span);
        continue;
      }
      ScopedVia via(*this, {ViaKind::kProgram, language}, span);
      ProgramCall inner;
      inner.span = span;
      for (const std::string& word : command.argv) {
        inner.argv.push_back(KnownField(word, span));
      }
      Shell child = Fork(shell);
      RunProgram(child, inner);
      Join(shell, std::move(child));
    }
    if (found.commands.empty()) continue;
    if (outside) {
      shell.fds[0] = *outside;
    } else {
      shell.fds.erase(0);
    }
  }
}

void Evaluator::AddEmbeddedEffects(Shell& shell, const EmbeddedCode& code,
                                   Span span, uint32_t invocation) {
  bool sends = false;
  for (const EmbeddedEffect& effect : code.effects) {
    if (effect.kind != EffectKind::kNetwork) continue;
    sends = sends || !effect.listens;
    if (effect.listens || effect.text.empty()) {
      AddNetwork("", 0, "", span, invocation, effect.listens);
      continue;
    }
    Argument url;
    url.text = effect.text;
    url.span = span;
    AddUrl(url, span, invocation);
  }
  Origin held;
  for (const EmbeddedEffect& effect : code.effects) {
    if (effect.kind == EffectKind::kNetwork) continue;
    Argument path;
    path.text = effect.text;
    path.span = span;
    path.known = !effect.text.empty();
    if (path.text.starts_with("~/") && !context_.home.empty()) {
      path.text = context_.home + path.text.substr(1);
    }
    const size_t before = analysis_.effects.size();
    AddPathEffect(shell, effect.kind, path, span, invocation, false);
    for (size_t i = before; i < analysis_.effects.size(); ++i) {
      analysis_.effects[i].recursive = effect.recursive;
    }
    if (effect.kind == EffectKind::kRead && path.known) {
      const Origin content = OriginOfFiles(shell, path, {}, false);
      held.Add(content);
      held.files.emplace_back(invocation, Resolve(shell, path));
      if (!sends) continue;
      AddFlow(FlowKind::kFileToNetwork, invocation, invocation,
              Resolve(shell, path), span);
      for (const auto& [source, file] : content.files) {
        AddFlow(FlowKind::kFileToNetwork, source, invocation, file, span);
      }
    }
  }
  if (sends) held.network.push_back(invocation);
  for (const EmbeddedEffect& effect : code.effects) {
    if (effect.kind != EffectKind::kWrite || effect.text.empty()) continue;
    Argument path;
    path.text = effect.text;
    for (const std::string& place : PlacesOf(shell, path, {})) {
      NoteMade(shell, place, held, false, false);
    }
  }
  // What it read may be what it prints.
  SetOrigin(span, held);
}

}  // namespace gate::parser
