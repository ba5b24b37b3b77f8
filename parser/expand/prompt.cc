// Text that the shell reads a second time: prompts (PS4, ${x@P}) and the
// subscripts in arithmetic text.
#include "parser/expand/internal.h"

namespace gate::parser {
namespace {

// A here-document's body is the one place whose reading is exactly "in the
// manner of double quotes" for any text; the delimiter must not be a line of
// it.
std::string Delimiter(std::string_view text) {
  std::string word = "GATE_END";
  while (text.find(word) != std::string_view::npos) word += "_";
  return word;
}

}  // namespace

Values ExpandText(Expander& x, const Value& text, Span span) {
  if (!text.known()) {
    bool digits = true;
    for (const Chunk& chunk : text.chunks)
      digits = digits && (!chunk.unknown || chunk.digits);
    if (!digits)
      x.host.Note(UnknownCode::kDynamicCode, span,
                  "unknown text is expanded a second time");
    return {text};
  }
  if (text.text().find_first_of("$`\\") == std::string_view::npos)
    return {text};
  if (!x.host.Spend(8)) return {Value::Unknown(UnknownCode::kLimit, span)};
  const std::string word = Delimiter(text.text());
  std::string source = ": <<" + word + "\n";
  source += text.text();
  source += "\n" + word + "\n";
  ReadOptions options;
  options.compare = false;
  options.extglob = x.state.extglob;
  options.depth = 1;
  const Script script = Read(source, options);
  if (script.status != ReadStatus::kOk || script.ast.redirects.empty()) {
    x.host.Note(UnknownCode::kUnmodelled, span, "text that cannot be read");
    return {Value::Unknown(UnknownCode::kUnmodelled, span)};
  }
  Expander inner{x.state, script, x.host};
  Values values = ExpandQuoted(inner, script.ast.redirects[0].body);
  // The line end before the delimiter is not part of the text.
  for (Value& value : values) {
    if (value.chunks.empty() || value.chunks.back().unknown) continue;
    std::string& last = value.chunks.back().text;
    if (last.ends_with('\n')) last.pop_back();
    if (last.empty()) value.chunks.pop_back();
  }
  return values;
}

Values ExpandPrompt(Expander& x, const Value& text, Span span) {
  if (!text.known()) {
    x.host.Note(UnknownCode::kDynamicCode, span,
                "unknown text is expanded as a prompt");
    return {Value::Unknown(UnknownCode::kDynamicCode, span)};
  }
  // Backslash escapes first; what they make is expanded again, so that an
  // octal escape can spell `$`. What is not known (\u, \w, …) is quoted by bash
  // and cannot run anything.
  std::string decoded;
  bool exact = true;
  const std::string_view source = text.text();
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\\' || i + 1 == source.size()) {
      decoded += source[i];
      continue;
    }
    const char c = source[++i];
    switch (c) {
      case 'n':
        decoded += '\n';
        break;
      case 'r':
        decoded += '\r';
        break;
      case 'a':
        decoded += '\a';
        break;
      case 'e':
        decoded += '\x1b';
        break;
      case '[':
      case ']':
        break;
      case '\\':
        decoded += '\\';
        break;
      case '0':
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
      case '7': {
        // Up to three digits, and nothing else among the next three.
        const std::string_view window = source.substr(i, 3);
        int value = 0;
        bool octal = true;
        for (const char d : window) {
          octal = octal && d >= '0' && d <= '7';
          value = value * 8 + (d - '0');
        }
        if (!octal) {
          decoded += '\\';
          --i;
          break;
        }
        if (value == 0 || value > 0177) exact = false;
        if (value != 0) decoded += static_cast<char>(value);
        i += window.size() - 1;
        break;
      }
      default:
        if (std::string_view("dtT@ADehHjlsuvVwW!#$").find(c) !=
            std::string_view::npos) {
          exact = false;
          decoded += '?';
          if (c == 'D' && i + 1 < source.size() && source[i + 1] == '{') {
            const size_t close = source.find('}', i);
            i = close == std::string_view::npos ? source.size() : close;
          }
        } else {
          decoded += '\\';
          decoded += c;
        }
    }
  }
  const Values values = ExpandText(x, Value::Of(decoded), span);
  if (exact) return values;
  return {Value::Unknown(UnknownCode::kDynamicArgument, span)};
}

}  // namespace gate::parser
