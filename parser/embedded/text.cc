// awk and sed: what their programs start.
#include <cctype>

#include "parser/embedded/characters.h"
#include "parser/eval/evaluate.h"

namespace gate::parser {

EmbeddedCode ScanAwk(std::string_view code);
EmbeddedCode ScanSed(std::string_view code);

namespace {

struct Token {
  enum Kind { kString, kName, kPipe, kOther, kEnd } kind = kOther;
  std::string text;
};

// awk's tokens, as far as spawning needs them.
std::vector<Token> AwkTokens(std::string_view code, bool* ok) {
  std::vector<Token> tokens;
  *ok = true;
  auto value_before = [&tokens] {
    if (tokens.empty()) return false;
    const Token& last = tokens.back();
    if (last.kind == Token::kString) return true;
    if (last.kind == Token::kName) {
      return last.text != "return" && last.text != "print" &&
             last.text != "in" && last.text != "if" && last.text != "while";
    }
    return last.kind == Token::kOther &&
           (last.text == ")" || last.text == "]" || last.text == "$");
  };
  for (size_t i = 0; i < code.size();) {
    char c = code[i];
    if (c == '\n') {
      tokens.push_back({Token::kOther, ";"});
      ++i;
    } else if (IsSpace(c)) {
      ++i;
    } else if (c == '\\' && i + 1 < code.size() && code[i + 1] == '\n') {
      i += 2;
    } else if (c == '#') {
      while (i < code.size() && code[i] != '\n') ++i;
    } else if (c == '"') {
      std::string text;
      bool closed = false;
      for (++i; i < code.size(); ++i) {
        if (code[i] == '"') {
          closed = true;
          ++i;
          break;
        }
        if (code[i] == '\\' && i + 1 < code.size()) {
          char e = code[++i];
          switch (e) {
            case 'n':
              text += '\n';
              break;
            case 't':
              text += '\t';
              break;
            case '"':
            case '\\':
            case '/':
              text += e;
              break;
            default:
              if (std::isalnum(static_cast<unsigned char>(e)) != 0) {
                *ok = false;
              }
              text += '\\';
              text += e;
          }
          continue;
        }
        text += code[i];
      }
      if (!closed) *ok = false;
      tokens.push_back({Token::kString, std::move(text)});
    } else if (c == '/' && !value_before()) {
      // A regular expression.
      bool closed = false, in_class = false;
      for (++i; i < code.size(); ++i) {
        if (code[i] == '\\') {
          ++i;
        } else if (code[i] == '[') {
          in_class = true;
        } else if (code[i] == ']') {
          in_class = false;
        } else if (code[i] == '/' && !in_class) {
          closed = true;
          ++i;
          break;
        } else if (code[i] == '\n') {
          break;
        }
      }
      if (!closed) *ok = false;
      tokens.push_back({Token::kOther, ")"});
    } else if (IsName(c)) {
      size_t begin = i;
      while (i < code.size() && IsName(code[i])) ++i;
      tokens.push_back(
          {Token::kName, std::string(code.substr(begin, i - begin))});
    } else if (c == '|') {
      if (i + 1 < code.size() && code[i + 1] == '|') {
        tokens.push_back({Token::kOther, "||"});
        i += 2;
      } else {
        ++i;
        if (i < code.size() && code[i] == '&') ++i;
        tokens.push_back({Token::kPipe, "|"});
      }
    } else {
      tokens.push_back({Token::kOther, std::string(1, c)});
      ++i;
    }
  }
  tokens.push_back({Token::kEnd, ""});
  return tokens;
}

EmbeddedCommand ShellText(std::string text) {
  EmbeddedCommand command;
  command.shell = true;
  command.argv = {std::move(text)};
  return command;
}

bool Ends(const Token& token) {
  return token.kind == Token::kEnd ||
         (token.kind == Token::kOther &&
          (token.text == ";" || token.text == "}" || token.text == ")"));
}

void AddFile(EffectKind kind, std::string path, EmbeddedCode* out) {
  if (path == "/dev/stdout" || path == "/dev/stderr" || path == "-" ||
      path == "/dev/stdin" || out->effects.size() > 64) {
    return;
  }
  EmbeddedEffect effect;
  effect.kind = kind;
  // gawk's sockets: /inet/tcp/0/host/port.
  if (path.starts_with("/inet")) {
    std::vector<std::string> parts;
    for (size_t at = 0; at != std::string::npos;) {
      size_t end = path.find('/', at + 1);
      parts.push_back(path.substr(
          at + 1, end == std::string::npos ? std::string::npos : end - at - 1));
      at = end;
    }
    effect.kind = EffectKind::kNetwork;
    if (parts.size() >= 5) {
      effect.text = parts[1] + "://" + parts[3] + ":" + parts[4];
      effect.listens = parts[3] == "0";
    }
  } else {
    effect.text = std::move(path);
  }
  out->effects.push_back(std::move(effect));
}

// `print > "file"` and `getline < "file"`; a comparison is neither.
void AwkFile(const std::vector<Token>& tokens, size_t at, EmbeddedCode* out) {
  const bool reads = tokens[at].text == "<";
  bool statement = false;
  int depth = 0;
  for (size_t i = at, steps = 0; i-- > 0 && steps < 64; ++steps) {
    const Token& token = tokens[i];
    if (token.kind == Token::kOther && token.text == ")") ++depth;
    if (token.kind == Token::kOther && token.text == "(" && depth-- == 0) break;
    if (token.kind == Token::kOther && depth == 0 &&
        (token.text == ";" || token.text == "{" || token.text == "}")) {
      break;
    }
    if (token.kind == Token::kName &&
        (reads ? token.text == "getline"
               : token.text == "print" || token.text == "printf")) {
      statement = true;
      break;
    }
  }
  if (!statement) return;
  size_t next = at + 1;
  if (next < tokens.size() && tokens[next].text == ">" &&
      tokens[next].kind == Token::kOther) {
    ++next;  // the second of >> is seen again, and names the same
  }
  const EffectKind kind = reads ? EffectKind::kRead : EffectKind::kWrite;
  if (next + 1 < tokens.size() && tokens[next].kind == Token::kString &&
      (Ends(tokens[next + 1]) || tokens[next + 1].text == "," || reads)) {
    AddFile(kind, tokens[next].text, out);
  } else {
    out->computed = true;
    EmbeddedEffect effect;
    effect.kind = kind;
    out->effects.push_back(std::move(effect));
  }
}

}  // namespace

EmbeddedCode ScanAwk(std::string_view code) {
  EmbeddedCode out;
  bool ok = true;
  std::vector<Token> tokens = AwkTokens(code, &ok);
  bool mentions = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind == Token::kString && token.text.starts_with("/inet")) {
      AddFile(EffectKind::kNetwork, token.text, &out);
    }
    if (token.kind == Token::kOther && token.text == "@") {
      // @include, @load, indirect calls.
      mentions = true;
      out.unclear = true;
    }
    if (token.kind == Token::kName && token.text == "system") {
      mentions = true;
      if (i + 3 < tokens.size() && tokens[i + 1].text == "(" &&
          tokens[i + 2].kind == Token::kString &&
          tokens[i + 3].kind == Token::kOther && tokens[i + 3].text == ")") {
        out.commands.push_back(ShellText(tokens[i + 2].text));
      } else {
        out.unclear = true;
      }
    }
    if (token.kind == Token::kOther &&
        (token.text == ">" || token.text == "<")) {
      AwkFile(tokens, i, &out);
    }
    if (token.kind != Token::kPipe) continue;
    mentions = true;
    bool reads = i + 1 < tokens.size() && tokens[i + 1].kind == Token::kName &&
                 tokens[i + 1].text == "getline";
    if (reads) {
      // "cmd" | getline: the string must be all of the left side.
      bool alone =
          i >= 1 && tokens[i - 1].kind == Token::kString &&
          (i < 2 || (tokens[i - 2].kind == Token::kOther &&
                     std::string_view("{;(=&|!").find(tokens[i - 2].text) !=
                         std::string_view::npos));
      if (alone) {
        out.commands.push_back(ShellText(tokens[i - 1].text));
      } else {
        out.unclear = true;
      }
    } else if (i + 2 < tokens.size() && tokens[i + 1].kind == Token::kString &&
               Ends(tokens[i + 2])) {
      out.commands.push_back(ShellText(tokens[i + 1].text));
    } else {
      out.unclear = true;
    }
  }
  if (!ok && (mentions || code.find("system") != std::string_view::npos ||
              code.find('|') != std::string_view::npos)) {
    out.unclear = true;
  }
  return out;
}

namespace {

// The end of a part of s or y that `delimiter` closes; npos when it is open.
size_t PartEnd(std::string_view code, size_t at, char delimiter, bool regex) {
  bool in_class = false;
  for (size_t i = at; i < code.size(); ++i) {
    if (code[i] == '\\') {
      ++i;
      continue;
    }
    if (regex && code[i] == '[' && !in_class) {
      in_class = true;
      if (i + 1 < code.size() && code[i + 1] == '^') ++i;
      if (i + 1 < code.size() && code[i + 1] == ']') ++i;
      continue;
    }
    if (in_class && code[i] == ']') {
      in_class = false;
      continue;
    }
    if (code[i] == delimiter && (!in_class || delimiter != '/')) return i;
    if (code[i] == delimiter && in_class) {
      // GNU sed ends the part inside a bracket expression, too, unless the
      // class is complete.
      if (code.find(']', i) == std::string_view::npos) return i;
    }
    if (regex && code[i] == '\n' && !in_class) return std::string_view::npos;
  }
  return std::string_view::npos;
}

// Whether text that sed puts in is more than it shows: bytes by their numbers,
// or groups in another order.
bool Rewrites(std::string_view text) {
  char last = '0';
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') continue;
    const char c = text[++i];
    if (c == 'x' || c == 'o' || c == 'd' || c == 'c') return true;
    if (c < '1' || c > '9') continue;
    if (c <= last) return true;
    last = c;
  }
  return false;
}

// Text that sed puts in, without what it takes from elsewhere.
std::string PutIn(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '&') continue;
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (c >= '0' && c <= '9') continue;
    out += c == 'n' ? '\n' : c;
  }
  return out;
}

}  // namespace

EmbeddedCode ScanSed(std::string_view code) {
  EmbeddedCode out;
  size_t i = 0;
  auto fail = [&] {
    out.rewrites = true;
    // Not followed further: an `e` may stand in what is left.
    if (code.substr(std::min(i, code.size())).find('e') !=
        std::string_view::npos) {
      out.unclear = true;
    }
    return out;
  };
  auto line_end = [&](size_t at) {
    size_t end = code.find('\n', at);
    return end == std::string_view::npos ? code.size() : end;
  };
  auto add_file = [&](EffectKind kind, size_t from, size_t to) {
    std::string_view name = code.substr(from, to - from);
    const size_t begin = name.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return;
    AddFile(kind, std::string(name.substr(begin)), &out);
  };
  while (i < code.size()) {
    char c = code[i];
    if (IsSpace(c) || c == ';' || c == '{' || c == '}' || c == '!') {
      ++i;
      continue;
    }
    if (c == '#') {
      i = line_end(i);
      continue;
    }
    // Addresses.
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '$' ||
        c == ',' || c == '+' || c == '~') {
      ++i;
      continue;
    }
    if (c == '/' || c == '\\') {
      char delimiter = c;
      size_t begin = i + 1;
      if (c == '\\') {
        if (begin >= code.size()) return fail();
        delimiter = code[begin++];
      }
      size_t end = PartEnd(code, begin, delimiter, true);
      if (end == std::string_view::npos) return fail();
      i = end + 1;
      while (i < code.size() && (code[i] == 'I' || code[i] == 'M')) ++i;
      continue;
    }
    ++i;
    switch (c) {
      case 's':
      case 'y': {
        if (i >= code.size()) return fail();
        char delimiter = code[i];
        size_t middle = PartEnd(code, i + 1, delimiter, c == 's');
        if (middle == std::string_view::npos) return fail();
        size_t end = PartEnd(code, middle + 1, delimiter, false);
        if (end == std::string_view::npos) return fail();
        std::string pattern(code.substr(i + 1, middle - i - 1));
        std::string replacement(code.substr(middle + 1, end - middle - 1));
        out.rewrites = out.rewrites || c == 'y' || Rewrites(replacement);
        if (c == 's') out.puts.push_back(PutIn(replacement));
        i = end + 1;
        bool runs = false;
        while (i < code.size() && code[i] != ';' && code[i] != '\n' &&
               code[i] != '}' && code[i] != '#') {
          if (code[i] == 'w' && c == 's') {
            const size_t last = line_end(i);
            add_file(EffectKind::kWrite, i + 1, last);
            i = last;
            break;
          }
          if (code[i] == 'e' && c == 's') runs = true;
          ++i;
        }
        if (!runs) break;
        out.rewrites = true;
        // The line becomes the replacement and is run.
        bool whole = pattern == ".*" || pattern == "^.*$" || pattern == "^.*" ||
                     pattern == ".*$";
        std::string text;
        bool plain = whole;
        for (size_t k = 0; k < replacement.size(); ++k) {
          if (replacement[k] == '&') {
            plain = false;
          } else if (replacement[k] == '\\' && k + 1 < replacement.size()) {
            char n = replacement[++k];
            if (n == delimiter || n == '&' || n == '\\') {
              text += n;
            } else {
              plain = false;
            }
          } else {
            text += replacement[k];
          }
        }
        if (plain) {
          out.commands.push_back(ShellText(text));
        } else {
          out.unclear = true;
        }
        break;
      }
      case 'e': {
        out.rewrites = true;
        size_t end = line_end(i);
        std::string_view text = code.substr(i, end - i);
        size_t begin = text.find_first_not_of(" \t");
        if (begin == std::string_view::npos) {
          out.unclear = true;  // runs the line it read
        } else {
          out.commands.push_back(ShellText(std::string(text.substr(begin))));
        }
        i = end;
        break;
      }
      case 'a':
      case 'i':
      case 'c': {
        // Text to the end of the line; lines that end in a backslash go on.
        while (i < code.size()) {
          size_t end = line_end(i);
          bool more = end > i && code[end - 1] == '\\';
          out.rewrites = out.rewrites || Rewrites(code.substr(i, end - i));
          out.puts.emplace_back(code.substr(i, end - i - (more ? 1 : 0)));
          i = end < code.size() ? end + 1 : end;
          if (!more) break;
        }
        break;
      }
      case ':':
      case 'b':
      case 't':
      case 'T':
        out.rewrites = true;
        while (i < code.size() && code[i] != '\n' && code[i] != ';' &&
               code[i] != '}') {
          ++i;
        }
        break;
      case 'r':
      case 'R':
      case 'w':
      case 'W': {
        const size_t last = line_end(i);
        out.rewrites = out.rewrites || c == 'r' || c == 'R';
        add_file(c == 'r' || c == 'R' ? EffectKind::kRead : EffectKind::kWrite,
                 i, last);
        i = last;
        break;
      }
      case 'D':
      case 'g':
      case 'G':
      case 'h':
      case 'H':
      case 'x':
        out.rewrites = true;
        break;
      case 'd':
      case 'l':
      case 'n':
      case 'N':
      case 'p':
      case 'P':
      case 'q':
      case 'Q':
      case 'z':
      case 'F':
      case '=':
        break;
      default:
        --i;
        return fail();
    }
  }
  return out;
}

}  // namespace gate::parser
