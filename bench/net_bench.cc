// gate_net_bench [GATE-NET]: what the filter of a run's network costs on
// loopback: until its first answer, for one large transfer against a direct
// one, for 200 connections at once and for 10,000 after each other.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "net/network_filter.h"

namespace gate::net {
namespace {

constexpr uint64_t kTransfer = uint64_t{4} << 30;
constexpr uint64_t kShare = uint64_t{16} << 20;
constexpr int kParallel = 200, kConnects = 10'000, kStarts = 50, kRounds = 3;
constexpr size_t kBuffer = size_t{256} << 10;

[[noreturn]] void Die(const char* what) {
  perror(what);
  _exit(1);
}

Fd Listen(uint16_t* port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(four);
  auto* at = reinterpret_cast<sockaddr*>(&four);
  if (::bind(fd.get(), at, size) != 0 || ::listen(fd.get(), 1024) != 0 ||
      ::getsockname(fd.get(), at, &size) != 0)
    Die("listen");
  *port = ntohs(four.sin_port);
  return fd;
}

Fd ConnectTo(uint16_t port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&four),
                sizeof(four)) != 0)
    Die("connect");
  return fd;
}

// Reads to the end, or at most `most`.
uint64_t Drain(int fd, uint64_t most = UINT64_MAX) {
  std::vector<char> buffer(kBuffer);
  uint64_t all = 0;
  while (all < most) {
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    all += static_cast<uint64_t>(got);
  }
  return all;
}

void Fill(int fd, uint64_t bytes) {
  const std::vector<char> buffer(kBuffer, 'x');
  while (bytes > 0) {
    const ssize_t put =
        ::send(fd, buffer.data(), std::min<uint64_t>(bytes, buffer.size()),
               MSG_NOSIGNAL);
    if (put <= 0) Die("send");
    bytes -= static_cast<uint64_t>(put);
  }
  ::shutdown(fd, SHUT_WR);
}

class Filter {
 public:
  Filter(const std::string& executable, const std::vector<std::string>& allow)
      : filter_(Make(executable, allow)) {
    Fd listener = Listen(&port_);
    if (!filter_.Give(ListenerKind::kProxy, std::move(listener)))
      Die("gate-net");
  }
  // A tunnel to the server at `port`, or the answer to be refused.
  Fd Connect(const std::string& place) const {
    Fd fd = ConnectTo(port_);
    const std::string request =
        "CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n\r\n";
    if (::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0)
      Die("send");
    std::string answer;
    char byte = 0;
    while (!answer.ends_with("\r\n\r\n") && ::recv(fd.get(), &byte, 1, 0) == 1)
      answer += byte;
    if (answer.empty()) Die("no answer");
    return fd;
  }
  long Kilobytes(const std::string& key) const {
    std::ifstream file("/proc/" + std::to_string(filter_.pid()) + "/status");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with(key)) return std::atol(line.c_str() + key.size());
    return 0;
  }
  // Of gate-net, so far.
  double CpuSeconds() const {
    std::ifstream file("/proc/" + std::to_string(filter_.pid()) + "/stat");
    std::string word;
    double ticks = 0;
    constexpr int kUser = 14, kSystem = 15;
    for (int i = 1; i <= kSystem && file >> word; ++i)
      if (i >= kUser) ticks += std::atof(word.c_str());
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  FilterReport Finish() { return filter_.Finish(); }

 private:
  static NetworkFilter Make(const std::string& executable,
                            const std::vector<std::string>& allow) {
    FilterPolicy policy;
    policy.allow = allow;
    policy.excepted = {"127.0.0.0/8"};
    auto started = NetworkFilter::Start(policy, executable);
    if (!started) {
      fprintf(stderr, "%s\n", started.error().message.c_str());
      _exit(1);
    }
    return std::move(*started);
  }

  NetworkFilter filter_;
  uint16_t port_ = 0;
};

double Gigabytes(uint64_t bytes, uint64_t us) {
  return static_cast<double>(bytes) / 1000 / static_cast<double>(us);
}

// The best of kRounds, in GB/s.
template <class Connect>
double Transfer(const Fd& server, bool down, Connect connect) {
  double best = 0;
  for (int i = 0; i < kRounds; ++i) {
    uint64_t got = 0;
    const uint64_t begin = MonotonicUs();
    std::thread service([&] {
      const Fd client(::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (down)
        Fill(client.get(), kTransfer);
      else
        got = Drain(client.get());
    });
    const Fd client = connect();
    if (down)
      got = Drain(client.get());
    else
      Fill(client.get(), kTransfer);
    service.join();
    if (got != kTransfer) Die("not everything arrived");
    best = std::max(best, Gigabytes(got, MonotonicUs() - begin));
  }
  return best;
}

void Starts(const std::string& executable) {
  std::vector<uint64_t> times;
  for (int i = 0; i < kStarts; ++i) {
    const uint64_t begin = MonotonicUs();
    Filter filter(executable, {});
    (void)filter.Connect("listed.test:443");
    times.push_back(MonotonicUs() - begin);
  }
  std::ranges::sort(times);
  printf("start to the first answer  median %.2f ms, worst %.2f ms\n",
         static_cast<double>(times[kStarts / 2]) / 1000,
         static_cast<double>(times.back()) / 1000);
}

void Parallel(const Filter& filter, const Fd& server,
              const std::string& place) {
  std::vector<std::thread> threads;
  std::vector<Fd> clients;
  std::vector<Fd> outside;
  for (int i = 0; i < kParallel; ++i) {
    clients.push_back(filter.Connect(place));
    outside.emplace_back(
        ::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  printf("%d connections idle        %ld KiB resident\n", kParallel,
         filter.Kilobytes("VmRSS:"));
  std::atomic<uint64_t> all = 0;
  const uint64_t begin = MonotonicUs();
  for (int i = 0; i < kParallel; ++i) {
    threads.emplace_back([&, i] { Fill(outside[i].get(), kShare); });
    threads.emplace_back([&, i] { all += Drain(clients[i].get()); });
  }
  for (std::thread& thread : threads) thread.join();
  if (all != kShare * kParallel) Die("not everything arrived");
  printf(
      "%d connections at once     %.2f GB/s in all, %ld KiB resident at "
      "most\n",
      kParallel, Gigabytes(all, MonotonicUs() - begin),
      filter.Kilobytes("VmHWM:"));
}

void Connects(const Filter& filter, const Fd& server,
              const std::string& place) {
  std::thread service([&] {
    for (int i = 0; i < kConnects; ++i) {
      const Fd client(::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC));
      char byte = 0;
      if (::recv(client.get(), &byte, 1, 0) == 1)
        (void)::send(client.get(), &byte, 1, MSG_NOSIGNAL);
    }
  });
  int answered = 0;
  const uint64_t begin = MonotonicUs();
  for (int i = 0; i < kConnects; ++i) {
    const Fd client = filter.Connect(place);
    char byte = 'x';
    answered += ::send(client.get(), &byte, 1, MSG_NOSIGNAL) == 1 &&
                ::recv(client.get(), &byte, 1, 0) == 1;
  }
  const uint64_t took = MonotonicUs() - begin;
  service.join();
  printf(
      "%d connects in turn     %d answered, %.0f us each, %ld KiB resident\n",
      kConnects, answered, static_cast<double>(took) / kConnects,
      filter.Kilobytes("VmRSS:"));
}

int Main(const std::string& executable) {
  Starts(executable);
  uint16_t port = 0;
  const Fd server = Listen(&port);
  const std::string place = "127.0.0.1:" + std::to_string(port);
  Filter filter(executable, {place});
  for (const bool down : {true, false}) {
    const double direct =
        Transfer(server, down, [&] { return ConnectTo(port); });
    const double before = filter.CpuSeconds();
    const double through =
        Transfer(server, down, [&] { return filter.Connect(place); });
    const double cpu = (filter.CpuSeconds() - before) /
                       (kRounds * static_cast<double>(kTransfer) / 1e9);
    printf(
        "%s  direct %.2f GB/s, through %.2f GB/s (%.0f %%), %.2f s of CPU in "
        "gate-net for each GB\n",
        down ? "one transfer to the run " : "one transfer from the run", direct,
        through, 100 * through / direct, cpu);
  }
  Parallel(filter, server, place);
  Connects(filter, server, place);
  const FilterReport report = filter.Finish();
  printf("report  %llu connections, %llu passed\n",
         static_cast<unsigned long long>(report.total),
         static_cast<unsigned long long>(report.passed));
  return report.complete && report.passed == report.total ? 0 : 1;
}

}  // namespace
}  // namespace gate::net

int main(int count, char** words) {
  return gate::net::Main(count > 1 ? words[1] : GATE_NET_BINARY);
}
