// A half-open byte range [begin, end) of a source text. 32 bits are enough:
// every text gate reads is bounded far below 4 GiB.
#pragma once

#include <cstdint>
#include <string_view>

namespace gate {

struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;

  uint32_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool Contains(Span inner) const {
    return begin <= inner.begin && inner.end <= end;
  }
  friend bool operator==(const Span&, const Span&) = default;
};

// The text a span covers. The span must lie inside `source`.
inline std::string_view Slice(std::string_view source, Span span) {
  return source.substr(span.begin, span.size());
}

}  // namespace gate
