// What gate-net did for one run, as it writes it down and as gate reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gate::net {

// Connections that are told one by one; further ones are only counted.
inline constexpr size_t kMaxReportedConnections = 1024;
// Hosts that are told as refused.
inline constexpr size_t kMaxReportedHosts = 256;
// Bytes of one connection in the report.
inline constexpr size_t kMaxReportLine = 1024;

// What became of a connection.
enum class ConnectionVerdict : uint8_t {
  kMalformed,     // no request that can be read; the default
  kPassed,        // a connection outside stood
  kNotListed,     // no rule allows the host
  kDenied,        // a rule denies it
  kAddress,       // it has no address that may be reached
  kOtherName,     // TLS or HTTP named another host than the one asked for
  kUnauthorized,  // the token is missing or wrong
  kLimit,         // a limit of the run
  kUnreachable,   // the network outside: no such name, no answer
};
std::string_view Name(ConnectionVerdict verdict);

struct Connection {
  std::string host;  // empty: none was named
  uint16_t port = 0;
  std::string via;  // connect, http, socks5, tls, dns
  ConnectionVerdict verdict = ConnectionVerdict::kMalformed;
  std::string address;  // that was dialled; empty: none
  uint64_t bytes_out = 0, bytes_in = 0;
  uint64_t started_ms = 0;  // since gate-net's start
  uint64_t duration_ms = 0;
  std::string why;  // for a person; empty: nothing to say
  bool operator==(const Connection&) const = default;
};

// A host that was asked for and that no rule allows, once.
struct RefusedHost {
  std::string host;
  uint16_t port = 0;  // 0: only its address was asked for
  std::string via;
  bool operator==(const RefusedHost&) const = default;
};

struct FilterReport {
  std::vector<Connection> connections;
  std::vector<RefusedHost> refused;
  // All connections count, also those that are not told one by one.
  uint64_t total = 0, passed = 0;
  uint64_t bytes_out = 0, bytes_in = 0;
  // Whether gate-net ended as it should. Else what was open is not there.
  bool complete = false;
};

// Lines of the report, each with its end.
std::string ReportLine(const Connection& connection);
std::string ReportLine(const RefusedHost& host);
std::string ReportTotals(const FilterReport& report);

// The member `network` of the `detail` of an outcome's record
// (docs/audit-format.md), and the connections of such a detail: none where it
// has no such member, or another than this writes.
std::string RecordOf(const FilterReport& report);
std::vector<Connection> ConnectionsIn(std::string_view detail);

// The report as far as its lines can be read; it ends with a NUL. Believes
// nothing: who wrote it has read what a contained command sent.
FilterReport ReadFilterReport(std::string_view text);

}  // namespace gate::net
