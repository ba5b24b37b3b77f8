// git's framing of what its two sides say to each other (gitprotocol-common(5),
// "pkt-line"): four hexadecimal digits that count themselves, then the bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace gate::credentials {

// The longest that git writes or reads (pkt-line.h, LARGE_PACKET_MAX).
inline constexpr size_t kMaxPktBytes = 65520;

struct PktLine {
  enum class Kind : unsigned char { kData, kFlush, kDelimiter, kResponseEnd };
  Kind kind = Kind::kData;
  std::string_view text;  // of kData, of the buffer that it was read from
};

// The first line of `buffer` from `*begin` on, which is moved behind it; none
// while it is not whole. kInvalid when it never will be one: digits that are
// none, lengths of 3 and above kMaxPktBytes.
Result<std::optional<PktLine>> TakePktLine(std::string_view buffer,
                                           size_t* begin);

// `text` without one newline at its end, which git does not count.
std::string_view Chomped(std::string_view text);

// Whether `text` is the name of an object: 40 or 64 digits, lower case.
bool IsObjectId(std::string_view text);
// Whether it is all zeros, which stands for none.
bool IsNoObject(std::string_view id);

}  // namespace gate::credentials
