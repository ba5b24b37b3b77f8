// Text that the shell reads a second time: prompts (PS4, ${x@P}) and the
// subscripts in arithmetic text.
#include "parser/expand_internal.h"

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
      digits = digits && (!chunk.hole || chunk.digits);
    if (!digits)
      x.host.Note(UnknownCode::kDynamicCode, span,
                  "unknown text is expanded a second time");
    return {text};
  }
  if (text.text().find_first_of("$`\\") == std::string_view::npos)
    return {text};
  if (!x.host.Spend(8)) return {Value::Hole(UnknownCode::kLimit, span)};
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
    return {Value::Hole(UnknownCode::kUnmodelled, span)};
  }
  Expander inner{x.state, script, x.host};
  Values values = ExpandQuoted(inner, script.ast.redirects[0].body);
  // The line end before the delimiter is not part of the text.
  for (Value& value : values) {
    if (value.chunks.empty() || value.chunks.back().hole) continue;
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
    return {Value::Hole(UnknownCode::kDynamicCode, span)};
  }
  // Backslash escapes first; what they stand for is not expanded again, so a
  // place that is not known ends what is followed exactly.
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
        decoded += "\\\\";
        break;
      case '$':
        decoded += "\\$";
        exact = false;
        break;
      default:
        if (c >= '0' && c <= '7') {
          int value = 0;
          size_t digits = 0;
          while (digits < 3 && i < source.size() && source[i] >= '0' &&
                 source[i] <= '7') {
            value = value * 8 + (source[i++] - '0');
            ++digits;
          }
          --i;
          // An octal escape can spell `$` or a backquote: then bash expands
          // what it made.
          decoded += static_cast<char>(value);
        } else {
          exact = false;
          decoded += '?';
        }
    }
  }
  const Values values = ExpandText(x, Value::Of(decoded), span);
  if (exact) return values;
  return {Value::Hole(UnknownCode::kDynamicArgument, span)};
}

}  // namespace gate::parser
