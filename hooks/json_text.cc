#include "hooks/json_text.h"

#include <algorithm>

#include "base/json.h"

namespace gate::hooks {
namespace {

size_t SkipNumber(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of("0123456789+-.eE", at), text.size());
}

// RFC 8259, section 6.
bool IsNumber(std::string_view text) {
  const auto digits = [&] {
    const size_t count =
        std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count > 0;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with('0'))
    text.remove_prefix(1);
  else if (!digits())
    return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!digits()) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (!digits()) return false;
  }
  return text.empty();
}

std::string Replaced(std::string_view text, size_t from, size_t to,
                     const std::string& with) {
  std::string out(text.substr(0, from));
  out += with;
  out += text.substr(to);
  return out;
}

}  // namespace

std::string WithPlainNumbers(std::string_view text) {
  constexpr size_t kSafe = 15;  // digits
  std::string plain(text);
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = JsonValueEnd(text, at);
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      const size_t end = SkipNumber(text, at);
      const std::string_view number = text.substr(at, end - at);
      const bool large = number.size() > kSafe ||
                         number.find_first_of("eE") != std::string_view::npos;
      if (large && IsNumber(number)) {
        plain.replace(at, number.size(), number.size(), ' ');
        plain[at] = '0';
      }
      at = end;
    } else {
      ++at;
    }
  }
  return plain;
}

std::string AppendItem(std::string_view text, size_t begin,
                       std::string_view item, std::string_view newline,
                       std::string_view indent, std::string_view outer) {
  const auto join = [](std::initializer_list<std::string_view> parts) {
    std::string out;
    for (const std::string_view part : parts) out += part;
    return out;
  };
  const std::vector<JsonItem> items = JsonItems(text, begin);
  if (!items.empty())
    return Replaced(text, items.back().end, items.back().end,
                    join({",", newline, indent, item}));
  // Blanks between the brackets stay before it, and nothing comes behind it,
  // which tells it from what had none.
  const size_t close = JsonValueEnd(text, begin) - 1;
  if (close > begin + 1) return Replaced(text, close, close, join({item}));
  return Replaced(text, close, close,
                  join({newline, indent, item, newline, outer}));
}

std::string RemoveItem(std::string_view text, size_t begin, size_t index) {
  const std::vector<JsonItem> items = JsonItems(text, begin);
  const JsonItem& item = items[index];
  if (index > 0) return Replaced(text, items[index - 1].end, item.end, "");
  if (items.size() > 1) return Replaced(text, item.key, items[1].key, "");
  const size_t close = JsonValueEnd(text, begin) - 1;
  if (item.end == close) return Replaced(text, item.key, close, "");
  return Replaced(text, begin + 1, close, "");
}

}  // namespace gate::hooks
