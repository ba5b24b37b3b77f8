#include <algorithm>
#include <utility>

#include "rules/data.h"

// toml++ asserts, and where NDEBUG is set has the compiler assume, what no
// malformed file holds (`[[!x]]`); the errors that it has for these must count.
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace gate::rules {
namespace {

DataValue Convert(const toml::node& node, int depth) {
  DataValue value;
  value.line = node.source().begin.line;
  value.column = node.source().begin.column;
  if (depth > kMaxDataDepth) return value;
  if (const auto* table = node.as_table()) {
    value.type = DataValue::Type::kTable;
    for (const auto& [key, member] : *table)
      value.members.push_back(
          {std::string(key.str()), Convert(member, depth + 1)});
    // toml++ sorts by key; a file is told of from its beginning.
    std::stable_sort(value.members.begin(), value.members.end(),
                     [](const auto& a, const auto& b) {
                       return std::pair(a.value.line, a.value.column) <
                              std::pair(b.value.line, b.value.column);
                     });
  } else if (const auto* array = node.as_array()) {
    value.type = DataValue::Type::kList;
    for (const toml::node& item : *array)
      value.items.push_back(Convert(item, depth + 1));
  } else if (const auto* text = node.as_string()) {
    value.type = DataValue::Type::kText;
    value.text = text->get();
  } else if (const auto* truth = node.as_boolean()) {
    value.type = DataValue::Type::kBool;
    value.truth = truth->get();
  } else if (const auto* integer = node.as_integer()) {
    value.type = DataValue::Type::kInteger;
    value.integer = integer->get();
  }
  return value;
}

}  // namespace

const DataValue* DataValue::Find(std::string_view key) const {
  for (const auto& [name, member] : members)
    if (name == key) return &member;
  return nullptr;
}

bool DataValue::Texts(std::vector<std::string>* out) const {
  if (IsText()) {
    out->push_back(text);
    return true;
  }
  if (!IsList()) return false;
  for (const DataValue& item : items) {
    if (!item.IsText()) return false;
    out->push_back(item.text);
  }
  return true;
}

std::expected<DataValue, DataError> ReadToml(std::string_view text) {
  const toml::parse_result result = toml::parse(text);
  if (!result) {
    const auto& begin = result.error().source().begin;
    return std::unexpected(DataError{
        begin.line, begin.column, std::string(result.error().description())});
  }
  return Convert(result.table(), 0);
}

}  // namespace gate::rules
