// Puts [redacted:KIND] where secrets were found.
#include <algorithm>

#include "audit/log.h"
#include "audit/redact.h"

namespace gate::audit {

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
