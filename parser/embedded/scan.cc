// What code in other languages starts: a conservative look.
//
// Code that names nothing that starts programs starts none. A call whose
// arguments are plain literals is listed. Everything else is unclear.

#include "parser/embedded/characters.h"
#include "parser/embedded/files.h"
#include "parser/embedded/starts.h"

namespace gate::parser {
namespace {}  // namespace

std::optional<std::string> EmbeddedLiteral(std::string_view code, size_t at,
                                           std::string_view interpolated,
                                           size_t* end) {
  if (at >= code.size()) return std::nullopt;
  char quote = code[at];
  if (quote != '\'' && quote != '"') return std::nullopt;
  if (code.substr(at, 3) == std::string(3, quote)) return std::nullopt;
  std::string text;
  for (size_t i = at + 1; i < code.size(); ++i) {
    char c = code[i];
    if (c == quote) {
      *end = i + 1;
      return text;
    }
    if (c == '\n') return std::nullopt;
    if (c == '\\') {
      if (++i >= code.size()) return std::nullopt;
      switch (code[i]) {
        case 'n':
          text += quote == '"' ? "\n" : "\\n";
          break;
        case 't':
          text += quote == '"' ? "\t" : "\\t";
          break;
        case '\\':
        case '"':
        case '\'':
        case '/':
          text += code[i];
          break;
        default:
          if (IsName(code[i])) return std::nullopt;
          if (quote == '\'') text += '\\';
          text += code[i];
      }
      if (quote == '\'' && (code[i] == 'n' || code[i] == 't')) {
        return std::nullopt;  // languages differ
      }
      continue;
    }
    if (quote == '"' && interpolated.find(c) != std::string_view::npos) {
      return std::nullopt;
    }
    text += c;
  }
  return std::nullopt;
}

namespace {

constexpr auto& Literal = EmbeddedLiteral;

// Literals parted by commas from `at` to `close`.
std::optional<std::vector<std::string>> LiteralList(
    std::string_view code, size_t at, std::string_view closers,
    std::string_view interpolated, size_t* end) {
  std::vector<std::string> words;
  while (true) {
    at = SkipBlanks(code, at);
    size_t after = 0;
    std::optional<std::string> word = Literal(code, at, interpolated, &after);
    if (!word) return std::nullopt;
    words.push_back(std::move(*word));
    at = SkipBlanks(code, after);
    if (at >= code.size()) {
      if (closers.find('\0') == std::string_view::npos) return std::nullopt;
      *end = at;
      return words;
    }
    if (code[at] == ',') {
      ++at;
      continue;
    }
    if (closers.find(code[at]) == std::string_view::npos) {
      return std::nullopt;
    }
    *end = at;
    return words;
  }
}

// Where `name` stands as a whole name.
std::vector<size_t> FindName(std::string_view code, std::string_view name) {
  std::vector<size_t> found;
  for (size_t at = code.find(name); at != std::string_view::npos;
       at = code.find(name, at + 1)) {
    bool begins = at == 0 || !IsName(code[at - 1]);
    size_t after = at + name.size();
    bool ends = after >= code.size() || !IsName(code[after]);
    if (begins && ends) found.push_back(at);
    if (found.size() > 200) break;
  }
  return found;
}

// One string for the system: a shell when it has to be, else words.
EmbeddedCommand FromString(std::string text) {
  EmbeddedCommand command;
  command.shell = true;
  command.argv = {std::move(text)};
  return command;
}

EmbeddedCommand FromWords(std::vector<std::string> words) {
  if (words.size() == 1) return FromString(std::move(words[0]));
  EmbeddedCommand command;
  command.argv = std::move(words);
  return command;
}

EmbeddedCode PythonCode(std::string_view code) {
  EmbeddedCode out;
  for (std::string_view name : kPythonUnclear) {
    if (!FindName(code, name).empty()) out.unclear = true;
  }
  if (code.find("from os import") != std::string_view::npos ||
      code.find("from subprocess import") != std::string_view::npos ||
      code.find("import os as") != std::string_view::npos ||
      code.find("import subprocess as") != std::string_view::npos) {
    out.unclear = true;
  }
  for (std::string_view name : kPythonShells) {
    for (size_t at : FindName(code, name)) {
      size_t open = SkipBlanks(code, at + name.size());
      size_t end = 0;
      std::optional<std::string> text;
      if (open < code.size() && code[open] == '(') {
        text = Literal(code, SkipBlanks(code, open + 1), "", &end);
        end = SkipBlanks(code, end);
        if (end >= code.size() || (code[end] != ')' && code[end] != ',')) {
          text.reset();
        }
      }
      if (text) {
        out.commands.push_back(FromString(*text));
      } else {
        out.unclear = true;
      }
    }
  }
  for (std::string_view name : kPythonRuns) {
    for (size_t at : FindName(code, name)) {
      if (at < 11 || code.substr(at - 11, 11) != "subprocess.") continue;
      size_t open = SkipBlanks(code, at + name.size());
      if (open >= code.size() || code[open] != '(') {
        out.unclear = true;
        continue;
      }
      size_t first = SkipBlanks(code, open + 1);
      size_t end = 0;
      size_t close = code.find(')', open);
      bool shell =
          code.substr(first, 400).find("shell") != std::string_view::npos;
      if (first < code.size() && code[first] == '[') {
        std::optional<std::vector<std::string>> words =
            LiteralList(code, first + 1, "]", "", &end);
        if (words && !shell && close != std::string_view::npos &&
            code.substr(first, close - first).find("executable") ==
                std::string_view::npos) {
          out.commands.push_back(EmbeddedCommand{false, *words});
          continue;
        }
      } else if (std::optional<std::string> text =
                     Literal(code, first, "", &end)) {
        end = SkipBlanks(code, end);
        if (end < code.size() && (code[end] == ')' || code[end] == ',')) {
          if (shell) {
            out.commands.push_back(FromString(*text));
          } else {
            out.commands.push_back(EmbeddedCommand{false, {*text}});
          }
          continue;
        }
      }
      out.unclear = true;
    }
  }
  return out;
}

// Calls `name(literals)` or `name literals` for perl and ruby.
void ScanCalls(std::string_view code, std::string_view name,
               std::string_view interpolated, bool parens_optional,
               EmbeddedCode* out) {
  for (size_t at : FindName(code, name)) {
    size_t open = SkipBlanks(code, at + name.size());
    size_t end = 0;
    std::optional<std::vector<std::string>> words;
    if (open < code.size() && code[open] == '(') {
      words = LiteralList(code, open + 1, ")", interpolated, &end);
    } else if (parens_optional) {
      words = LiteralList(code, open, std::string_view(";}\0", 3), interpolated,
                          &end);
    }
    if (words) {
      out->commands.push_back(FromWords(std::move(*words)));
    } else {
      out->unclear = true;
    }
  }
}

void ScanBackticks(std::string_view code, std::string_view interpolated,
                   EmbeddedCode* out) {
  size_t at = 0;
  while ((at = code.find('`', at)) != std::string_view::npos) {
    size_t end = code.find('`', at + 1);
    if (end == std::string_view::npos) {
      out->unclear = true;
      return;
    }
    std::string text(code.substr(at + 1, end - at - 1));
    if (text.find_first_of(interpolated) != std::string::npos ||
        text.find('\\') != std::string::npos) {
      out->unclear = true;
    } else {
      out->commands.push_back(FromString(std::move(text)));
    }
    at = end + 1;
  }
}

EmbeddedCode Perl(std::string_view code) {
  EmbeddedCode out;
  ScanCalls(code, "system", "$@", true, &out);
  ScanCalls(code, "exec", "$@", true, &out);
  ScanBackticks(code, "$@", &out);
  // open(F, "|sh"), open(F, "ls|").
  for (size_t at : FindName(code, kPerlOpen)) {
    size_t quote = code.find_first_of("\"';", at);
    size_t end = 0;
    if (quote == std::string_view::npos || code[quote] == ';') continue;
    std::optional<std::string> text = Literal(code, quote, "$@", &end);
    if (!text || text->size() < 2 || *text == "-|" || *text == "|-") continue;
    if (text->front() == '|') {
      out.commands.push_back(FromString(text->substr(1)));
    } else if (text->back() == '|') {
      text->pop_back();
      out.commands.push_back(FromString(*text));
    }
  }
  for (std::string_view name : kPerlUnclear) {
    if (!FindName(code, name).empty()) {
      // do { … } and open of plain files are common: only what can spawn.
      if (name == "do" && code.find("do \"") == std::string_view::npos &&
          code.find("do '") == std::string_view::npos &&
          code.find("do $") == std::string_view::npos) {
        continue;
      }
      out.unclear = true;
    }
  }
  return out;
}

EmbeddedCode Ruby(std::string_view code) {
  EmbeddedCode out;
  ScanCalls(code, "system", "#", true, &out);
  ScanCalls(code, "exec", "#", true, &out);
  ScanCalls(code, "spawn", "#", true, &out);
  ScanBackticks(code, "#", &out);
  for (std::string_view name : kRubyUnclear) {
    if (!FindName(code, name).empty()) out.unclear = true;
  }
  if (code.find("%x") != std::string_view::npos) out.unclear = true;
  return out;
}

EmbeddedCode NodeJs(std::string_view code) {
  EmbeddedCode out;
  for (std::string_view name : kNodeUnclear) {
    if (!FindName(code, name).empty()) out.unclear = true;
  }
  if (code.find("child_process") == std::string_view::npos) {
    if (code.find("require(") != std::string_view::npos) {
      for (size_t at : FindName(code, "require")) {
        size_t end = 0;
        size_t open = SkipBlanks(code, at + 7);
        if (open >= code.size() || code[open] != '(' ||
            !Literal(code, SkipBlanks(code, open + 1), "", &end)) {
          out.unclear = true;
        }
      }
    }
    if (code.find("import(") != std::string_view::npos) out.unclear = true;
    return out;
  }
  size_t calls = 0;
  for (std::string_view name : {"exec", "execSync"}) {
    for (size_t at : FindName(code, name)) {
      size_t open = SkipBlanks(code, at + name.size());
      size_t end = 0;
      if (open < code.size() && code[open] == '(') {
        std::optional<std::string> text =
            Literal(code, SkipBlanks(code, open + 1), "", &end);
        end = SkipBlanks(code, end);
        if (text && end < code.size() &&
            (code[end] == ')' || code[end] == ',')) {
          out.commands.push_back(FromString(*text));
          ++calls;
          continue;
        }
      }
      out.unclear = true;
    }
  }
  for (std::string_view name :
       {"spawn", "spawnSync", "execFile", "execFileSync"}) {
    for (size_t at : FindName(code, name)) {
      size_t open = SkipBlanks(code, at + name.size());
      size_t end = 0;
      if (open < code.size() && code[open] == '(') {
        std::optional<std::string> program =
            Literal(code, SkipBlanks(code, open + 1), "", &end);
        end = SkipBlanks(code, end);
        bool shell =
            code.substr(open, 400).find("shell") != std::string_view::npos;
        if (program && !shell && end < code.size()) {
          EmbeddedCommand command;
          command.argv = {*program};
          if (code[end] == ')') {
            out.commands.push_back(command);
            ++calls;
            continue;
          }
          size_t list = SkipBlanks(code, end + 1);
          if (code[end] == ',' && list < code.size() && code[list] == '[') {
            std::optional<std::vector<std::string>> words =
                LiteralList(code, list + 1, "]", "", &end);
            if (words) {
              command.argv.insert(command.argv.end(), words->begin(),
                                  words->end());
              out.commands.push_back(command);
              ++calls;
              continue;
            }
          }
        }
      }
      out.unclear = true;
    }
  }
  if (calls == 0) out.unclear = true;
  return out;
}

EmbeddedCode Named(std::string_view code,
                   std::span<const std::string_view> calls,
                   std::span<const std::string_view> unclear) {
  EmbeddedCode out;
  for (std::string_view name : calls) ScanCalls(code, name, "$", false, &out);
  for (std::string_view name : unclear) {
    if (!FindName(code, name).empty()) out.unclear = true;
  }
  return out;
}

}  // namespace

// foreign_text.cc
EmbeddedCode ScanAwk(std::string_view code);
EmbeddedCode ScanSed(std::string_view code);

namespace {

EmbeddedCode ScanCommands(Language language, std::string_view code) {
  switch (language) {
    case Language::kAwk:
      return ScanAwk(code);
    case Language::kSed:
      return ScanSed(code);
    case Language::kPython:
      return PythonCode(code);
    case Language::kPerl:
      return Perl(code);
    case Language::kRuby:
      return Ruby(code);
    case Language::kJavaScript:
      return NodeJs(code);
    case Language::kPhp: {
      EmbeddedCode out = Named(code, kPhpCommands, kPhpUnclear);
      ScanBackticks(code, "$", &out);
      return out;
    }
    case Language::kLua:
      return Named(code, kLuaCommands, kLuaUnclear);
    case Language::kM4:
      return Named(code, {}, kM4Unclear);
    default: {
      EmbeddedCode unclear;
      unclear.unclear = true;
      return unclear;
    }
  }
}

}  // namespace

EmbeddedCode ScanEmbedded(Language language, std::string_view code) {
  EmbeddedCode out = ScanCommands(language, code);
  ScanEmbeddedFiles(language, code, &out);
  return out;
}

}  // namespace gate::parser
