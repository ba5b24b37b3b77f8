// A gate-net with sockets of this process as those of a run, and what asks it.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <thread>

#include "net/network_filter.h"
#include "tests/net/name_server.h"
#include "tests/support/servers.h"

namespace gate::test {

// A socket bound to `address`; it listens where it is TCP. Port 0: any.
inline Fd Bind(const std::string& address, int type, uint16_t* port) {
  Fd socket(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  const int again = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &again, sizeof(again));
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(*port);
  ::inet_pton(AF_INET, address.c_str(), &four.sin_addr);
  socklen_t size = sizeof(four);
  auto* at = reinterpret_cast<sockaddr*>(&four);
  if (::bind(socket.get(), at, size) != 0 ||
      (type == SOCK_STREAM && ::listen(socket.get(), 1024) != 0))
    return {};
  ::getsockname(socket.get(), at, &size);
  *port = ntohs(four.sin_port);
  return socket;
}

inline Fd ConnectTo(uint16_t port, const std::string& address = "127.0.0.1",
                    int type = SOCK_STREAM) {
  Fd socket(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  const timeval patience = {20, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience,
               sizeof(patience));
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  ::inet_pton(AF_INET, address.c_str(), &four.sin_addr);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&four),
                sizeof(four)) != 0)
    socket.reset();
  return socket;
}

inline bool Send(const Fd& fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put =
        ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (put <= 0) return false;
    text.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

inline void EndSending(const Fd& fd) { ::shutdown(fd.get(), SHUT_WR); }

// All that comes until the end; nothing when it broke off.
inline std::optional<std::string> ReadToEnd(const Fd& fd) {
  std::string text;
  char part[65536];
  while (true) {
    const ssize_t got = ::recv(fd.get(), part, sizeof(part), 0);
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(part, static_cast<size_t>(got));
  }
}

// What comes up to `mark`, with it, or to the end.
inline std::string ReadUntil(const Fd& fd, std::string_view mark) {
  std::string text;
  char byte = 0;
  while (!text.ends_with(mark) && ::recv(fd.get(), &byte, 1, 0) == 1)
    text += byte;
  return text;
}
inline std::string ReadBytes(const Fd& fd, size_t count) {
  std::string text(count, '\0');
  size_t size = 0;
  while (size < count) {
    const ssize_t got = ::recv(fd.get(), text.data() + size, count - size, 0);
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  return text;
}

// The code of an HTTP answer; 0: none.
inline int CodeIn(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::atoi(answer.c_str() + 9) : 0;
}

inline std::string GateNet() { return GATE_NET_BINARY; }

class Filter {
 public:
  explicit Filter(const net::FilterPolicy& policy) {
    auto started = net::NetworkFilter::Start(policy, GateNet());
    EXPECT_TRUE(started) << (started ? "" : started.error().message);
    if (!started) return;
    filter_.emplace(std::move(*started));
    proxy_ = Listen(net::ListenerKind::kProxy);
  }
  // A socket of that kind at `address`, handed over. Its port.
  uint16_t Listen(net::ListenerKind kind,
                  const std::string& address = "127.0.0.1", uint16_t port = 0) {
    const bool udp = kind == net::ListenerKind::kDnsUdp;
    Fd socket = Bind(address, udp ? SOCK_DGRAM : SOCK_STREAM, &port);
    EXPECT_TRUE(socket);
    const Status given = filter_->Give(kind, std::move(socket));
    EXPECT_TRUE(given) << (given ? "" : given.error().message);
    return port;
  }
  net::NetworkFilter& operator*() { return *filter_; }
  net::NetworkFilter* operator->() { return &*filter_; }
  uint16_t proxy() const { return proxy_; }
  Fd ConnectToProxy() const { return ConnectTo(proxy_); }
  net::FilterReport Finish() { return filter_->Finish(); }
  // The only connection of the report.
  net::Connection FinishOne() {
    const net::FilterReport report = Finish();
    EXPECT_TRUE(report.complete);
    EXPECT_EQ(report.connections.size(), 1u);
    return report.connections.empty() ? net::Connection()
                                      : report.connections.front();
  }

 private:
  std::optional<net::NetworkFilter> filter_;
  uint16_t proxy_ = 0;
};

// A policy of a test: loopback may be reached, names are resolved by `names`.
inline net::FilterPolicy PolicyFor(const NameServer& names,
                                   std::vector<std::string> allow) {
  net::FilterPolicy policy;
  policy.allow = std::move(allow);
  policy.excepted = {"127.0.0.0/8"};
  policy.resolver = names.place();
  return policy;
}

inline std::string ConnectRequest(const std::string& place,
                                  const std::string& fields = "") {
  return "CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n" + fields +
         "\r\n";
}

// Without a password, to a name.
inline std::string SocksRequestFor(const std::string& host, uint16_t port) {
  std::string bytes("\x05\x01\x00\x03", 4);
  bytes += static_cast<char>(host.size());
  bytes += host;
  Put16(port, &bytes);
  return bytes;
}

}  // namespace gate::test
