// The XML that Maven and NuGet are set up with: elements, attributes and text.
// Document types, entities of one's own, CDATA and processing instructions do
// not parse.
#include <algorithm>

#include "base/text.h"
#include "settings/values.h"

namespace gate::settings {
namespace {

constexpr size_t kMaxDepth = 64;

struct Attribute {
  std::string name, value;
};

class Reader {
 public:
  Reader(const rules::SettingsFile& file, Text text, Copy* copy)
      : file_(file), text_(text), copy_(copy) {}

  void Read() {
    if (Starts("\xEF\xBB\xBF")) at_ += 3;
    if (Starts("<?xml ")) {
      const size_t end = text_.find("?>", at_);
      if (end == Text::npos) return Fail();
      at_ = end + 2;
    }
    std::string out;
    bool kept = false;
    if (!SkipComments() || !Starts("<") || !Element(&out, &kept) ||
        !SkipComments() || at_ != text_.size())
      return Fail();
    copy_->parsed = true;
    copy_->text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + out;
  }

 private:
  static constexpr Text kSpace = " \t\r\n";

  void Fail() {
    const auto [line, column] = Locate(text_, std::min(at_, text_.size()));
    copy_->line = line;
    copy_->column = column;
  }

  bool Starts(Text with) const { return text_.substr(at_).starts_with(with); }

  void SkipSpace() {
    at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size());
  }

  bool SkipComments() {
    for (SkipSpace(); Starts("<!--"); SkipSpace()) {
      const size_t end = text_.find("-->", at_ + 4);
      if (end == Text::npos) return false;
      at_ = end + 3;
    }
    return true;
  }

  bool Name(std::string* name) {
    const size_t begin = at_;
    while (at_ < text_.size() && IsOf(text_.substr(at_, 1), "._-:")) ++at_;
    *name = text_.substr(begin, at_ - begin);
    return at_ > begin && (IsLetter(text_[begin]) || text_[begin] == '_');
  }

  // What stands before `end`, with the five entities that every document has.
  bool Characters(char end, std::string* out) {
    struct Entity {
      Text name;
      char means;
    };
    static constexpr Entity kEntities[] = {{"&amp;", '&'},
                                           {"&lt;", '<'},
                                           {"&gt;", '>'},
                                           {"&quot;", '"'},
                                           {"&apos;", '\''}};
    while (at_ < text_.size() && text_[at_] != end) {
      if (text_[at_] == '<') return false;
      if (text_[at_] != '&') {
        *out += text_[at_++];
        continue;
      }
      const auto* entity = std::ranges::find_if(
          kEntities, [&](const Entity& one) { return Starts(one.name); });
      if (entity == std::end(kEntities)) return false;
      *out += entity->means;
      at_ += entity->name.size();
    }
    return at_ < text_.size();
  }

  static std::string Escaped(Text text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '&')
        escaped += "&amp;";
      else if (c == '<')
        escaped += "&lt;";
      else if (c == '>')
        escaped += "&gt;";
      else if (c == '"')
        escaped += "&quot;";
      else
        escaped += c;
    }
    return escaped;
  }

  // A value of the element or attribute `path_` names.
  std::optional<std::string> Written(Text text) {
    text = text.substr(std::min(text.find_first_not_of(kSpace), text.size()));
    text = text.substr(0, text.find_last_not_of(kSpace) + 1);
    return Value(KindOfPath(file_, {path_.begin(), path_.end()}), path_.back(),
                 text, copy_);
  }

  // Those that are shown, as they are written; false where they do not parse.
  bool Attributes(std::string* shown) {
    for (std::vector<std::string> seen;;) {
      const size_t before = at_;
      SkipSpace();
      if (at_ >= text_.size()) return false;
      if (text_[at_] == '>' || text_[at_] == '/') return true;
      std::string name, value;
      if (at_ == before || !Name(&name)) return false;
      SkipSpace();
      if (!Starts("=")) return false;
      ++at_;
      SkipSpace();
      if (!Starts("\"") && !Starts("'")) return false;
      const char quote = text_[at_++];
      if (!Characters(quote, &value)) return false;
      ++at_;
      if (std::ranges::find(seen, name) != seen.end()) return false;
      seen.push_back(name);
      // Names of formats, which readers do without.
      if (name.starts_with("xmlns") || name.starts_with("xsi:")) continue;
      path_.push_back("@" + name);
      if (const auto written = Written(value))
        *shown += " " + name + "=\"" + Escaped(*written) + "\"";
      path_.pop_back();
    }
  }

  // `*kept`: something of it is shown, or it is empty and may be.
  bool Element(std::string* out, bool* kept) {
    ++at_;
    std::string name, attributes, inner;
    if (path_.size() >= kMaxDepth || !Name(&name)) return false;
    // Those below are shown by what the data names.
    if (path_.empty() && !IsPlainWord(name)) return false;
    path_.push_back(name);
    if (!Attributes(&attributes)) return false;
    const std::string indent((path_.size() - 1) * 2, ' ');
    *kept = !attributes.empty() || path_.size() == 1;
    if (Starts("/>")) {
      at_ += 2;
    } else if (!Starts(">") || (++at_, !Content(name, &inner, kept))) {
      return false;
    }
    path_.pop_back();
    if (!*kept) return true;
    *out += indent + "<" + name + attributes;
    *out += inner.empty() ? "/>\n"
            : inner.ends_with('\n')
                ? ">\n" + inner + indent + "</" + name + ">\n"
                : ">" + inner + "</" + name + ">\n";
    return true;
  }

  // Up to the end of the element `name`: other elements, or a text.
  bool Content(const std::string& name, std::string* inner, bool* kept) {
    std::string text;
    bool elements = false;
    for (;;) {
      if (!Characters('<', &text)) return false;
      if (Starts("<!--")) {
        if (!SkipComments()) return false;
        continue;
      }
      if (Starts("</")) break;
      elements = true;
      bool shown = false;
      if (!Element(inner, &shown)) return false;
      *kept |= shown;
    }
    at_ += 2;
    std::string end;
    if (!Name(&end) || end != name) return false;
    SkipSpace();
    if (!Starts(">")) return false;
    ++at_;
    const bool blank = text.find_first_not_of(kSpace) == std::string::npos;
    if (elements || blank) return blank || !elements;
    if (const auto written = Written(text)) {
      *inner = Escaped(*written);
      *kept = true;
    }
    return true;
  }

  const rules::SettingsFile& file_;
  const Text text_;
  Copy* copy_;
  size_t at_ = 0;
  std::vector<std::string> path_;
};

}  // namespace

void CopyXml(const rules::SettingsFile& file, Text text, Copy* copy) {
  Reader(file, text, copy).Read();
}

}  // namespace gate::settings
