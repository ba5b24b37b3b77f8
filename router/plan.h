// Decision + what is available here + configuration -> Plan. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "base/result.h"
#include "engine/decision.h"
#include "router/relocated_dirs.h"
#include "rules/profile.h"

namespace gate::router {

enum class Mode : uint8_t {
  kRefused,  // does not run; the default
  kDirect,   // runs raw
  kSandbox,
};
const char* Name(Mode mode);

// A backend as the router sees it.
struct Candidate {
  std::string name;
  backends::Strength strength = backends::Strength::kNone;
  int priority = 0;
  backends::Availability availability;
};

// Settings, merged over the layers by taking the stronger.
struct Settings {
  backends::Strength required = backends::Strength::kNamespace;
  bool hardened = false;  // order by strength; none left: refuse
  std::string backend;    // explicit, by name; empty: auto
  // Backends that other layers named; the plan's is not weaker than any.
  std::vector<std::string> overridden;
  // Explicit; joined with the decision's.
  rules::ProfileKind profile = rules::ProfileKind::kUnsaid;
  backends::Network network = backends::Network::kOpen;  // at most this
  // With the network `domains`: at most these, and exactly these in place of an
  // open network (host rules, net/host_list.h). Nothing: those of the decision.
  std::optional<std::vector<std::string>> hosts;
  // One of those that are joined says `domains` and no hosts: in place of an
  // open network nothing is reached but what rules name.
  bool hosts_of_rules = false;
  backends::FeatureSet accept_loss;  // features that policy can do without
  backends::Limits limits;
  // What containers run in, by its digest; empty: the host's own tools.
  std::string image;
  // Checks on top of containment: given where the backend can, else named
  // among what is lost.
  bool watch_execs = false;
  bool report_blocked = false;
  bool report_reads = false;
  // By base name. `always`: contained even where the policy allows them raw.
  // `never`: refused rather than contained; what runs them raw is a rule.
  std::vector<std::string> always_sandbox, never_sandbox;
};

// Asks for nothing: Join(Unasked(), a) is a.
Settings Unasked();
// What both ask for: in everything the stricter. `b` names the backend if both
// do, and the other's becomes a bound; `a`'s image holds if both name one.
// Whatever is planned under the join is not weaker than under either.
Settings Join(const Settings& a, const Settings& b);
backends::Limits JoinLimits(const backends::Limits& a,
                            const backends::Limits& b);

// What a command starts, as far as it is known.
struct Programs {
  std::vector<std::string> names;  // base names
  bool complete = true;            // false: there may be others
};

struct Plan {
  Mode mode = Mode::kRefused;
  std::string backend;
  backends::Profile profile;
  std::vector<std::string> lost;  // what the backend does not give
  std::string why;
  // The places of `profile.write` that a person's yes opened, with a slash at
  // the end of a directory's. What is not there is made, empty, before the run.
  std::vector<std::string> opened;
};

// What the profile `tool` lends to the one program of a line. Where it lies was
// found and judged by the caller: nothing of it is in a place that a sandbox
// may write.
struct Lending {
  std::string program;
  std::vector<backends::Lent> files;   // and sockets
  std::vector<std::string> variables;  // of the caller's environment
  std::string path;                    // PATH, without writable places
};

// What the profile names (read-only, workspace-write, tool, full-access) stand
// for.
struct ProfileInputs {
  std::string workspace;  // empty: none, then nothing is writable
  std::string home;
  // Homes of the same person or of the workspace's owner by the passwd file,
  // where they are others: their secrets are hidden, too.
  std::vector<std::string> other_homes;
  std::vector<std::string> real_homes;  // all of these, links resolved
  std::string config_dir, state_dir, cache_dir;
  std::string private_tmp;
  std::vector<std::string> caches;    // writable tool caches, existing
  std::vector<std::string> git_dirs;  // resolved .git directories to protect
  std::vector<RelocatedDir> relocated_dirs;  // the same of them as of the home
  std::optional<Lending> lending;            // none: there is no profile `tool`
  std::vector<std::string> opened;           // Plan::opened, of a yes to places
  std::vector<std::string> made;  // of them, what the line itself names
  std::map<std::string, std::string> opened_variables;  // that lead there
};

// What of a home's secrets lies by `places`; not what holds `workspace`.
std::vector<std::string> SecretsAt(const std::vector<RelocatedDir>& places,
                                   const std::string& workspace);

// A place below a home directory in or below which nothing is a workspace: it
// is hidden, or programs run or obey what is in it. With `above` no directory
// that holds it is one either; else it is protected there.
struct RestrictedHomeDir {
  std::string_view name;  // below the home
  bool above = true;
};
std::vector<RestrictedHomeDir> RestrictedHomeDirs();

// What `kind` stands for. kInvalid for kUnsaid, and for `tool` when `inputs`
// say nothing of what is lent.
Result<backends::Profile> MakeProfile(rules::ProfileKind kind,
                                      const ProfileInputs& inputs,
                                      backends::Network network);

// Makes `opened` writable in a profile that writes a workspace. kPermission
// where a place is hidden or gate's own, or holds what is.
Status OpenPlaces(const std::vector<std::string>& opened,
                  backends::Profile* profile);

// The kind that a profile was made of: kReadOnly for a name that is none.
rules::ProfileKind KindOf(const backends::Profile& profile);

// What backends give of a network that a decision says.
backends::Network NetworkOf(rules::NetworkAccess network);

// The stricter of two profiles and of two networks; what is not said is joined
// as the freest.
rules::ProfileKind JoinProfiles(rules::ProfileKind a, rules::ProfileKind b);
backends::Network JoinNetworks(backends::Network a, backends::Network b);
// The host rules for what both lists reach, sorted. What is no host rule
// reaches nothing.
std::vector<std::string> IntersectHosts(const std::vector<std::string>& a,
                                        const std::vector<std::string>& b);
// Whether `settings` leave the hosts to the rules.
bool HostsAreOfRules(const Settings& settings);
// What `network` reaches by name. kTooLarge beyond net::kMaxHostRules.
Result<backends::DomainFilter> MakeDomainFilter(
    const engine::Decision& decision, const Settings& settings,
    backends::Network network);

// The plan. kUnavailable when an explicit backend is absent, kInvalid when
// what is asked is weaker than the decision or than another layer's backend.
// `approved`: a person said yes to an ask. A deny, and an ask that is not
// approved, is kRefused.
Result<Plan> MakePlan(const engine::Decision& decision, bool approved,
                      const std::vector<Candidate>& candidates,
                      const Settings& settings, const ProfileInputs& inputs,
                      const Programs& programs = {});

}  // namespace gate::router
