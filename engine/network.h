// What of the network a line gets: the widest that its rules give, at most what
// each of them leaves it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/decision.h"
#include "engine/loosening.h"
#include "parser/analysis.h"

namespace gate::engine {

class NetworkJoin {
 public:
  // `matcher` is one of `analysis`.
  NetworkJoin(const parser::Analysis& analysis, rules::Matcher& matcher)
      : analysis_(analysis), matcher_(matcher) {}

  // What the rule of `hit` gives: its `network` and `hosts`. `invocation` is
  // the command that it matched, or UINT32_MAX for the line.
  void Give(const Hit& hit, uint32_t invocation);
  // What it takes away: its `network_max` and `hosts_deny`.
  void Bound(const Hit& hit);
  void Finish(Decision* decision);

 private:
  // By the host rule: the first id of those that name it.
  using Hosts = std::map<std::string, std::string_view, std::less<>>;
  static void AddOne(std::string_view host, std::string_view id, Hosts* hosts);
  void Add(const Hit& hit, rules::Range range, uint32_t invocation,
           Hosts* hosts);
  void AddNamed(uint32_t invocation, std::string_view id, Hosts* hosts);

  const parser::Analysis& analysis_;
  rules::Matcher& matcher_;
  NetworkAccess widest_ = NetworkAccess::kNone, most_ = NetworkAccess::kOpen;
  // What rules that give `domains` name, what wider ones do, what is denied.
  Hosts hosts_, narrowed_, denied_;
  bool exact_ = false;  // a rule gives `domains` with hosts, and no more
};

// "a.example, b.example:8443", for people; "no host" where there is none.
std::string ListHosts(const std::vector<NamedHost>& hosts);

}  // namespace gate::engine
