#include "base/json_writer.h"

#include <cstdint>
#include <cstring>

#include "base/text.h"

namespace gate {
namespace {

bool NeedsEscape(unsigned char c) { return c < 0x20 || c == '"' || c == '\\'; }

// Whether it is ASCII that stands in JSON as it is, as nearly every string of a
// plan is: eight bytes at a time, each bit 7 telling of one that is not.
bool IsPlain(std::string_view value) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHigh = kOnes << 7;
  const auto zeros = [](uint64_t word) { return (word - kOnes) & ~word; };
  while (value.size() >= sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, value.data(), sizeof(word));
    const uint64_t control = (word - kOnes * 0x20) & ~word;
    if (((word | control | zeros(word ^ kOnes * '"') |
          zeros(word ^ kOnes * '\\')) &
         kHigh) != 0)
      return false;
    value.remove_prefix(sizeof(word));
  }
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || NeedsEscape(byte)) return false;
  }
  return true;
}

void AppendEscaped(std::string_view value, std::string* out) {
  static constexpr char kDigits[] = "0123456789abcdef";
  size_t start = 0;
  for (size_t i = 0; i < value.size(); ++i) {
    const auto c = static_cast<unsigned char>(value[i]);
    if (!NeedsEscape(c)) continue;
    out->append(value, start, i - start);
    start = i + 1;
    switch (c) {
      case '"':
        *out += "\\\"";
        break;
      case '\\':
        *out += "\\\\";
        break;
      case '\n':
        *out += "\\n";
        break;
      case '\r':
        *out += "\\r";
        break;
      case '\t':
        *out += "\\t";
        break;
      default:
        *out += "\\u00";
        *out += kDigits[c >> 4];
        *out += kDigits[c & 15];
    }
  }
  out->append(value, start, value.size() - start);
}

}  // namespace

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) text_ += ',';
  first_ = false;
}

JsonWriter& JsonWriter::Open(char c) {
  Separate();
  text_ += c;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::Close(char c) {
  text_ += c;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  String(key);
  text_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view value) {
  Separate();
  text_ += '"';
  if (IsPlain(value))
    text_ += value;
  else if (IsUtf8(value))
    AppendEscaped(value, &text_);
  else
    AppendEscaped(ToUtf8(value), &text_);
  text_ += '"';
  return *this;
}

JsonWriter& JsonWriter::Number(int64_t value) {
  Separate();
  text_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  Separate();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Null() {
  Separate();
  text_ += "null";
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  text_ += json;
  return *this;
}

}  // namespace gate
