#include "net/proxy/resolver_files.h"

#include <algorithm>

namespace gate::net::proxy {
namespace {

constexpr uint16_t kDnsPort = 53;
constexpr std::string_view kBlanks = " \t\r\f\v";

// The first word of what is left of a line; empty at its end.
std::string_view NextWord(std::string_view* line) {
  const size_t begin = line->find_first_not_of(kBlanks);
  if (begin == line->npos) {
    *line = {};
    return {};
  }
  const size_t end =
      std::min(line->find_first_of(kBlanks, begin), line->size());
  const std::string_view word = line->substr(begin, end - begin);
  line->remove_prefix(end);
  return word;
}

std::string_view NextLine(std::string_view* text) {
  const size_t end = std::min(text->find('\n'), text->size());
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return line.substr(0, line.find('#'));
}

}  // namespace

std::vector<Endpoint> ReadNameServers(std::string_view text) {
  std::vector<Endpoint> servers;
  while (!text.empty() && servers.size() < kMaxNameServers) {
    std::string_view line = NextLine(&text);
    if (NextWord(&line) != "nameserver") continue;
    if (const auto address = ParseAddress(NextWord(&line)))
      servers.push_back({*address, kDnsPort});
  }
  if (servers.empty())
    servers.push_back({*ParseAddress("127.0.0.1"), kDnsPort});
  return servers;
}

HostsFile ReadHosts(std::string_view text) {
  HostsFile hosts;
  for (size_t lines = 0; !text.empty() && lines < kMaxHostsLines; ++lines) {
    std::string_view line = NextLine(&text);
    const auto address = ParseAddress(NextWord(&line));
    if (!address) continue;
    for (auto word = NextWord(&line); !word.empty(); word = NextWord(&line)) {
      const auto name = ReadHost(word);
      if (!name) continue;
      std::vector<Address>& addresses = hosts[*name];
      if (std::ranges::find(addresses, *address) == addresses.end())
        addresses.push_back(*address);
    }
  }
  return hosts;
}

}  // namespace gate::net::proxy
