// Addresses of names: /etc/hosts, then the name servers of this machine.
//
// A stub resolver of its own, since getaddrinfo(3) blocks, loads libraries and
// reads files at each call. A and AAAA are asked for at the same time, by UDP
// from a fresh port with a random id, by TCP where the answer is cut off. Names
// are asked for as they are: search lists are never gone through.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/protocols/dns.h"
#include "net/proxy/dns_message.h"
#include "net/proxy/resolver_files.h"
#include "net/proxy/socket.h"

namespace gate::net::proxy {

struct Lookup {
  enum class Status : uint8_t { kFound, kNoSuchName, kFailed, kTimeout };
  Status status = Status::kFailed;
  std::vector<Address> addresses;  // IPv6 and IPv4 in turn
};

class Resolver {
 public:
  // `servers` is not empty.
  Resolver(asio::io_context& io, std::vector<Endpoint> servers, HostsFile hosts,
           uint32_t patience_ms);

  // `name` as ReadHost returns a name. What an answer says is kept as long as
  // it says, at most kMaxKeptSeconds.
  asio::awaitable<Lookup> Resolve(std::string name);

  static constexpr uint32_t kMaxKeptSeconds = 30;
  static constexpr size_t kMaxKept = 256;

 private:
  struct Search;
  struct Kept {
    Lookup lookup;
    uint64_t until_ms = 0;
  };
  Task Ask(std::shared_ptr<Search> search, size_t which);
  asio::awaitable<LookupAnswer> AskServer(std::shared_ptr<Search> search,
                                          size_t which, Endpoint server,
                                          uint64_t until_ms);
  asio::awaitable<LookupAnswer> AskByTcp(std::shared_ptr<Search> search,
                                         size_t which, Endpoint server,
                                         uint64_t until_ms);

  asio::io_context& io_;
  std::vector<Endpoint> servers_;
  HostsFile hosts_;
  uint32_t patience_ms_;
  std::unordered_map<std::string, Kept> kept_;
};

}  // namespace gate::net::proxy
