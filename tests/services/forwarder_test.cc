#include "services/forwarder.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "services/relayed.h"
#include "tests/support/servers.h"

namespace gate::services {
namespace {

using test::OtherProcess;
using test::Server;

std::string IdentityAt(uint16_t port) {
  const auto sockets = FindListening({}, port);
  return sockets ? IdentityOf({}, FindHolders({}, *sockets)) : "";
}

Fd ConnectTo(uint16_t port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  four.sin_port = htons(port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&four),
                sizeof(four)) != 0)
    socket.reset();
  return socket;
}

// All that comes until the end; nothing when it broke off.
std::optional<std::string> ReadToEnd(int fd) {
  std::string text;
  char part[65536];
  while (true) {
    const ssize_t got = ::recv(fd, part, sizeof(part), 0);
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(part, static_cast<size_t>(got));
  }
}

bool Send(int fd, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t put =
        ::send(fd, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (put <= 0) return false;
    at += static_cast<size_t>(put);
  }
  return true;
}

// A service, and a forwarder that listens for it on another port, since there
// is one network here.
class Pair {
 public:
  Pair() : service(AF_INET), inside_(AF_INET) {
    inside_port = inside_.port();
    auto started =
        Forwarder::Start({{service.port(), IdentityAt(service.port())}});
    EXPECT_TRUE(started);
    forwarder.emplace(std::move(*started));
    std::vector<Fd> listeners;
    listeners.emplace_back(::dup(inside_.socket()));
    EXPECT_TRUE(forwarder->Give(service.port(), listeners));
    inside_.Close();
  }
  // One byte there and one back: the connection stands, and the forwarder has
  // nothing of this process's by now.
  void Exchange() {
    const Fd client = ConnectTo(inside_port);
    const Fd server(service.Accept());
    char byte = 0;
    EXPECT_TRUE(Send(client.get(), "a"));
    EXPECT_EQ(::recv(server.get(), &byte, 1, 0), 1);
    EXPECT_TRUE(Send(server.get(), "b"));
    EXPECT_EQ(::recv(client.get(), &byte, 1, 0), 1);
  }
  Forwarded Finish() {
    const auto all = forwarder->Finish();
    return all.empty() ? Forwarded() : all.front();
  }

  Server service;
  uint16_t inside_port = 0;
  std::optional<Forwarder> forwarder;

 private:
  Server inside_;
};

TEST(ForwarderTest, PassesBothDirectionsOn) {
  Pair pair;
  const Fd client = ConnectTo(pair.inside_port);
  const Fd server(pair.service.Accept());
  ASSERT_TRUE(client && server);
  ASSERT_TRUE(Send(client.get(), "question"));
  char text[64] = {};
  ASSERT_EQ(::recv(server.get(), text, sizeof(text), 0), 8);
  EXPECT_STREQ(text, "question");
  // The client may have ended its side, and still gets the answer.
  ::shutdown(client.get(), SHUT_WR);
  ASSERT_EQ(ReadToEnd(server.get()), "");
  ASSERT_TRUE(Send(server.get(), "the answer"));
  ::shutdown(server.get(), SHUT_WR);
  EXPECT_EQ(ReadToEnd(client.get()), "the answer");
  const Forwarded done = pair.Finish();
  EXPECT_EQ(done.connections, 1u);
  EXPECT_EQ(done.refused, 0u);
  EXPECT_EQ(done.sent, 8u);
  EXPECT_EQ(done.received, 10u);
  EXPECT_FALSE(done.changed);
  EXPECT_TRUE(pair.forwarder->Finish().empty());
}

TEST(ForwarderTest, TheServiceMayEndItsSideFirst) {
  Pair pair;
  const Fd client = ConnectTo(pair.inside_port);
  const Fd server(pair.service.Accept());
  ASSERT_TRUE(Send(server.get(), "greeting"));
  ::shutdown(server.get(), SHUT_WR);
  EXPECT_EQ(ReadToEnd(client.get()), "greeting");
  ASSERT_TRUE(Send(client.get(), "later"));
  ::shutdown(client.get(), SHUT_WR);
  EXPECT_EQ(ReadToEnd(server.get()), "later");
}

TEST(ForwarderTest, AReaderThatDoesNotReadStopsTheWriter) {
  Pair pair;
  const Fd client = ConnectTo(pair.inside_port);
  const Fd server(pair.service.Accept());
  const std::string much(size_t{8} << 20, 'x');
  std::thread writer([&] {
    EXPECT_TRUE(Send(server.get(), much));
    ::shutdown(server.get(), SHUT_WR);
  });
  // Another connection goes on meanwhile.
  const Fd other = ConnectTo(pair.inside_port);
  const Fd other_server(pair.service.Accept());
  ASSERT_TRUE(Send(other.get(), "y"));
  char byte = 0;
  EXPECT_EQ(::recv(other_server.get(), &byte, 1, 0), 1);
  const auto all = ReadToEnd(client.get());
  writer.join();
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), much.size());
  EXPECT_EQ(pair.Finish().received, much.size());
}

TEST(ForwarderTest, AThousandConnections) {
  Pair pair;
  constexpr int kConnections = 1000, kAtOnce = 100;
  std::thread service([&] {
    for (int i = 0; i < kConnections; ++i) {
      const Fd one(pair.service.Accept());
      char byte = 0;
      if (::recv(one.get(), &byte, 1, 0) == 1) Send(one.get(), {byte, '!'});
    }
  });
  int answered = 0;
  for (int i = 0; i < kConnections / kAtOnce; ++i) {
    std::vector<Fd> open;
    for (int j = 0; j < kAtOnce; ++j) {
      open.push_back(ConnectTo(pair.inside_port));
      Send(open.back().get(), "z");
    }
    for (const Fd& one : open) answered += ReadToEnd(one.get()) == "z!";
  }
  service.join();
  EXPECT_EQ(answered, kConnections);
  const Forwarded done = pair.Finish();
  EXPECT_EQ(done.connections, static_cast<uint64_t>(kConnections));
  EXPECT_EQ(done.sent, 1000u);
  EXPECT_EQ(done.received, 2000u);
}

// More at once than are passed on wait; none is lost.
TEST(ForwarderTest, MoreThanTheBoundWaitTheirTurn) {
  Pair pair;
  std::vector<Fd> clients;
  for (size_t i = 0; i < kMaxForwardedConnections + 20; ++i)
    clients.push_back(ConnectTo(pair.inside_port));
  std::vector<Fd> servers;
  for (size_t i = 0; i < kMaxForwardedConnections; ++i)
    servers.emplace_back(pair.service.Accept());
  pollfd next = {pair.service.socket(), POLLIN, 0};
  EXPECT_EQ(::poll(&next, 1, 0), 0);
  for (size_t i = 0; i < 20; ++i) clients[i].reset();
  servers.erase(servers.begin(), servers.begin() + 20);
  for (size_t i = 0; i < 20; ++i) servers.emplace_back(pair.service.Accept());
  EXPECT_EQ(pair.Finish().connections, kMaxForwardedConnections + 20);
}

TEST(ForwarderTest, WhereNobodyListensAnyMoreTheClientIsToldSo) {
  Pair pair;
  pair.service.Close();
  const Fd client = ConnectTo(pair.inside_port);
  EXPECT_FALSE(ReadToEnd(client.get()));
  const Forwarded done = pair.Finish();
  EXPECT_EQ(done.connections, 0u);
  EXPECT_EQ(done.refused, 1u);
  EXPECT_FALSE(done.changed);
}

// Somebody who takes the port over gets no byte, whatever comes later.
TEST(ForwarderTest, APortThatChangesHandsIsRefusedFromThenOn) {
  Pair pair;
  pair.Exchange();
  const uint16_t port = pair.service.port();
  pair.service.Close();
  {
    const OtherProcess other(port);
    const Fd client = ConnectTo(pair.inside_port);
    EXPECT_FALSE(ReadToEnd(client.get()));
  }
  const Fd client = ConnectTo(pair.inside_port);
  EXPECT_FALSE(ReadToEnd(client.get()));
  const Forwarded done = pair.Finish();
  EXPECT_TRUE(done.changed);
  EXPECT_EQ(done.connections, 1u);
  EXPECT_EQ(done.refused, 2u);
  EXPECT_EQ(done.sent, 1u);
}

// The same process may close its socket and open another.
TEST(ForwarderTest, TheSameProcessMayListenAnew) {
  Pair pair;
  pair.Exchange();
  const uint16_t port = pair.service.port();
  pair.service.Close();
  const Server again(AF_INET, false, port);
  ASSERT_EQ(again.port(), port);
  const Fd client = ConnectTo(pair.inside_port);
  const Fd server(again.Accept());
  ASSERT_TRUE(Send(client.get(), "x"));
  char byte = 0;
  EXPECT_EQ(::recv(server.get(), &byte, 1, 0), 1);
  EXPECT_FALSE(pair.Finish().changed);
}

// The run ends, and what it had sent is passed on all the same.
TEST(ForwarderTest, WhatWasSentBeforeTheEndArrives) {
  Pair pair;
  {
    const Fd client = ConnectTo(pair.inside_port);
    ASSERT_TRUE(Send(client.get(), "the last word"));
  }
  std::string text;
  std::thread service([&] {
    const Fd server(pair.service.Accept());
    text = ReadToEnd(server.get()).value_or("reset");
  });
  const Forwarded done = pair.Finish();
  service.join();
  EXPECT_EQ(text, "the last word");
  EXPECT_EQ(done.sent, 13u);
}

TEST(ForwarderTest, EndsWithItsOwner) {
  Pair pair;
  const Fd client = ConnectTo(pair.inside_port);
  const Fd server(pair.service.Accept());
  EXPECT_EQ(pair.Finish().connections, 1u);
  char byte = 0;
  EXPECT_LE(::recv(client.get(), &byte, 1, 0), 0);
  EXPECT_FALSE(ConnectTo(pair.inside_port));
}

TEST(ForwarderTest, OtherPortsAreNotTaken) {
  Pair pair;
  const Server other(AF_INET);
  std::vector<Fd> listeners;
  listeners.emplace_back(::dup(other.socket()));
  EXPECT_TRUE(pair.forwarder->Give(other.port(), listeners));
  pair.Finish();
  std::vector<Forward> many(kMaxForwardedPorts + 1);
  EXPECT_FALSE(Forwarder::Start(many));
}

}  // namespace
}  // namespace gate::services
