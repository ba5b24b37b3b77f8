#include "credentials/signing_agent.h"

#include <charconv>

#include "credentials/signing_session.h"
#include "credentials/transport_wire.h"

namespace gate::credentials {
namespace {

constexpr size_t kMaxSigningReportBytes = size_t{1} << 20;
constexpr size_t kFields = 4;

// The number of refusals, then the fields of each signature.
std::string EncodeReport(const SigningReport& report) {
  std::vector<std::string> words = {std::to_string(report.refusals)};
  for (const Signature& each : report.signatures)
    for (const std::string* field :
         {&each.key, &each.hash_name, &each.hash, &each.refused})
      words.push_back(*field);
  return EncodeWords(words);
}

SigningReport DecodeSigningReport(const std::string& text) {
  SigningReport report;
  const auto words = DecodeWords(text);
  if (!words || words->empty()) return report;
  const std::string& count = words->front();
  std::from_chars(count.data(), count.data() + count.size(), report.refusals);
  for (size_t i = 1; i + kFields <= words->size(); i += kFields)
    report.signatures.push_back(
        {(*words)[i], (*words)[i + 1], (*words)[i + 2], (*words)[i + 3]});
  return report;
}

}  // namespace

std::string NameOf(const SigningKey& key) {
  return key.openpgp.empty() ? Fingerprint(key.key.blob) : "gpg:" + key.openpgp;
}

Result<SigningAgent> SigningAgent::Start(const SigningSetup& setup) {
  GATE_TRY(OutsideSocket socket,
           OutsideSocket::Start(
               setup.directory, static_cast<int>(kMaxSigners),
               [&](int listener, int leash, const std::string& own) {
                 return EncodeReport(ServeSigning(setup, listener, leash, own));
               }));
  return SigningAgent(std::move(socket));
}

SigningReport SigningAgent::Finish() {
  return DecodeSigningReport(socket_.Finish(kMaxSigningReportBytes));
}

}  // namespace gate::credentials
