// What the writer of JSON makes, a reader reads back.
#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"

namespace gate {
namespace {

TEST(JsonWriterTest, WritesWhatAParserReadsBack) {
  JsonWriter json;
  json.BeginObject().Field("a", "q\"\\\n\x01").Key("b").BeginArray();
  json.Number(-3).Bool(true).Null().BeginObject().EndObject().EndArray();
  json.Field("c", "\xff").Key("d").Raw("{\"x\":1}").EndObject();
  const auto parsed = ParseJson(json.text());
  ASSERT_TRUE(parsed) << json.text();
  EXPECT_EQ((*parsed)["a"], "q\"\\\n\x01");
  EXPECT_EQ((*parsed)["b"].size(), 4u);
  EXPECT_EQ((*parsed)["c"], "\xEF\xBF\xBD");
  EXPECT_EQ((*parsed)["d"]["x"], 1);
}

TEST(JsonWriterTest, EscapesEachByteWhereverItStands) {
  for (int byte = 0; byte < 0x80; ++byte) {
    for (size_t at = 0; at < 19; ++at) {
      std::string value = "0123456789 abcdefgh";
      value[at] = static_cast<char>(byte);
      JsonWriter json;
      json.String(value);
      const auto parsed = ParseJson(json.text());
      ASSERT_TRUE(parsed) << json.text();
      EXPECT_EQ(*parsed, value) << byte << " at " << at;
    }
  }
}

}  // namespace
}  // namespace gate
