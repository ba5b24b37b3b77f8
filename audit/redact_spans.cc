// What is no secret after all, and [redacted:KIND] in place of what is one.
#include <algorithm>

#include "audit/log.h"
#include "audit/redact.h"
#include "audit/secret_names.h"
#include "known/secret_prefixes.h"

namespace gate::audit {

bool IsHarmlessValue(std::string_view name, std::string_view value) {
  while (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
         value.back() == value.front()) {
    value = value.substr(1, value.size() - 2);
  }
  if (value.empty() || value.starts_with("[redacted:")) return true;
  if (value.front() == '`' || value.starts_with("$(")) return true;
  if (value.front() == '$') {
    // $NAME and ${NAME}, alone.
    std::string_view name_only = value.substr(1);
    if (name_only.size() > 2 && name_only.front() == '{' &&
        name_only.back() == '}') {
      name_only = name_only.substr(1, name_only.size() - 2);
    }
    return !name_only.empty() &&
           std::all_of(name_only.begin(), name_only.end(),
                       [](char c) { return IsIn(SecretClass::kWord, c); });
  }
  for (const std::string_view word :
       {"true", "false", "yes", "no", "on", "off", "none", "null", "auto"}) {
    if (value == word) return true;
  }
  // max_tokens=4096
  const PlainName plain(name);
  return plain.view().find("TOKENS") != std::string_view::npos &&
         std::all_of(value.begin(), value.end(),
                     [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

std::string Redact(std::string_view command, std::vector<std::string>* kinds) {
  std::vector<SecretSpan> spans;
  FindSecretPlaces(command, &spans);
  FindSecretPatterns(command, &spans);
  if (spans.empty()) return std::string(command);
  std::sort(spans.begin(), spans.end(),
            [](const SecretSpan& a, const SecretSpan& b) {
              return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
            });
  std::string out;
  size_t at = 0;
  for (size_t i = 0; i < spans.size();) {
    const SecretSpan first = spans[i];
    size_t end = first.end;
    for (++i; i < spans.size() && spans[i].begin <= end; ++i) {
      end = std::max(end, spans[i].end);
    }
    out += command.substr(at, first.begin - at);
    out += "[redacted:";
    out += first.kind;
    out += ']';
    at = end;
    if (kinds != nullptr &&
        std::find(kinds->begin(), kinds->end(), first.kind) == kinds->end()) {
      kinds->emplace_back(first.kind);
    }
  }
  out += command.substr(at);
  return out;
}

}  // namespace gate::audit
