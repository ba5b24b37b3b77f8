// GNU parallel with its arguments on the command line: `parallel rm ::: a b`.
#include <array>

#include "base/paths.h"
#include "base/text.h"
#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxParallel = 64;

std::string WithoutExtension(std::string_view text) {
  const size_t dot = text.rfind('.');
  const size_t slash = text.rfind('/');
  if (dot == std::string_view::npos ||
      (slash != std::string_view::npos && dot < slash)) {
    return std::string(text);
  }
  return std::string(text.substr(0, dot));
}

// `text` with the places for `word` filled in; nullopt for a place that is
// computed. `*filled` when there was one.
std::optional<std::string> Fill(std::string_view text, std::string_view word,
                                bool* filled) {
  const std::array<std::pair<std::string_view, std::string>, 8> places = {{
      {"{}", std::string(word)},
      {"{1}", std::string(word)},
      {"{.}", WithoutExtension(word)},
      {"{/}", std::string(BaseName(word))},
      {"{//}", std::string(DirName(word))},
      {"{/.}", WithoutExtension(BaseName(word))},
      {"{#}", "1"},
      {"{%}", "1"},
  }};
  std::string out;
  for (size_t i = 0; i < text.size();) {
    bool found = false;
    for (const auto& [place, value] : places) {
      if (text.substr(i, place.size()) != place) continue;
      out += ShellQuote(value);
      i += place.size();
      *filled = found = true;
      break;
    }
    if (found) continue;
    if (text[i] == '{' && i + 1 < text.size() &&
        std::string_view("=+-0123456789./#%").find(text[i + 1]) !=
            std::string_view::npos) {
      return std::nullopt;
    }
    out += text[i++];
  }
  return out;
}

}  // namespace

bool Evaluator::RunParallel(Shell& shell, const ProgramCall& call,
                            const ArgumentAnalysis& arguments,
                            uint32_t invocation) {
  // Options that group the arguments, or name other places for them.
  for (const std::string_view spellings : arguments.options) {
    const std::string_view option = CanonicalName(spellings);
    for (std::string_view grouping : {"-N",          "-n",
                                      "-L",          "-X",
                                      "-m",          "-I",
                                      "-i",          "-C",
                                      "-a",          "-q",
                                      "-S",          "-d",
                                      "-0",          "--max-replace-args",
                                      "--max-args",  "--colsep",
                                      "--quote",     "--arg-file",
                                      "--sshlogin",  "--pipe",
                                      "--delimiter", "--null",
                                      "--max-lines", "--xargs"}) {
      if (option == grouping) return false;
    }
  }
  size_t begin = call.argv.size();
  for (const ArgumentEffect& effect : arguments.effects) {
    if (effect.role != Role::kCommand && effect.role != Role::kShellCode) {
      continue;
    }
    for (size_t i = 1; i < call.argv.size() && begin == call.argv.size(); ++i) {
      if (call.argv[i].span.begin == effect.span.begin) begin = i;
    }
  }
  size_t at = call.argv.size();
  for (size_t i = begin; i < call.argv.size(); ++i) {
    const std::optional<std::string> word = Known(call.argv[i]);
    if (!word || call.argv[i].glob) return false;
    if (!word->starts_with(":::")) continue;
    if (*word != ":::" || at != call.argv.size()) return false;
    at = i;
  }
  if (at == call.argv.size() || call.argv.size() - at > kMaxParallel) {
    return false;
  }
  std::string text;
  for (size_t i = begin; i < at; ++i) {
    if (!text.empty()) text += ' ';
    text += *Known(call.argv[i]);
  }
  std::vector<std::string> commands;
  for (size_t i = at + 1; i < call.argv.size(); ++i) {
    const std::string word = *Known(call.argv[i]);
    if (text.empty()) {
      commands.push_back(word);
      continue;
    }
    bool filled = false;
    std::optional<std::string> command = Fill(text, word, &filled);
    if (!command) return false;
    if (!filled) *command += " " + ShellQuote(word);
    commands.push_back(std::move(*command));
  }
  for (const std::string& command : commands) {
    if (exhausted_) break;
    ShellCode how;
    how.language = "parallel";
    how.via = {ViaKind::kProgram, "parallel"};
    how.invocation = invocation;
    RunShellCode(shell, {Value::Of(command)}, how, call.span);
  }
  return true;
}

}  // namespace gate::parser
