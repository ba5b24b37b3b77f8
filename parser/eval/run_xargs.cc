// xargs with input that is known: the words as xargs splits them.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "parser/eval/evaluate.h"
#include "parser/eval/fields_by_text.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxRuns = 200;

struct Options {
  bool null = false;
  bool no_run_if_empty = false;
  std::optional<char> delimiter;
  std::string replace;
  bool replaces = false;
  size_t max_args = 0;   // -n
  size_t max_lines = 0;  // -L
  std::string end;       // -E
  std::string file;      // -a
  bool grouped = false;  // behind -I: by -L, or by -n with more than one
};

// The options before the command; nullopt for one that is not followed.
std::optional<Options> ReadXargsOptions(const std::vector<std::string>& words) {
  Options options;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    auto number = [](const std::string& text) -> size_t {
      return text.empty() ? 0 : std::strtoul(text.c_str(), nullptr, 10);
    };
    if (word == "--") continue;
    if (word.starts_with("--")) {
      size_t equals = word.find('=');
      std::string name = word.substr(0, equals);
      std::string value =
          equals == std::string::npos ? "" : word.substr(equals + 1);
      auto take = [&] {
        if (equals != std::string::npos || i + 1 >= words.size()) return;
        value = words[++i];
      };
      if (name == "--null") {
        options.null = true;
      } else if (name == "--no-run-if-empty") {
        options.no_run_if_empty = true;
      } else if (name == "--max-args") {
        take();
        options.max_args = number(value);
        options.grouped = options.grouped || options.max_args != 1;
      } else if (name == "--arg-file") {
        take();
        options.file = value;
      } else if (name == "--max-procs" || name == "--max-chars") {
        take();
      } else if (name == "--delimiter") {
        take();
        if (value == "\\n") value = "\n";
        if (value == "\\0") value = std::string(1, '\0');
        if (value.size() != 1) return std::nullopt;
        options.delimiter = value[0];
      } else if (name != "--verbose" && name != "--exit") {
        return std::nullopt;
      }
      continue;
    }
    if (!word.starts_with("-") || word.size() < 2) return std::nullopt;
    for (size_t at = 1; at < word.size(); ++at) {
      char c = word[at];
      std::string value = word.substr(at + 1);
      bool last = true;
      auto take = [&] {
        if (value.empty() && i + 1 < words.size()) value = words[++i];
      };
      switch (c) {
        case '0':
          options.null = true;
          last = false;
          break;
        case 'r':
          options.no_run_if_empty = true;
          last = false;
          break;
        case 't':
        case 'x':
        case 'p':
        case 'o':
          last = false;
          break;
        case 'n':
          take();
          options.max_args = number(value);
          options.grouped = options.grouped || options.max_args != 1;
          break;
        case 'L':
          take();
          options.max_lines = std::max<size_t>(1, number(value));
          options.grouped = true;
          break;
        case 'P':
        case 's':
          take();
          break;
        case 'a':
          take();
          options.file = value;
          break;
        case 'E':
          take();
          options.end = value;
          break;
        case 'I':
          take();
          options.replace = value;
          options.replaces = true;
          options.grouped = false;
          break;
        case 'i':
          options.replace = value.empty() ? "{}" : value;
          options.replaces = true;
          options.grouped = false;
          break;
        case 'd':
          take();
          if (value == "\\n") value = "\n";
          if (value == "\\t") value = "\t";
          if (value == "\\0") value = std::string(1, '\0');
          if (value.size() != 1) return std::nullopt;
          options.delimiter = value[0];
          break;
        default:
          return std::nullopt;
      }
      if (last) break;
    }
  }
  // GNU's takes -I back, others replace all the same.
  if (options.replaces && options.grouped) return std::nullopt;
  return options;
}

// Items, and after which of them a line ended.
struct Items {
  std::vector<std::string> words;
  std::vector<size_t> line;  // the number of the line of each
  bool ok = true;
};

Items SplitItems(std::string_view text, const Options& options) {
  Items items;
  if (options.null || options.delimiter) {
    char delimiter = options.delimiter ? *options.delimiter : '\0';
    while (!text.empty()) {
      size_t end = text.find(delimiter);
      items.words.emplace_back(text.substr(0, end));
      items.line.push_back(items.words.size());
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
    return items;
  }
  size_t line = 0;
  if (options.replaces) {
    // Whole lines, leading blanks removed, quotes still special.
  }
  std::string word;
  bool in_word = false;
  char last_blank = 0;
  auto finish = [&] {
    if (!in_word) return;
    items.words.push_back(word);
    items.line.push_back(line);
    word.clear();
    in_word = false;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\'' || c == '"') {
      size_t end = text.find(c, i + 1);
      if (end == std::string_view::npos ||
          text.substr(i, end - i).find('\n') != std::string_view::npos) {
        items.ok = false;
        return items;
      }
      word += text.substr(i + 1, end - i - 1);
      in_word = true;
      i = end;
    } else if (c == '\\') {
      if (i + 1 < text.size()) word += text[++i];
      in_word = true;
    } else if (c == '\n') {
      finish();
      // A blank at the end continues the line, for -L.
      if (last_blank == 0) ++line;
    } else if ((c == ' ' || c == '\t') && (!options.replaces || !in_word)) {
      finish();
      last_blank = c;
      continue;
    } else {
      word += c;
      in_word = true;
    }
    last_blank = 0;
  }
  finish();
  if (!options.end.empty()) {
    auto it = std::find(items.words.begin(), items.words.end(), options.end);
    size_t count = static_cast<size_t>(it - items.words.begin());
    items.words.resize(count);
    items.line.resize(count);
  }
  return items;
}

std::string ReplaceAll(std::string text, const std::string& from,
                       const std::string& to) {
  if (from.empty()) return text;
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Whether what `step` starts finds its programs as the line does.
bool RunsHere(const Via& step) {
  switch (step.kind) {
    case ViaKind::kSubstitution:
    case ViaKind::kBackquotes:
    case ViaKind::kProcessInput:
    case ViaKind::kProcessOutput:
    case ViaKind::kEval:
    case ViaKind::kSource:
      return true;
    case ViaKind::kCode:
      return step.name == "bash" || step.name == "sh";
    case ViaKind::kProgram:
      return step.name == "xargs";
    default:
      return false;
  }
}

}  // namespace

bool Evaluator::XargsKeepsName(const Shell& shell,
                               const ProgramCall& call) const {
  // In a container or on another host it may be another one.
  if (!std::ranges::all_of(via_, RunsHere)) return false;
  const std::string name = Known(call.argv[0]).value_or("");
  std::string path = name;
  if (name.find('/') == std::string::npos) {
    auto search = shell.variables.find("PATH");
    if (search == shell.variables.end() ||
        Known(search->second.scalar) != context_.path ||
        shell.hashed.contains(name))
      return false;
    path.clear();
    std::string_view rest = context_.path;
    while (!rest.empty() && path.empty()) {
      const size_t end = std::min(rest.find(':'), rest.size());
      const std::string file = std::string(rest.substr(0, end)) + "/" + name;
      if (!file.starts_with('/')) return false;  // depends on the directory
      if (::access(file.c_str(), X_OK) == 0) path = file;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  if (!path.starts_with('/') || paths_written_.contains(path)) return false;
  constexpr size_t kMostBytes = size_t{1} << 20;
  const Result<std::string> content = ReadFile(path, kMostBytes);
  return content && content->find("GNU findutils") != std::string::npos;
}

bool Evaluator::RunXargs(Shell& shell, const ProgramCall& call,
                         const ArgumentEffect& effect) {
  FieldsByText by_text(call.argv);
  bool defaulted =
      call.argv.size() < effect.words.size() + 1 ||
      (effect.words.size() == 1 && effect.words[0].text == "echo" &&
       Known(call.argv.back()) != "echo");
  size_t count =
      defaulted ? call.argv.size() : call.argv.size() - effect.words.size();
  std::vector<std::string> words;
  for (size_t i = 1; i < count; ++i) {
    std::optional<std::string> word = Known(call.argv[i]);
    if (!word) return false;
    words.push_back(*word);
  }
  std::optional<Options> options = ReadXargsOptions(words);
  // -I stands behind what it takes back, so that nothing is appended.
  if (options && options->replaces && effect.placeholder.empty()) return true;
  if (!options || (options->file.empty() && !HasInput(shell, 0))) return false;
  const bool keeps_name =
      options->replaces && !effect.words.empty() &&
      effect.words[0].text.find(options->replace) != std::string::npos &&
      XargsKeepsName(shell, call);
  Values input;
  if (options->file.empty()) {
    input = ReadRest(shell, 0, call.span);
  } else {
    Argument file;
    file.text = options->file;
    file.span = call.span;
    for (const std::string& path : KnownPaths(shell, file)) {
      bool known = false;
      const Values more = ContentOf(shell, path, call.span, &known);
      input = input.empty() ? more : Union(input, more);
    }
    if (input.empty()) input = UnknownValue(call.span);
  }
  // With -a the commands read what xargs would have read.
  const auto close_input = [&](Shell& child) {
    if (!options->file.empty()) return;
    child.fds[0] = Descriptor{Descriptor::Kind::kNull, -1, ""};
  };
  Value filled = Value::Unknown(UnknownCode::kDynamicArgument, call.span);
  // Where the words came from matters when they are code, or sent.
  for (const Value& value : input) {
    for (const Chunk& chunk : value.chunks) {
      if (chunk.unknown) filled.chunks = {chunk};
    }
  }
  bool exact = true;
  for (const Value& value : input) exact = exact && value.known();
  bool any = false;
  for (const Value& value : input) {
    if (!value.known()) continue;
    Items items = SplitItems(value.text(), *options);
    if (!items.ok) {
      exact = false;
      continue;
    }
    any = true;
    if (!Spend(1 + items.words.size())) return true;
    std::vector<std::vector<std::string>> runs;
    size_t at = 0;
    while (at < items.words.size()) {
      std::vector<std::string> run;
      if (options->replaces) {
        run.push_back(items.words[at++]);
      } else if (options->max_lines > 0) {
        size_t first = items.line[at];
        while (at < items.words.size() &&
               items.line[at] < first + options->max_lines) {
          run.push_back(items.words[at++]);
        }
      } else {
        size_t most = options->max_args > 0 ? options->max_args : SIZE_MAX;
        while (at < items.words.size() && run.size() < most) {
          run.push_back(items.words[at++]);
        }
      }
      runs.push_back(std::move(run));
    }
    if (runs.empty() && !options->no_run_if_empty && !options->replaces) {
      runs.emplace_back();
    }
    if (runs.size() > kMaxRuns) {
      exact = false;
      continue;
    }
    for (const std::vector<std::string>& run : runs) {
      ProgramCall inner;
      inner.span = effect.span;
      inner.from_wrapper = true;
      for (size_t i = 0; i < effect.words.size(); ++i) {
        Field field = ToField(effect.words[i], by_text);
        if (options->replaces && i > 0 && field.value.known() && !run.empty()) {
          field.value = Value::Of(ReplaceAll(std::string(field.value.text()),
                                             options->replace, run[0]));
        } else if (options->replaces && i == 0 && field.value.known() &&
                   !keeps_name && !run.empty()) {
          std::string replaced = ReplaceAll(std::string(field.value.text()),
                                            options->replace, run[0]);
          if (replaced != field.value.text()) {
            field.value = Value::Of(replaced);
          }
        }
        inner.argv.push_back(std::move(field));
      }
      if (!options->replaces) {
        for (const std::string& word : run) {
          inner.argv.push_back(KnownField(word, effect.span));
        }
      }
      Shell child = Fork(shell);
      close_input(child);
      RunProgram(child, inner);
      Join(shell, std::move(child));
      if (exhausted_) return true;
    }
  }
  if (exact && any) return true;
  // The general case as well.
  ProgramCall inner;
  inner.span = effect.span;
  inner.from_wrapper = true;
  for (const Argument& word : effect.words) {
    Field field = ToField(word, by_text);
    const bool kept = keeps_name && inner.argv.empty();
    if (options->replaces && !kept && field.value.known() &&
        field.value.text().find(options->replace) != std::string_view::npos) {
      const std::string text(field.value.text());
      if (text == options->replace) {
        field.value = filled;
      } else {
        // In a longer word it is data that was fitted in.
        Origin origin = OriginOf({filled});
        origin.decoded.clear();
        SetOrigin(word.span, origin);
        field.value = Filled(text, options->replace,
                             UnknownCode::kDynamicArgument, word.span);
      }
    }
    inner.argv.push_back(std::move(field));
  }
  if (!options->replaces) {
    Field more;
    more.span = call.span;
    more.value = filled;
    more.splits = true;
    inner.argv.push_back(std::move(more));
  }
  Scoped<bool> uncertain(certain_, false);
  Shell child = Fork(shell);
  close_input(child);
  RunProgram(child, inner);
  Join(shell, std::move(child));
  return true;
}

}  // namespace gate::parser
