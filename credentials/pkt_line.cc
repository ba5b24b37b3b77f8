#include "credentials/pkt_line.h"

#include <algorithm>

namespace gate::credentials {
namespace {

constexpr size_t kHead = 4;
constexpr size_t kSha1Digits = 40, kSha256Digits = 64;

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<std::optional<PktLine>> TakePktLine(std::string_view buffer,
                                           size_t* begin) {
  const std::string_view rest = buffer.substr(*begin);
  size_t length = 0;
  for (size_t i = 0; i < std::min(kHead, rest.size()); ++i) {
    const int digit = DigitOf(rest[i]);
    if (digit < 0) return Fail(ErrorCode::kInvalid, "no line of git's");
    length = length * 16 + static_cast<size_t>(digit);
  }
  if (rest.size() < kHead) return std::nullopt;
  PktLine line;
  if (length < kHead) {
    constexpr PktLine::Kind kKinds[] = {PktLine::Kind::kFlush,
                                        PktLine::Kind::kDelimiter,
                                        PktLine::Kind::kResponseEnd};
    if (length >= std::size(kKinds))
      return Fail(ErrorCode::kInvalid, "no line of git's");
    line.kind = kKinds[length];
    *begin += kHead;
    return line;
  }
  if (length > kMaxPktBytes)
    return Fail(ErrorCode::kInvalid, "a line that is too long for git");
  if (rest.size() < length) return std::nullopt;
  line.text = rest.substr(kHead, length - kHead);
  *begin += length;
  return line;
}

std::string_view Chomped(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

bool IsObjectId(std::string_view text) {
  return (text.size() == kSha1Digits || text.size() == kSha256Digits) &&
         std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool IsNoObject(std::string_view id) {
  return id.find_first_not_of('0') == id.npos;
}

}  // namespace gate::credentials
