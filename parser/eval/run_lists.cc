// Files and input that say what a program fetches or sends: the URLs of
// `wget -i`, the options of `curl -K`, the names of `rsync --files-from`.
#include <algorithm>
#include <optional>

#include "base/paths.h"
#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

// Longer lists are read as far as this, and the line is not read whole.
constexpr size_t kMaxListLines = 1000;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// A value of a curl configuration (curl(1), --config): between double quotes
// with escapes, or one word.
std::string ConfigValue(std::string_view text) {
  std::string value;
  if (!text.starts_with('"')) {
    return std::string(text.substr(0, text.find_first_of(" \t")));
  }
  for (size_t i = 1; i < text.size() && text[i] != '"'; ++i) {
    char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      c = text[++i];
      if (c == 't') c = '\t';
      if (c == 'n') c = '\n';
      if (c == 'r') c = '\r';
      if (c == 'v') c = '\v';
    }
    value += c;
  }
  return value;
}

// The words that a line of such a file stands for.
void AddConfigLine(std::string_view line, std::vector<std::string>* words) {
  const size_t end = std::min(line.find_first_of(" \t=:"), line.size());
  std::string option(line.substr(0, end));
  if (!option.starts_with("-")) option.insert(0, "--");
  line.remove_prefix(end);
  const size_t begin = line.find_first_not_of(" \t=:");
  words->push_back(std::move(option));
  if (begin == std::string_view::npos) return;
  words->push_back(ConfigValue(line.substr(begin)));
}

// Addresses of one file are separated by tabs; lines that begin with a blank
// are options of what stands above (aria2c(1), "Input File").
void AddUrlLine(std::string_view line, std::vector<std::string>* words) {
  if (line.starts_with(' ') || line.starts_with('\t')) {
    const std::string_view option = Trimmed(line);
    const size_t equals = option.find('=');
    if (equals != std::string_view::npos &&
        option.substr(0, equals).find_first_of("/:") ==
            std::string_view::npos) {
      words->push_back("--" + std::string(option));
      return;
    }
  }
  line = Trimmed(line);
  while (!line.empty()) {
    const size_t tab = line.find('\t');
    const std::string_view url = Trimmed(line.substr(0, tab));
    // An address, whatever it begins with.
    if (!url.empty() && !url.starts_with('-')) words->emplace_back(url);
    line = tab == std::string_view::npos ? "" : line.substr(tab + 1);
  }
}

}  // namespace

bool Evaluator::IsList(const ArgumentEffect& effect) {
  return effect.role == Role::kRead && !effect.words.empty() &&
         (effect.modifier == Modifier::kAddresses ||
          effect.modifier == Modifier::kCurlOptions ||
          effect.modifier == Modifier::kNames);
}

// What such a list says, where its text is known, is done by another call of
// the program. What is not known of it is what the description says besides.
void Evaluator::RunLists(Shell& shell, const ProgramCall& call,
                         const ArgumentAnalysis& arguments,
                         uint32_t invocation) {
  for (const ArgumentEffect& effect : arguments.effects) {
    if (!IsList(effect) || exhausted_) continue;
    const std::optional<std::string> name =
        Known(ToField(effect.words[0], call.argv));
    if (!name || effect.words[0].glob) continue;
    std::vector<Values> contents;
    // Looked at in a copy: the program itself has yet to read it.
    Shell copy = Fork(shell);
    if (*name == "-") {
      if (HasInput(copy, 0)) contents.push_back(ReadRest(copy, 0, call.span));
    } else if (IsProcessPath(*name)) {
      bool known = false;
      contents.push_back(ContentOf(copy, *name, effect.span, &known));
    } else {
      for (const std::string& path : KnownPaths(copy, effect.words[0])) {
        bool known = false;
        Values text = ContentOf(copy, path, effect.span, &known);
        if (known) contents.push_back(std::move(text));
      }
    }
    Scoped<bool> uncertain(certain_, false);
    for (const Values& content : contents) {
      for (const Value& value : content) {
        std::string text;
        for (const Chunk& chunk : value.chunks) text += chunk.text;
        if (!Spend(1 + text.size() / 64)) return;
        RunList(shell, call, effect, text, invocation);
      }
    }
  }
}

void Evaluator::RunList(Shell& shell, const ProgramCall& call,
                        const ArgumentEffect& effect, const std::string& text,
                        uint32_t invocation) {
  std::vector<std::string> words;
  size_t lines = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(
        text.find_first_of(std::string_view("\n\0", 2), at), text.size());
    const std::string_view line(text.data() + at, end - at);
    at = end + 1;
    const std::string_view trimmed = Trimmed(line);
    if (trimmed.empty() || trimmed[0] == '#') continue;
    if (++lines > kMaxListLines) {
      NoteLimit("too long a list");
      break;
    }
    if (effect.modifier == Modifier::kNames) {
      Argument path;
      path.text = trimmed;
      path.span = effect.span;
      AddPathEffect(shell, EffectKind::kRead, path, effect.span, invocation,
                    false);
    } else if (effect.modifier == Modifier::kCurlOptions) {
      AddConfigLine(trimmed, &words);
    } else {
      AddUrlLine(line, &words);
    }
  }
  if (words.empty()) return;
  if (text_depth_ >= kMaxTextNesting) {
    NoteLimit("lists too deep");
    return;
  }
  Scoped<int> nested(text_depth_, text_depth_ + 1);
  ScopedVia via(
      *this,
      {ViaKind::kProgram, std::string(BaseName(call.argv[0].value.text()))},
      effect.span);
  ProgramCall inner;
  inner.span = call.span;
  inner.argv.push_back(call.argv[0]);
  for (const std::string& word : words) {
    inner.argv.push_back(KnownField(word, effect.span));
  }
  Shell child = Fork(shell);
  // The list was its input.
  if (!effect.words.empty() && effect.words[0].text == "-") {
    child.fds[0] = Descriptor{Descriptor::Kind::kNull, -1, ""};
  }
  RunProgram(child, inner);
  Join(shell, std::move(child));
}

}  // namespace gate::parser
