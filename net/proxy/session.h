// One connection from inside, from its first byte to its end.
#pragma once

#include <memory>
#include <string>

#include "net/proxy/context.h"
#include "net/wire.h"

namespace gate::net::proxy {

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Context& context, Fd client);
  Session(const Session&) = delete;  // the context knows its address
  Session& operator=(const Session&) = delete;
  ~Session();

  // The time for what comes: until `ms` have passed, or as long as every pause
  // is shorter (see Touch). Then both sides are closed.
  void Within(uint32_t ms);
  void WhileActive(uint32_t ms);
  void Touch() {
    if (idle_) since_ms_ = MonotonicMs();
  }
  bool timed_out() const { return timed_out_; }

  // Reads what the client sends next behind `buffer`, which holds at most
  // `most` bytes. False at the end, on a failure, and where `buffer` is full.
  asio::awaitable<bool> ReadMore(size_t most);

  void Close();
  void Reset();

  // The connection is told in the report.
  void Tell(ConnectionVerdict verdict, std::string why);
  // Writes it there, once.
  void Report();

  Context& context;
  Socket client;
  std::shared_ptr<Socket> outside;
  std::string buffer;          // from the client, not yet used
  std::string outside_buffer;  // from outside, not yet passed on
  Connection record;
  bool told = false;          // there is something to report
  bool refused = false;       // what the client gets is settled
  bool client_ended = false;  // it sends no more
  bool one_request = false;   // the end of the answer is the end of it all
  bool inward_done = false;   // see StartInward
  Event changed;

 private:
  void Arm(uint64_t at_ms);

  asio::steady_timer timer_;
  uint64_t armed_ms_ = 0;  // 0: it is not
  uint64_t since_ms_ = 0;
  uint64_t limit_ms_ = 0;
  bool idle_ = false;
  bool timed_out_ = false;
  bool reported_ = false;
};

using SessionPtr = std::shared_ptr<Session>;

// Serves one connection that came to a socket of `kind`.
Task Serve(SessionPtr session, ListenerKind kind);

}  // namespace gate::net::proxy
