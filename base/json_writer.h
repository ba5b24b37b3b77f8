// Writes JSON text front to back, without building a tree first.
//
// A batch prints an object per command, and a tree of a decision costs more
// than the decision. Strings that are not UTF-8 get U+FFFD where they are not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gate {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);

  JsonWriter& String(std::string_view value);
  JsonWriter& Number(int64_t value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  // `json` is a finished JSON value.
  JsonWriter& Raw(std::string_view json);

  JsonWriter& Field(std::string_view key, std::string_view value) {
    return Key(key).String(value);
  }
  JsonWriter& Field(std::string_view key, const char* value) {
    return Key(key).String(value);
  }
  JsonWriter& Field(std::string_view key, int64_t value) {
    return Key(key).Number(value);
  }
  JsonWriter& Flag(std::string_view key, bool value) {
    return Key(key).Bool(value);
  }

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  JsonWriter& Open(char c);
  JsonWriter& Close(char c);
  void Separate();

  std::string text_;
  bool first_ = true;  // no value yet in the innermost container
  bool after_key_ = false;
};

}  // namespace gate
