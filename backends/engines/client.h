// Calling an engine's command-line client, and what it may be told.
//
// The client runs as gate does, outside every sandbox. So nothing of the
// caller's environment reaches it, which the agent may have set: its HOME is
// the user's entry in the password file, its socket must be root's or the
// user's and out of the command's reach.
#pragma once

#include <poll.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/process/spawn.h"
#include "backends/process/supervise.h"
#include "backends/protect/cleanup_watchdog.h"
#include "base/file.h"
#include "base/result.h"

namespace gate::backends {

struct Engine {
  std::string name;                  // docker, podman
  std::vector<std::string> paths;    // where its client may be
  std::vector<std::string> options;  // of every call
  std::string socket;  // must accept connections; empty: no daemon
  int priority = 50;
  // Why an engine that was asked for is never taken; empty: it may be.
  std::string refusal;
};

// The engine of DOCKER_HOST, where that is a local socket, else of the system.
Engine Docker();
Engine Podman();
// All that a client gets of an environment.
std::vector<std::string> ClientEnvironment();

class EngineClient {
 public:
  explicit EngineClient(Engine engine) : engine_(std::move(engine)) {}
  const Engine& engine() const { return engine_; }
  bool IsPodman() const { return engine_.name == "podman"; }
  // Where its program is; empty: it is not installed.
  std::string Path() const;
  // Why no engine can be reached, with what to do; empty when one answers.
  std::string Trouble() const;
  // Why the socket is not to be trusted by a run of `profile`; empty: it is.
  std::string Distrust(const Profile& profile) const;

  SpawnRequest Call(std::vector<std::string> words) const;
  // Starts such a call with its output going to a pipe, whose read end is put
  // into `out`.
  Result<Spawned> Start(std::vector<std::string> words, int in, Fd* out) const;
  // The client's output; an error with its message when it fails.
  Result<std::string> Ask(std::vector<std::string> words, int in = -1) const;
  // Removes the container when its pipe ends, which gate's death does too.
  Result<CleanupWatchdog> StartCleanupWatchdog(
      const std::string& container) const;

 private:
  Engine engine_;
};

// One call of the client's, while something else is watched.
class ClientCall {
 public:
  ClientCall() = default;
  ~ClientCall();
  ClientCall(const ClientCall&) = delete;  // ends what it started
  ClientCall& operator=(const ClientCall&) = delete;

  // False when it could not be started.
  bool Start(const EngineClient& client, std::vector<std::string> words);
  bool running() const { return pid_ >= 0; }
  pollfd Want() const;
  // When there is something to read; true when the call is over.
  bool Read();
  bool succeeded() const { return succeeded_; }
  const std::string& answer() const { return answer_; }

 private:
  pid_t pid_ = -1;
  Fd pipe_;
  bool succeeded_ = false;
  std::string answer_;
};

// Passing signals on to a container. The client that runs it does not do it
// before it has attached, and is ended by a signal until then; so the engine is
// told, again and again until the container runs.
class ContainerSignals {
 public:
  ContainerSignals(const EngineClient& client, std::string container)
      : client_(client), container_(std::move(container)) {}
  ContainerSignals(const ContainerSignals&) = delete;  // the watch points to it
  ContainerSignals& operator=(const ContainerSignals&) = delete;

  // Adds itself to `watch`, and is its `forward` and `expire`.
  void Join(Watch* watch);

 private:
  int Tick();
  const EngineClient& client_;
  const std::string container_;
  std::deque<int> waiting_;
  uint64_t next_ms_ = 0;
  ClientCall call_;
};

}  // namespace gate::backends
