// Questions to a name server: no part of one is one, its name is a host's in
// normal form, and answers are short, repeat the question and are no questions.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "net/host_list.h"
#include "net/protocols/dns.h"

namespace {

using namespace gate::net;
using std::string_view;

void CheckAnswer(string_view message, const DnsQuestion& question,
                 const std::string& answer) {
  Require(answer.size() <= 512 && answer.size() >= question.end);
  Require(answer.substr(0, 2) == message.substr(0, 2));
  Require(string_view(answer).substr(12, question.end - 12) ==
          message.substr(12, question.end - 12));
  Require(!ReadDnsQuestion(answer));
  Require(RefuseDns(answer).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const string_view message(reinterpret_cast<const char*>(data), size);
  const std::string refusal = RefuseDns(message);
  Require(refusal.empty() || refusal.size() == 12);
  const auto question = ReadDnsQuestion(message);
  if (!question) return 0;
  Require(refusal.size() == 12 && size <= kMaxDnsMessage);
  if (!question->name.empty()) {
    const auto host = ReadHost(question->name);
    Require(host && *host == question->name && !IsAddress(*host));
  }
  for (size_t part = 0; part < size; ++part)
    Require(!ReadDnsQuestion(message.substr(0, part)));
  const std::vector<Address> addresses(40, *ParseAddress("127.64.0.1"));
  CheckAnswer(message, *question, AnswerDns(message, *question, addresses));
  for (const DnsAnswer answer :
       {DnsAnswer::kRefused, DnsAnswer::kEmpty, DnsAnswer::kFormatError,
        DnsAnswer::kNoSuchName})
    CheckAnswer(message, *question, AnswerDns(message, *question, answer));
  return 0;
}
