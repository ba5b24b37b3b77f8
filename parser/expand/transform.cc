// ${x@Q} and its relatives.
#include <algorithm>
#include <cctype>

#include "base/ascii.h"
#include "parser/expand/escapes.h"
#include "parser/expand/internal.h"

namespace gate::parser {
namespace {

bool NeedsAnsi(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u < 0x20 || u == 0x7f;
  });
}

std::string SingleQuoted(std::string_view text) {
  if (NeedsAnsi(text)) return AnsiQuote(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

// As `declare -p` writes an element.
std::string DoubleQuoted(std::string_view text) {
  if (NeedsAnsi(text)) return AnsiQuote(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '$' || c == '`') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string WithoutEscapes(std::string_view text) {
  std::string out;
  bool stop = false;
  while (!text.empty()) {
    if (text[0] != '\\') {
      out += text[0];
      text.remove_prefix(1);
      continue;
    }
    text.remove_prefix(DecodeEscape(text, EscapeStyle::kAnsi, &out, &stop));
  }
  return out;
}

}  // namespace

std::string TransformLetter(Expander& x, const Parameter& parameter) {
  if (parameter.operand == kNone) return "";
  const Values operand = ExpandQuoted(x, parameter.operand);
  return operand.size() == 1 && operand[0].known()
             ? std::string(operand[0].text())
             : "";
}

Values Transformed(Expander& x, const std::string& letter, const Values& values,
                   Span span) {
  if (letter == "P") {
    Values results;
    for (const Value& value : values) {
      const Values one = ExpandPrompt(x, value, span);
      results = results.empty() ? one : Union(results, one);
    }
    return results;
  }
  // What is written of bytes beyond ASCII depends on the locale.
  if (letter == "Q" || letter == "K" || letter == "k")
    return MapKnown(values, [span](std::string_view text) {
      if (NeedsAnsi(text) && !IsAscii(text)) return UnknownAt(span);
      return Value::Of(SingleQuoted(text));
    });
  if (letter == "E")
    return MapKnown(values, [](std::string_view text) {
      return Value::Of(WithoutEscapes(text));
    });
  if (letter == "U" || letter == "L" || letter == "u")
    return MapKnown(values, [&letter, span](std::string_view text) {
      Value out;
      for (size_t i = 0; i < text.size(); ++i) {
        const auto u = static_cast<unsigned char>(text[i]);
        if (letter == "u" && i > 0) {
          out.Append(text.substr(i));
          break;
        }
        if (u >= 0x80) {
          size_t end = i;
          while (end + 1 < text.size() &&
                 static_cast<unsigned char>(text[end + 1]) >= 0x80)
            ++end;
          out.Append(UnknownAt(span));
          i = letter == "u" ? 0 : end;
          if (letter == "u") return UnknownAt(span);
          continue;
        }
        const char c = static_cast<char>(letter == "L" ? std::tolower(u)
                                                       : std::toupper(u));
        out.Append(std::string_view(&c, 1));
      }
      return out;
    });
  return {UnknownAt(span)};
}

bool KeysAndValues(const Elements& elements, bool associative,
                   std::string* text) {
  text->clear();
  if (elements.unknown || elements.keys.size() != elements.values.size())
    return false;
  for (size_t i = 0; i < elements.values.size(); ++i) {
    const Values& values = elements.values[i];
    if (values.size() != 1 || !values[0].known() || !IsAscii(values[0].text()))
      return false;
    const std::string_view key = elements.keys[i][0].text();
    if (!IsAscii(key) || (associative && !IsName(key) && NeedsAnsi(key)))
      return false;
    if (i > 0 && !associative) *text += ' ';
    const bool plain =
        !key.empty() && key.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                            "XYZ0123456789_") == std::string_view::npos;
    if (associative && !plain) {
      if (key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                                "UVWXYZ0123456789_ ") != std::string_view::npos)
        return false;
      *text += DoubleQuoted(key);
    } else {
      *text += key;
    }
    *text += ' ' + DoubleQuoted(values[0].text());
    if (associative) *text += ' ';
  }
  return true;
}

}  // namespace gate::parser
