#include "base/flat_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"

namespace gate {
namespace {

struct Item {
  uint32_t number;
  FlatText name;
};

// A copy at an address that is a multiple of 8.
class Aligned {
 public:
  explicit Aligned(std::string_view bytes)
      : words_(bytes.size() / 8 + 2), size_(bytes.size()) {
    std::memcpy(words_.data(), bytes.data(), bytes.size());
  }
  std::string_view view(size_t shift = 0) const {
    return {reinterpret_cast<const char*>(words_.data()) + shift, size_};
  }

 private:
  std::vector<uint64_t> words_;
  size_t size_;
};

std::string Sample() {
  FlatWriter writer;
  const FlatText one = writer.Text("one");
  const FlatText empty = writer.Text("");
  writer.Section<Item>({{1, one}, {2, empty}, {3, writer.Text("one")}});
  writer.Section<uint8_t>({1, 2, 3});
  writer.Section<uint64_t>({});
  return writer.Finish("test-1");
}

TEST(FlatFile, HoldsWhatWasWritten) {
  const Aligned bytes(Sample());
  const auto image = FlatFile::Open(bytes.view(), "test-1");
  ASSERT_TRUE(image) << image.error().message;
  const auto items = image->Section<Item>(0);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[2].number, 3u);
  EXPECT_EQ(image->Text(items[0].name), "one");
  EXPECT_EQ(image->Text(items[1].name), "");
  EXPECT_EQ(items[0].name.offset, items[2].name.offset);
  EXPECT_EQ(image->Section<uint8_t>(1).size(), 3u);
  EXPECT_TRUE(image->Section<uint64_t>(2).empty());
}

TEST(FlatFile, WhatIsNotThereIsEmpty) {
  const Aligned bytes(Sample());
  const auto image = FlatFile::Open(bytes.view(), "test-1");
  ASSERT_TRUE(image);
  EXPECT_TRUE(image->Section<uint8_t>(3).empty());
  EXPECT_TRUE(image->Section<uint8_t>(UINT32_MAX).empty());
  EXPECT_TRUE(image->Section<uint8_t>(0).empty());  // another item size
  EXPECT_EQ(image->Text({0, 1000}), "");
  EXPECT_EQ(image->Text({UINT32_MAX, UINT32_MAX}), "");
  EXPECT_EQ(FlatFile().Text({0, 1}), "");
  EXPECT_TRUE(FlatFile().Section<Item>(0).empty());
  const auto items = image->Section<Item>(0);
  EXPECT_EQ(Slice(items, 1, UINT32_MAX).size(), 2u);
  EXPECT_TRUE(Slice(items, 4, 1).empty());
}

TEST(FlatFile, AnotherKindOrACutOffOneIsCorrupt) {
  const std::string sample = Sample();
  const Aligned whole(sample);
  for (const char* magic : {"test-2", "", "test-1x", "a-magic-of-17-byte"})
    EXPECT_FALSE(FlatFile::Open(whole.view(), magic)) << magic;
  EXPECT_FALSE(FlatFile::Open(whole.view(1), "test-1"));
  for (size_t size = 0; size < sample.size(); ++size) {
    const Aligned part(std::string_view(sample).substr(0, size));
    const auto image = FlatFile::Open(part.view(), "test-1");
    ASSERT_FALSE(image) << size;
    EXPECT_EQ(image.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(FlatFile::Open(Aligned(sample + "12345678").view(), "test-1"));
}

TEST(FlatFile, NoDamagedByteLeadsOutside) {
  const std::string sample = Sample();
  for (size_t at = 0; at < sample.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x07, 0x7f, 0x80, 0xff}) {
      std::string damaged = sample;
      damaged[at] = static_cast<char>(value);
      const Aligned bytes(damaged);
      const auto image = FlatFile::Open(bytes.view(), "test-1");
      if (!image) continue;
      const std::string_view all = bytes.view();
      for (uint32_t section = 0; section < 4; ++section) {
        for (const Item& item : image->Section<Item>(section)) {
          const std::string_view text = image->Text(item.name);
          if (text.empty()) continue;
          EXPECT_GE(text.data(), all.data());
          EXPECT_LE(text.data() + text.size(), all.data() + all.size());
        }
      }
    }
  }
}

}  // namespace
}  // namespace gate
