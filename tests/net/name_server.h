// A name server on loopback whose answers a test decides.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "net/address.h"

namespace gate::test {

inline void Put16(unsigned value, std::string* out) {
  *out += static_cast<char>(value >> 8);
  *out += static_cast<char>(value & 0xff);
}

inline std::string DnsName(std::string_view name) {
  std::string bytes;
  while (!name.empty()) {
    const size_t dot = std::min(name.find('.'), name.size());
    bytes += static_cast<char>(dot);
    bytes += name.substr(0, dot);
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return bytes + '\0';
}

// A record of an answer: an address, or an alias.
struct DnsRecord {
  std::string owner;
  std::string address;  // else `alias`
  std::string alias;
  uint32_t seconds = 0;
};

struct DnsReply {
  std::vector<DnsRecord> records;
  int code = 0;
  bool truncated = false;   // by UDP
  bool silent = false;      // no answer at all
  bool other_id = false;    // first one with another id, then the right one
  bool other_name = false;  // first one to another question
};

// One question, and which time it is that its name and type are asked for.
using DnsAnswerer =
    std::function<DnsReply(const std::string& name, unsigned type, int time)>;

inline constexpr unsigned kTypeA = 1, kTypeAaaa = 28;

class NameServer {
 public:
  explicit NameServer(DnsAnswerer answerer) : answerer_(std::move(answerer)) {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(four);
    // UDP and TCP have one port.
    for (int tries = 0; tries < 50; ++tries) {
      udp_ = Fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      tcp_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      four.sin_port = 0;
      auto* at = reinterpret_cast<sockaddr*>(&four);
      if (::bind(udp_.get(), at, size) != 0) continue;
      ::getsockname(udp_.get(), at, &size);
      if (::bind(tcp_.get(), at, size) == 0 && ::listen(tcp_.get(), 16) == 0)
        break;
    }
    port_ = ntohs(four.sin_port);
    (void)!::pipe(stop_);
    thread_ = std::thread([this] { Run(); });
  }
  // A table: every name has that address, and no other.
  explicit NameServer(std::map<std::string, std::string> table)
      : NameServer([table = std::move(table)](const std::string& name,
                                              unsigned type, int) {
          DnsReply reply;
          const auto at = table.find(name);
          if (at == table.end())
            reply.code = 3;
          else if ((at->second.find(':') != std::string::npos) ==
                   (type == kTypeAaaa))
            reply.records.push_back({name, at->second, {}, 0});
          return reply;
        }) {}
  ~NameServer() {
    ::close(stop_[1]);
    thread_.join();
    ::close(stop_[0]);
  }
  std::string place() const { return "127.0.0.1:" + std::to_string(port_); }
  int questions() const { return questions_; }

 private:
  void Run() {
    pollfd wanted[] = {{udp_.get(), POLLIN, 0},
                       {tcp_.get(), POLLIN, 0},
                       {stop_[0], POLLIN, 0}};
    while (::poll(wanted, 3, -1) > 0 && wanted[2].revents == 0) {
      if (wanted[0].revents != 0) ByUdp();
      if (wanted[1].revents != 0) ByTcp();
    }
  }
  void ByUdp() {
    char bytes[2048];
    sockaddr_in from{};
    socklen_t size = sizeof(from);
    auto* at = reinterpret_cast<sockaddr*>(&from);
    const ssize_t got =
        ::recvfrom(udp_.get(), bytes, sizeof(bytes), 0, at, &size);
    if (got < 12) return;
    for (const std::string& answer :
         AnswersTo({bytes, static_cast<size_t>(got)}, true))
      ::sendto(udp_.get(), answer.data(), answer.size(), 0, at, size);
  }
  void ByTcp() {
    const Fd client(::accept4(tcp_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    char bytes[2048];
    const ssize_t got = ::recv(client.get(), bytes, sizeof(bytes), 0);
    if (got < 14) return;
    for (const std::string& answer :
         AnswersTo({bytes + 2, static_cast<size_t>(got) - 2}, false)) {
      std::string framed;
      Put16(static_cast<unsigned>(answer.size()), &framed);
      framed += answer;
      ::send(client.get(), framed.data(), framed.size(), MSG_NOSIGNAL);
    }
  }
  std::vector<std::string> AnswersTo(const std::string& question, bool udp) {
    ++questions_;
    std::string name;
    size_t at = 12;
    while (at < question.size() && question[at] != 0) {
      const auto size = static_cast<uint8_t>(question[at]);
      name += (name.empty() ? "" : ".") + question.substr(at + 1, size);
      at += 1 + size;
    }
    const unsigned type = static_cast<uint8_t>(question[at + 2]);
    const DnsReply reply = answerer_(name, type, times_[{name, type}]++);
    if (reply.silent) return {};
    std::vector<std::string> answers;
    if (reply.other_id)
      answers.push_back(Write(question, name, type, reply, udp, true, name));
    if (reply.other_name)
      answers.push_back(
          Write(question, name, type, reply, udp, false, "other.test"));
    answers.push_back(Write(question, name, type, reply, udp, false, name));
    return answers;
  }
  static std::string Write(const std::string& question, const std::string&,
                           unsigned type, const DnsReply& reply, bool udp,
                           bool other_id, const std::string& asked) {
    const bool cut = reply.truncated && udp;
    std::string answer = question.substr(0, 2);
    if (other_id) answer[0] = static_cast<char>(answer[0] ^ 0x55);
    Put16(0x8180u | (cut ? 0x200u : 0u) | static_cast<unsigned>(reply.code),
          &answer);
    Put16(1, &answer);
    Put16(cut ? 0 : static_cast<unsigned>(reply.records.size()), &answer);
    Put16(0, &answer);
    Put16(0, &answer);
    answer += DnsName(asked);
    Put16(type, &answer);
    Put16(1, &answer);
    if (cut) return answer;
    for (const DnsRecord& record : reply.records) {
      std::string data;
      unsigned record_type = 5;
      if (record.address.empty()) {
        data = DnsName(record.alias);
      } else {
        const auto address = net::ParseAddress(record.address);
        const bool four = record.address.find(':') == std::string::npos;
        record_type = four ? kTypeA : kTypeAaaa;
        data.assign(reinterpret_cast<const char*>(address->bytes.data()) +
                        (four ? 12 : 0),
                    four ? 4 : 16);
      }
      answer += DnsName(record.owner);
      Put16(record_type, &answer);
      Put16(1, &answer);
      Put16(record.seconds >> 16, &answer);
      Put16(record.seconds & 0xffff, &answer);
      Put16(static_cast<unsigned>(data.size()), &answer);
      answer += data;
    }
    return answer;
  }

  DnsAnswerer answerer_;
  Fd udp_, tcp_;
  uint16_t port_ = 0;
  int stop_[2] = {-1, -1};
  std::atomic<int> questions_{0};
  std::map<std::pair<std::string, unsigned>, int> times_;
  std::thread thread_;
};

}  // namespace gate::test
