#include <algorithm>
#include <deque>

#include "base/text.h"
#include "rules/data.h"

namespace gate::rules {
namespace {

class YamlReader {
 public:
  YamlReader(std::string_view text, bool empty_values)
      : empty_values_(empty_values) {
    size_t number = 0;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      lines_.push_back({line, ++number});
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  std::expected<DataValue, DataError> Read() {
    DataValue value;
    for (; at_ < lines_.size(); ++at_) {
      const size_t control = FindControl(lines_[at_].text);
      if (control == std::string_view::npos) continue;
      Fail(control + 1, "a control character cannot stand in YAML");
      return std::unexpected(error_);
    }
    at_ = 0;
    if (!SkipBlank()) return std::unexpected(error_);
    if (at_ < lines_.size() && Rest(lines_[at_]) == "---") ++at_;
    if (!SkipBlank() || (at_ < lines_.size() && !Block(0, &value, 0)) ||
        !SkipBlank())
      return std::unexpected(error_);
    if (at_ < lines_.size()) {
      Fail(1, "this does not belong to what stands above it");
      return std::unexpected(error_);
    }
    return value;
  }

 private:
  struct Line {
    std::string_view text;
    size_t number = 0;
  };

  // Where a character is that YAML 1.2 does not call printable (5.1).
  static size_t FindControl(std::string_view text) {
    const auto control = std::ranges::find_if(text, [](unsigned char c) {
      return (c < 0x20 && c != '\t') || c == 0x7f;
    });
    return control == text.end() ? std::string_view::npos
                                 : control - text.begin();
  }

  static size_t Indent(const Line& line) {
    return std::min(line.text.find_first_not_of(' '), line.text.size());
  }
  static std::string_view Rest(const Line& line) {
    return line.text.substr(Indent(line));
  }

  bool Fail(size_t column, std::string message) {
    error_ = {at_ < lines_.size() ? lines_[at_].number : lines_.size(), column,
              std::move(message)};
    return false;
  }

  // Moves to the next line that says something.
  bool SkipBlank() {
    for (; at_ < lines_.size(); ++at_) {
      const std::string_view rest = Rest(lines_[at_]);
      if (rest.starts_with('\t')) return Fail(1, "a tab cannot indent");
      if (!rest.empty() && rest[0] != '#') return true;
    }
    return true;
  }

  // The mapping, sequence or scalar whose lines are indented by `indent` or
  // more.
  bool Block(size_t indent, DataValue* value, int depth) {
    if (depth > kMaxDataDepth) return Fail(1, "it is nested too deep");
    const size_t own = Indent(lines_[at_]);
    if (own < indent) return Fail(own + 1, "a value was expected");
    value->line = lines_[at_].number;
    value->column = own + 1;
    const std::string_view rest = Rest(lines_[at_]);
    if (rest == "-" || rest.starts_with("- "))
      return Sequence(own, value, depth);
    return Mapping(own, value, depth);
  }

  bool Sequence(size_t own, DataValue* value, int depth) {
    value->type = DataValue::Type::kList;
    while (at_ < lines_.size() && Indent(lines_[at_]) == own) {
      const std::string_view rest = Rest(lines_[at_]);
      if (rest != "-" && !rest.starts_with("- ")) break;
      DataValue item;
      item.line = lines_[at_].number;
      item.column = own + 1;
      std::string_view after = rest.substr(1);
      const size_t blanks =
          std::min(after.find_first_not_of(' '), after.size());
      after.remove_prefix(blanks);
      if (after.empty() || after[0] == '#') {
        ++at_;
        if (!SkipBlank()) return false;
        if (at_ >= lines_.size() || Indent(lines_[at_]) <= own)
          return Fail(own + 1, "an entry is empty");
        if (!Block(own + 1, &item, depth + 1)) return false;
      } else if (KeyEnd(after) != std::string_view::npos) {
        // "- key: value" is a mapping that begins behind the dash.
        const size_t inner = own + 1 + blanks;
        changed_.push_back(std::string(inner, ' ') + std::string(after));
        lines_[at_].text = changed_.back();
        if (!Block(inner, &item, depth + 1)) return false;
      } else if (!Scalar(after, own, &item)) {
        return false;
      }
      value->items.push_back(std::move(item));
      if (!SkipBlank()) return false;
    }
    return true;
  }

  bool Mapping(size_t own, DataValue* value, int depth) {
    value->type = DataValue::Type::kTable;
    while (at_ < lines_.size() && Indent(lines_[at_]) == own) {
      const std::string_view rest = Rest(lines_[at_]);
      if (rest == "-" || rest.starts_with("- ")) break;
      const size_t colon = KeyEnd(rest);
      if (colon == std::string_view::npos)
        return Fail(own + 1, "`key: value` was expected");
      std::string key(rest.substr(0, colon));
      if (key.size() > 1 && (key[0] == '"' || key[0] == '\''))
        key = key.substr(1, key.size() - 2);
      if (value->Find(key) != nullptr)
        return Fail(own + 1, "`" + Visible(key) + "` is there twice");
      DataValue member;
      member.line = lines_[at_].number;
      member.column = own + 1;
      std::string_view after = rest.substr(colon + 1);
      after.remove_prefix(std::min(after.find_first_not_of(' '), after.size()));
      if (after.empty() || after[0] == '#') {
        ++at_;
        if (!SkipBlank()) return false;
        // A sequence may stand right below its key.
        const bool list = at_ < lines_.size() && Indent(lines_[at_]) == own &&
                          Rest(lines_[at_]).starts_with("- ");
        const bool empty =
            at_ >= lines_.size() || (Indent(lines_[at_]) <= own && !list);
        if (empty && !empty_values_)
          return Fail(own + 1, "`" + Visible(key) + "` has no value");
        if (!empty && !Block(list ? own : own + 1, &member, depth + 1))
          return false;
      } else if (!Scalar(after, own, &member)) {
        return false;
      }
      value->members.push_back({std::move(key), std::move(member)});
      if (!SkipBlank()) return false;
    }
    if (at_ < lines_.size() && Indent(lines_[at_]) > own)
      return Fail(own + 1, "this line is indented too far");
    return true;
  }

  // Where the colon after a key is.
  static size_t KeyEnd(std::string_view text) {
    if (text.empty() || text[0] == '[' || text[0] == '{' || text[0] == '|' ||
        text[0] == '>' || text[0] == '&' || text[0] == '*' || text[0] == '!')
      return std::string_view::npos;
    size_t from = 0;
    if (text[0] == '"' || text[0] == '\'') {
      from = text.find(text[0], 1);
      if (from == std::string_view::npos) return from;
      ++from;
      return from < text.size() && text[from] == ':' &&
                     (from + 1 == text.size() || text[from + 1] == ' ')
                 ? from
                 : std::string_view::npos;
    }
    for (size_t i = from; i < text.size(); ++i) {
      if (text[i] == '#' && i > 0 && text[i - 1] == ' ')
        return std::string_view::npos;
      if (text[i] == ':' && (i + 1 == text.size() || text[i + 1] == ' '))
        return i;
    }
    return std::string_view::npos;
  }

  // The scalar that begins with `text` on the current line; moves behind it.
  bool Scalar(std::string_view text, size_t own, DataValue* value) {
    value->type = DataValue::Type::kText;
    const char c = text[0];
    if (c == '&' || c == '*' || c == '!' || c == '{' || c == '%' || c == '@' ||
        c == '`')
      return Fail(1, "this part of YAML is not understood (`" +
                         std::string(1, c) + "`)");
    if (c == '|' || c == '>') return BlockScalar(text, own, value);
    size_t used = 0;
    if (c == '[') {
      if (!FlowList(text, value, &used)) return false;
    } else if (c == '"' || c == '\'') {
      if (!Quoted(text, &value->text, &used)) return false;
    } else {
      used = text.find(" #");
      if (used == std::string_view::npos) used = text.size();
      value->text = text.substr(0, used);
      while (value->text.ends_with(' ')) value->text.pop_back();
      if (value->text.find(": ") != std::string::npos)
        return Fail(1, "a text with `: ` in it must be quoted");
    }
    std::string_view rest = text.substr(used);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (!rest.empty() && rest[0] != '#')
      return Fail(1, "there is more behind the value");
    ++at_;
    // A plain text that goes on in the next line would be cut.
    if (!SkipBlank()) return false;
    if (at_ < lines_.size() && Indent(lines_[at_]) > own &&
        !Rest(lines_[at_]).starts_with("- ") &&
        KeyEnd(Rest(lines_[at_])) == std::string_view::npos)
      return Fail(Indent(lines_[at_]) + 1,
                  "a text of several lines must be a block (`|` or `>`)");
    return true;
  }

  bool FlowList(std::string_view text, DataValue* value, size_t* used) {
    value->type = DataValue::Type::kList;
    size_t i = 1;
    while (true) {
      while (i < text.size() && text[i] == ' ') ++i;
      if (i >= text.size()) return Fail(1, "the list is not closed");
      if (text[i] == ']') break;
      DataValue item;
      item.type = DataValue::Type::kText;
      item.line = lines_[at_].number;
      if (text[i] == '"' || text[i] == '\'') {
        size_t length = 0;
        if (!Quoted(text.substr(i), &item.text, &length)) return false;
        i += length;
      } else {
        const size_t end = text.find_first_of(",][{}#", i);
        if (end == std::string_view::npos ||
            (text[end] != ',' && text[end] != ']'))
          return Fail(1, "the list is not understood");
        item.text = text.substr(i, end - i);
        while (item.text.ends_with(' ')) item.text.pop_back();
        i = end;
      }
      value->items.push_back(std::move(item));
      while (i < text.size() && text[i] == ' ') ++i;
      if (i < text.size() && text[i] == ',') ++i;
    }
    *used = i + 1;
    return true;
  }

  bool Quoted(std::string_view text, std::string* out, size_t* used) {
    const char quote = text[0];
    for (size_t i = 1; i < text.size(); ++i) {
      if (quote == '\'' && text.substr(i).starts_with("''")) {
        *out += '\'';
        ++i;
      } else if (text[i] == quote) {
        *used = i + 1;
        return true;
      } else if (quote == '"' && text[i] == '\\' && i + 1 < text.size()) {
        const char next = text[++i];
        if (next == 'n')
          *out += '\n';
        else if (next == 't')
          *out += '\t';
        else if (next == '"' || next == '\\' || next == '/')
          *out += next;
        else
          return Fail(1, "the escape `\\" + std::string(1, next) +
                             "` is not understood");
      } else {
        *out += text[i];
      }
    }
    return Fail(1, "the quoted text is not closed");
  }

  bool BlockScalar(std::string_view header, size_t own, DataValue* value) {
    const bool fold = header[0] == '>';
    const std::string_view rest = header.substr(1);
    if (!rest.empty() && rest != "-" && rest != "+")
      return Fail(1, "this form of a block is not understood");
    size_t indent = 0;
    for (++at_; at_ < lines_.size(); ++at_) {
      const Line& line = lines_[at_];
      if (Rest(line).empty()) {
        value->text += '\n';
        continue;
      }
      if (Indent(line) <= own) break;
      if (indent == 0) indent = Indent(line);
      if (Indent(line) < indent)
        return Fail(1, "the lines of a block must be indented alike");
      value->text += line.text.substr(indent);
      value->text += fold ? ' ' : '\n';
    }
    while (value->text.ends_with('\n') || value->text.ends_with(' '))
      value->text.pop_back();
    return true;
  }

  const bool empty_values_;
  std::vector<Line> lines_;
  std::deque<std::string> changed_;  // lines without their dash
  size_t at_ = 0;
  DataError error_;
};

}  // namespace

std::expected<DataValue, DataError> ReadSimpleYaml(std::string_view text,
                                                   bool empty_values) {
  if (!IsUtf8(text))
    return std::unexpected(DataError{1, 1, "the file is not valid UTF-8"});
  return YamlReader(text, empty_values).Read();
}

}  // namespace gate::rules
