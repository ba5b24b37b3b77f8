// One layout, nothing lost.
#include "rules/format.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace gate::rules {
namespace {

std::string Formatted(std::string_view text) {
  const auto out = FormatRuleFile(text);
  EXPECT_TRUE(out) << text;
  return out ? *out : "";
}

// A value as text, members in their order.
void Say(const Tree& tree, const TreeNode& node, std::string* out) {
  *out += std::to_string(static_cast<int>(node.type)) + ":";
  *out += std::string(node.key) + "=" + std::string(node.text);
  *out += node.truth ? "T" : "F";
  *out += std::to_string(node.number) + "(";
  for (const TreeNode& child : tree.children(node)) Say(tree, child, out);
  *out += ")";
}

std::string Meaning(std::string_view text) {
  const auto tree = Tree::Parse(text);
  if (!tree) return "error: " + tree.error().message;
  std::string out;
  Say(*tree, tree->root(), &out);
  return out;
}

TEST(Format, KeepsLineBreaksCommentsAndOrder) {
  struct Row {
    const char* before;
    const char* after;
  };
  const Row rows[] = {
      {"{}", "{}\n"},
      {"{ \"a\" : 1 ,\"b\":[ 1,2 ]}", "{\"a\": 1, \"b\": [1, 2]}\n"},
      {"// c  \n\n\n\n{\n\"a\":1}", "// c\n\n{\n  \"a\": 1\n}\n"},
      {"{\"a\": [\n1,\n  2]}", "{\"a\": [\n  1,\n  2\n]}\n"},
      {"{\"a\": [1,\n2]}", "{\"a\": [1,\n       2]}\n"},
      {"[1 // one\n, 2]", "[1,  // one\n 2]\n"},
      {"{\"a\" /* x */ : 1}", "{\"a\": /* x */ 1}\n"},
      {"[1 // last\n]", "[1  // last\n]\n"},
      {"{\"z\": 1,\n\n\n\"a\": 2}", "{\"z\": 1,\n\n \"a\": 2}\n"},
      {"\xEF\xBB\xBF[\"\\u0041\"]", "[\"\\u0041\"]\n"},
      {"[1]\r\n// end\r\n", "[1]\n// end\n"},
      {"[\"\xC3\xA4\", [1,\n2]]", "[\"\xC3\xA4\", [1,\n       2]]\n"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Formatted(row.before), row.after);
    EXPECT_EQ(Formatted(row.after), row.after);
  }
}

TEST(Format, RefusesWhatIsNotJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\": 1} x", "/* open"})
    EXPECT_FALSE(FormatRuleFile(text)) << text;
}

// Random values with random white space and comments in every place.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  std::string Make() {
    Gap();
    Value(0);
    Gap();
    return std::move(out_);
  }
  const std::vector<std::string>& comments() const { return comments_; }

 private:
  unsigned Pick(unsigned below) {
    return static_cast<unsigned>(random_()) % below;
  }

  void Gap() {
    static constexpr const char* kBlank[] = {"",   "",  " ",    "\n",
                                             "\t", " ", "\n\n", "\r\n"};
    out_ += kBlank[Pick(8)];
    if (Pick(6) != 0) return;
    const std::string name = "c" + std::to_string(comments_.size());
    comments_.push_back(name);
    out_ += Pick(2) == 0 ? "/* " + name + " */" : "// " + name + " \n";
    out_ += kBlank[Pick(8)];
  }

  void Value(int depth) {
    switch (depth > 4 ? Pick(4) : Pick(8)) {
      case 0:
        out_ += "\"a \\\" // b, {\\\\\"";
        break;
      case 1:
        out_ += "-1.5e3";
        break;
      case 2:
        out_ += "true";
        break;
      case 3:
        out_ += "\"\"";
        break;
      default: {
        const bool object = Pick(2) == 0;
        out_ += object ? '{' : '[';
        Gap();
        const unsigned count = Pick(4);
        for (unsigned i = 0; i < count; ++i) {
          if (object) {
            out_ += "\"k" + std::to_string(i) + "\"";
            Gap();
            out_ += ':';
            Gap();
          }
          Value(depth + 1);
          Gap();
          if (i + 1 < count) {
            out_ += ',';
            Gap();
          }
        }
        out_ += object ? '}' : ']';
      }
    }
  }

  std::mt19937 random_;
  std::string out_;
  std::vector<std::string> comments_;
};

TEST(Format, ChangesNoValueLosesNoCommentAndIsItsOwnFixedPoint) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Maker maker(seed);
    const std::string text = maker.Make();
    const std::string once = Formatted(text);
    ASSERT_EQ(Meaning(once), Meaning(text)) << text << "\n---\n" << once;
    ASSERT_EQ(Formatted(once), once) << text;
    size_t at = 0;
    for (const std::string& comment : maker.comments()) {
      at = once.find(comment, at);
      ASSERT_NE(at, std::string::npos) << text << "\n---\n" << once;
    }
    ASSERT_EQ(once.find(" \n"), std::string::npos) << once;
  }
}

TEST(Format, TheShippedRulesAreFormatted) {
  for (const auto& entry :
       std::filesystem::directory_iterator(GATE_SOURCE_DIR "/rules.d")) {
    if (entry.path().extension() != ".json") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    EXPECT_EQ(Formatted(text.str()) == text.str(), true)
        << entry.path() << ": run `gate rules fmt rules.d`";
  }
}

}  // namespace
}  // namespace gate::rules
