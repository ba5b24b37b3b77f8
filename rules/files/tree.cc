#include "rules/files/tree.h"

#include <charconv>
#include <cmath>
#include <unordered_set>

#include "base/json.h"
#include "base/text.h"

namespace gate::rules {

// A recursive-descent reader whose depth is bounded by kMaxTreeDepth. The
// first error stops it; `error_` is what Parse returns then.
class TreeReader {
 public:
  explicit TreeReader(std::string_view text) : text_(text) {}

  std::expected<Tree, TreeError> Read() {
    if (text_.size() > UINT32_MAX / 2) {
      Fail(0, "the file is too large");
      return std::unexpected(error_);
    }
    if (!IsUtf8(text_)) {
      Fail(FirstBadByte(), "the file is not valid UTF-8");
      return std::unexpected(error_);
    }
    // A byte order mark is what some editors put first; it means nothing.
    if (text_.starts_with("\xEF\xBB\xBF")) pos_ = 3;
    tree_.nodes_.reserve(text_.size() / 12 + 8);
    tree_.nodes_.emplace_back();
    if (!Value(0, 0)) return std::unexpected(error_);
    if (!Blank()) return std::unexpected(error_);
    if (pos_ != text_.size()) {
      Fail(pos_, "there is more after the end of the value");
      return std::unexpected(error_);
    }
    return std::move(tree_);
  }

 private:
  using Type = TreeNode::Type;

  bool Fail(size_t offset, std::string message) {
    error_ = {offset, std::move(message)};
    return false;
  }

  size_t FirstBadByte() const {
    size_t good = 0, bad = text_.size();
    while (good < bad) {  // the longest well-formed prefix ends before it
      const size_t middle = good + (bad - good) / 2;
      size_t cut = middle;
      while (cut > good &&
             (static_cast<unsigned char>(text_[cut]) & 0xC0) == 0x80)
        --cut;
      if (cut > good && IsUtf8(text_.substr(good, cut - good))) {
        good = cut;
      } else if (bad - good <= 4) {
        break;
      } else {
        bad = middle;
      }
    }
    return good;
  }

  bool Blank() {
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++pos_;
      } else if (c == '/' && pos_ + 1 < text_.size() &&
                 text_[pos_ + 1] == '/') {
        const size_t end = text_.find('\n', pos_);
        pos_ = end == std::string_view::npos ? text_.size() : end;
      } else if (c == '/' && pos_ + 1 < text_.size() &&
                 text_[pos_ + 1] == '*') {
        const size_t end = text_.find("*/", pos_ + 2);
        if (end == std::string_view::npos)
          return Fail(pos_, "the comment is not closed");
        pos_ = end + 2;
      } else {
        break;
      }
    }
    return true;
  }

  bool Value(uint32_t index, int depth) {
    if (!Blank()) return false;
    if (pos_ >= text_.size())
      return Fail(pos_, "the file ends where a value should be");
    tree_.nodes_[index].begin = static_cast<uint32_t>(pos_);
    switch (text_[pos_]) {
      case '{':
        return Container(index, depth, '}');
      case '[':
        return Container(index, depth, ']');
      case '"': {
        std::string_view text;
        if (!String(&text)) return false;
        tree_.nodes_[index].type = Type::kString;
        tree_.nodes_[index].text = text;
        return true;
      }
      case 't':
        tree_.nodes_[index].type = Type::kBool;
        tree_.nodes_[index].truth = true;
        return Word("true");
      case 'f':
        tree_.nodes_[index].type = Type::kBool;
        return Word("false");
      case 'n':
        return Word("null");
      default:
        return Number(index);
    }
  }

  bool Word(std::string_view word) {
    if (!text_.substr(pos_).starts_with(word))
      return Fail(pos_, "this is not a JSON value");
    pos_ += word.size();
    return true;
  }

  bool Number(uint32_t index) {
    const size_t begin = pos_;
    size_t end = pos_;
    while (end < text_.size() &&
           std::string_view("+-.0123456789eE").find(text_[end]) !=
               std::string_view::npos)
      ++end;
    const std::string_view digits = text_.substr(begin, end - begin);
    const size_t first = digits.starts_with('-') ? 1 : 0;
    const bool shape =
        digits.size() > first && digits[first] >= '0' && digits[first] <= '9' &&
        !(digits[first] == '0' && digits.size() > first + 1 &&
          digits[first + 1] >= '0' && digits[first + 1] <= '9') &&
        digits.back() != '.' && digits.find(".e") == std::string_view::npos &&
        digits.find(".E") == std::string_view::npos;
    double value = 0;
    const auto [stop, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (!shape || code != std::errc() ||
        stop != digits.data() + digits.size() || !std::isfinite(value))
      return Fail(begin, "this is not a JSON value");
    tree_.nodes_[index].type = Type::kNumber;
    tree_.nodes_[index].number = value;
    pos_ = end;
    return true;
  }

  bool Hex4(uint32_t* out) {
    if (pos_ + 4 > text_.size()) return Fail(pos_, "the escape is cut off");
    uint32_t value = 0;
    const char* begin = text_.data() + pos_;
    const auto [stop, code] = std::from_chars(begin, begin + 4, value, 16);
    if (code != std::errc() || stop != begin + 4)
      return Fail(pos_, "this is not a \\uXXXX escape");
    pos_ += 4;
    *out = value;
    return true;
  }

  bool Escape(std::string* out) {
    if (pos_ >= text_.size()) return Fail(pos_, "the string is not closed");
    const char c = text_[pos_++];
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out->push_back(c);
        return true;
      case 'b':
        out->push_back('\b');
        return true;
      case 'f':
        out->push_back('\f');
        return true;
      case 'n':
        out->push_back('\n');
        return true;
      case 'r':
        out->push_back('\r');
        return true;
      case 't':
        out->push_back('\t');
        return true;
      case 'u':
        break;
      default:
        return Fail(pos_ - 1, "this escape does not exist in JSON");
    }
    uint32_t unit = 0;
    if (!Hex4(&unit)) return false;
    if (unit >= 0xD800 && unit < 0xDC00 &&
        text_.substr(pos_).starts_with("\\u")) {
      pos_ += 2;
      uint32_t low = 0;
      if (!Hex4(&low)) return false;
      if (low < 0xDC00 || low > 0xDFFF)
        return Fail(pos_ - 4, "a surrogate pair is broken");
      unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    } else if (unit >= 0xD800 && unit < 0xE000) {
      return Fail(pos_ - 4, "a surrogate stands alone");
    }
    AppendUtf8(unit, out);
    return true;
  }

  bool String(std::string_view* out) {
    const size_t open = pos_++;
    const size_t begin = pos_;
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (c == '"') {
        *out = text_.substr(begin, pos_++ - begin);
        return true;
      }
      if (c == '\\') break;
      if (static_cast<unsigned char>(c) < 0x20)
        return Fail(pos_, "a control character must be written as an escape");
      ++pos_;
    }
    std::string& text =
        tree_.unescaped_.emplace_back(text_.substr(begin, pos_ - begin));
    while (pos_ < text_.size()) {
      const char c = text_[pos_++];
      if (c == '"') {
        *out = text;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20)
        return Fail(pos_ - 1,
                    "a control character must be written as an escape");
      if (c != '\\') {
        text.push_back(c);
      } else if (!Escape(&text)) {
        return false;
      }
    }
    return Fail(open, "the string is not closed");
  }

  bool Container(uint32_t index, int depth, char close) {
    const size_t open = pos_++;
    if (depth >= kMaxTreeDepth) return Fail(open, "the nesting is too deep");
    const bool object = close == '}';
    tree_.nodes_[index].type = object ? Type::kObject : Type::kArray;
    uint32_t last = UINT32_MAX;
    std::unordered_set<std::string_view> keys;  // only of large objects
    const char* unclosed =
        object ? "the object is not closed" : "the array is not closed";
    for (;;) {
      if (!Blank()) return false;
      if (pos_ >= text_.size()) return Fail(open, unclosed);
      if (text_[pos_] == close && last == UINT32_MAX) break;
      const uint32_t child = static_cast<uint32_t>(tree_.nodes_.size());
      tree_.nodes_.emplace_back();
      if (object) {
        if (text_[pos_] != '"') return Fail(pos_, "a key must be a string");
        const size_t key_begin = pos_;
        std::string_view key;
        if (!String(&key)) return false;
        if (!Unique(index, key, &keys))
          return Fail(key_begin,
                      "the key `" + std::string(key) + "` stands here twice");
        tree_.nodes_[child].key = key;
        tree_.nodes_[child].key_begin = static_cast<uint32_t>(key_begin);
        if (!Blank()) return false;
        if (pos_ >= text_.size()) return Fail(open, unclosed);
        if (text_[pos_] != ':') return Fail(pos_, "a `:` is missing");
        ++pos_;
      }
      if (!Value(child, depth + 1)) return false;
      if (last == UINT32_MAX)
        tree_.nodes_[index].first = child;
      else
        tree_.nodes_[last].next = child;
      last = child;
      ++tree_.nodes_[index].count;
      if (!Blank()) return false;
      if (pos_ >= text_.size()) return Fail(open, unclosed);
      if (text_[pos_] == close) break;
      if (text_[pos_] != ',')
        return Fail(pos_, "a `,` or the end is missing here");
      ++pos_;
    }
    ++pos_;
    return true;
  }

  // True when `key` is new in the object at `index`. Small objects are
  // searched; larger ones use a set, so that a hostile file stays linear.
  bool Unique(uint32_t index, std::string_view key,
              std::unordered_set<std::string_view>* keys) {
    constexpr uint32_t kSmall = 16;
    const TreeNode& node = tree_.nodes_[index];
    if (node.count < kSmall) {
      for (const TreeNode& child : tree_.children(node))
        if (child.key == key) return false;
      return true;
    }
    if (keys->empty())
      for (const TreeNode& child : tree_.children(node))
        keys->insert(child.key);
    return keys->insert(key).second;
  }

  std::string_view text_;
  size_t pos_ = 0;
  Tree tree_;
  TreeError error_;
};

std::expected<Tree, TreeError> Tree::Parse(std::string_view text) {
  auto tree = TreeReader(text).Read();
  if (!tree)
    if (const auto comma = TrailingComma(text, tree.error().offset))
      return std::unexpected(TreeError{*comma, kTrailingComma});
  return tree;
}

const TreeNode* Tree::Find(const TreeNode& object, std::string_view key) const {
  if (object.type != TreeNode::Type::kObject) return nullptr;
  for (const TreeNode& child : children(object))
    if (child.key == key) return &child;
  return nullptr;
}

}  // namespace gate::rules
