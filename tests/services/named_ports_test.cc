#include "services/named_ports.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gate::services {
namespace {

using Ports = std::vector<uint16_t>;

Ports Named(const std::string& line) {
  parser::Context context;
  context.cwd = "/w";
  context.home = "/home/agent";
  context.look_at_files = false;
  const parser::Analysis analysis = parser::Analyze(line, context);
  Ports ports = NamedPorts(analysis, Facts());
  // What is known without the facts is never less.
  EXPECT_TRUE(ports.empty() || MayNamePorts(analysis)) << line;
  return ports;
}

TEST(NamedPortsTest, AreWhatTheLineItselfAsks) {
  const struct {
    const char* line;
    Ports ports;
  } cases[] = {
      {"curl localhost:3000/health", {3000}},
      {"curl http://localhost/", {80}},
      {"curl -s 'http://[::1]:8080/'", {8080}},
      {"curl http://127.0.0.1:3000/ http://localhost:3001/", {3000, 3001}},
      {"wget -qO- http://0.0.0.0:8000/x", {8000}},
      {"curl http://app.localhost:5173/", {5173}},
      {"bash -c 'curl -s localhost:3000 | head'", {3000}},
      {"cd x && curl -sf localhost:3000 || echo down", {3000}},
      {"psql -h localhost", {5432}},
      {"psql -h localhost -p 5433 -c 'select 1'", {5433}},
      {"psql -hlocalhost -p5433", {5433}},
      {"psql --host=127.0.0.1 --port=5434", {5434}},
      {"psql postgres://u@localhost:5435/db", {5435}},
      {"psql postgresql://localhost/db", {5432}},
      {"pg_isready -h localhost", {5432}},
      {"PGHOST=localhost PGPORT=5433 psql -c 'select 1'", {5433}},
      {"PGHOST=localhost npm test", {5432}},
      {"DATABASE_URL=postgres://u@localhost:5432/x npm test", {5432}},
      {"export DATABASE_URL=postgresql://localhost:5440/x; npm test", {5440}},
      {"DATABASE_URL=mysql://localhost/x pytest", {3306}},
      {"REDIS_HOST=127.0.0.1 REDIS_PORT=6380 pytest", {6380}},
      {"redis-cli ping", {6379}},
      {"redis-cli -p 6380 get x", {6380}},
      {"redis-cli -h 127.0.0.1 -p 6381 get x", {6381}},
      {"mysql -h 127.0.0.1 -P 3307 -e 'select 1'", {3307}},
      {"mysql -h127.0.0.1", {3306}},
      {"mongosh mongodb://localhost:27018/db", {27018}},
      {"mongosh", {27017}},
      {"nc -z localhost 5432", {5432}},
      {"nc localhost 9", {9}},
      {"docker -H tcp://localhost:2375 ps", {2375}},
      // Not of this machine, or not by TCP, or not known.
      {"curl https://example.org/", {}},
      {"curl http://10.0.0.5:3000/", {}},
      {"curl 127.0.0.2:3000", {}},
      {"psql", {}},
      {"psql -h /var/run/postgresql", {}},
      {"psql -h db.example.org", {}},
      {"mysql -e 'select 1'", {}},
      {"redis-cli -h cache.example.org", {}},
      {"curl localhost:$PORT/", {}},
      {"echo localhost:3000", {}},
      {"grep -r localhost:5432 .", {}},
      {"npm test", {}},
      {"pytest -q", {}},
      {"git commit -m 'use localhost:3000'", {}},
      {"PGPORT=5433 npm test", {}},
      {"DATABASE_URL=postgres://db.example.org/x npm test", {}},
      // What the line listens on is its own.
      {"python3 -m http.server 8000 & curl localhost:8000", {}},
      {"nc -l 3000", {}},
  };
  for (const auto& c : cases) EXPECT_EQ(Named(c.line), c.ports) << c.line;
}

TEST(NamedPortsTest, MostLinesAreKnownToNameNoneAtOnce) {
  parser::Context context;
  context.cwd = "/w";
  for (const char* line : {"ls -la", "make -j2", "npm test", "pytest -q",
                           "git status", "cargo build", "rm -rf build"})
    EXPECT_FALSE(MayNamePorts(parser::Analyze(line, context))) << line;
  for (const auto& [name, client] : Facts().clients)
    EXPECT_TRUE(IsNamedInFacts(name)) << name;
}

TEST(NamedPortsTest, AreNotWithoutBound) {
  std::string line = "curl";
  for (int port = 3000; port < 3100; ++port)
    line += " localhost:" + std::to_string(port);
  EXPECT_EQ(Named(line).size(), kMaxNamedPorts);
}

TEST(PortFactsTest, TheShippedOnesRead) {
  const PortFacts& facts = Facts();
  ASSERT_FALSE(facts.clients.empty());
  EXPECT_EQ(facts.schemes.at("postgres"), 5432);
  for (const uint16_t port :
       Ports{22, 2375, 2376, 5005, 5678, 6000, 6010, 8888, 9222, 9229})
    EXPECT_NE(FindClosed(facts, port), nullptr) << port;
  for (const uint16_t port :
       Ports{80, 3000, 3306, 5173, 5432, 6379, 8000, 8080, 27017})
    EXPECT_EQ(FindClosed(facts, port), nullptr) << port;
}

TEST(PortFactsTest, WhatIsWrongIsNotRead) {
  for (
      const char* text :
      {"", "[]", "{}", R"({"schema": 2})",
       R"({"schema": 1, "schemes": {"x": 0}})",
       R"({"schema": 1, "schemes": {"x": 65536}})",
       R"({"schema": 1, "clients": [{"port": 1}]})",
       R"({"schema": 1, "clients": [{"program": "a a", "port": 1}]})",
       R"({"schema": 1, "clients": [{"program": "a", "prot": 1}]})",
       R"({"schema": 1, "closed": [{"ports": "5-4", "what": "x", "then": "y"}]})",
       R"({"schema": 1, "closed": [{"ports": "x", "what": "x", "then": "y"}]})",
       R"({"schema": 1, "closed": [{"ports": "5", "what": "x"}]})",
       R"({"schema": 1, "others": []})"})
    EXPECT_FALSE(ReadPortFacts(text)) << text;
  EXPECT_TRUE(ReadPortFacts(R"({"schema": 1})"));
}

TEST(PortFactsTest, APortIsANumberAndNothingElse) {
  EXPECT_EQ(PortOf("1"), 1);
  EXPECT_EQ(PortOf("65535"), 65535);
  for (const char* text : {"", "0", "01", "65536", "-1", "+1", "1x", " 1"})
    EXPECT_EQ(PortOf(text), 0) << text;
}

}  // namespace
}  // namespace gate::services
