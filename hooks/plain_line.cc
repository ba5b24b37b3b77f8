#include "hooks/plain_line.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gate::hooks {
namespace {

// Reserved words and builtins of bash 5.2, zsh 5.9 and fish 3.6 (`compgen -bk`;
// `print ${(k)builtins} ${(k)reswords}`; `builtin -n`, `functions -n`), less
// those that IsPlain() knows the shared forms of. Some are programs elsewhere.
constexpr std::array kShellNames = {
    "-",           ".",          "..",
    "abbr",        "alias",      "always",
    "and",         "argparse",   "autoload",
    "begin",       "bg",         "bind",
    "bindkey",     "block",      "break",
    "breakpoint",  "builtin",    "bye",
    "caller",      "case",       "cdh",
    "chdir",       "clone",      "command",
    "commandline", "compadd",    "comparguments",
    "compcall",    "compctl",    "compdescribe",
    "compfiles",   "compgen",    "compgroups",
    "complete",    "compopt",    "compquote",
    "compset",     "comptags",   "comptry",
    "compvalues",  "contains",   "continue",
    "coproc",      "count",      "declare",
    "dirh",        "dirs",       "disable",
    "disown",      "do",         "done",
    "echotc",      "echoti",     "elif",
    "else",        "emit",       "emulate",
    "enable",      "end",        "esac",
    "eval",        "exec",       "exit",
    "export",      "fc",         "fg",
    "fi",          "float",      "for",
    "foreach",     "function",   "functions",
    "getcap",      "getln",      "getopts",
    "hash",        "help",       "histchars",
    "history",     "if",         "in",
    "integer",     "isatty",     "jobs",
    "kill",        "l",          "la",
    "let",         "limit",      "ll",
    "local",       "log",        "logout",
    "mapfile",     "math",       "nextd",
    "nocorrect",   "noglob",     "not",
    "open",        "or",         "path",
    "popd",        "prevd",      "print",
    "printf",      "private",    "psub",
    "pushd",       "pushln",     "r",
    "random",      "read",       "readarray",
    "readonly",    "realpath",   "rehash",
    "repeat",      "return",     "sched",
    "select",      "set",        "set_color",
    "setcap",      "setenv",     "setopt",
    "shift",       "shopt",      "source",
    "stat",        "status",     "string",
    "suspend",     "switch",     "test",
    "then",        "time",       "times",
    "trap",        "ttyctl",     "type",
    "typeset",     "ulimit",     "umask",
    "unalias",     "unfunction", "unhash",
    "unlimit",     "unset",      "unsetopt",
    "until",       "vared",      "wait",
    "whence",      "where",      "which",
    "while",       "zcompile",   "zformat",
    "zle",         "zmodload",   "zparseopts",
    "zregexparse", "zstyle"};

struct Word {
  std::string text;
  bool quoted = false;
};

// A simple command so far. The descriptors are those that it redirects: zsh
// gives a second redirection, or a pipe beside one, a meaning of its own.
struct Command {
  std::vector<Word> words;
  std::array<bool, 3> redirected = {};
  bool reads_pipe = false;
};

bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool EndsWord(char c) { return IsBlank(c) || c == '|' || c == '&' || c == ';'; }

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool IsSafe(char c) {
  return IsLetter(c) || (c >= '0' && c <= '9') ||
         std::string_view("./:,+-@").find(c) != std::string_view::npos;
}

// What stands between the quotes at the begin of `rest`, and `rest` after it.
bool TakeQuoted(std::string_view* rest, std::string* text) {
  const char quote = rest->front();
  const size_t end = rest->find(quote, 1);
  if (end == std::string_view::npos) return false;
  const std::string_view inside = rest->substr(1, end - 1);
  rest->remove_prefix(end + 1);
  for (size_t i = 0; i < inside.size(); ++i) {
    const auto c = static_cast<unsigned char>(inside[i]);
    if (c < ' ' || c == 0x7f) return false;
    if (quote == '"' &&
        std::string_view("$`\\!").find(inside[i]) != std::string_view::npos)
      return false;
    // fish takes `\\` and `\'` for one character.
    if (c == '\\' && (i + 1 == inside.size() || inside[i + 1] == '\\'))
      return false;
  }
  // With zsh's RC_QUOTES two quotes inside of quotes are one character.
  if (quote == '\'' && rest->starts_with('\'')) return false;
  text->append(inside);
  return true;
}

bool TakePlainWord(std::string_view* rest, Word* word) {
  bool equals = false;
  for (bool first = true; !rest->empty() && !EndsWord(rest->front());
       first = false) {
    const char c = rest->front();
    if (c == '\'' || c == '"') {
      word->quoted = true;
      if (!TakeQuoted(rest, &word->text)) return false;
      continue;
    }
    const bool is_option = !first && !word->quoted && word->text[0] == '-';
    // `=x` is a program's path in zsh, and so may be what follows a second `=`.
    if (!(IsSafe(c) || (c == '%' && !first) ||
          (c == '=' && is_option && !equals) ||
          (c == '~' && first && rest->size() > 1 && (*rest)[1] == '/')))
      return false;
    equals |= c == '=';
    word->text += c;
    rest->remove_prefix(1);
  }
  return word->quoted || !word->text.empty();
}

void SkipBlanks(std::string_view* rest) {
  while (!rest->empty() && IsBlank(rest->front())) rest->remove_prefix(1);
}

// A redirection with its target, at the begin of `rest`.
bool TakeRedirection(std::string_view* rest, Command* command) {
  size_t fd = 1;
  if (rest->front() == '1' || rest->front() == '2') {
    fd = static_cast<size_t>(rest->front() - '0');
    rest->remove_prefix(1);
  }
  if (rest->front() == '<') fd = 0;
  // Before the program's name it might be all there is.
  if (command->words.empty() || command->redirected[fd]) return false;
  command->redirected[fd] = true;
  rest->remove_prefix(1);
  if (fd != 0 && rest->starts_with('&')) {
    rest->remove_prefix(1);
    if (!rest->starts_with('1') && !rest->starts_with('2')) return false;
    rest->remove_prefix(1);
    return rest->empty() || EndsWord(rest->front());
  }
  if (fd != 0 && rest->starts_with('>')) rest->remove_prefix(1);
  SkipBlanks(rest);
  Word target;
  return TakePlainWord(rest, &target);
}

bool StartsRedirection(std::string_view rest) {
  return rest[0] == '<' || rest[0] == '>' ||
         (rest.size() > 1 && (rest[0] == '1' || rest[0] == '2') &&
          rest[1] == '>');
}

// Whether the command is one in all shells alike.
bool IsPlain(const Command& command, bool writes_pipe) {
  if (command.words.empty() || command.words[0].quoted) return false;
  if (command.reads_pipe && command.redirected[0]) return false;
  if (writes_pipe && command.redirected[1]) return false;
  const std::string& name = command.words[0].text;
  const size_t count = command.words.size() - 1;
  if (name == ":" || name == "true" || name == "false") return true;
  // fish enters a directory that is named as a program.
  if (!IsLetter(name[0]) || name.find('/') != std::string::npos) return false;
  if (name == "pwd") return count == 0;
  if (name == "cd") {
    // zsh and fish run the end of a pipe themselves, and `-1` or a second word
    // lead zsh elsewhere.
    return !command.reads_pipe && !writes_pipe && count <= 1 &&
           (count == 0 || (!command.words[1].text.empty() &&
                           command.words[1].text[0] != '-' &&
                           command.words[1].text[0] != '+'));
  }
  if (name == "echo") {
    for (size_t i = 1; i <= count; ++i) {
      const std::string& word = command.words[i].text;
      if (word.find('\\') != std::string::npos) return false;
      if (word.starts_with('-') && !(i == 1 && word == "-n")) return false;
    }
    return true;
  }
  return std::ranges::find(kShellNames, name) == kShellNames.end();
}

}  // namespace

bool MeansTheSameInEveryShell(std::string_view line) {
  while (!line.empty() && (IsBlank(line.back()) || line.back() == '\n'))
    line.remove_suffix(1);
  Command command;
  for (;;) {
    SkipBlanks(&line);
    if (line.empty()) return IsPlain(command, /*writes_pipe=*/false);
    if (line.starts_with("&&") || line.starts_with("||") ||
        line.starts_with('|') || line.starts_with(';')) {
      const bool two = line[0] != ';' && line.size() > 1 && line[1] == line[0];
      const bool pipe = line[0] == '|' && !two;
      if (!IsPlain(command, pipe)) return false;
      line.remove_prefix(two ? 2 : 1);
      command = Command{};
      command.reads_pipe = pipe;
      continue;
    }
    if (StartsRedirection(line)) {
      if (!TakeRedirection(&line, &command)) return false;
      continue;
    }
    Word word;
    if (!TakePlainWord(&line, &word)) return false;
    command.words.push_back(std::move(word));
  }
}

}  // namespace gate::hooks
