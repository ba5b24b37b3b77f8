// What gate and gate-session say to each other.
//
// The connection is a local socket of type SOCK_SEQPACKET in a directory that
// only its owner can enter. The one who connects sends an Ask; gate-session
// answers with an Answer, behind which its label stands, and of kJoin with the
// descriptor of its network namespace (SCM_RIGHTS). A connection that has
// joined is counted as a line for as long as it is open. Both are of one build.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gate::session_wire {

inline constexpr uint32_t kVersion = 1;

enum class Request : uint32_t {
  kJoin = 1,  // give the namespace and count this connection
  kLook = 2,  // only say how things are
  kEnd = 3,   // answer, then end
};

struct Ask {
  uint32_t version = kVersion;
  Request request = Request::kLook;
};

struct Answer {
  uint32_t version = kVersion;
  int32_t pid = 0;      // of gate-session, where it was started
  uint32_t lines = 0;   // connections that have joined, before this one
  uint32_t idle_s = 0;  // since there was one
  uint64_t age_s = 0;
};

inline constexpr size_t kMaxLabel = 1024;

// What gate-session finds open at its start, and nothing else but the standard
// streams.
inline constexpr int kListener = 3;
inline constexpr int kNetwork = 4;
// Readable once the name of its socket is gone (inotify(7)); may be missing.
inline constexpr int kGone = 5;

// Without a line for so long it ends by itself.
inline constexpr uint32_t kIdleSeconds = 600;

}  // namespace gate::session_wire
