#include "credentials/ssh_broker.h"

#include <charconv>

#include "credentials/ssh_session.h"
#include "credentials/transport_wire.h"

namespace gate::credentials {
namespace {

// What a broker says of all its transports.
constexpr size_t kMaxReportBytes = size_t{2} << 20;

// Text of one transport in the report, and back.
std::string Encode(const Transport& transport) {
  return EncodeWords({transport.service, transport.target, transport.refused,
                      transport.unpinned ? "1" : "", transport.pushed,
                      std::to_string(transport.exit_code),
                      std::to_string(transport.sent),
                      std::to_string(transport.received)});
}

template <class Number>
bool ReadNumber(const std::string& text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end;
}

// Stands behind all transports: a report without it was cut off.
constexpr const char* kWhole = "whole";

std::vector<Transport> DecodeTransports(std::string_view report) {
  constexpr size_t kFields = 8;
  std::vector<Transport> transports;
  const auto words = DecodeWords(report);
  const size_t count = words ? words->size() : 0;
  bool whole = count % kFields == 1 && words->back() == kWhole;
  for (size_t i = 0; i + kFields <= count; i += kFields) {
    const std::string* field = &(*words)[i];
    Transport transport;
    transport.service = field[0];
    transport.target = field[1];
    transport.refused = field[2];
    transport.unpinned = !field[3].empty();
    transport.pushed = field[4];
    whole &= ReadNumber(field[5], &transport.exit_code) &&
             ReadNumber(field[6], &transport.sent) &&
             ReadNumber(field[7], &transport.received);
    transports.push_back(std::move(transport));
  }
  if (!whole) {
    transports.emplace_back();
    transports.back().service = kUnknownService;
  }
  return transports;
}

}  // namespace

Result<SshBroker> SshBroker::Start(const BrokerSetup& setup) {
  const auto serve = [&setup](int listener, int leash, const std::string&) {
    std::string report;
    for (const Transport& transport : ServeSessions(setup, listener, leash))
      report += Encode(transport);
    return report + EncodeWords({kWhole});
  };
  GATE_TRY(OutsideSocket outside,
           OutsideSocket::Start(setup.directory,
                                static_cast<int>(kMaxConnections), serve));
  return SshBroker(std::move(outside));
}

std::vector<Transport> SshBroker::Finish() {
  if (outside_.finished()) return {};
  return DecodeTransports(outside_.Finish(kMaxReportBytes));
}

}  // namespace gate::credentials
