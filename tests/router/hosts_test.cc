// Which hosts a plan reaches.
#include <gtest/gtest.h>

#include "net/host_list.h"
#include "tests/router/generate.h"

namespace gate::router {
namespace {

using Hosts = std::vector<std::string>;

TEST(HostsTest, OfTwoListsTheyAreWhatBothReach) {
  const struct {
    Hosts a, b, both;
  } rows[] = {
      {{}, {}, {}},
      {{"a.example"}, {}, {}},
      {{"a.example"}, {"a.example"}, {"a.example"}},
      {{"a.example"}, {"b.example"}, {}},
      {{"a.example"}, {"a.example:443"}, {"a.example:443"}},
      {{"a.example"}, {"a.example:80"}, {"a.example:80"}},
      {{"a.example"}, {"a.example:8443"}, {}},
      {{"a.example:80"}, {"a.example:443"}, {}},
      {{"a.example:22"}, {"a.example:22"}, {"a.example:22"}},
      {{"*.example"}, {"a.example"}, {}},  // no rule: of a top-level name
      {{"*.a.example"}, {"b.a.example"}, {"b.a.example"}},
      {{"*.a.example"}, {"a.example"}, {}},
      {{"*.a.example"}, {"ba.example"}, {}},
      {{"*.a.example"}, {"*.b.a.example"}, {"*.b.a.example"}},
      {{"*.a.example:8443"}, {"*.b.a.example"}, {}},
      {{"*.a.example:443"}, {"*.b.a.example"}, {"*.b.a.example:443"}},
      {{"*.a.example"}, {"*.a.example"}, {"*.a.example"}},
      {{"*.a.example"}, {"*.b.example"}, {}},
      {{"*.b.a.example"}, {"a.example", "c.b.a.example"}, {"c.b.a.example"}},
      {{"192.0.2.7"}, {"192.0.2.7:443"}, {"192.0.2.7:443"}},
      {{"[2001:db8::1]:22"}, {"[2001:db8::1]:22"}, {"[2001:db8::1]:22"}},
      {{"a.example", "http://x"}, {"a.example", "http://x"}, {"a.example"}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(IntersectHosts(row.a, row.b), row.both)
        << testing::PrintToString(row.a) << testing::PrintToString(row.b);
    EXPECT_EQ(IntersectHosts(row.b, row.a), row.both);
  }
}

// Compared with asking both lists, over generated ones.
TEST(HostsTest, OfTwoListsNothingIsReachedThatOneDoesNot) {
  Generator generate(17);
  const auto judge = [](const Hosts& texts, std::string_view host,
                        uint16_t port) {
    std::vector<net::HostRule> rules;
    for (const std::string& text : texts)
      rules.push_back(*net::ParseHostRule(text));
    return net::HostList::Make(rules, {})->Judge(host, port) ==
           net::HostVerdict::kAllowed;
  };
  for (int round = 0; round < kRounds; ++round) {
    const Hosts a = generate.Hosts(), b = generate.Hosts();
    const Hosts both = IntersectHosts(a, b);
    for (const auto& [host, port] : kProbes)
      ASSERT_EQ(judge(both, host, port),
                judge(a, host, port) && judge(b, host, port))
          << testing::PrintToString(a) << testing::PrintToString(b) << host
          << port;
  }
}

TEST(HostsTest, APlanReachesWhatDecisionAndSettingsLeave) {
  const auto domains = Network::kDomains;
  const struct {
    const char* what;
    NetworkAccess decided;
    Network most;
    std::optional<Hosts> hosts;
    Network network;
    Hosts allow, deny;
  } rows[] = {
      {"as decided",
       NetworkAccess::kDomains,
       Network::kOpen,
       {},
       domains,
       {"*.a.example", "b.example"},
       {"x.a.example"}},
      {"at most domains",
       NetworkAccess::kDomains,
       domains,
       {},
       domains,
       {"*.a.example", "b.example"},
       {"x.a.example"}},
      {"at most these",
       NetworkAccess::kDomains,
       domains,
       Hosts{"y.a.example", "c.example"},
       domains,
       {"y.a.example"},
       {"x.a.example"}},
      {"open",
       NetworkAccess::kOpen,
       Network::kOpen,
       {},
       Network::kOpen,
       {},
       {"x.a.example"}},
      {"open, at most domains",
       NetworkAccess::kOpen,
       domains,
       {},
       domains,
       {"*.a.example", "n.example"},
       {"x.a.example"}},
      {"open, exactly these",
       NetworkAccess::kOpen,
       domains,
       Hosts{"y.a.example", "c.example"},
       domains,
       {"y.a.example", "c.example"},
       {"x.a.example"}},
      {"at most none",
       NetworkAccess::kDomains,
       Network::kNone,
       {},
       Network::kNone,
       {},
       {}},
      {"loopback, at most these",
       NetworkAccess::kLoopback,
       domains,
       Hosts{"c.example"},
       Network::kLoopback,
       {},
       {}},
      {"none, at most these",
       NetworkAccess::kNone,
       domains,
       Hosts{"c.example"},
       Network::kNone,
       {},
       {}},
  };
  for (const auto& row : rows) {
    Decision decision;
    decision.action = Action::kSandbox;
    decision.network = row.decided;
    if (row.decided == NetworkAccess::kDomains)
      decision.hosts = {{"*.a.example", "r"}, {"b.example", "r"}};
    if (row.decided == NetworkAccess::kOpen)
      decision.hosts_if_narrowed = {{"*.a.example", "r"}, {"n.example", "r"}};
    decision.hosts_deny = {{"x.a.example", "r"}};
    Settings settings;
    settings.network = row.most;
    settings.hosts = row.hosts;
    Candidate whole;
    whole.name = "whole";
    whole.strength = Strength::kMicrovm;
    whole.availability.available = true;
    whole.availability.features = Unasked().accept_loss;
    const auto plan = MakePlan(decision, false, {whole}, settings, Inputs());
    ASSERT_TRUE(Runs(plan)) << row.what;
    EXPECT_EQ(plan->profile.network, row.network) << row.what;
    EXPECT_EQ(plan->profile.domains,
              (backends::DomainFilter{row.allow, row.deny}))
        << row.what;
    // Nothing holds what an open network is denied.
    EXPECT_EQ(plan->lost.empty(), row.network != Network::kOpen) << row.what;
    EXPECT_EQ(plan->profile.required.Has(Feature::kNetworkDomains),
              row.network == domains)
        << row.what;
    // Without the feature nothing runs, whatever loss is accepted; an open
    // network says what it reaches.
    for (const bool accepts : {false, true}) {
      Candidate lesser = whole;
      lesser.availability.features = {};
      for (int f = 0; f < backends::kFeatures; ++f)
        if (const auto feature = static_cast<Feature>(f);
            feature != Feature::kNetworkDomains)
          lesser.availability.features.Add(feature);
      if (accepts) settings.accept_loss = Unasked().accept_loss;
      const auto without =
          MakePlan(decision, false, {lesser}, settings, Inputs());
      EXPECT_EQ(Runs(without), row.network != domains) << row.what;
      if (!without) {
        EXPECT_NE(without.error().message.find("network-domains"),
                  std::string::npos)
            << without.error().message;
        EXPECT_EQ(without.error().code, ErrorCode::kUnavailable);
        continue;
      }
      ASSERT_EQ(without->lost.size(), row.network == Network::kOpen ? 1u : 0u)
          << row.what;
      if (row.network == Network::kOpen) {
        EXPECT_NE(without->lost[0].find("x.a.example"), std::string::npos);
      }
    }
  }
}

// One who asks leaves the hosts to the rules, another names some.
TEST(HostsTest, OfAnOpenNetworkBothWhoNarrowItHold) {
  Decision decision;
  decision.action = Action::kSandbox;
  decision.network = NetworkAccess::kOpen;
  decision.hosts_if_narrowed = {{"*.a.example", "r"}, {"n.example", "r"}};
  Settings of_rules, named;
  of_rules.network = named.network = Network::kDomains;
  named.hosts = Hosts{"y.a.example", "c.example"};
  for (const Settings& both : {Join(of_rules, named), Join(named, of_rules)})
    EXPECT_EQ(MakeDomainFilter(decision, both, Network::kDomains)->allow,
              Hosts{"y.a.example"});
}

TEST(HostsTest, MoreThanAListHoldsIsRefused) {
  Decision decision;
  decision.action = Action::kSandbox;
  decision.network = NetworkAccess::kDomains;
  for (size_t i = 0; i <= net::kMaxHostRules; ++i)
    decision.hosts.push_back({"h" + std::to_string(i) + ".example", "r"});
  const auto filter = MakeDomainFilter(decision, Unasked(), Network::kDomains);
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().code, ErrorCode::kTooLarge);
  decision.hosts.pop_back();
  EXPECT_TRUE(MakeDomainFilter(decision, Unasked(), Network::kDomains));
}

}  // namespace
}  // namespace gate::router
