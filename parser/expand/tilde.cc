// Tilde expansion of unquoted literal text.
#include "parser/expand/internal.h"

namespace gate::parser {
namespace {

// What ~prefix stands for. `expands` false: it stays as it is.
Values TildeValue(Expander& x, std::string_view prefix, Span span,
                  bool* expands) {
  *expands = true;
  std::optional<bool> set;
  const Values unknown = {Value::Unknown(UnknownCode::kDynamicArgument, span)};
  if (prefix.empty()) {
    const Values home = GetVariable(x, "HOME", &set);
    if (set == true) return home;
    const std::string fallback = x.host.HomeOf("");
    if (set == false && !fallback.empty()) return {Value::Of(fallback)};
    return unknown;
  }
  if (prefix == "+" || prefix == "-") {
    const Values directory =
        GetVariable(x, prefix == "+" ? "PWD" : "OLDPWD", &set);
    if (set == false) *expands = false;
    return set == true ? directory : unknown;
  }
  // ~1, ~+1, ~-1: the directory stack.
  const size_t digits = prefix.find_first_not_of(
      "0123456789", prefix[0] == '+' || prefix[0] == '-' ? 1 : 0);
  if (digits == std::string_view::npos) return unknown;
  if (prefix.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTU"
                               "VWXYZ0123456789._-") !=
      std::string_view::npos) {
    *expands = false;
    return {Value{}};
  }
  const std::string home = x.host.HomeOf(std::string(prefix));
  // A user that is not known here may be on the machine.
  return home.empty() ? unknown : Values{Value::Of(home)};
}

}  // namespace

Alternatives ExpandLiteral(Expander& x, const std::string& text, Span span,
                           const LiteralPlace& place) {
  if (text.find('~') == std::string::npos || place.no_tilde)
    return {{TextPiece(Value::Of(text), false, place.split, span)}};
  Alternatives all{{}};
  std::string plain;
  const auto flush = [&] {
    if (plain.empty()) return;
    AppendAlternatives(
        &all, {{TextPiece(Value::Of(plain), false, place.split, span)}});
    plain.clear();
  };
  const size_t first_equals =
      place.after_equals ? text.find('=') : std::string::npos;
  const bool colons = place.after_colon || place.after_equals;
  size_t i = 0;
  while (i < text.size()) {
    const bool candidate =
        text[i] == '~' &&
        ((i == 0 && place.at_start) || (i > 0 && first_equals == i - 1) ||
         (i > 0 && colons && text[i - 1] == ':'));
    if (!candidate) {
      plain += text[i++];
      continue;
    }
    if (i == 0 && !colons &&
        text.substr(0, text.find('/')).find(':') != std::string::npos) {
      // ~:x outside of assignments: bash takes more for the user's name than
      // it should.
      return {{TextPiece(Value::Unknown(UnknownCode::kDynamicArgument, span),
                         false, true, span)}};
    }
    size_t end = i + 1;
    while (end < text.size() && text[end] != '/' &&
           !(text[end] == ':' && colons))
      ++end;
    bool expands = end < text.size() || place.last;
    Values home;
    if (expands)
      home = TildeValue(x, std::string_view(text).substr(i + 1, end - i - 1),
                        span, &expands);
    if (!expands) {
      plain += text[i++];
      continue;
    }
    flush();
    Alternatives one;
    for (const Value& value : home)
      one.push_back({TextPiece(value, /*quoted=*/true, false, span)});
    AppendAlternatives(&all, one);
    i = end;
  }
  flush();
  return all;
}

}  // namespace gate::parser
