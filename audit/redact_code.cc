// What is written in other languages than the shell's, in here-documents and in
// arguments: assignments of interpreters, XML, values of headers.
#include <algorithm>

#include "audit/redact.h"
#include "known/secret_prefixes.h"

namespace gate::audit {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

bool BeginsItsLine(std::string_view text, size_t at) {
  while (at > 0 && IsBlank(text[at - 1])) --at;
  return at == 0 || text[at - 1] == '\n';
}

}  // namespace

size_t AssignedValue(std::string_view text, size_t begin, size_t end) {
  const auto at = [&](size_t i) { return i < text.size() ? text[i] : '\0'; };
  const char before = begin > 0 ? text[begin - 1] : '\0';
  size_t i = end;
  const bool quoted =
      (before == '"' || before == '\'') && at(i) == before && at(i + 1) == ']';
  if (quoted) ++i;
  const bool index = at(i) == ']';
  if (index) ++i;
  const size_t behind = i;
  while (IsBlank(at(i))) ++i;
  const bool blank = i > behind;
  if (!index && !blank) return 0;
  if (at(i) == ':') ++i;
  if (at(i) != '=' || at(i + 1) == '=') return 0;
  ++i;
  // TOKEN= make is a line that runs make; TOKEN = make is none that does.
  if (!blank) return i;
  while (IsBlank(at(i))) ++i;
  return at(i) == '"' || at(i) == '\'' || BeginsItsLine(text, begin) ? i : 0;
}

size_t ElementEnd(std::string_view text, size_t begin, size_t end) {
  if (begin == 0 || text[begin - 1] != '<' || end >= text.size() ||
      text[end] != '>') {
    return 0;
  }
  // <password> and <, on a line of the shell, are redirections.
  const size_t close = text.find_first_of(" \t\n<>;|&()`$\"'", end + 1);
  if (close == std::string_view::npos || close == end + 1) return 0;
  const std::string_view rest = text.substr(close);
  return rest.starts_with("</") &&
                 rest.substr(2).starts_with(text.substr(begin, end - begin))
             ? close
             : 0;
}

bool BeginsCookie(std::string_view text, size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  const size_t name = at;
  while (at < text.size() && IsIn(SecretClass::kDotted, text[at])) ++at;
  return at > name && at < text.size() && text[at] == '=';
}

bool IsTokenTail(std::string_view text, size_t at) {
  constexpr size_t kLeast = 20;
  const std::string_view tail = text.substr(std::min(at, text.size()), kLeast);
  return tail.size() == kLeast &&
         std::all_of(tail.begin(), tail.end(), IsAsciiAlnum);
}

}  // namespace gate::audit
