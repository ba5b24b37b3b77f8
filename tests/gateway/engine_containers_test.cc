// A container that is there is entered or started again without a question
// where the engine says that it was given nothing of this machine.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/container_engine.h"

namespace gate::app {
namespace {

using EngineContainersTest = EngineNamesTest;

// A container as docker's engine tells of one that `docker run -d` made, with
// `settings` among those of its host and `mounts`.
std::string Container(const std::string& name, const std::string& settings = "",
                      const std::string& mounts = "") {
  return R"({"Id":"0123abcdef","Name":"/)" + name +
         R"(","HostConfig":{"Binds":null,"IpcMode":"private","PidMode":"",)"
         R"("UTSMode":"","UsernsMode":"","CgroupnsMode":"private",)"
         R"("CgroupParent":"","CapAdd":null,"Devices":[],)"
         R"("DeviceCgroupRules":null,"DeviceRequests":null,)"
         R"("Runtime":"runc","VolumesFrom":null)" +
         (settings.find("Privileged") == std::string::npos
              ? R"(,"Privileged":false)"
              : "") +
         (settings.find("NetworkMode") == std::string::npos
              ? R"(,"NetworkMode":"bridge")"
              : "") +
         (settings.find("SecurityOpt") == std::string::npos
              ? R"(,"SecurityOpt":null)"
              : "") +
         (settings.empty() ? "" : "," + settings) + R"(},"Mounts":[)" + mounts +
         "]}";
}

TEST_F(EngineContainersTest, WhatAContainerWasGivenDecidesWhetherItIsEntered) {
  const auto volume = [](const char* name) {
    return R"({"Type":"volume","Name":")" + std::string(name) +
           R"(","Source":"/var/lib/docker/volumes/x/_data","Destination":"/d",)"
           R"("Driver":"local","RW":true})";
  };
  engine_->AnswerOnly(
      {{"/volumes/data", Http("200 OK", Volume("data"))},
       {"/volumes/bad",
        Http("200 OK", Volume("bad", R"({"device":"/","o":"bind"})"))},
       {"/networks/n", Http("200 OK", Network("n", "bridge", "{}"))},
       {"/networks/m", Http("200 OK", Network("m", "macvlan", "{}"))}});
  // Settings that stand twice are junk, so each case has its own.
  const auto with = [](std::string body, const std::string& key,
                       const std::string& value) {
    const std::string quoted = "\"" + key + "\":";
    const size_t at = body.find(quoted) + quoted.size();
    return body.replace(at, body.find_first_of(",}", at) - at, value);
  };
  const std::string plain = Container("web");
  const struct {
    std::string body;
    bool runs;
  } cases[] = {
      {plain, true},
      {Container("web", R"("NetworkMode":"none")"), true},
      {Container("web", R"("NetworkMode":"default")"), true},
      {Container("web", R"("NetworkMode":"n")"), true},
      {Container("web", "", volume("data")), true},
      {Container("web", "", R"({"Type":"tmpfs","Source":""})"), true},
      {with(plain, "IpcMode", "\"shareable\""), true},
      {with(plain, "Privileged", "true"), false},
      {with(plain, "Privileged", "null"), false},
      {with(plain, "Privileged", "0"), false},
      {with(plain, "PidMode", "\"host\""), false},
      {with(plain, "PidMode", "\"container:db\""), false},
      {with(plain, "PidMode", "1"), false},
      {with(plain, "IpcMode", "\"host\""), false},
      {with(plain, "UTSMode", "\"host\""), false},
      {with(plain, "UsernsMode", "\"host\""), false},
      {with(plain, "CgroupnsMode", "\"host\""), false},
      {with(plain, "CgroupParent", "\"/x\""), false},
      {with(plain, "CapAdd", "[\"SYS_ADMIN\"]"), false},
      {with(plain, "CapAdd", "\"ALL\""), false},
      {with(plain, "DeviceRequests", "[{}]"), false},
      {with(plain, "DeviceCgroupRules", "[\"a *:* rwm\"]"), false},
      {with(plain, "VolumesFrom", "[\"db\"]"), false},
      {with(plain, "Runtime", "\"evil\""), false},
      {with(plain, "Devices", "[{\"PathOnHost\":\"/dev/sda\"}]"), false},
      {Container("web", R"("SecurityOpt":["seccomp=unconfined"])"), false},
      {Container("web", R"("NetworkMode":"host")"), false},
      {Container("web", R"("NetworkMode":"container:db")"), false},
      {Container("web", R"("NetworkMode":"m")"), false},
      {Container("web", R"("NetworkMode":"")"), false},
      {Container("web", "", volume("bad")), false},
      {Container("web", "", volume("../x")), false},
      {Container("web", "", volume("data") + "," + volume("bad")), false},
      {Container("web", "", R"({"Type":"bind","Source":"/","RW":true})"),
       false},
      {Container("web", "", R"({"Type":"bind","Source":"/src","RW":false})"),
       false},
      {Container("web", "", R"({"Type":"npipe"})"), false},
      {Container("web", "", R"({"Type":"volume","Name":"data"})"), false},
      {Container("web", "", "null"), false},
      {Container("db"), false},
      {R"({"Id":"0123abcdef","Name":"/web"})", false},
      {R"({"Id":"0","Name":"/web","HostConfig":{},"Mounts":[]})", false},
      {R"({"Name":"/web","HostConfig":{"Privileged":false}})", false},
      {"{}", false},
      {plain.substr(0, plain.size() - 1) +
           R"(,"NetworkSettings":{"Networks":{"bridge":{},"n":{}}}})",
       true},
      {plain.substr(0, plain.size() - 1) +
           R"(,"NetworkSettings":{"Networks":{"m":{}}}})",
       false},
      {plain.substr(0, plain.size() - 1) +
           R"(,"NetworkSettings":{"Networks":{"../x":{}}}})",
       false},
  };
  for (const auto& one : cases)
    for (const char* line : {"docker exec web npm test", "docker start web"}) {
      engine_->Answer("/containers/web/json", Http("200 OK", one.body));
      const engine::Decision decision = Decide(line);
      EXPECT_EQ(decision.action, one.runs ? Action::kSandbox : Action::kAsk)
          << line << ": " << one.body << ": " << decision.reason;
    }
  // A container that is not there is not entered.
  engine_->Answer(
      "/containers/web/json",
      Http("404 Not Found", R"({"message":"No such container: web"})"));
  EXPECT_EQ(Decide("docker exec web npm test").action, Action::kSandbox);
}

TEST_F(EngineContainersTest, EveryContainerThatALineEntersCounts) {
  engine_->AnswerOnly(
      {{"/containers/web/json", Http("200 OK", Container("web"))},
       {"/containers/0123abc/json", Http("200 OK", Container("x"))},
       {"/containers/db/json", Http("200 OK", Container("db"))},
       {"/containers/012/json", Http("200 OK", Container("x"))},
       {"/containers/bad/json",
        Http("200 OK", Container("bad", R"("Privileged":true)"))}});
  const struct {
    const char* line;
    bool runs;
  } cases[] = {
      {"docker exec web npm test", true},
      {"docker exec -it -u root -w /app web sh -c 'cd /x && export A=1; make'",
       true},
      {"docker container exec -e A=b web make", true},
      {"docker exec 0123abc make", true},
      {"docker restart -t 5 web db", true},
      {"docker container start web", true},
      {"docker exec web make | tail -3", true},
      {"docker stop web && docker start web", true},
      {"docker exec bad ls /app", true},  // shows what it has itself
      {"docker exec bad make", false},
      {"docker exec -it bad sh", false},
      {"docker start -ai bad", false},
      {"docker restart web bad", false},
      {"docker exec web make; docker exec bad make", false},
      {"docker exec bad cat /proc/1/root/etc/hosts", false},
      {"docker exec -e LD_PRELOAD=/x bad ls", false},
      {"docker exec --privileged web make", false},
      {"docker exec --privileged=true web ls", false},
      {"docker exec \"$X\" make", false},
      {"docker exec we* make", false},
      {"docker exec ../bad make", false},
      {"docker exec web%2f..%2fbad make", false},
      {"docker exec 012 make", false},
      {"docker -c other exec web make", false},
      {"docker -H unix:///run/x.sock exec web make", false},
      {"DOCKER_HOST=unix:///run/x.sock docker exec web make", false},
      {"export DOCKER_CONTEXT=x; docker exec web make", false},
      {"docker rename web old; docker rename bad web; docker exec web make",
       false},
      {"docker rename bad web", false},
      {"sudo docker exec web make", false},
      {"nerdctl exec web make", false},
      {"docker exec web docker run -v /:/h alpine", false},
  };
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

}  // namespace
}  // namespace gate::app
