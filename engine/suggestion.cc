#include "engine/suggestion.h"

#include <algorithm>

namespace gate::engine {
namespace {

// How many words `words` has where the command is one of them, else 0.
size_t CountWords(const parser::Invocation& invocation,
                  std::string_view words) {
  size_t count = 0, next = 1;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    if (count++ == 0) {
      if (word != invocation.program) return 0;
      continue;
    }
    const auto has = [&](const parser::Argument& argument) {
      return argument.known && argument.text == word;
    };
    while (next < invocation.argv.size() && !has(invocation.argv[next])) ++next;
    if (next++ >= invocation.argv.size()) return 0;
  }
  return count;
}

}  // namespace

std::string_view SuggestionFor(const rules::RuleView& view,
                               const rules::RuleRecord& rule,
                               const parser::Invocation* invocation) {
  std::string_view best = view.Text(rule.suggestion);
  if (invocation == nullptr) return best;
  const auto pairs = view.In(view.strings, rule.suggestions);
  size_t most = 0;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const size_t words = CountWords(*invocation, view.Text(pairs[i]));
    if (words <= most) continue;
    most = words;
    best = view.Text(pairs[i + 1]);
  }
  return best;
}

}  // namespace gate::engine
