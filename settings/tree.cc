// JSON, TOML and simple YAML: tables of tables, lists and texts. A list has the
// path of what holds it.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "rules/data.h"
#include "settings/values.h"

namespace gate::settings {
namespace {

using rules::DataValue;
using Type = DataValue::Type;

// Its reader looks for each key among those before.
constexpr size_t kMaxYamlBytes = size_t{64} << 10;

// Null, floats and the like say nothing that a copy needs. Depth: ParseJson's.
DataValue FromJson(const Json& json) {
  DataValue value;
  if (json.is_string()) {
    value.type = Type::kText;
    value.text = json.get<std::string>();
  } else if (json.is_boolean()) {
    value.type = Type::kBool;
    value.truth = json.get<bool>();
  } else if (json.is_number_integer()) {
    value.type = Type::kInteger;
    value.integer = json.get<int64_t>();
  } else if (json.is_array()) {
    value.type = Type::kList;
    for (const Json& item : json) value.items.push_back(FromJson(item));
  } else if (json.is_object()) {
    value.type = Type::kTable;
    for (const auto& [name, member] : json.items())
      value.members.push_back({name, FromJson(member)});
  }
  return value;
}

std::string Joined(const DataValue& list) {
  std::string line;
  for (const DataValue& item : list.items)
    if (item.type == Type::kText) line += item.text + " ";
  return line;
}

class Filter {
 public:
  Filter(const rules::SettingsFile& file, Copy* copy)
      : file_(file), copy_(copy) {}

  // Takes out of `value`, whose path is `path_`, what is not shown. False where
  // nothing is left.
  bool Keep(DataValue* value) {
    switch (value->type) {
      case Type::kTable: {
        const bool empty = value->members.empty();
        std::erase_if(value->members, [&](rules::DataMember& member) {
          path_.push_back(member.key);
          const bool kept = Keep(&member.value);
          path_.pop_back();
          return !kept;
        });
        return !empty && !value->members.empty();
      }
      case Type::kList:
        // A list may be the words of one command line.
        if (GivesLogin(Joined(*value))) {
          copy_->left_out = copy_->secret = true;
          return false;
        }
        std::erase_if(value->items,
                      [&](DataValue& item) { return !Keep(&item); });
        return !value->items.empty();
      case Type::kText:
        if (auto text = Written(value->text)) {
          value->text = std::move(*text);
          return true;
        }
        return false;
      case Type::kBool:
        return Written(value->truth ? "true" : "false").has_value();
      case Type::kInteger:
        return Written(std::to_string(value->integer)).has_value();
      case Type::kOther:
        copy_->left_out |= file_.format != "yaml";  // there: no value
        return false;
    }
    return false;
  }

 private:
  std::optional<std::string> Written(Text text) {
    return Value(KindOfPath(file_, path_),
                 path_.empty() ? Text() : path_.back(), text, copy_);
  }

  const rules::SettingsFile& file_;
  Copy* copy_;
  std::vector<Text> path_;
};

Json ToJson(const DataValue& value) {
  switch (value.type) {
    case Type::kTable: {
      Json object = Json::object();
      for (const auto& [key, member] : value.members)
        object[key] = ToJson(member);
      return object;
    }
    case Type::kList: {
      Json list = Json::array();
      for (const DataValue& item : value.items) list.push_back(ToJson(item));
      return list;
    }
    case Type::kBool:
      return value.truth;
    case Type::kInteger:
      return value.integer;
    default:
      return value.text;
  }
}

// As JSON writes it, which TOML and YAML read as well.
std::string Quoted(Text text) { return Dump(Json(std::string(text))); }

bool IsScalar(const DataValue& value) {
  return !value.IsTable() && !value.IsList();
}

std::string Scalar(const DataValue& value) { return Dump(ToJson(value)); }

class YamlWriter {
 public:
  std::string Write(const DataValue& table) {
    Table(table, 0);
    return std::move(out_);
  }

 private:
  // Everything that was read is a text; what had no quotes needs none.
  static std::string Word(Text text) {
    const bool bare = IsOf(text, "._-/:@+~") && IsOf(text.substr(0, 1), "/") &&
                      !text.ends_with(':');
    return bare ? std::string(text) : Quoted(text);
  }

  void Table(const DataValue& table, size_t indent) {
    for (const auto& [key, value] : table.members)
      Entry(std::string(indent, ' ') + Word(key) + ":", value, indent);
  }

  // What follows `head`, which is indented by `indent`: on its line, or below.
  void Entry(const std::string& head, const DataValue& value, size_t indent) {
    out_ += head;
    if (IsScalar(value)) {
      out_ += " " + Word(value.text) + "\n";
      return;
    }
    out_ += "\n";
    if (value.IsTable()) return Table(value, indent + 4);
    for (const DataValue& item : value.items)
      Entry(std::string(indent + 2, ' ') + "-", item, indent + 2);
  }

  std::string out_;
};

class TomlWriter {
 public:
  std::string Write(const DataValue& table) {
    Table(table, "");
    return std::move(out_);
  }

 private:
  static std::string Key(Text key) {
    return IsOf(key, "_-") ? std::string(key) : Quoted(key);
  }
  static bool HoldsTables(const DataValue& list) {
    return std::ranges::any_of(list.items, &DataValue::IsTable);
  }

  std::string Inline(const DataValue& value) {
    if (!value.IsList()) return Scalar(value);
    std::string text = "[";
    for (const DataValue& item : value.items)
      if (!item.IsTable()) text += (text.size() > 1 ? ", " : "") + Inline(item);
    return text + "]";
  }

  void Table(const DataValue& table, const std::string& path) {
    for (const auto& [key, value] : table.members)
      if (!value.IsTable() && !(value.IsList() && HoldsTables(value)))
        out_ += Key(key) + " = " + Inline(value) + "\n";
    for (const auto& [key, value] : table.members) {
      const std::string name = (path.empty() ? "" : path + ".") + Key(key);
      if (value.IsTable()) {
        out_ += "[" + name + "]\n";
        Table(value, name);
      } else if (value.IsList() && HoldsTables(value)) {
        for (const DataValue& item : value.items) {
          if (!item.IsTable()) continue;
          out_ += "[[" + name + "]]\n";
          Table(item, name);
        }
      }
    }
  }

  std::string out_;
};

std::optional<DataValue> Read(Text format, Text text, Copy* copy) {
  if (format == "json") {
    const auto json = ParseJson(text);
    if (json) return FromJson(*json);
    const auto [line, column] = Locate(text, json.error().offset);
    copy->line = line;
    copy->column = column;
    return std::nullopt;
  }
  auto value = format == "toml" ? rules::ReadToml(text)
                                : rules::ReadSimpleYaml(text, true);
  if (value) return std::move(*value);
  copy->line = value.error().line;
  copy->column = value.error().column;
  return std::nullopt;
}

}  // namespace

void CopyTree(const rules::SettingsFile& file, Text text, Copy* copy) {
  if (Trim(text).find_first_not_of(" \n") == Text::npos) {
    copy->parsed = true;
    return;
  }
  if (file.format == "yaml" && text.size() > kMaxYamlBytes) return;
  auto value = Read(file.format, text, copy);
  // Nothing but comments is a YAML without a value.
  const bool nothing =
      value && value->type == Type::kOther && file.format == "yaml";
  if (!value || (!nothing && !value->IsTable())) return;
  copy->parsed = true;
  if (nothing) return;
  (void)Filter(file, copy).Keep(&*value);
  if (file.format == "json")
    copy->text = ToJson(*value).dump(2) + "\n";
  else if (file.format == "toml")
    copy->text = TomlWriter().Write(*value);
  else
    copy->text = YamlWriter().Write(*value);
}

}  // namespace gate::settings
