// Layout, all integers of the machine:
//   Header | Entry[count] | text | section 0 | section 1 | …
// Every part begins at a multiple of 8. Open checks that each lies inside the
// bytes and after the table, so that no later access needs to.
#include "base/flat_file.h"

#include <algorithm>

namespace gate {
namespace {

constexpr size_t kMagicBytes = 16;
constexpr size_t kAlignment = 8;

struct Header {
  char magic[kMagicBytes];
  uint64_t size;  // of the whole image
  uint64_t count;
  uint64_t text_offset;
  uint64_t text_size;
};

struct Entry {
  uint64_t offset;
  uint64_t size;
  uint64_t item_size;
};

static_assert(sizeof(Header) % kAlignment == 0);
static_assert(sizeof(Entry) % kAlignment == 0);

void Pad(std::string* bytes) {
  bytes->resize((bytes->size() + kAlignment - 1) / kAlignment * kAlignment);
}

template <class T>
T Load(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <class T>
void Store(std::string* bytes, size_t offset, const T& value) {
  std::memcpy(bytes->data() + offset, &value, sizeof(T));
}

void SetMagic(Header* header, std::string_view magic) {
  std::memset(header->magic, 0, kMagicBytes);
  const size_t size = std::min(magic.size(), kMagicBytes);
  if (size > 0) std::memcpy(header->magic, magic.data(), size);
}

// Whether [offset, offset + size) lies in [begin, end) and is aligned.
bool Fits(uint64_t offset, uint64_t size, uint64_t begin, uint64_t end) {
  return offset % kAlignment == 0 && begin <= offset && offset <= end &&
         size <= end - offset;
}

}  // namespace

FlatText FlatWriter::Text(std::string_view text) {
  const auto [place, added] = known_.try_emplace(std::string(text));
  if (added) {
    place->second = {static_cast<uint32_t>(text_.size()),
                     static_cast<uint32_t>(text.size())};
    text_ += text;
  }
  return place->second;
}

std::string FlatWriter::Finish(std::string_view magic) const {
  Header header = {};
  SetMagic(&header, magic);
  header.count = sections_.size();
  std::string bytes(sizeof(Header) + sections_.size() * sizeof(Entry), '\0');
  header.text_offset = bytes.size();
  header.text_size = text_.size();
  bytes += text_;
  Pad(&bytes);
  for (size_t i = 0; i < sections_.size(); ++i) {
    const Bytes& section = sections_[i];
    Store(&bytes, sizeof(Header) + i * sizeof(Entry),
          Entry{bytes.size(), section.data.size(), section.item_size});
    bytes += section.data;
    Pad(&bytes);
  }
  header.size = bytes.size();
  Store(&bytes, 0, header);
  return bytes;
}

std::string SourceOfImage(std::string_view image, std::string_view space,
                          std::string_view function) {
  std::string head = "std::string_view ";
  head.append(function) += "()";
  std::string out = "// Made by the build.\n#include <string_view>\nnamespace ";
  out.append(space) +=
      " {\n" + head +
      ";\nnamespace {\n"
      "alignas(16) constexpr unsigned long long kImage[] = {\n";
  // Eight bytes a number: compilers read that far faster than characters.
  for (size_t i = 0; i < image.size(); i += 8) {
    uint64_t value = 0;
    std::memcpy(&value, image.data() + i,
                std::min<size_t>(8, image.size() - i));
    out += std::to_string(value) + (i % 64 == 56 ? "u,\n" : "u, ");
  }
  out += "\n};\n}  // namespace\n" + head +
         " {\n  return {reinterpret_cast<const char*>(kImage), " +
         std::to_string(image.size()) + "};\n}\n}  // namespace ";
  return out.append(space) += "\n";
}

Result<FlatFile> FlatFile::Open(std::string_view bytes,
                                std::string_view magic) {
  const auto corrupt = [](const char* message) {
    return Fail(ErrorCode::kCorrupt, message);
  };
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0)
    return corrupt("image is not aligned");
  if (bytes.size() < sizeof(Header)) return corrupt("image is cut off");
  const auto header = Load<Header>(bytes, 0);
  Header expected;
  SetMagic(&expected, magic);
  if (magic.size() > kMagicBytes ||
      std::memcmp(header.magic, expected.magic, kMagicBytes) != 0) {
    return corrupt("image is of another kind or version");
  }
  if (header.size != bytes.size()) return corrupt("image is cut off");
  if (header.count > (bytes.size() - sizeof(Header)) / sizeof(Entry))
    return corrupt("image has a damaged table");
  const uint64_t begin = sizeof(Header) + header.count * sizeof(Entry);
  if (!Fits(header.text_offset, header.text_size, begin, bytes.size()))
    return corrupt("image has a damaged text section");
  for (uint64_t i = 0; i < header.count; ++i) {
    const auto entry = Load<Entry>(bytes, sizeof(Header) + i * sizeof(Entry));
    if (!Fits(entry.offset, entry.size, begin, bytes.size()) ||
        entry.item_size == 0 || entry.size % entry.item_size != 0) {
      return corrupt("image has a damaged section");
    }
  }
  FlatFile image;
  image.bytes_ = bytes;
  image.text_ = bytes.substr(header.text_offset, header.text_size);
  return image;
}

std::string_view FlatFile::Raw(uint32_t index, size_t item_size) const {
  if (bytes_.empty() || index >= Load<Header>(bytes_, 0).count) return {};
  const auto entry =
      Load<Entry>(bytes_, sizeof(Header) + index * sizeof(Entry));
  if (entry.item_size != item_size) return {};
  return bytes_.substr(entry.offset, entry.size);
}

}  // namespace gate
