// A descriptor of the event loop: waited for by Boost.Asio, read and written by
// the caller, so that every system call that gate-net makes stands in its own
// sources.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "net/filter_policy.h"

namespace gate::net::proxy {

namespace asio = boost::asio;
using Task = asio::awaitable<void>;
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

class Socket {
 public:
  // `fd` does not block. Without one, or where the loop cannot watch it, the
  // socket is closed.
  Socket(asio::io_context& io, Fd fd);

  int get() { return descriptor_.native_handle(); }
  bool is_open() const { return descriptor_.is_open(); }
  // False once it is closed, also while it is waited for.
  asio::awaitable<bool> Readable();
  asio::awaitable<bool> Writable();
  // Who waits is told false; the socket stays open.
  void Cancel();
  void Close();
  // Closes a TCP connection so that the other side sees a failure.
  void Reset();
  // Ends what is sent.
  void Shutdown();

 private:
  asio::posix::stream_descriptor descriptor_;
};

// Something to wait for that others make happen. Who waits looks at the state
// itself before and after.
class Event {
 public:
  explicit Event(asio::io_context& io)
      : timer_(io, asio::steady_timer::time_point::max()) {}
  // Any number may wait at the same time, but for WaitFor only one.
  Task Wait();
  Task WaitFor(std::chrono::milliseconds longest);
  void Notify() { timer_.cancel(); }

 private:
  asio::steady_timer timer_;
};

// All of `bytes`; false when it broke off.
asio::awaitable<bool> SendAll(Socket& socket, std::string_view bytes);

// A socket that connects to `endpoint`, or a UDP socket of that peer. None with
// errno where it fails at once.
Fd BeginConnect(const Endpoint& endpoint, int type);
// What became of it, once it is writable: 0 or an errno.
int ConnectError(int fd);

// The address that a connection came to. Nothing for what is not IP.
std::optional<Endpoint> LocalEndpoint(int fd);

}  // namespace gate::net::proxy
