// sed: s, y, d, p, q, = not; addresses by number, $ and expression, ranges of
// numbers, `!`. Everything else is nullopt (GNU sed).

#include <algorithm>
#include <array>

#include "parser/filters/filters.h"
#include "parser/filters/internal.h"
#include "parser/filters/regex.h"

namespace gate::parser::filters {
namespace {

struct Address {
  enum Kind : unsigned char { kNone, kLine, kLast, kRegex } kind = kNone;
  size_t line = 0;
  std::optional<SimpleRegex> regex;
};

struct Command {
  Address from, to;
  bool negated = false;
  char name = '\0';
  // s
  std::optional<SimpleRegex> regex;
  // Text, or a group (0: the whole match) where `group` is not negative.
  std::vector<std::pair<std::string, int>> replacement;
  bool global = false, print = false;
  size_t number = 1;
  // y
  std::array<char, 128> map = {};
  size_t quit_code = 0;
};

class ScriptReader {
 public:
  ScriptReader(std::string_view text, bool extended)
      : text_(text), extended_(extended) {}

  bool Read(std::vector<Command>* commands) {
    for (;;) {
      Skip(" \t\n;");
      if (at_ >= text_.size()) return true;
      Command command;
      if (!ReadAddress(&command.from)) return false;
      if (command.from.kind != Address::kNone && Peek() == ',') {
        ++at_;
        if (!ReadAddress(&command.to)) return false;
        // Ranges of numbers only.
        if (command.from.kind != Address::kLine ||
            (command.to.kind != Address::kLine &&
             command.to.kind != Address::kLast)) {
          return false;
        }
      }
      Skip(" \t");
      if (Peek() == '!') {
        command.negated = true;
        ++at_;
        Skip(" \t");
      }
      if (at_ >= text_.size()) return false;
      command.name = text_[at_++];
      switch (command.name) {
        case 's':
          if (!ReadSubstitute(&command)) return false;
          break;
        case 'y':
          if (!ReadTranslate(&command)) return false;
          break;
        case 'd':
        case 'p':
          break;
        case 'q':
          if (command.to.kind != Address::kNone) return false;
          break;
        default:
          return false;
      }
      Skip(" \t");
      if (at_ < text_.size() && text_[at_] != ';' && text_[at_] != '\n') {
        return false;
      }
      commands->push_back(std::move(command));
    }
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void Skip(std::string_view set) {
    while (at_ < text_.size() && set.find(text_[at_]) != set.npos) ++at_;
  }

  bool ReadAddress(Address* address) {
    const char c = Peek();
    if (c >= '0' && c <= '9') {
      const size_t begin = at_;
      while (Peek() >= '0' && Peek() <= '9') ++at_;
      if (!ParseCount(text_.substr(begin, at_ - begin), &address->line) ||
          address->line == 0 || Peek() == '~') {
        return false;
      }
      address->kind = Address::kLine;
    } else if (c == '$') {
      ++at_;
      address->kind = Address::kLast;
    } else if (c == '/') {
      ++at_;
      std::string pattern;
      if (!ReadPart('/', &pattern) || pattern.empty()) return false;
      if (Peek() == 'I' || Peek() == 'M') return false;
      address->regex = SimpleRegex::Compile(pattern, extended_, false);
      if (!address->regex) return false;
      address->kind = Address::kRegex;
    } else if (c == '\\') {
      return false;
    }
    return true;
  }

  // Text up to an unescaped delimiter; an escaped delimiter loses its
  // backslash, which is done only where it cannot become special.
  bool ReadPart(char delimiter, std::string* part) {
    bool bracket = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') return false;
      if (c == '\\') {
        if (at_ + 1 >= text_.size() || bracket) return false;
        const char n = text_[++at_];
        if (n == delimiter) {
          if (std::string_view("/,#:@%_~=;! \"").find(n) == std::string::npos) {
            return false;
          }
          *part += n;
        } else {
          *part += c;
          *part += n;
        }
        continue;
      }
      if (c == delimiter) {
        if (bracket) return false;
        ++at_;
        return true;
      }
      *part += c;
    }
    return false;
  }

  bool ReadSubstitute(Command* command) {
    const char delimiter = Peek();
    if (delimiter == '\0' || delimiter == '\\' || delimiter == '\n' ||
        static_cast<unsigned char>(delimiter) >= 0x80) {
      return false;
    }
    ++at_;
    std::string pattern, replacement;
    if (!ReadPart(delimiter, &pattern)) return false;
    if (!ReadPart(delimiter, &replacement)) return false;
    bool ignore_case = false, numbered = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == 'g') {
        command->global = true;
      } else if (c == 'p') {
        if (command->print) return false;
        command->print = true;
      } else if (c == 'i' || c == 'I') {
        ignore_case = true;
      } else if (c >= '1' && c <= '9' && !numbered) {
        command->number = static_cast<size_t>(c - '0');
        numbered = true;
        if (at_ + 1 < text_.size() && text_[at_ + 1] >= '0' &&
            text_[at_ + 1] <= '9') {
          return false;
        }
      } else {
        break;
      }
    }
    if (pattern.empty() || (numbered && command->global)) return false;
    command->regex = SimpleRegex::Compile(pattern, extended_, ignore_case);
    if (!command->regex) return false;
    return ReadReplacement(replacement, command);
  }

  bool ReadReplacement(std::string_view text, Command* command) {
    std::string literal;
    const auto flush = [&] {
      if (!literal.empty()) command->replacement.emplace_back(literal, -1);
      literal.clear();
    };
    for (size_t k = 0; k < text.size(); ++k) {
      const char c = text[k];
      if (c == '&') {
        flush();
        command->replacement.emplace_back("", 0);
      } else if (c == '\\') {
        if (k + 1 >= text.size()) return false;
        const char n = text[++k];
        if (n >= '1' && n <= '9') {
          if (n - '0' > command->regex->groups()) return false;
          flush();
          command->replacement.emplace_back("", n - '0');
        } else if (n == 'n') {
          literal += '\n';
        } else if (n == 't') {
          literal += '\t';
        } else if (std::string_view("&\\/.-*[]$^,;:!\"'|() ").find(n) !=
                   std::string_view::npos) {
          literal += n;
        } else {
          return false;
        }
      } else {
        literal += c;
      }
    }
    flush();
    return true;
  }

  bool ReadTranslate(Command* command) {
    const char delimiter = Peek();
    if (delimiter != '/' && delimiter != ',' && delimiter != '|' &&
        delimiter != '#') {
      return false;
    }
    ++at_;
    std::string from, to;
    if (!ReadPart(delimiter, &from) || !ReadPart(delimiter, &to)) return false;
    if (from.find('\\') != std::string::npos ||
        to.find('\\') != std::string::npos || from.size() != to.size() ||
        !IsAscii(from) || !IsAscii(to)) {
      return false;
    }
    for (size_t k = 0; k < 128; ++k) command->map[k] = static_cast<char>(k);
    std::array<bool, 128> seen = {};
    for (size_t k = 0; k < from.size(); ++k) {
      const size_t c = static_cast<size_t>(from[k]);
      if (seen[c]) return false;  // the first or the last may win
      seen[c] = true;
      command->map[c] = to[k];
    }
    return true;
  }

  std::string_view text_;
  bool extended_;
  size_t at_ = 0;
};

// -1: too much work.
int Selected(const Command& command, const std::string& space, size_t line,
             bool last) {
  bool in = true;
  const auto is = [&](const Address& a) {
    if (a.kind == Address::kLine) return line == a.line ? 1 : 0;
    if (a.kind == Address::kLast) return last ? 1 : 0;
    SimpleRegex::Match match;
    return a.regex->Search(space, 0, &match);
  };
  if (command.to.kind != Address::kNone) {
    const size_t end =
        command.to.kind == Address::kLast ? SIZE_MAX : command.to.line;
    in = line >= command.from.line && line <= std::max(end, command.from.line);
  } else if (command.from.kind != Address::kNone) {
    const int found = is(command.from);
    if (found < 0) return -1;
    in = found == 1;
  }
  return in != command.negated ? 1 : 0;
}

// Replaces in `space`; 1 done, 0 nothing found, -1 not known.
int Substitute(const Command& command, std::string* space) {
  std::string out;
  size_t at = 0, count = 0;
  bool done = false;
  // Where the previous match ended: an empty match there does not count.
  size_t previous_end = SIZE_MAX;
  while (at <= space->size()) {
    SimpleRegex::Match match;
    const int found = command.regex->Search(*space, at, &match);
    if (found < 0) return -1;
    if (found == 0) break;
    out.append(*space, at, match.begin - at);
    const bool empty = match.begin == match.end;
    if (!(empty && match.begin == previous_end)) {
      ++count;
      if (count >= command.number) {
        done = true;
        for (const auto& [text, group] : command.replacement) {
          if (group < 0) {
            out += text;
          } else if (group == 0) {
            out.append(*space, match.begin, match.end - match.begin);
          } else {
            const auto& [b, e] = match.groups[static_cast<size_t>(group)];
            out.append(*space, b, e - b);
          }
        }
      } else {
        out.append(*space, match.begin, match.end - match.begin);
      }
    }
    previous_end = match.end;
    at = match.end;
    if (empty) {
      if (at < space->size()) out += (*space)[at];
      ++at;
    }
    if (done && !command.global) break;
    if (out.size() > kMaxFilterBytes) return -1;
  }
  if (!done) return 0;
  if (at < space->size()) out.append(*space, at, std::string::npos);
  *space = std::move(out);
  return 1;
}

}  // namespace

Output Sed(const Argv& argv, std::string_view input) {
  Parsed p;
  if (!Parse(argv, "nEre:su",
             "quiet=n silent=n regexp-extended=E expression=e separate "
             "unbuffered=u null-data posix debug in-place file "
             "line-length follow-symlinks sandbox binary zero-terminated",
             &p) ||
      !IsAscii(input)) {
    return std::nullopt;
  }
  std::string script;
  bool given = false;
  for (const auto& [option, value] : p.options) {
    if (option != 'e') continue;
    if (given) script += '\n';
    script += value;
    given = true;
  }
  if (!given) {
    if (p.operands.empty()) return std::nullopt;
    script = p.operands[0];
    p.operands.erase(p.operands.begin());
  }
  if (!OnlyStdin(p) || !IsAscii(script) || script.starts_with("#n")) {
    return std::nullopt;
  }
  std::vector<Command> commands;
  if (!ScriptReader(script, p.Has('E') || p.Has('r')).Read(&commands)) {
    return std::nullopt;
  }
  const bool quiet = p.Has('n');
  const auto lines = Lines(input);
  std::string out;
  for (size_t k = 0; k < lines.size(); ++k) {
    const bool last = k + 1 == lines.size();
    std::string space(WithoutNewline(lines[k]));
    const bool newline = space.size() != lines[k].size();
    bool deleted = false, quit = false;
    const auto print = [&] {
      // A line without newline gets one when more is printed after it.
      if (!out.empty() && out.back() != '\n') out += '\n';
      out += space;
      if (newline) out += '\n';
    };
    for (const Command& command : commands) {
      // Embedded newlines change what ^, $ and . mean to some versions.
      if (space.find('\n') != std::string::npos) return std::nullopt;
      const int selected = Selected(command, space, k + 1, last);
      if (selected < 0) return std::nullopt;
      if (selected == 0) continue;
      if (command.name == 'd') {
        deleted = true;
        break;
      }
      if (command.name == 'q') {
        quit = true;
        break;
      }
      if (command.name == 'p') {
        if (!newline) return std::nullopt;
        print();
      } else if (command.name == 'y') {
        for (char& c : space) c = command.map[static_cast<size_t>(c)];
      } else {
        const int done = Substitute(command, &space);
        if (done < 0) return std::nullopt;
        if (done == 1 && command.print) {
          if (!newline) return std::nullopt;
          print();
        }
        if (space.find('\n') != std::string::npos &&
            &command != &commands.back()) {
          return std::nullopt;
        }
      }
    }
    if (!deleted && !quiet) print();
    if (quit) break;
    if (out.size() > kMaxFilterBytes) return std::nullopt;
  }
  return out;
}

}  // namespace gate::parser::filters
