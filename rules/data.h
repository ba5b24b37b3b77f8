// Other tools' configuration files as values that know their place.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace gate::rules {

inline constexpr int kMaxDataDepth = 64;

struct DataMember;

struct DataValue {
  // kOther: a date or a number; known to be there, not what it is.
  enum class Type : uint8_t { kText, kBool, kInteger, kOther, kList, kTable };
  Type type = Type::kOther;
  size_t line = 1, column = 1;
  std::string text;                 // kText
  bool truth = false;               // kBool
  int64_t integer = 0;              // kInteger
  std::vector<DataValue> items;     // kList
  std::vector<DataMember> members;  // kTable, in order

  const DataValue* Find(std::string_view key) const;
  bool IsText() const { return type == Type::kText; }
  bool IsList() const { return type == Type::kList; }
  bool IsTable() const { return type == Type::kTable; }
  // A list of texts, or one text; false when it is neither.
  bool Texts(std::vector<std::string>* out) const;
};

struct DataMember {
  std::string key;
  DataValue value;
};

struct DataError {
  size_t line = 1, column = 1;
  std::string message;
};

// TOML 1.0, by toml++.
std::expected<DataValue, DataError> ReadToml(std::string_view text);

// The part of YAML that tables of settings are written in: mappings and
// sequences by indentation, `[a, b]`, plain, quoted and block scalars,
// comments. Anchors, tags, `{…}`, several documents and tabs are errors.
// Everything that is no list and no table is a text. A key without a value is
// an error, or of type kOther where `empty_values`.
std::expected<DataValue, DataError> ReadSimpleYaml(std::string_view text,
                                                   bool empty_values = false);

}  // namespace gate::rules
