// A flat, position-independent byte image: data that is built once (at compile
// time, or when a policy file changes) and used in place, with nothing parsed
// at start.
//
// An image is a sequence of 8-byte aligned sections found by index. Writers
// append; readers check every bound once, at Open, and every access against
// its section, so that a damaged cache file is an error and never a crash.
// Integers are in the byte order of the machine: an image is made and used on
// the same one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace gate {

// A string inside an image's text section.
struct FlatText {
  uint32_t offset = 0;
  uint32_t size = 0;
};

class FlatWriter {
 public:
  // Stores `text` once and returns where it is.
  FlatText Text(std::string_view text);
  // What Text stored there; until the next call of it.
  std::string_view View(FlatText text) const {
    return std::string_view(text_).substr(text.offset, text.size);
  }

  // Appends `items` as section number Sections(); returns that number.
  template <class T>
  uint32_t Section(const std::vector<T>& items) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::string bytes(items.size() * sizeof(T), '\0');
    if (!items.empty()) std::memcpy(bytes.data(), items.data(), bytes.size());
    sections_.push_back({std::move(bytes), sizeof(T)});
    return static_cast<uint32_t>(sections_.size() - 1);
  }

  // The finished image; `magic` names its kind and version, in at most 16
  // bytes.
  std::string Finish(std::string_view magic) const;

 private:
  struct Bytes {
    std::string data;
    size_t item_size;
  };
  std::string text_;
  std::unordered_map<std::string, FlatText> known_;
  std::vector<Bytes> sections_;
};

// C++ in whose namespace `space` the function `function` returns `image`.
std::string SourceOfImage(std::string_view image, std::string_view space,
                          std::string_view function);

// A view of an image; the bytes must outlive it and be 8-byte aligned.
class FlatFile {
 public:
  FlatFile() = default;
  // kCorrupt unless `bytes` is a whole image with this `magic`.
  static Result<FlatFile> Open(std::string_view bytes, std::string_view magic);

  // Empty when `text` does not lie inside the text section.
  std::string_view Text(FlatText text) const {
    if (text.offset > text_.size() || text.size > text_.size() - text.offset)
      return {};
    return {text_.data() + text.offset, text.size};
  }

  // Section `index` as items of T; empty when there is no such section or its
  // items have another size.
  template <class T>
  std::span<const T> Section(uint32_t index) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::string_view bytes = Raw(index, sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  std::string_view Raw(uint32_t index, size_t item_size) const;
  std::string_view bytes_;
  std::string_view text_;
};

// items[begin, begin + count), clipped to what there is.
template <class T>
std::span<const T> Slice(std::span<const T> items, uint32_t begin,
                         uint32_t count) {
  if (begin > items.size()) return {};
  return items.subspan(begin, std::min<size_t>(count, items.size() - begin));
}

}  // namespace gate
