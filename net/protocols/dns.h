// Questions to and answers from a name server, as far as a name server that
// knows only allowed names needs them (RFC 1035, RFC 6891, RFC 9460).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/address.h"

namespace gate::net {

inline constexpr size_t kMaxDnsMessage = 4096;

enum class DnsType : uint16_t { kA = 1, kAaaa = 28, kOther = 0 };

struct DnsQuestion {
  uint16_t id = 0;
  bool recursion = false;
  std::string name;  // labels with dots between them, lower case, no final dot
  DnsType type = DnsType::kOther;
  uint16_t raw_type = 0;
  size_t end = 0;  // where the question section ends
};

// One question of class IN in a standard query. kInvalid for everything else:
// answers, several questions, compression in the question, a name that ReadHost
// does not take or takes for an address, bytes beyond the end except one OPT
// record of version 0. The name of the root is empty.
Result<DnsQuestion> ReadDnsQuestion(std::string_view message);

// musl's resolver does not take kRefused for an answer, and asks until its time
// is up (5 seconds); kNoSuchName ends the matter for every resolver.
enum class DnsAnswer : uint8_t { kRefused, kEmpty, kFormatError, kNoSuchName };

// Answers to `message`, which `question` was read from: the addresses of the
// question's type, as many as fit into 512 bytes. The lifetime of each is 0
// seconds. A question with an OPT record has an answer with one.
std::string AnswerDns(std::string_view message, const DnsQuestion& question,
                      const std::vector<Address>& addresses);
std::string AnswerDns(std::string_view message, const DnsQuestion& question,
                      DnsAnswer answer);
// To what could not be read: a format error with its id; empty where there is
// not even a header, and where it is itself an answer, which nobody answers.
std::string RefuseDns(std::string_view message);

}  // namespace gate::net
