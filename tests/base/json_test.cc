#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace gate {
namespace {

using std::string_literals::operator""s;

std::string Nested(int depth) {
  return std::string(static_cast<size_t>(depth), '[') +
         std::string(static_cast<size_t>(depth), ']');
}

TEST(ParseJson, ReadsWhatIsJson) {
  const struct {
    std::string text, dumped;
  } cases[] = {
      {"{}", "{}"},
      {" [1, -2, 3.5, true, false, null, \"x\"] ",
       "[1,-2,3.5,true,false,null,\"x\"]"},
      {"{\"b\":{\"c\":[{}]},\"a\":[]}", "{\"a\":[],\"b\":{\"c\":[{}]}}"},
      {"\"\\u00e9\\n\\ud83d\\ude00\"", "\"\xc3\xa9\\n\xf0\x9f\x98\x80\""},
      {"18446744073709551615", "18446744073709551615"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"1e300", "1e+300"},
      {Nested(kMaxJsonDepth), Nested(kMaxJsonDepth)},
      {"\xef\xbb\xbf"
       "1",
       "1"},
  };
  for (const auto& c : cases) {
    const auto json = ParseJson(c.text);
    ASSERT_TRUE(json) << c.text << ": " << json.error().message;
    EXPECT_EQ(Dump(*json), c.dumped);
  }
}

TEST(ParseJson, RefusesWithAPlace) {
  const struct {
    std::string text;
    size_t offset;
    std::string message;  // a part of it
  } cases[] = {
      {"", 0, "unexpected end of input"},
      {"{\"a\":1,}", 6, "a comma before the end"},
      {"[1 2]", 3, "unexpected number literal"},
      {"{\"a\":1}x", 7, "expected end of input"},
      {"// c\n1", 0, "invalid literal"},
      {"{\"a\":1,\"b\":2,\"a\":3}", 15, "duplicate key `a`"},
      {"{\"a\":{\"x\":1,\"\\u0078\":3}}", 19, "duplicate key `x`"},
      {Nested(kMaxJsonDepth + 1), 64, "nested deeper than 64"},
      {std::string(1000000, '['), 64, "nested deeper than 64"},
      {"{\"a\":1e999}", 9, "number overflow"},
      {"-1e999", 5, "number overflow"},
      {"18446744073709551616", 19, "integer out of range"},
      {"-9223372036854775809", 19, "integer out of range"},
      {"NaN", 0, "invalid literal"},
      {"Infinity", 0, "invalid literal"},
      {"\"a\xff\"", 2, "invalid UTF-8"},
      {"\"\xed\xa0\x80\"", 1, "invalid UTF-8"},
      {"\"\\ud800\"", 7, "surrogate"},
      {"\"a\nb\"", 2, "control character"},
      {"1\0"s, 1, "NUL byte"},
  };
  for (const auto& c : cases) {
    const std::string shown = c.text.substr(0, 40);
    const auto json = ParseJson(c.text);
    ASSERT_FALSE(json) << shown;
    EXPECT_EQ(json.error().offset, c.offset) << shown;
    EXPECT_NE(json.error().message.find(c.message), std::string::npos)
        << shown << ": " << json.error().message;
    EXPECT_LT(json.error().message.size(), 700u);
    EXPECT_EQ(json.error().message.find('\n'), std::string::npos);
  }
}

TEST(ParseJson, NamesTheCommaThatNothingFollows) {
  for (const char* text :
       {"{\"a\": 1,}", "[1,]", "[1,\n  ]", "{\"a\": [1],\n}"}) {
    const auto json = ParseJson(text, true);
    ASSERT_FALSE(json) << text;
    EXPECT_EQ(text[json.error().offset], ',') << text;
    EXPECT_EQ(json.error().message, kTrailingComma) << text;
  }
  for (const char* text : {"[1 2]", "{a: 1}", "[", "]", "[,1]", "{\"a\" 1}"})
    EXPECT_NE(ParseJson(text).error().message, kTrailingComma) << text;
}

TEST(ParseJson, CommentsOnlyWhenAllowed) {
  const std::string text = "/* a */ {\"a\": // b\n 1 /**/ } // end";
  EXPECT_FALSE(ParseJson(text));
  const auto json = ParseJson(text, true);
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(Dump(*json), "{\"a\":1}");
  EXPECT_FALSE(ParseJson("1 /* open", true));
  EXPECT_EQ(ParseJson("1 // \xff", true).error().offset, 5u);
}

TEST(ParseJson, EveryPrefixOfAFileIsRefused) {
  const std::string text =
      "{\"schema\": 1, /* c */ \"rules\": [{\"id\": \"a\\u00e9\", "
      "\"match\": {\"glob\": \"x*\"}}]}";
  ASSERT_TRUE(ParseJson(text, true));
  for (size_t size = 0; size < text.size(); ++size) {
    const auto json = ParseJson(text.substr(0, size), true);
    ASSERT_FALSE(json) << size;
    EXPECT_LE(json.error().offset, size);
  }
}

TEST(LocatePointer, FindsValuesAndKeys) {
  const std::string text =
      "// first\n{ \"a\": [10, {\"b,]\": \"}\\\"]\", \"c\" : tru}, /* ] */ "
      "[[2]]], \"x/y~\": 1, \"\\u0065\": {} }";
  const struct {
    const char* pointer;
    bool key;
    const char* at;  // the text that begins there
  } cases[] = {
      {"", false, "{ \"a\""},
      {"/a", false, "[10"},
      {"/a", true, "\"a\":"},
      {"/a/0", false, "10"},
      {"/a/1", false, "{\"b"},
      {"/a/1/b,]", false, "\"}\\\""},
      {"/a/1/b,]", true, "\"b,]"},
      {"/a/1/c", false, "tru}"},
      {"/a/2/0/0", false, "2]"},
      {"/x~1y~0", false, "1,"},
      {"/x~1y~0", true, "\"x/y~\""},
      {"/e", false, "{} }"},
      {"/e", true, "\"\\u0065\""},
      // What does not exist gives the closest enclosing value.
      {"/no", false, "{ \"a\""},
      {"/no", true, "{ \"a\""},
      {"/a/7", false, "[10"},
      {"/a/1/no/deeper", false, "{\"b"},
      {"/a/0/x", false, "10"},
      {"/e/f", true, "{} }"},
      {"nonsense", false, "{ \"a\""},
  };
  for (const auto& c : cases) {
    const size_t at = LocatePointer(text, c.pointer, c.key);
    ASSERT_LE(at, text.size());
    EXPECT_TRUE(text.substr(at).starts_with(c.at))
        << c.pointer << ": " << text.substr(at);
  }
}

TEST(LocatePointer, StaysInsideAnyText) {
  for (const std::string text :
       {"", "{", "[", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":\"\\", "[,,,]", "/*",
        "//", "/", "}", "]]", "{\"a\":]}", "[:]", "{\"\\", "[1,/"}) {
    for (const char* pointer : {"", "/a", "/a/b", "/0", "/5"}) {
      EXPECT_LE(LocatePointer(text, pointer), text.size()) << text;
      EXPECT_LE(LocatePointer(text, pointer, true), text.size()) << text;
    }
  }
}

TEST(Dump, ReplacesIllFormedText) {
  EXPECT_EQ(Dump(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace gate
