// The limits of a container's run as a whole, kept by gate from outside.
//
// The engine's control groups bound memory and processes; processor time and
// written bytes nobody bounds but gate, which adds up what the container's
// processes use (backends/native/account.h), read from the container's own
// /proc. The engine is asked for the container's first process, again and again
// until it runs; what was used meanwhile is in the sums. What the first sample
// comes too late for, a run of some tenths of a second, is bounded by the
// kernel for each process alone.
#pragma once

#include <string>

#include "backends/engines/client.h"
#include "backends/native/account.h"
#include "backends/process/limits.h"
#include "backends/process/supervise.h"
#include "base/file.h"

namespace gate::backends {

class ContainerAccount {
 public:
  // `first_counts`: the container's first process is the command itself.
  ContainerAccount(const EngineClient& client, std::string container,
                   const Limits& limits, bool first_counts);
  ContainerAccount(const ContainerAccount&) = delete;  // the watch points to it
  ContainerAccount& operator=(const ContainerAccount&) = delete;

  // Adds itself to `watch`, whose `kill` is called at a limit.
  void Join(Watch* watch);
  // kHidden also where the container's processes cannot be looked at.
  TreeLimit exceeded() const { return exceeded_; }

 private:
  enum class State : uint8_t { kIdle, kAsking, kWatching, kOver };
  int Tick();
  void Answered();
  // Whether the process is the container's first and its account is open; an
  // attempt that fails is repeated.
  bool Open(pid_t pid);
  void OpenEvents(pid_t pid);
  void Exceed(TreeLimit limit);
  bool Alive() const;

  const EngineClient& client_;
  const std::string container_;
  const TreeLimits limits_;
  const bool first_counts_;
  State state_ = State::kIdle;
  uint64_t next_ms_ = 0, failing_since_ms_ = 0;
  ClientCall call_;
  Fd first_, proc_, own_io_, refused_, killed_;
  TreeAccount account_;
  TreeLimit exceeded_ = TreeLimit::kNone;
  std::function<void()> kill_;
};

}  // namespace gate::backends
