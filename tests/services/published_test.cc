#include "services/published.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gate::services {
namespace {

// As docker 27 and podman 5 answer, shortened.
const std::string kId(64, 'a');
std::string List(const std::string& ports, const std::string& id = kId) {
  return R"([{"Id":")" + id +
         R"(","Names":["/shop-db-1"],"Image":"postgres:16","State":"running",)"
         R"("Ports":)" +
         ports + R"(,"HostConfig":{"NetworkMode":"shop_default"}}])";
}

std::vector<PublishedPort> Parse(const std::string& text) {
  const auto json = ParseJson(text);
  if (!json) return {};
  return ParsePublished(*json).value_or(std::vector<PublishedPort>());
}

TEST(PublishedTest, PortsAreReadFromTheEnginesList) {
  const auto ports = Parse(List(
      R"([{"IP":"0.0.0.0","PrivatePort":5432,"PublicPort":5433,"Type":"tcp"},)"
      R"({"IP":"::","PrivatePort":5432,"PublicPort":5433,"Type":"tcp"},)"
      R"({"PrivatePort":9000,"Type":"tcp"},)"
      R"({"IP":"0.0.0.0","PrivatePort":53,"PublicPort":53,"Type":"udp"},)"
      R"({"IP":"192.0.2.7","PrivatePort":80,"PublicPort":80,"Type":"tcp"},)"
      R"({"IP":"127.0.0.1","PrivatePort":6379,"PublicPort":6379,"Type":"tcp"}])"));
  ASSERT_EQ(ports.size(), 3u);
  EXPECT_EQ(ports[0], (PublishedPort{5433, 5432, "0.0.0.0", kId, "shop-db-1"}));
  EXPECT_EQ(ports[1].address, "::");
  EXPECT_EQ(ports[2].port, 6379);
}

TEST(PublishedTest, WhatIsNotUnderstoodPublishesNothing) {
  for (const std::string& text :
       {std::string("{}"), std::string("[1]"), std::string(R"([{}])"),
        List("{}"), List("[1]"), List("[]", "short"), List("[]", kId + "/.."),
        List(R"([{"PublicPort":"80","Type":"tcp"}])"),
        List(R"([{"PublicPort":70000,"Type":"tcp"}])"),
        List(R"([{"PublicPort":80}])"),
        List(R"([{"PublicPort":80,"Type":"tcp","IP":7}])")}) {
    const auto json = ParseJson(text);
    ASSERT_TRUE(json) << text;
    const auto ports = ParsePublished(*json);
    EXPECT_TRUE(!ports || ports->empty()) << text;
  }
  EXPECT_TRUE(Parse(List("null")).empty());
}

TEST(PublishedTest, OnlyTheEnginesOwnListenerCounts) {
  const std::vector<PublishedPort> published = {
      {5432, 5432, "0.0.0.0", kId, "db"}, {6379, 6379, "127.0.0.1", kId, "r"}};
  const auto listener = [](uint16_t port, const char* address, uid_t uid,
                           const char* program) {
    Listener one;
    one.socket = {port, true, false, address, uid, 1};
    if (*program != '\0') one.process = Process{7, 8, program, ""};
    return one;
  };
  const struct {
    Listener listener;
    bool is_container;
  } cases[] = {
      {listener(5432, "0.0.0.0", 0, "/usr/bin/docker-proxy"), true},
      {listener(5432, "::", 1000, "/usr/bin/rootlessport"), true},
      {listener(6379, "127.0.0.1", 0, "/usr/bin/docker-proxy"), true},
      // Root's program is not seen by others: the address has to be the same.
      {listener(5432, "0.0.0.0", 0, ""), true},
      {listener(5432, "127.0.0.1", 0, ""), false},
      {listener(6379, "0.0.0.0", 0, ""), false},
      {listener(5432, "0.0.0.0", 999, ""), false},
      {listener(5432, "0.0.0.0", 0, "/usr/lib/postgresql/16/bin/postgres"),
       false},
      {listener(5432, "0.0.0.0", 1000, "/home/x/server.py"), false},
      {listener(5433, "0.0.0.0", 0, "/usr/bin/docker-proxy"), false},
  };
  for (const auto& c : cases)
    EXPECT_EQ(PublishedBy(c.listener, published, Facts()) != nullptr,
              c.is_container)
        << c.listener.socket.port << " " << c.listener.socket.address << " "
        << c.listener.socket.uid << " "
        << (c.listener.process ? c.listener.process->program : "?");
}

}  // namespace
}  // namespace gate::services
