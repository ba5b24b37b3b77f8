// Frames and word lists, whole, in parts and malformed.
#include "credentials/transport_wire.h"

#include <gtest/gtest.h>

namespace gate::credentials {
namespace {

TEST(TransportWireTest, ReadsFramesThatComeInParts) {
  std::string bytes;
  PutFrame(FrameType::kInput, "abc", &bytes);
  PutFrame(FrameType::kInputEnd, "", &bytes);
  for (size_t size = 0; size < kFrameHead + 3; ++size) {
    size_t begin = 0;
    const auto frame =
        TakeFrame(std::string_view(bytes).substr(0, size), &begin);
    ASSERT_TRUE(frame);
    EXPECT_FALSE(*frame) << size;
    EXPECT_EQ(begin, 0u);
  }
  size_t begin = 0;
  auto frame = TakeFrame(bytes, &begin);
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->bytes, "abc");
  frame = TakeFrame(bytes, &begin);
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->type, FrameType::kInputEnd);
  EXPECT_EQ(begin, bytes.size());
}

TEST(TransportWireTest, EndsAtWhatIsNoFrame) {
  for (const std::string& bytes :
       {std::string("x"), std::string("GET / HTTP/1.0"),
        std::string("I\xff\xff\xff\xff", 5),
        std::string("I\x00\x01\x00\x01", 5), std::string("\0", 1)}) {
    size_t begin = 0;
    EXPECT_FALSE(TakeFrame(bytes, &begin)) << bytes;
  }
}

TEST(TransportWireTest, ReadsWordsBack) {
  const std::vector<std::string> words = {"", "a b", std::string("\0\n", 2)};
  const auto again = DecodeWords(EncodeWords(words));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, words);
  for (const std::string& bytes : {std::string("a"), std::string("\0\0\0", 3),
                                   std::string("\0\0\0\2"
                                               "a",
                                               5),
                                   std::string("\xff\xff\xff\xff"
                                               "abc",
                                               7)})
    EXPECT_FALSE(DecodeWords(bytes)) << bytes;
}

}  // namespace
}  // namespace gate::credentials
