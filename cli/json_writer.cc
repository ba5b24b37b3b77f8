#include "cli/json_writer.h"

#include "base/text.h"

namespace gate::cli {
namespace {

bool NeedsEscape(unsigned char c) { return c < 0x20 || c == '"' || c == '\\'; }

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

bool IsAscii(std::string_view value) {
  for (const char c : value)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
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
  if (IsAscii(value) || IsUtf8(value))
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

}  // namespace gate::cli
