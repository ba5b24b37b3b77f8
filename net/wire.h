// What gate and gate-net say to each other.
//
// gate starts gate-net with three descriptors and nothing else. Over the first,
// a pair of local sockets of type SOCK_SEQPACKET, gate-net sends a Ready once
// it has its whole policy and has given up everything it does not need; gate
// sends a Given for each socket, with that socket (SCM_RIGHTS). gate-net ends
// when gate's end is closed. The second is a sealed memory file with the policy
// (net/filter_policy.h), the third a memory file of a fixed size into which
// gate-net writes its report (net/filter_report.h), so that what was written is
// there even if gate-net is killed. Both are of one build.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gate::net {

// Who asks by a socket.
enum class ListenerKind : uint32_t {
  kProxy = 1,   // HTTP or SOCKS5, told apart by the first byte
  kDnsUdp = 2,  // bound, not listening
  kDnsTcp = 3,
  // Connections to made-up addresses. The port that they came to is the port
  // that the host is asked at.
  kHttp = 4,
  kTls = 5,
};

namespace wire {

inline constexpr uint32_t kVersion = 1;

struct Given {
  uint32_t version = kVersion;
  ListenerKind kind = ListenerKind::kProxy;
};

struct Ready {
  uint32_t version = kVersion;
};

// What gate-net finds open at its start, besides the standard streams.
inline constexpr int kControl = 3;
inline constexpr int kPolicy = 4;
inline constexpr int kReport = 5;

inline constexpr size_t kMaxPolicyBytes = size_t{4} << 20;
// Room for kMaxReportedConnections lines of kMaxReportLine and the rest.
inline constexpr size_t kReportBytes = size_t{2} << 20;

// How gate-net ends.
enum Exit : int {
  kEnded = 0,         // its owner closed the control socket
  kByHand = 64,       // it did not find what gate gives it
  kBadPolicy = 65,    // the policy is missing, not sealed, or cannot be read
  kNotConfined = 71,  // it could not give up what it must not have
  kNoNetwork = 72,    // the machine does not tell its addresses, or no memory
};

}  // namespace wire
}  // namespace gate::net
