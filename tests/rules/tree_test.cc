#include "rules/files/tree.h"

#include <gtest/gtest.h>

namespace gate::rules {
namespace {

TEST(Tree, ReadsValuesWithTheirPlaces) {
  const std::string text =
      "// c\n{\"a\": [1, -2.5e1, true, null, \"x\\u00e9\"]}";
  const auto tree = Tree::Parse(text);
  ASSERT_TRUE(tree);
  const TreeNode* a = tree->Find(tree->root(), "a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->count, 5u);
  EXPECT_EQ(text[a->begin], '[');
  EXPECT_EQ(text[a->key_begin], '"');
  std::vector<std::string> strings;
  for (const TreeNode& item : tree->children(*a))
    if (item.type == TreeNode::Type::kString) strings.emplace_back(item.text);
  EXPECT_EQ(strings, std::vector<std::string>{"x\xC3\xA9"});
}

TEST(Tree, RefusesWhatIsNotJson) {
  for (const char* text :
       {"",        "{",           "[",          "{\"a\"",
        "{\"a\":", "{\"a\":1",    "{\"a\":1,}", "[1,]",
        "[1 2]",   "nul",         "01",         "1.",
        "+1",      "NaN",         "Infinity",   "1e999",
        "\"\\x\"", "\"\\ud800\"", "\"a",        "\"\x01\"",
        "{} x",    "{a: 1}",      "/* open",    "{\"a\":1,\"a\":2}",
        "'a'",     "\xFF",        "\"\xC3\""}) {
    EXPECT_FALSE(Tree::Parse(text)) << text;
  }
}

TEST(Tree, NamesTheCommaThatNothingFollows) {
  for (const char* text :
       {"{\"a\": 1,}", "[1,]", "[1,\n  ]", "{\"a\": [1],\n}"}) {
    const auto tree = Tree::Parse(text);
    ASSERT_FALSE(tree) << text;
    EXPECT_EQ(text[tree.error().offset], ',') << text;
    EXPECT_NE(tree.error().message.find("comma"), std::string::npos);
  }
  for (const char* text : {"[1 2]", "{a: 1}", "[", "]", "[,1]", "{\"a\" 1}"})
    EXPECT_EQ(Tree::Parse(text).error().message.find("comma before"),
              std::string::npos)
        << text;
}

TEST(Tree, RefusesDeepNesting) {
  EXPECT_TRUE(Tree::Parse(std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE(Tree::Parse(std::string(70, '[') + std::string(70, ']')));
  EXPECT_FALSE(Tree::Parse(std::string(1 << 20, '[')));
}

TEST(Tree, FindsDuplicateKeysInLargeObjects) {
  std::string text = "{";
  for (int i = 0; i < 2000; ++i) text += "\"k" + std::to_string(i) + "\":1,";
  EXPECT_TRUE(Tree::Parse(text + "\"z\":1}"));
  EXPECT_FALSE(Tree::Parse(text + "\"k7\":1}"));
}

TEST(Tree, EveryCutOffFileIsRefused) {
  const std::string text = R"({"schema": 1, "rules": [{"id": "a\n"}]})";
  for (size_t i = 0; i < text.size(); ++i)
    EXPECT_FALSE(Tree::Parse(std::string_view(text).substr(0, i))) << i;
}

}  // namespace
}  // namespace gate::rules
