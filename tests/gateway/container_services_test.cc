// Ports of containers of this machine: which are given to a line unasked.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "gateway/grants/local_services.h"
#include "gateway/lasting.h"
#include "gateway/withheld.h"
#include "tests/support/container_engine.h"
#include "tests/support/must_work.h"

namespace gate::app {
namespace {

// A copy of perl called as the engine's proxy that listens on a port.
class Proxy {
 public:
  Proxy(const Machine& machine, const std::string& name) {
    const std::string file = machine.root() + "/bin/" + name;
    std::error_code error;
    std::filesystem::copy_file("/usr/bin/perl", file, error);
    if (error) return;
    int ready[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ready, 0), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ready[1], 1);
      ::close(ready[0]);
      ::close(ready[1]);
      ::execl(file.c_str(), file.c_str(), "-e",
              "use Socket; socket(S, PF_INET, SOCK_STREAM, 0); bind(S, "
              "sockaddr_in(0, INADDR_ANY)); listen(S, 9); my ($p) = "
              "sockaddr_in(getsockname(S)); syswrite(STDOUT, \"$p\\n\"); "
              "sleep(600)",
              nullptr);
      ::_exit(1);
    }
    ::close(ready[1]);
    char text[16] = {};
    (void)!::read(ready[0], text, sizeof(text) - 1);
    ::close(ready[0]);
    port_ = std::atoi(text);
  }
  ~Proxy() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  int port() const { return port_; }

 private:
  pid_t pid_ = -1;
  int port_ = 0;
};

class ContainerServicesTest : public EngineNamesTest {
 protected:
  const std::string id_ = std::string(64, 'c');

  std::string Container(const std::string& mounts,
                        const std::string& host = "") const {
    return R"({"Id":")" + id_ + R"(","Name":"/db","Mounts":)" + mounts +
           R"(,"HostConfig":{"Privileged":false,"NetworkMode":"bridge")" +
           host + R"(},"NetworkSettings":{"Networks":{"bridge":{}}}})";
  }
  void Publish(int port, const std::string& container, int inner = 5432) {
    engine_->AnswerOnly(
        {{"/containers/json",
          Http(
              "200 OK",
              R"([{"Id":")" + id_ +
                  R"(","Names":["/db"],"Ports":[{"IP":"0.0.0.0","PrivatePort":)" +
                  std::to_string(inner) + R"(,"PublicPort":)" +
                  std::to_string(port) + R"(,"Type":"tcp"}]}])")},
         {"/containers/" + id_ + "/json", Http("200 OK", container)},
         {"/volumes/data", Http("200 OK", Volume("data"))}});
  }
  Authorization Judge(const std::string& line) {
    gateway_.emplace(Facts({"DOCKER_HOST=unix://" + Socket()}));
    Request question;
    question.command = line;
    question.cwd = work_.path();
    return gateway_->Authorize(question, /*pin=*/false);
  }
  std::optional<Gateway> gateway_;
};

TEST_F(ContainerServicesTest, AreGivenWhereTheyHaveNothingOfThisMachine) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  const Proxy proxy(machine_, "docker-proxy");
  if (proxy.port() == 0) GATE_SKIP_WITHOUT("native") << "no perl here";
  const std::string line =
      "psql -h localhost -p " + std::to_string(proxy.port());
  const struct {
    std::string container;
    bool given;
  } cases[] = {
      {Container("[]"), true},
      {Container(R"([{"Type":"volume","Name":"data","Driver":"local"}])"),
       true},
      {Container(R"([{"Type":"bind","Source":"/home/x","Destination":"/x"}])"),
       false},
      {Container(R"([{"Type":"bind","Source":"/var/run/docker.sock"}])"),
       false},
      {Container("[]", R"(,"CapAdd":["SYS_ADMIN"])"), false},
      {Container("[]", R"(,"Devices":[{"PathOnHost":"/dev/kvm"}])"), false},
      {Container("[]", R"(,"PidMode":"host")"), false},
      {Container("[]", R"(,"IpcMode":"host")"), false},
      {Container("[]", R"(,"UsernsMode":"host")"), false},
      {Container("[]", R"(,"SecurityOpt":["seccomp=unconfined"])"), false},
      {Container("[]", R"(,"Runtime":"other")"), false},
      {R"({"Id":")" + id_ +
           R"(","Name":"/db","Mounts":[],"HostConfig":{"Privileged":true,"NetworkMode":"bridge"}})",
       false},
      {R"({"Id":")" + id_ +
           R"(","Name":"/db","Mounts":[],"HostConfig":{"Privileged":false,"NetworkMode":"host"}})",
       false},
      {R"({"Id":")" + id_ + R"("})", false},
      {"{}", false},
  };
  for (const auto& c : cases) {
    Publish(proxy.port(), c.container);
    const Authorization authorization = Judge(line);
    EXPECT_EQ(authorization.decision.action,
              c.given ? Action::kSandbox : Action::kAsk)
        << c.container << authorization.decision.reason;
    EXPECT_EQ(authorization.plan.profile.services.size(), c.given ? 1u : 0u)
        << c.container;
  }
  // An engine that does not answer, or speaks of other ports, says of nothing
  // that it is a container.
  engine_->AnswerOnly({});
  EXPECT_EQ(Judge(line).decision.action, Action::kAsk);
  Publish(proxy.port() == 1 ? 2 : 1, Container("[]"));
  EXPECT_EQ(Judge(line).decision.action, Action::kAsk);
}

TEST_F(ContainerServicesTest, AnotherProgramOnThatPortIsNone) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  const Proxy proxy(machine_, "my-server");
  if (proxy.port() == 0) GATE_SKIP_WITHOUT("native") << "no perl here";
  Publish(proxy.port(), Container("[]"));
  const Authorization authorization =
      Judge("psql -h localhost -p " + std::to_string(proxy.port()));
  EXPECT_EQ(authorization.decision.action, Action::kAsk);
  EXPECT_NE(authorization.decision.reason.find("my-server"), std::string::npos)
      << authorization.decision.reason;
}

// Tests find the database of the project without naming it; other programs and
// other ports they do not.
TEST_F(ContainerServicesTest, DatabasesAreThereForCodeOfTheProject) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  const Proxy proxy(machine_, "docker-proxy");
  if (proxy.port() == 0) GATE_SKIP_WITHOUT("native") << "no perl here";
  const struct {
    const char* line;
    int inner;
    bool bind, given;
  } cases[] = {
      {"pytest -q", 5432, false, true},
      {"python3 manage.py test", 6379, false, true},
      {"./run-tests", 27017, false, true},
      {"pytest -q & wait", 5432, false, true},
      {"pytest -q", 8080, false, false},
      {"pytest -q", 5432, true, false},
      {"curl -s localhost:1/", 5432, false, false},
  };
  for (const auto& c : cases) {
    Publish(
        proxy.port(),
        Container(c.bind ? R"([{"Type":"bind","Source":"/home/x"}])" : "[]"),
        c.inner);
    Authorization authorization = Judge(c.line);
    EXPECT_EQ(authorization.decision.action, Action::kSandbox) << c.line;
    EXPECT_TRUE(authorization.plan.profile.services.empty()) << c.line;
    const auto forwarder = OfferLocalServices(*gateway_, &authorization);
    ASSERT_TRUE(forwarder) << c.line;
    EXPECT_EQ(forwarder->has_value(), c.given) << c.line << c.inner << c.bind;
  }
}

// What has a port of this machine does not go on when its line ends.
TEST_F(ContainerServicesTest, AServerInTheBackgroundGoesOnWithoutThem) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox here";
  const Proxy proxy(machine_, "docker-proxy");
  if (proxy.port() == 0) GATE_SKIP_WITHOUT("native") << "no perl here";
  Publish(proxy.port(), Container("[]"));
  Authorization authorization = Judge("python3 manage.py runserver &");
  const auto forwarder = OfferLocalServices(*gateway_, &authorization);
  ASSERT_TRUE(forwarder);
  EXPECT_FALSE(forwarder->has_value());
  EXPECT_EQ(authorization.not_forwarded,
            std::vector{static_cast<uint16_t>(proxy.port())});
  EXPECT_TRUE(MayLast(authorization, /*transport=*/false));
  backends::Outcome outcome;
  FillNotForwarded(authorization, &outcome);
  ASSERT_EQ(WithheldLines(outcome).size(), 1u);
  EXPECT_NE(WithheldLines(outcome).front().find("localhost:" +
                                                std::to_string(proxy.port())),
            std::string::npos);
}

}  // namespace
}  // namespace gate::app
