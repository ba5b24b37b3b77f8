#include "net/proxy/dns_message.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/ascii.h"

namespace gate::net::proxy {
namespace {

constexpr size_t kMaxLabelBytes = 63;
constexpr size_t kMaxNameBytes = 253;
constexpr uint16_t kClassIn = 1;
constexpr uint16_t kTypeAlias = 5;  // CNAME
// Records of one message that are looked at.
constexpr int kMaxRecords = 256;
// Jumps that a compressed name may make.
constexpr int kMaxJumps = 64;

void Append16(uint16_t value, std::string* out) {
  out->push_back(static_cast<char>(value >> 8));
  out->push_back(static_cast<char>(value & 0xff));
}

class MessageReader {
 public:
  MessageReader(std::string_view message, size_t at)
      : message_(message), at_(at) {}

  bool good() const { return good_; }
  size_t at() const { return at_; }

  uint16_t Read16() {
    const std::string_view two = Take(2);
    if (!good_) return 0;
    return static_cast<uint16_t>(static_cast<uint8_t>(two[0]) << 8 |
                                 static_cast<uint8_t>(two[1]));
  }
  uint32_t Read32() {
    const uint32_t high = Read16();
    return high << 16 | Read16();
  }
  std::string_view Take(size_t size) {
    if (!good_ || message_.size() - at_ < size) {
      good_ = false;
      return {};
    }
    const std::string_view taken = message_.substr(at_, size);
    at_ += size;
    return taken;
  }
  // A name in lower case, with dots between its labels; compressed or not. A
  // label with a dot or a control character is no host's: the name is read, and
  // equals none.
  std::string ReadName() {
    std::string name;
    std::optional<size_t> behind;  // the first jump
    size_t from = at_;
    for (int jumps = 0; good_;) {
      if (from >= message_.size()) break;
      const auto size = static_cast<uint8_t>(message_[from]);
      if (size == 0) {
        at_ = behind.value_or(from + 1);
        return name;
      }
      if ((size & 0xc0) == 0xc0) {
        if (from + 1 >= message_.size() || ++jumps > kMaxJumps) break;
        if (!behind) behind = from + 2;
        const size_t to = static_cast<size_t>(size & 0x3f) << 8 |
                          static_cast<uint8_t>(message_[from + 1]);
        if (to >= from) break;  // only backwards
        from = to;
        continue;
      }
      if (size > kMaxLabelBytes || message_.size() - from - 1 < size) break;
      if (!name.empty()) name += '.';
      for (const char c : message_.substr(from + 1, size))
        name += c == '.' || static_cast<unsigned char>(c) <= ' '
                    ? '\x7f'
                    : LowerAscii(c);
      if (name.size() > kMaxNameBytes) break;
      from += 1 + size_t{size};
    }
    good_ = false;
    return {};
  }

 private:
  std::string_view message_;
  size_t at_;
  bool good_ = true;
};

struct Record {
  std::string owner;
  uint16_t type = 0;
  uint32_t seconds = 0;
  std::string_view data;
  size_t data_at = 0;
};

Address FromBytes(std::string_view bytes) {
  Address address;
  if (bytes.size() == 4) address.bytes[10] = address.bytes[11] = 0xff;
  std::memcpy(address.bytes.data() + (16 - bytes.size()), bytes.data(),
              bytes.size());
  return address;
}

}  // namespace

std::string AskDns(uint16_t id, std::string_view name, DnsType type) {
  std::string message;
  Append16(id, &message);
  Append16(0x0100, &message);  // recursion desired
  Append16(1, &message);
  message.append(6, '\0');
  if (name.empty() || name.size() > kMaxNameBytes) return {};
  while (!name.empty()) {
    const size_t dot = std::min(name.find('.'), name.size());
    if (dot == 0 || dot > kMaxLabelBytes) return {};
    message.push_back(static_cast<char>(dot));
    message.append(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  message.push_back('\0');
  Append16(static_cast<uint16_t>(type), &message);
  Append16(kClassIn, &message);
  return message;
}

LookupAnswer ReadDnsAnswer(std::string_view message, uint16_t id,
                           std::string_view name, DnsType type) {
  LookupAnswer answer;
  MessageReader reader(message, 0);
  const uint16_t got_id = reader.Read16();
  const uint16_t flags = reader.Read16();
  const uint16_t questions = reader.Read16();
  const uint16_t answers = reader.Read16();
  reader.Take(4);
  constexpr uint16_t kResponse = 0x8000, kOpcode = 0x7800, kCut = 0x0200;
  if (!reader.good() || got_id != id || (flags & kResponse) == 0 ||
      (flags & kOpcode) != 0 || questions != 1)
    return answer;
  const std::string asked = reader.ReadName();
  const uint16_t asked_type = reader.Read16();
  const uint16_t asked_class = reader.Read16();
  if (!reader.good() || asked != name ||
      asked_type != static_cast<uint16_t>(type) || asked_class != kClassIn)
    return answer;
  answer.status = LookupStatus::kFailed;
  const int code = flags & 0xf;
  if ((flags & kCut) != 0) {
    answer.status = LookupStatus::kTruncated;
    return answer;
  }
  if (code == 3) {
    answer.status = LookupStatus::kNoSuchName;
    return answer;
  }
  if (code != 0) return answer;
  std::vector<Record> records;
  for (int i = 0; i < std::min<int>(answers, kMaxRecords); ++i) {
    Record record;
    record.owner = reader.ReadName();
    record.type = reader.Read16();
    const uint16_t record_class = reader.Read16();
    record.seconds = reader.Read32();
    const uint16_t size = reader.Read16();
    record.data_at = reader.at();
    record.data = reader.Take(size);
    if (!reader.good()) return answer;
    if (record_class == kClassIn) records.push_back(std::move(record));
  }
  std::string at(name);
  uint32_t seconds = UINT32_MAX;
  for (int aliases = 0;; ++aliases) {
    const size_t wanted = type == DnsType::kA ? 4 : 16;
    for (const Record& record : records) {
      if (record.owner != at || record.type != static_cast<uint16_t>(type) ||
          record.data.size() != wanted ||
          answer.addresses.size() == kMaxAddresses)
        continue;
      answer.addresses.push_back(FromBytes(record.data));
      seconds = std::min(seconds, record.seconds);
    }
    if (!answer.addresses.empty() || aliases == kMaxAliases) break;
    const auto alias = std::ranges::find_if(records, [&](const Record& one) {
      return one.type == kTypeAlias && one.owner == at;
    });
    if (alias == records.end()) break;
    MessageReader target(message, alias->data_at);
    std::string next = target.ReadName();
    if (!target.good() || target.at() != alias->data_at + alias->data.size())
      return answer;
    seconds = std::min(seconds, alias->seconds);
    at = std::move(next);
  }
  answer.status = LookupStatus::kAnswered;
  answer.seconds = answer.addresses.empty() ? 0 : seconds;
  return answer;
}

}  // namespace gate::net::proxy
