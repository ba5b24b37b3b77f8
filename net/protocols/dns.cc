#include "net/protocols/dns.h"

#include "net/host_list.h"
#include "net/protocols/reader.h"

namespace gate::net {
namespace {

using std::string_view;

constexpr size_t kHeader = 12;
constexpr uint32_t kInternet = 1, kOpt = 41;
constexpr size_t kMaxName = 255, kMaxLabel = 63;
// What a client without EDNS takes over UDP (RFC 1035, section 4.2.1).
constexpr size_t kMaxAnswer = 512;

// Bits of the header's second word.
constexpr uint32_t kAnswerBit = 0x8000, kOpcode = 0x7800, kRecursion = 0x0100,
                   kRecursionHere = 0x0080, kAuthentic = 0x0020,
                   kNoChecking = 0x0010;
enum Code : uint32_t {
  kNoError = 0,
  kFormError = 1,
  kNxDomain = 3,
  kRefusal = 5,
};

std::unexpected<Error> Bad(const char* why) {
  return Fail(ErrorCode::kInvalid, why);
}

Result<std::string> ReadName(Reader* reader) {
  std::string name;
  size_t bytes = 0;
  while (true) {
    const uint32_t size = reader->Number(1);
    if (!reader->good()) return Bad("the name is cut short");
    bytes += 1 + size;
    if (size == 0) break;
    if (size > kMaxLabel || bytes >= kMaxName)
      return Bad("a label that is compressed, or a name that is too long");
    const string_view label = reader->Bytes(size);
    if (label.find('.') != label.npos) return Bad("a label has a dot");
    if (!name.empty()) name += '.';
    name += label;
  }
  if (!reader->good()) return Bad("the name is cut short");
  if (name.empty()) return name;
  GATE_TRY(std::string host, ReadHost(name));
  if (IsAddress(host)) return Bad("the name is an address");
  return host;
}

// One OPT record of version 0 that ends the message (RFC 6891).
bool IsOpt(Reader* reader) {
  const uint32_t root = reader->Number(1), type = reader->Number(2);
  reader->Number(2);  // the size that the client takes
  reader->Number(1);  // the upper bits of an answer's code
  const uint32_t version = reader->Number(1);
  reader->Number(2);  // flags
  Reader options(reader->Vector(2));
  while (options.left() > 0) {
    options.Number(2);
    options.Vector(2);
  }
  return reader->AtEnd() && options.good() && root == 0 && type == kOpt &&
         version == 0;
}

// The answer without its records of addresses, for `count` of them.
std::string Begin(string_view message, const DnsQuestion& question,
                  uint32_t code, size_t count) {
  const bool opt = message.size() > question.end;
  std::string out;
  PutNumber(question.id, 2, &out);
  PutNumber(kAnswerBit | kRecursionHere |
                (question.recursion ? kRecursion : 0) | code,
            2, &out);
  PutNumber(1, 2, &out);
  PutNumber(static_cast<uint32_t>(count), 2, &out);
  PutNumber(0, 2, &out);
  PutNumber(opt ? 1 : 0, 2, &out);
  // As it was asked, since some clients compare its upper and lower case.
  out += message.substr(kHeader, question.end - kHeader);
  return out;
}

void PutOpt(std::string* out) {
  PutNumber(0, 1, out);
  PutNumber(kOpt, 2, out);
  PutNumber(kMaxDnsMessage, 2, out);
  PutNumber(0, 4, out);
  PutNumber(0, 2, out);
}
constexpr size_t kOptBytes = 11;

}  // namespace

Result<DnsQuestion> ReadDnsQuestion(string_view message) {
  if (message.size() > kMaxDnsMessage) return Bad("the message is too long");
  Reader reader(message);
  DnsQuestion question;
  question.id = static_cast<uint16_t>(reader.Number(2));
  const uint32_t flags = reader.Number(2);
  const uint32_t questions = reader.Number(2), answers = reader.Number(2),
                 authorities = reader.Number(2), more = reader.Number(2);
  if (!reader.good()) return Bad("there is no whole header");
  if ((flags & ~(kRecursion | kAuthentic | kNoChecking)) != 0)
    return Bad("not a standard query");
  if (questions != 1 || answers != 0 || authorities != 0 || more > 1)
    return Bad("not one question alone");
  question.recursion = (flags & kRecursion) != 0;
  GATE_TRY(question.name, ReadName(&reader));
  question.raw_type = static_cast<uint16_t>(reader.Number(2));
  if (reader.Number(2) != kInternet) return Bad("not of the class IN");
  question.end = message.size() - reader.left();
  if (question.raw_type == static_cast<uint16_t>(DnsType::kA))
    question.type = DnsType::kA;
  if (question.raw_type == static_cast<uint16_t>(DnsType::kAaaa))
    question.type = DnsType::kAaaa;
  if (more == 0 ? !reader.AtEnd() : !IsOpt(&reader))
    return Bad("something follows the question");
  return question;
}

std::string AnswerDns(string_view message, const DnsQuestion& question,
                      const std::vector<Address>& addresses) {
  const bool four = question.type == DnsType::kA;
  const bool opt = message.size() > question.end;
  const size_t first = four ? 12 : 0, size = four ? 4 : 16;
  size_t count = 0;
  std::string records;
  for (const Address& address : addresses) {
    if (question.type == DnsType::kOther || IsIpv4(address) != four) continue;
    std::string record;
    PutNumber(0xc000 | kHeader, 2, &record);  // the name of the question
    PutNumber(question.raw_type, 2, &record);
    PutNumber(kInternet, 2, &record);
    PutNumber(0, 4, &record);
    PutNumber(static_cast<uint32_t>(size), 2, &record);
    for (size_t i = first; i < address.bytes.size(); ++i)
      PutNumber(address.bytes[i], 1, &record);
    if (question.end + records.size() + record.size() + (opt ? kOptBytes : 0) >
        kMaxAnswer)
      break;
    records += record;
    ++count;
  }
  std::string out = Begin(message, question, kNoError, count) + records;
  if (opt) PutOpt(&out);
  return out;
}

std::string AnswerDns(string_view message, const DnsQuestion& question,
                      DnsAnswer answer) {
  Code code = kFormError;
  switch (answer) {
    case DnsAnswer::kRefused:
      code = kRefusal;
      break;
    case DnsAnswer::kEmpty:
      code = kNoError;
      break;
    case DnsAnswer::kFormatError:
      code = kFormError;
      break;
    case DnsAnswer::kNoSuchName:
      code = kNxDomain;
      break;
  }
  std::string out = Begin(message, question, code, 0);
  if (message.size() > question.end) PutOpt(&out);
  return out;
}

std::string RefuseDns(string_view message) {
  Reader reader(message);
  const uint32_t id = reader.Number(2), flags = reader.Number(2);
  reader.Bytes(kHeader - 4);
  if (!reader.good() || (flags & kAnswerBit) != 0) return {};
  std::string out;
  PutNumber(id, 2, &out);
  PutNumber(kAnswerBit | (flags & (kOpcode | kRecursion)) | kRecursionHere |
                kFormError,
            2, &out);
  PutNumber(0, 4, &out);
  PutNumber(0, 4, &out);
  return out;
}

}  // namespace gate::net
