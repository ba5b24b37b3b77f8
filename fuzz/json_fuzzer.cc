// Feeds bytes to what base/ reads from outside: JSON, its positions, images,
// and text. Besides not crashing, each must keep its promise:
//   - what ParseJson accepts it accepts again after Dump, as the same value;
//   - a position lies inside the text;
//   - what an image gives lies inside the image;
//   - repaired or visible text is well-formed and hides nothing.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/flat_file.h"
#include "base/json.h"
#include "base/text.h"
#include "fuzz/require.h"

namespace {

using namespace gate;  // NOLINT(google-build-using-namespace)

void FuzzJson(std::string_view text) {
  for (const bool comments : {false, true}) {
    const auto json = ParseJson(text, comments);
    if (!json) {
      Require(json.error().offset <= text.size());
      Require(IsUtf8(json.error().message));
      continue;
    }
    const auto again = ParseJson(Dump(*json));
    Require(again.has_value() && *again == *json);
  }
  for (const char* pointer :
       {"", "/a", "/0/a", "/a/b/1", "/~0/~1", "/rules/0"}) {
    for (const bool key : {false, true}) {
      const size_t at = LocatePointer(text, pointer, key);
      Require(at <= text.size());
      Require(Locate(text, at).line >= 1);
    }
  }
}

struct Item {
  uint32_t number;
  FlatText text;
};

void FuzzImage(std::string_view bytes) {
  // A valid frame around fuzzed bytes reaches further than chance would.
  FlatWriter writer;
  writer.Text("text");
  writer.Section<Item>({{1, {0, 4}}, {2, {1, 100}}});
  std::string whole = writer.Finish("fuzz");
  for (size_t i = 0; i + 1 < bytes.size() && i < 64; i += 2) {
    whole[static_cast<unsigned char>(bytes[i]) % whole.size()] = bytes[i + 1];
  }
  for (const std::string_view source : {bytes, std::string_view(whole)}) {
    std::vector<uint64_t> words(source.size() / 8 + 1);
    if (!source.empty())
      std::memcpy(words.data(), source.data(), source.size());
    const std::string_view aligned(reinterpret_cast<const char*>(words.data()),
                                   source.size());
    const auto image = FlatFile::Open(aligned, "fuzz");
    if (!image) continue;
    for (uint32_t section = 0; section < 4; ++section) {
      for (const Item& item : image->Section<Item>(section)) {
        const std::string_view text = image->Text(item.text);
        Require(text.empty() ||
                (text.data() >= aligned.data() &&
                 text.data() + text.size() <= aligned.data() + aligned.size()));
      }
    }
  }
}

void FuzzText(std::string_view text) {
  Require(IsUtf8(ToUtf8(text)));
  Require(FindHidden(Visible(text)).empty());
  std::string decoded;
  Require(DecodeBase64(Base64(text), &decoded) && decoded == text);
  (void)DecodeBase64(text, &decoded);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  FuzzJson(text);
  FuzzImage(text);
  FuzzText(text);
  return 0;
}
