// nlohmann's SAX parser drives a handler that builds the value and refuses
// what the DOM parser would accept in silence: a second member of the same
// name, nesting without end, numbers that change when they are read. The
// parser reads through an iterator that remembers how far it came, which gives
// every refusal its place.
#include "base/json.h"

#include <exception>
#include <iterator>
#include <vector>

#include "base/text.h"

namespace gate {
namespace {

// A forward iterator over bytes that stores its position in `*reached`.
class Reader {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Reader(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  Reader& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  Reader operator++(int) {
    Reader before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Reader& a, const Reader& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  const char** reached_;
};

// The part of nlohmann's message that speaks about the text: without the
// library's prefix, and without the text read last, which can be a megabyte.
std::string Message(std::string_view what) {
  const size_t bracket = what.find("] ");
  if (bracket != std::string_view::npos) what.remove_prefix(bracket + 2);
  if (what.starts_with("parse error")) {
    const size_t colon = what.find(": ");
    if (colon != std::string_view::npos) what.remove_prefix(colon + 2);
  }
  const size_t last_read = what.find("; last read");
  std::string_view tail;
  if (last_read != std::string_view::npos) {
    const size_t expected = what.find("; expected", last_read);
    if (expected != std::string_view::npos) tail = what.substr(expected);
    what = what.substr(0, last_read);
  }
  constexpr size_t kMaxMessage = 300;
  std::string message(what.substr(0, kMaxMessage));
  message += tail.substr(0, kMaxMessage);
  return Visible(message);
}

class Builder {
 public:
  Builder(std::string_view text, const char* const* reached)
      : text_(text), reached_(reached) {}

  // nlohmann's SAX interface; false stops the parser.
  bool null() { return Add(nullptr); }
  bool boolean(bool value) { return Add(value); }
  bool number_integer(Json::number_integer_t value) { return Add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return Add(value); }
  bool number_float(Json::number_float_t value, const std::string& text) {
    // An integer beyond 64 bits arrives here, rounded.
    if (text.find_first_of(".eE") == std::string::npos)
      return Refuse("integer out of range");
    return Add(value);
  }
  bool string(std::string& value) { return Add(std::move(value)); }
  bool binary(Json::binary_t&) { return Refuse("binary value"); }
  bool start_object(size_t) { return Open(Json::object()); }
  bool start_array(size_t) { return Open(Json::array()); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool key(std::string& name) {
    Json& object = *open_.back();
    const auto [place, added] =
        object.get_ref<Json::object_t&>().try_emplace(std::move(name), nullptr);
    if (!added) return Refuse("duplicate key `" + Visible(place->first) + "`");
    member_ = &place->second;
    return true;
  }
  bool parse_error(size_t position, const std::string&,
                   const Json::exception& exception) {
    // The parser counts what it has read: the last character of the token.
    error_.offset = position > 0 ? position - 1 : 0;
    error_.message = Message(exception.what());
    return false;
  }

  Json TakeRoot() { return std::move(root_); }
  JsonError TakeError() { return std::move(error_); }

 private:
  // Where the next value belongs.
  Json* Put(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    *member_ = std::move(value);
    return member_;
  }
  bool Add(Json value) {
    Put(std::move(value));
    return true;
  }
  bool Open(Json value) {
    if (open_.size() >= static_cast<size_t>(kMaxJsonDepth)) {
      return Refuse("nested deeper than " + std::to_string(kMaxJsonDepth) +
                    " levels");
    }
    // INVARIANT: a pointer in open_ stays valid while its value is open,
    // because only the innermost open array grows.
    open_.push_back(Put(std::move(value)));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }
  bool Refuse(std::string message) {
    const size_t read = *reached_ - text_.data();
    error_.offset = read > 0 ? read - 1 : 0;
    error_.message = std::move(message);
    return false;
  }

  std::string_view text_;
  const char* const* reached_;
  Json root_;
  std::vector<Json*> open_;
  Json* member_ = nullptr;
  JsonError error_;
};

// A cursor over JSON text that was parsed before. It trusts nothing of that:
// on anything else it stops at the end of the text.
class Scanner {
 public:
  explicit Scanner(std::string_view text, size_t at = 0)
      : text_(text), at_(std::min(at, text.size())) {}

  size_t at() const { return at_; }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void Advance() { at_ = std::min(at_ + 1, text_.size()); }

  void SkipSpace() {
    if (at_ == 0 && text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        SkipPast("\n");
      } else if (text_.substr(at_, 2) == "/*") {
        at_ += 2;
        SkipPast("*/");
      } else {
        return;
      }
    }
  }

  // The string at the cursor with its quotes.
  std::string_view String() {
    const size_t begin = at_;
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"')
      at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    return text_.substr(begin, at_ - begin);
  }

  void SkipValue() {
    size_t depth = 0;
    do {
      SkipSpace();
      const char c = Peek();
      if (at_ >= text_.size()) return;
      if (c == '"') {
        String();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        if (depth == 0) return;
        --depth;
        ++at_;
      } else if (c == ',' || c == ':') {
        if (depth == 0) return;
        ++at_;
      } else {
        const size_t end = text_.find_first_of(" \t\r\n,:{}[]\"/", at_ + 1);
        at_ = end == std::string_view::npos ? text_.size() : end;
      }
    } while (depth > 0);
  }

 private:
  void SkipPast(std::string_view end) {
    const size_t found = text_.find(end, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  std::string_view text_;
  size_t at_;
};

// Whether the JSON string `literal` (with quotes) says `name`.
bool Says(std::string_view literal, std::string_view name) {
  if (literal.find('\\') == std::string_view::npos) {
    return literal.size() == name.size() + 2 &&
           literal.substr(1, name.size()) == name;
  }
  const Json value = Json::parse(literal, nullptr, false);
  return value.is_string() && value.get_ref<const std::string&>() == name;
}

// One token of a JSON pointer, unescaped (RFC 6901).
std::string Unescape(std::string_view token) {
  std::string out;
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size() &&
        (token[i + 1] == '0' || token[i + 1] == '1')) {
      out += token[++i] == '0' ? '~' : '/';
    } else {
      out += token[i];
    }
  }
  return out;
}

constexpr size_t kNowhere = static_cast<size_t>(-1);

// With the cursor on an object or array: moves it to the value of `token`,
// and gives the offset of the member's key (of the element itself in an
// array). kNowhere when there is none.
size_t Enter(Scanner* scan, const std::string& token) {
  const bool object = scan->Peek() == '{';
  if (!object && scan->Peek() != '[') return kNowhere;
  scan->Advance();
  for (size_t index = 0;; ++index) {
    scan->SkipSpace();
    const size_t begin = scan->at();
    bool found = !object && std::to_string(index) == token;
    if (object) {
      if (scan->Peek() != '"') return kNowhere;
      found = Says(scan->String(), token);
      scan->SkipSpace();
      if (scan->Peek() != ':') return kNowhere;
      scan->Advance();
      scan->SkipSpace();
    } else if (scan->Peek() == ']' || scan->Peek() == '\0') {
      return kNowhere;
    }
    if (found) return begin;
    scan->SkipValue();
    scan->SkipSpace();
    if (scan->Peek() != ',') return kNowhere;
    scan->Advance();
  }
}

}  // namespace

std::expected<Json, JsonError> ParseJson(std::string_view text, bool comments) {
  // Also in comments, where nlohmann does not look.
  if (const size_t good = Utf8Prefix(text); good < text.size())
    return std::unexpected(JsonError{good, "invalid UTF-8"});
  // nlohmann takes a NUL for the end of the text and would ignore the rest.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos)
    return std::unexpected(JsonError{nul, "NUL byte"});
  const char* reached = text.data();
  Builder builder(text, &reached);
  try {
    const Reader begin(text.data(), &reached);
    const Reader end(text.data() + text.size(), &reached);
    if (!Json::sax_parse(begin, end, &builder, Json::input_format_t::json,
                         /*strict=*/true, comments)) {
      JsonError error = builder.TakeError();
      error.offset = std::min(error.offset, text.size());
      if (const auto comma = TrailingComma(text, error.offset))
        return std::unexpected(JsonError{*comma, kTrailingComma});
      return std::unexpected(std::move(error));
    }
    return builder.TakeRoot();
  } catch (const std::exception& exception) {
    return std::unexpected(JsonError{0, Message(exception.what())});
  }
}

std::optional<size_t> TrailingComma(std::string_view text, size_t offset) {
  const auto ends = [&](size_t at) {
    return at < text.size() && (text[at] == '}' || text[at] == ']');
  };
  if (!ends(offset) && offset > 0) --offset;
  if (!ends(offset)) return std::nullopt;
  const size_t before = text.substr(0, offset).find_last_not_of(" \t\r\n");
  if (before == std::string_view::npos || text[before] != ',')
    return std::nullopt;
  return before;
}

size_t LocatePointer(std::string_view text, std::string_view pointer,
                     bool key) {
  Scanner scan(text);
  scan.SkipSpace();
  size_t value = scan.at();
  while (pointer.starts_with('/')) {
    pointer.remove_prefix(1);
    const size_t slash = pointer.find('/');
    const std::string token = Unescape(pointer.substr(0, slash));
    pointer.remove_prefix(slash == std::string_view::npos ? pointer.size()
                                                          : slash);
    const size_t begin = Enter(&scan, token);
    if (begin == kNowhere) return value;
    value = scan.at();
    if (key && pointer.empty()) return begin;
  }
  return value;
}

size_t JsonValueEnd(std::string_view text, size_t begin) {
  Scanner scan(text, begin);
  scan.SkipValue();
  return scan.at();
}

std::vector<JsonItem> JsonItems(std::string_view text, size_t begin) {
  std::vector<JsonItem> items;
  Scanner scan(text, begin);
  const bool object = scan.Peek() == '{';
  if (!object && scan.Peek() != '[') return items;
  do {
    scan.Advance();
    scan.SkipSpace();
    JsonItem item;
    item.key = scan.at();
    if (object) {
      if (scan.Peek() != '"') break;
      const Json name = Json::parse(scan.String(), nullptr, false);
      if (name.is_string()) item.name = name.get<std::string>();
      scan.SkipSpace();
      if (scan.Peek() != ':') break;
      scan.Advance();
      scan.SkipSpace();
    } else if (scan.Peek() == ']' || scan.Peek() == '\0') {
      break;
    }
    item.begin = scan.at();
    scan.SkipValue();
    item.end = scan.at();
    items.push_back(std::move(item));
    scan.SkipSpace();
  } while (scan.Peek() == ',');
  return items;
}

std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gate
