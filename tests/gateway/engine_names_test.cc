// A container that names a volume or a network runs without a question where
// the engine says that the name is its own, and only there.
#include "gateway/programs/engine_names.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/support/container_engine.h"

namespace gate::app {
namespace {

constexpr const char* kLine =
    "docker run -d -p 5432:5432 -v data:/d postgres:16";

TEST_F(EngineNamesTest, WhatTheEngineSaysOfAVolumeDecides) {
  const std::string good = Volume("data");
  char size[16];
  std::snprintf(size, sizeof size, "%zx", good.size());
  const std::string chunk = std::string(size) + "\r\n" + good + "\r\n";
  const struct {
    const char* what;
    std::string answer;
    bool runs;
  } cases[] = {
      {"local, null", Http("200 OK", good), true},
      {"local, empty", Http("200 OK", Volume("data", "{}")), true},
      {"no phrase", Http("200", good), true},
      {"chunked", Chunked(chunk + "0\r\n\r\n"), true},
      {"charset",
       "HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8\r\n"
       "content-length: " +
           std::to_string(good.size()) + "\r\n\r\n" + good,
       true},
      {"absent",
       Http("404 Not Found", R"({"message":"get data: no such volume"})"),
       true},
      {"device", Http("200 OK", Volume("data", R"({"device":"/","o":"bind",
          "type":"none"})")),
       false},
      {"any option", Http("200 OK", Volume("data", R"({"x":""})")), false},
      {"other driver", Http("200 OK", Volume("data", "null", R"("nfs")")),
       false},
      {"driver number", Http("200 OK", Volume("data", "null", "1")), false},
      {"driver null", Http("200 OK", Volume("data", "null", "null")), false},
      {"options text", Http("200 OK", Volume("data", "\"\"")), false},
      {"options list", Http("200 OK", Volume("data", "[]")), false},
      {"options false", Http("200 OK", Volume("data", "false")), false},
      {"no options told", Http("200 OK", R"({"Name":"data","Driver":"local"})"),
       false},
      {"driver twice",
       Http("200 OK",
            R"({"Name":"data","Driver":"x","Driver":"local","Options":null})"),
       false},
      {"other name", Http("200 OK", Volume("data2")), false},
      {"no name", Http("200 OK", R"({"Driver":"local","Options":null})"),
       false},
      {"an array", Http("200 OK", "[" + good + "]"), false},
      {"null", Http("200 OK", "null"), false},
      {"empty body", Http("200 OK", ""), false},
      {"no JSON", Http("200 OK", "<html>"), false},
      {"absent path", Http("404 Not Found", R"({"message":"page not found"})"),
       false},
      {"404 text", Http("404 Not Found", R"("data")"), false},
      {"500", Http("500 Internal Server Error", R"({"message":"data"})"),
       false},
      {"400", Http("400 Bad Request", good), false},
      {"201", Http("201 Created", good), false},
      {"redirect",
       Http("301 Moved Permanently", good, "Location: /v1.40/volumes/data\r\n"),
       false},
      {"continue", "HTTP/1.1 100 Continue\r\n\r\n" + Http("200 OK", good),
       false},
      {"nothing", "", false},
      {"HTTP/1.0", "HTTP/1.0" + Http("200 OK", good).substr(8), false},
      {"HTTP/2", "HTTP/2" + Http("200 OK", good).substr(8), false},
      {"junk", "\x16\x03\x01", false},
      {"four digits", Http("2000 OK", good), false},
      {"sign in status", Http("+20 OK", good), false},
      {"no length",
       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + good,
       false},
      {"truncated", Http("200 OK", good).substr(0, 120), false},
      {"truncated headers", Http("200 OK", good).substr(0, 30), false},
      {"text behind", Http("200 OK", good) + " ", false},
      {"two answers", Http("200 OK", good) + Http("200 OK", good), false},
      {"two lengths", Http("200 OK", good, "Content-Length: 2\r\n"), false},
      {"other type",
       "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
       "Content-Length: " +
           std::to_string(good.size()) + "\r\n\r\n" + good,
       false},
      {"compressed", Http("200 OK", good, "Content-Encoding: gzip\r\n"), false},
      {"folded header", Http("200 OK", good, "X: a\r\n b\r\n"), false},
      {"blank before colon", Http("200 OK", good, "X : a\r\n"), false},
      {"bare newlines",
       "HTTP/1.1 200 OK\nContent-Type: application/json\n"
       "Content-Length: 2\n\n{}",
       false},
      {"zero in header", Http("200 OK", good, std::string("X: a\0b\r\n", 8)),
       false},
      {"oversized", Http("200 OK", good + std::string(kMaxEngineAnswer, ' ')),
       false},
      {"oversized headers",
       Http("200 OK", good,
            "X: " + std::string(kMaxEngineAnswer, 'a') + "\r\n"),
       false},
      {"chunked and length",
       Chunked(chunk + "0\r\n\r\n", "Content-Length: 5\r\n"), false},
      {"chunk without end", Chunked(chunk), false},
      {"chunk too long", Chunked("fff\r\n" + good + "\r\n0\r\n\r\n"), false},
      {"chunk huge", Chunked("ffffffffffffffff\r\n" + good + "\r\n"), false},
      {"chunk negative", Chunked("-1\r\n" + good + "\r\n0\r\n\r\n"), false},
      {"chunk extension",
       Chunked(std::string(size) + ";x=y\r\n" + good + "\r\n0\r\n\r\n"), false},
      {"chunk trailer", Chunked(chunk + "0\r\nX: y\r\n\r\n"), false},
      {"behind the chunks", Chunked(chunk + "0\r\n\r\n" + "x"), false},
      {"gzip, chunked",
       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
       "Transfer-Encoding: gzip, chunked\r\n\r\n" +
           chunk + "0\r\n\r\n",
       false},
  };
  for (const auto& one : cases) {
    engine_->AnswerOnly({{"/volumes/data", one.answer}});
    const engine::Decision decision = Decide(kLine);
    EXPECT_EQ(decision.action, one.runs ? Action::kSandbox : Action::kAsk)
        << one.what << ": " << decision.reason;
    if (!one.runs) {
      EXPECT_NE(decision.reason.find(
                    "the volume data may stand for a directory of this"),
                std::string::npos)
          << one.what << ": " << decision.reason;
    }
  }
}

TEST_F(EngineNamesTest, WhatTheEngineSaysOfANetworkDecides) {
  const struct {
    std::string answer;
    bool runs;
  } cases[] = {
      {Http("200 OK", Network("n", "bridge", "{}")), true},
      {Http("200 OK", Network("n", "bridge", "null")), true},
      {Http("200 OK", Network("n", "bridge",
                              R"({"com.docker.network.bridge.name":"docker0",
            "com.docker.network.driver.mtu":"1500"})")),
       true},
      {Http("404 Not Found", R"({"message":"network n not found"})"), true},
      {Http("200 OK", Network("n", "macvlan", R"({"parent":"eth0"})")), false},
      {Http("200 OK", Network("n", "ipvlan", "{}")), false},
      {Http("200 OK", Network("n", "host", "{}")), false},
      {Http("200 OK", Network("n", "overlay", "{}")), false},
      {Http("200 OK", Network("m", "bridge", "{}")), false},
      {Http("200 OK", Network("n", "bridge",
                              R"({"com.docker.network.bridge.name":"br0"})")),
       false},
      {Http("200 OK",
            Network(
                "n", "bridge",
                R"({"com.docker.network.bridge.gateway_mode_ipv4":"routed"})")),
       false},
      {Http("200 OK",
            Network("n", "bridge", R"({"com.docker.network.driver.mtu":1})")),
       false},
      {Http("200 OK", Network("n", "bridge", "[]")), false},
      {Http("200 OK", R"({"Name":"n","Driver":"bridge"})"), false},
  };
  for (const auto& one : cases) {
    engine_->AnswerOnly({{"/networks/n", one.answer}});
    const engine::Decision decision =
        Decide("docker run --rm --network n alpine ls");
    EXPECT_EQ(decision.action, one.runs ? Action::kSandbox : Action::kAsk)
        << one.answer << ": " << decision.reason;
  }
}

TEST_F(EngineNamesTest, EveryNameOfTheLineCounts) {
  for (const char* name : {"a", "b", "c", "a.b_c-d"})
    engine_->Answer("/volumes/" + std::string(name),
                    Http("200 OK", Volume(name)));
  engine_->Answer("/volumes/bad",
                  Http("200 OK", Volume("bad", R"({"device":"/"})")));
  engine_->Answer("/networks/n", Http("200 OK", Network("n", "bridge", "{}")));
  engine_->Answer("/networks/m", Http("200 OK", Network("m", "macvlan", "{}")));
  const struct {
    const char* line;
    bool runs;
  } cases[] = {
      {"docker run -v a:/x alpine", true},
      {"docker run -v a:/x:ro --volume=b:/y:rw --network=n alpine ls", true},
      {"docker container run --rm --volume a:/x alpine", true},
      {"docker run --mount type=volume,src=a,dst=/x alpine", true},
      {"docker run --mount=source=a,target=/x,readonly alpine", true},
      {"docker run -v a.b_c-d:/x alpine", true},
      {"docker run -v a:/x alpine; docker run -v b:/x alpine", true},
      {"docker run --network none -v a:/x alpine", true},
      {"docker run --net n alpine", true},
      {"docker run -v a:/x alpine echo -v bad:/y", true},
      {"docker run -v a:/x -v bad:/y alpine", false},
      {"docker run -v bad:/x -v a:/y alpine", false},
      {"docker run -v a:/x alpine; docker run -v bad:/x alpine", false},
      {"docker run --mount type=volume,src=bad,dst=/x alpine", false},
      {"docker run --mount type=bind,src=a,dst=/x alpine", false},
      {"docker run --mount type=volume,src=a,dst=/x,volume-opt=device=/ alpine",
       false},
      {"docker run --mount src=a,src=bad,dst=/x alpine", false},
      {"docker run -v a:/x --network m alpine", false},
      {"docker run -v a:/x --network host alpine", false},
      {"docker run -v a:/x --network container:web alpine", false},
      {"docker run --network container alpine", false},
      {"docker run --network pasta alpine", false},
      {"docker run -v a:/x --privileged alpine", false},
      {"docker run -v a:/x --volume-driver nfs alpine", false},
      {"docker run -v a:/x --volumes-from web alpine", false},
      {"docker run -v 'a b:/x' alpine", false},
      {"docker run -v '../a:/x' alpine", false},
      {"docker run -v a%2f:/x alpine", false},
      {"docker run -v '~/a:/x' alpine", false},
      {"docker run -v $V:/x alpine", false},
      {"docker run -v ./a:/x alpine", false},
      {"docker run -v a:/x:shared alpine", false},
      {"docker -H unix:///run/x.sock run -v a:/x alpine", false},
      {"docker -c other run -v a:/x alpine", false},
      {"docker --config ./c run -v a:/x alpine", false},
      {"DOCKER_HOST=unix:///run/x.sock docker run -v a:/x alpine", false},
      {"DOCKER_CONTEXT=x docker run -v a:/x alpine", false},
      {"export DOCKER_CONTEXT=x; docker run -v a:/x alpine", false},
      {"DOCKER_CONTEXT=x; docker run -v a:/x alpine", false},
      {"DOCKER_HOST=unix:///run/x.sock; docker run -v a:/x alpine", false},
      {"cd . && docker run -v a:/x alpine", true},
      {"HOME=/x docker run -v a:/x alpine", false},
      {"HOME=/x; docker run -v a:/x alpine", false},
      {"PATH=/x; docker run -v a:/x alpine", false},
      {"read DOCKER_HOST; docker run -v a:/x alpine", false},
      {"printf -v DOCKER_HOST x; docker run -v a:/x alpine", false},
      {"eval DOCKER_HOST=x; docker run -v a:/x alpine", false},
      {"for DOCKER_HOST in x; do docker run -v a:/x alpine; done", false},
      {"set -a; DOCKER_CONTEXT=x; docker run -v a:/x alpine", false},
      {"sudo docker run -v a:/x alpine", false},
      {"./docker run -v a:/x alpine", false},
      {"nerdctl run -v a:/x alpine", false},
      {"docker run -v v1:/1 -v v2:/2 -v v3:/3 -v v4:/4 -v v5:/5 -v v6:/6 "
       "-v v7:/7 -v v8:/8 -v v9:/9 alpine",
       false},
  };
  for (int i = 1; i <= 9; ++i) {
    const std::string name = "v" + std::to_string(i);
    engine_->Answer("/volumes/" + name, Http("200 OK", Volume(name)));
  }
  for (const auto& one : cases) {
    const engine::Decision decision = Decide(one.line);
    if (one.runs)
      EXPECT_EQ(decision.action, Action::kSandbox)
          << one.line << ": " << decision.reason;
    else
      EXPECT_GE(decision.action, Action::kAsk)
          << one.line << ": " << decision.reason;
  }
}

TEST_F(EngineNamesTest, AnEngineThatIsNotPlainlyNamedIsNotAsked) {
  engine_->Answer("/volumes/data", Http("200 OK", Volume("data")));
  const std::string host = "DOCKER_HOST=unix://" + Socket();
  const struct {
    std::vector<std::string> environment;
    const char* why;
  } cases[] = {
      {{"DOCKER_HOST=tcp://10.0.0.1:2375"}, "names no socket"},
      {{"DOCKER_HOST=ssh://me@host"}, "names no socket"},
      {{"DOCKER_HOST=fd://"}, "names no socket"},
      {{"DOCKER_HOST=unix://"}, "names no socket"},
      {{"DOCKER_HOST=unix://e/s"}, "names no socket"},
      {{"DOCKER_HOST=" + Socket()}, "names no socket"},
      {{host, "DOCKER_CONTEXT=other"}, "DOCKER_CONTEXT"},
      {{host, "DOCKER_CONFIG=/x"}, "DOCKER_CONFIG"},
      {{host, "DOCKER_TLS_VERIFY=1"}, "DOCKER_TLS_VERIFY"},
      {{"DOCKER_HOST=unix://" + machine_.root() + "/e/none"}, "no engine is"},
      {{"DOCKER_HOST=unix://" + machine_.root() + "/e/x"}, "is no socket"},
      {{"DOCKER_HOST=unix://" + machine_.root() + "/e"}, "is no socket"},
  };
  for (const auto& one : cases) {
    const engine::Decision decision = Decide(kLine, one.environment);
    EXPECT_EQ(decision.action, Action::kAsk) << one.environment[0];
    EXPECT_NE(decision.reason.find(one.why), std::string::npos)
        << one.environment[0] << ": " << decision.reason;
  }
  EXPECT_EQ(engine_->asked, 0);
  EXPECT_TRUE(
      FindEngineSocket(Facts({host, "DOCKER_CONTEXT=default"}), "docker", {}));
}

TEST_F(EngineNamesTest, AConfigurationThatMayNameAnotherEngineAsks) {
  const std::string file = machine_.home() + "/.docker/config.json";
  const struct {
    std::string text;
    const char* why;
  } cases[] = {
      {R"({"currentContext":"rootless"})", "a context"},
      {R"({"currentContext":1})", "a context"},
      {R"({"currentContext":null})", "a context"},
      {R"({"currentContext":"default","currentContext":"x"})", "understood"},
      {R"(["x"])", "understood"},
      {"{", "understood"},
      {"", "understood"},
      {std::string(2 * 1024 * 1024, ' '), "cannot be read"},
  };
  for (const auto& one : cases) {
    machine_.Write(file, one.text);
    const auto socket = FindEngineSocket(Facts({}), "docker", {});
    ASSERT_FALSE(socket) << one.text.substr(0, 80);
    EXPECT_NE(socket.error().message.find(one.why), std::string::npos)
        << one.text.substr(0, 80) << ": " << socket.error().message;
  }
  ::unlink(file.c_str());
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  const auto fifo = FindEngineSocket(Facts({}), "docker", {});
  ASSERT_FALSE(fifo);
  EXPECT_NE(fifo.error().message.find("cannot be read"), std::string::npos);
  ::unlink(file.c_str());
  for (const char* text : {R"({"currentContext":"default"})",
                           R"({"currentContext":"","auths":{}})", "{}"}) {
    machine_.Write(file, text);
    const auto socket = FindEngineSocket(Facts({}), "docker", {});
    if (!socket) {  // not a matter of the configuration
      EXPECT_EQ(socket.error().message.find("config.json"), std::string::npos)
          << text;
    }
  }
}

TEST_F(EngineNamesTest, ASocketThatOthersMayPutThereIsNotAsked) {
  const ProcessFacts facts = Facts({"DOCKER_HOST=unix://" + Socket()});
  ASSERT_TRUE(FindEngineSocket(facts, "docker", {}));
  EXPECT_FALSE(FindEngineSocket(facts, "nerdctl", {}));
  EXPECT_FALSE(FindEngineSocket(facts, "docker", {machine_.root() + "/e"}));
  ASSERT_EQ(::chmod((machine_.root() + "/e").c_str(), 0777), 0);
  EXPECT_FALSE(FindEngineSocket(facts, "docker", {}));
  ASSERT_EQ(::chmod((machine_.root() + "/e").c_str(), 0755), 0);
  // As the package that gives docker's name to podman has it.
  machine_.Write(machine_.root() + "/bin/docker", "#!/bin/sh\nexec podman\n",
                 0755);
  EXPECT_FALSE(FindEngineSocket(facts, "docker", {}));
}

TEST_F(EngineNamesTest, AnEngineThatDoesNotAnswerMakesThePersonDecide) {
  const engine::Decision decision =
      Decide(kLine, {"DOCKER_HOST=unix://" + Socket()}, 30);
  EXPECT_EQ(decision.action, Action::kAsk);
  EXPECT_NE(decision.reason.find("gate could not check: the engine does not"),
            std::string::npos)
      << decision.reason;
}

TEST_F(EngineNamesTest, NothingIsLookedAtForALineThatDoesNotRunHere) {
  engine_->Answer("/volumes/data", Http("200 OK", Volume("data")));
  const std::vector<std::string> host = {"DOCKER_HOST=unix://" + Socket()};
  EXPECT_EQ(Decide(kLine, host, kPatient, /*here=*/false).action, Action::kAsk);
  // Nor for one that is asked or denied anyway, or names nothing.
  EXPECT_GE(Decide("docker run --privileged -v data:/d alpine").action,
            Action::kAsk);
  EXPECT_EQ(Decide("docker volume create --opt device=/ data").action,
            Action::kDeny);
  EXPECT_EQ(Decide("docker run --rm alpine ls").action, Action::kSandbox);
  EXPECT_EQ(engine_->asked, 0);
  EXPECT_EQ(Decide(kLine).action, Action::kSandbox);
  EXPECT_EQ(engine_->asked, 1);
}

}  // namespace
}  // namespace gate::app
