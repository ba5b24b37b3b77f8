// gate-net as a process: what it holds, how it starts and ends, and what it
// passes on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "base/clock.h"
#include "tests/net/filter_fixture.h"
#include "tests/support/wait.h"

namespace gate::net {
namespace {

using namespace gate::test;

const std::map<std::string, std::string> kNames = {
    {"listed.test", "127.0.0.1"}};

std::string At(const std::string& host, uint16_t port) {
  return host + ":" + std::to_string(port);
}

// A tunnel through a filter, with both of its ends.
struct Tunnel {
  Tunnel()
      : names(kNames),
        server(AF_INET),
        filter(PolicyFor(names, {At("listed.test", server.port())})) {
    Open(&client, &outside);
  }
  void Open(Fd* inside, Fd* far) {
    *inside = filter.ConnectToProxy();
    Send(*inside, ConnectRequest(At("listed.test", server.port())));
    EXPECT_EQ(CodeIn(ReadUntil(*inside, "\r\n\r\n")), 200);
    *far = Fd(server.Accept());
  }
  NameServer names;
  Server server;
  Filter filter;
  Fd client, outside;
};

TEST(FilterProcessTest, EitherSideMayEndFirst) {
  Tunnel one;
  Send(one.client, "question");
  EndSending(one.client);
  EXPECT_EQ(ReadToEnd(one.outside), "question");
  Send(one.outside, "answer");
  EndSending(one.outside);
  EXPECT_EQ(ReadToEnd(one.client), "answer");
  Tunnel other;
  Send(other.outside, "greeting");
  EndSending(other.outside);
  EXPECT_EQ(ReadToEnd(other.client), "greeting");
  Send(other.client, "later");
  EndSending(other.client);
  EXPECT_EQ(ReadToEnd(other.outside), "later");
}

TEST(FilterProcessTest, ABreakIsPassedOn) {
  Tunnel tunnel;
  const linger at_once = {1, 0};
  ::setsockopt(tunnel.outside.get(), SOL_SOCKET, SO_LINGER, &at_once,
               sizeof(at_once));
  tunnel.outside.reset();
  EXPECT_EQ(ReadToEnd(tunnel.client), std::nullopt);
}

TEST(FilterProcessTest, AReaderThatDoesNotReadStopsTheWriter) {
  Tunnel tunnel;
  const std::string much(size_t{24} << 20, 'x');
  std::thread writer([&] {
    EXPECT_TRUE(Send(tunnel.outside, much));
    EndSending(tunnel.outside);
  });
  // Another connection goes on meanwhile.
  Fd client, outside;
  tunnel.Open(&client, &outside);
  Send(client, "y");
  EXPECT_EQ(ReadBytes(outside, 1), "y");
  const auto all = ReadToEnd(tunnel.client);
  writer.join();
  ASSERT_TRUE(all);
  EXPECT_EQ(*all == much, true);
  EXPECT_EQ(tunnel.filter.Finish().bytes_in, much.size());
}

TEST(FilterProcessTest, WhatWasSentBeforeTheEndArrives) {
  Tunnel tunnel;
  Fd second, second_outside;
  tunnel.Open(&second, &second_outside);
  Send(tunnel.client, "first");
  EndSending(tunnel.client);
  second.reset();
  const FilterReport report = tunnel.filter.Finish();
  EXPECT_EQ(ReadToEnd(tunnel.outside).value_or(""), "first");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.passed, 2u);
  EXPECT_EQ(report.bytes_out, 5u);
}

TEST(FilterProcessTest, WhoStaysIsCutOffAtTheEnd) {
  Tunnel tunnel;
  const uint64_t begin = MonotonicMs();
  const FilterReport report = tunnel.filter.Finish();
  EXPECT_LT(MonotonicMs() - begin, 5'000u);
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.passed, 1u);
  EXPECT_EQ(ReadToEnd(tunnel.outside).value_or(""), "");
  EXPECT_FALSE(ConnectTo(tunnel.filter.proxy()));
}

// Its death opens nothing.
TEST(FilterProcessTest, WhenItDiesEverythingEnds) {
  Tunnel tunnel;
  {
    Fd client, outside;
    tunnel.Open(&client, &outside);
    EndSending(client);
    EndSending(outside);
    (void)ReadToEnd(client);
  }
  const pid_t pid = tunnel.filter->pid();
  ASSERT_GT(pid, 0);
  // The connection that has ended is in the report, once it is known to be.
  Fd client, outside;
  tunnel.Open(&client, &outside);
  ::kill(pid, SIGKILL);
  EXPECT_EQ(ReadToEnd(tunnel.client).value_or(""), "");
  EXPECT_EQ(ReadToEnd(tunnel.outside).value_or(""), "");
  EXPECT_TRUE(WaitUntil([&] { return !ConnectTo(tunnel.filter.proxy()); }));
  uint16_t port = 0;
  EXPECT_FALSE(tunnel.filter->Give(ListenerKind::kProxy,
                                   Bind("127.0.0.1", SOCK_STREAM, &port)));
  const FilterReport report = tunnel.filter.Finish();
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.passed, 1u);
}

std::string StatusOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(FilterProcessTest, ItHasGivenUpWhatItDoesNotNeed) {
  const Tunnel tunnel;
  Filter filter(PolicyFor(tunnel.names, {}));
  const std::string status = StatusOf(filter->pid());
  // The sanitizers' own system calls would end it.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(GATE_SANITIZED)
  EXPECT_NE(status.find("\nSeccomp:\t2\n"), std::string::npos) << status;
#endif
  for (const char* line :
       {"\nNoNewPrivs:\t1\n", "\nCapEff:\t0000000000000000\n",
        "\nCapPrm:\t0000000000000000\n", "\nCapInh:\t0000000000000000\n",
        "\nCapAmb:\t0000000000000000\n"})
    EXPECT_NE(status.find(line), std::string::npos) << line << status;
}

TEST(FilterProcessTest, SocketsOfAnotherKindAreNotTaken) {
  const NameServer names(kNames);
  Filter filter(PolicyFor(names, {}));
  uint16_t port = 0;
  Fd udp = Bind("127.0.0.1", SOCK_DGRAM, &port);
  EXPECT_TRUE(filter->Give(ListenerKind::kProxy, std::move(udp)));
  Fd idle(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_TRUE(filter->Give(ListenerKind::kTls, std::move(idle)));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_TRUE(filter->Give(ListenerKind::kDnsTcp, Fd(ends[0])));
  EXPECT_TRUE(filter->Give(ListenerKind::kDnsUdp, Fd(ends[1])));
  // It goes on.
  const Fd client = filter.ConnectToProxy();
  Send(client, ConnectRequest("listed.test:443"));
  EXPECT_EQ(CodeIn(ReadUntil(client, "\r\n\r\n")), 403);
  EXPECT_FALSE(filter->Give(ListenerKind::kProxy, Fd()));
}

TEST(FilterProcessTest, APolicyThatCannotBeFollowedStartsNothing) {
  const auto code = [](const FilterPolicy& policy) {
    const auto started = NetworkFilter::Start(policy, GateNet());
    return started ? ErrorCode::kInternal : started.error().code;
  };
  FilterPolicy policy;
  policy.allow = {"*.com"};
  EXPECT_EQ(code(policy), ErrorCode::kInvalid);
  policy.allow = {"https://example.org/"};
  EXPECT_EQ(code(policy), ErrorCode::kInvalid);
  policy.allow.assign(kMaxHostRules + 1, "a.test");
  EXPECT_EQ(code(policy), ErrorCode::kTooLarge);
  policy = {};
  policy.excepted = {"10.0.0.1/8"};
  EXPECT_EQ(code(policy), ErrorCode::kInvalid);
  policy = {};
  policy.upstream = "https://proxy.test:3128";
  EXPECT_EQ(code(policy), ErrorCode::kInvalid);
  policy = {};
  policy.resolver = "localhost:53";
  EXPECT_EQ(code(policy), ErrorCode::kInvalid);
  policy = {};
  policy.limits.connections_at_once = 0;
  EXPECT_EQ(code(policy), ErrorCode::kInvalid);
  EXPECT_FALSE(NetworkFilter::Start({}, ""));
  EXPECT_FALSE(NetworkFilter::Start({}, "/nonexistent/gate-net"));
}

// Runs gate-net with that as its policy, and returns its exit code.
int RunWith(const std::string& policy, bool seal) {
  const Fd file(::memfd_create("policy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_TRUE(WriteAll(file.get(), policy));
  if (seal)
    ::fcntl(file.get(), F_ADD_SEALS,
            F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK);
  const Fd report(::memfd_create("report", MFD_CLOEXEC));
  EXPECT_EQ(::ftruncate(report.get(), wire::kReportBytes), 0);
  int control[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control),
            0);
  const std::string executable = GateNet();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int from[] = {control[1], file.get(), report.get()};
    int high[3];
    for (int i = 0; i < 3; ++i) high[i] = ::fcntl(from[i], F_DUPFD, 64);
    for (int i = 0; i < 3; ++i) ::dup2(high[i], wire::kControl + i);
    ::close_range(6, ~0U, 0);
    ::execl(executable.c_str(), "gate-net", nullptr);
    ::_exit(99);
  }
  ::close(control[1]);
  ::close(control[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(FilterProcessTest, APolicyIsTakenWholeOrNotAtAll) {
  FilterPolicy policy;
  policy.allow = {"listed.test"};
  const std::string good = WriteFilterPolicy(policy);
  ASSERT_EQ(RunWith(good, true), wire::kEnded);
  std::string other = good;
  other.replace(other.find("listed.test"), 11, "li sted.tes");
  const std::string bad[] = {
      "",
      "{}",
      "null",
      good.substr(0, good.size() / 2),
      good.substr(0, good.size() - 1),
      good + good,
      good.substr(0, good.size() - 1) + R"(,"more":1})",
      other,
      std::string(good).replace(good.find("256"), 3, "-25"),
      std::string(good).replace(good.find("false"), 5, "\"no\""),
  };
  for (const std::string& one : bad)
    EXPECT_EQ(RunWith(one, true), wire::kBadPolicy) << one;
  EXPECT_EQ(RunWith(good, false), wire::kBadPolicy);
}

TEST(FilterProcessTest, StartedByHandItDoesNothing) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close_range(3, ~0U, 0);
    ::execl(GATE_NET_BINARY, "gate-net", nullptr);
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), wire::kByHand);
}

TEST(FilterPolicyTest, WhatIsWrittenIsRead) {
  FilterPolicy policy;
  policy.allow = {"a.test", "*.b.test:8443"};
  policy.deny = {"c.a.test"};
  policy.excepted = {"10.0.0.0/8"};
  policy.any_host = true;
  policy.upstream = "http://user:p%40ss@proxy.test:3128";
  policy.token = "t\"\\\n";
  policy.resolver = "127.0.0.1:53";
  policy.limits = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto read = ReadFilterPolicy(WriteFilterPolicy(policy));
  ASSERT_TRUE(read);
  EXPECT_TRUE(*read == policy);
  policy.limits.connections_at_once = 1;
  const auto compiled = CompilePolicy(policy);
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(compiled->upstream->host, "proxy.test");
  EXPECT_EQ(compiled->upstream->authorization, "Basic dXNlcjpwQHNz");
  EXPECT_EQ(compiled->Judge("c.a.test", 443), HostVerdict::kDenied);
  EXPECT_EQ(compiled->Judge("d.test", 5), HostVerdict::kAllowed);
}

TEST(FilterReportTest, ReadsNoMoreThanItsBounds) {
  Connection one;
  one.host = std::string(5'000, 'h');
  one.port = 443;
  one.via = "connect";
  one.why = std::string(5'000, '\x1b');
  std::string text;
  for (size_t i = 0; i < kMaxReportedConnections + 5; ++i)
    text += ReportLine(one);
  const FilterReport report = ReadFilterReport(text);
  EXPECT_EQ(report.connections.size(), kMaxReportedConnections);
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.connections[0].why.find('\x1b'), std::string::npos);
  EXPECT_LE(report.connections[0].host.size(), 256u);
  for (const char* bad : {"", "\n", "{", "[]\n", "{\"port\":99999}\n",
                          "{\"verdict\":\"none\"}\n", "{\"out\":-1}\n"}) {
    const FilterReport other = ReadFilterReport(bad);
    EXPECT_FALSE(other.complete) << bad;
    EXPECT_EQ(other.passed, 0u) << bad;
  }
}

}  // namespace
}  // namespace gate::net
