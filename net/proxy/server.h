// gate-net's loop: the sockets that it is given, and their connections.
#pragma once

#include <memory>
#include <vector>

#include "net/proxy/session.h"
#include "net/wire.h"

namespace gate::net::proxy {

class Server {
 public:
  // `control`: see net/wire.h. `descriptors`: how many may be open.
  Server(Context& context, Fd control, size_t descriptors);
  // Until the owner has closed the control socket and what the run had sent is
  // passed on.
  void Run();

 private:
  struct Listener {
    ListenerKind kind;
    std::shared_ptr<Socket> socket;
  };

  Task Control();
  // False when the owner is gone.
  bool TakeSocket();
  Task AcceptAll(Listener listener);
  // Takes what waits; true when nothing is left.
  bool AcceptOne(const Listener& listener);
  bool HasRoom() const;
  Task WaitForRoom();
  void BeginEnd();
  void OnProgress();

  Context& context_;
  Socket control_;
  Event room_;
  std::vector<Listener> listeners_;
  size_t most_sessions_;
  bool ended_ = false;
  asio::steady_timer drain_;
  // New connections a second: how many may come now, and since when.
  double tokens_ = 0;
  uint64_t tokens_ms_ = 0;
};

}  // namespace gate::net::proxy
