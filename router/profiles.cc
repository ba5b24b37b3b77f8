// What the named profiles stand for. A name is protected because a program runs
// what is found there, hidden because it holds what opens a host channel.
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/paths.h"
#include "clients/clients.h"
#include "known/known.h"
#include "router/plan.h"

namespace gate::router {
namespace {

// Below a home (rules.d/known/home.json).
std::span<const std::string_view> Hidden() {
  return known::Names(known::List::kHidden);
}
// By name in any directory. Not here: .gitmodules, since ordinary `git
// submodule add` writes it and git itself takes no program from it; CI files,
// which run elsewhere.
std::span<const std::string_view> ProtectedNames() {
  return known::Names(known::List::kProtected);
}
// Exactly below a home, for a profile that can write there, and places that are
// no workspace.
std::span<const std::string_view> ProtectedAtHome() {
  return known::Names(known::List::kProtectedHome);
}
// Below a home: another name of such a file in the workspace would be a way to
// write it, and so would a place in the workspace to which a link leads.
std::span<const std::string_view> AutoExecuted() {
  return known::Names(known::List::kAutoExecuted);
}

constexpr auto kProtectedSystem = std::to_array<std::string_view>({
    "/etc",
    "/boot",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/var/spool",
});

// The one cache that holds its program's settings, which may name a program
// that runs with every compilation (prefix_command).
constexpr std::string_view kCcache = "ccache", kCcacheSettings = "ccache.conf";

std::string Below(const std::string& directory, std::string_view name) {
  std::string path;
  path.reserve(directory.size() + 1 + name.size());
  path += directory;
  if (!directory.ends_with('/')) path += '/';
  path += name;
  return path;
}

// What is auto-executed where variables lead: as in the home, and where
// commands may write it protected.
void AddNamed(const ProfileInputs& inputs, backends::Profile* profile) {
  if (profile->write.empty()) return;
  const auto add = [&](const RelocatedDir& place, const auto& names) {
    for (const std::string_view name : names) {
      std::string path = At(place, name);
      if (path.empty() || IsWithin(inputs.workspace, path)) continue;
      const bool writable = std::ranges::any_of(
          profile->write,
          [&](const std::string& root) { return IsWithin(path, root); });
      (writable ? profile->protect : profile->alias_checked_paths)
          .push_back(std::move(path));
    }
  };
  for (const RelocatedDir& place : inputs.relocated_dirs) {
    add(place, ProtectedNames());
    add(place, ProtectedAtHome());
    add(place, AutoExecuted());
    // Beside the client's directory when that is where it usually is.
    for (const std::string_view name :
         clients::All(clients::Names::kBesideDirectory))
      if (name.starts_with(place.name) &&
          name.substr(place.name.size()).starts_with('/'))
        add(place, std::array<std::string_view, 1>{name});
  }
}

// What is lent is shown in what stays hidden around it.
void Lend(const Lending& lending, backends::Profile* profile) {
  profile->lend = lending.files;
  profile->environment_lend = lending.variables;
  // What the program starts by a name alone is none of a sandbox's making.
  if (!lending.path.empty()) profile->environment_set["PATH"] = lending.path;
  // Gate's own directory is lent to nobody.
  std::erase_if(profile->lend, [&](const backends::Lent& lent) {
    return profile->state_dir.empty() ? lent.copy
                                      : IsWithin(lent.path, profile->state_dir);
  });
}

// Directories that hold ordinary things beside what programs obey.
constexpr auto kShared =
    std::to_array<std::string_view>({".", ".config", ".local", ".local/share"});

}  // namespace

std::vector<RestrictedHomeDir> RestrictedHomeDirs() {
  std::vector<RestrictedHomeDir> places;
  places.reserve(Hidden().size() + ProtectedNames().size() +
                 ProtectedAtHome().size() + AutoExecuted().size());
  for (const std::string_view secret : Hidden()) places.push_back({secret});
  for (const std::string_view name : ProtectedAtHome())
    places.push_back({name});
  for (const std::string_view name : ProtectedNames()) {
    // An agent's or a tool's own directory: what lies beside is auto-executed
    // too.
    const std::string_view of = DirName(name);
    const bool shared =
        std::find(kShared.begin(), kShared.end(), of) != kShared.end();
    const std::string_view place = shared ? name : of;
    if (places.back().name != place) places.push_back({place});
  }
  // People work on what their editors read, as on any other project.
  for (const std::string_view name : AutoExecuted())
    places.push_back({name, false});
  return places;
}

std::vector<std::string> SecretsAt(const std::vector<RelocatedDir>& places,
                                   const std::string& workspace) {
  std::vector<std::string> secrets;
  for (const RelocatedDir& place : places)
    for (const std::string_view secret : Hidden())
      if (std::string path = At(place, secret);
          !path.empty() && (workspace.empty() || !IsWithin(workspace, path)))
        secrets.push_back(std::move(path));
  return secrets;
}

Result<backends::Profile> MakeProfile(rules::ProfileKind kind,
                                      const ProfileInputs& inputs,
                                      backends::Network network) {
  backends::Profile profile;
  profile.name = rules::Name(kind);
  profile.network = network;
  profile.workspace = inputs.workspace;
  profile.private_tmp = inputs.private_tmp;
  if (!inputs.state_dir.empty()) {
    profile.quarantine_dir = Below(inputs.state_dir, "quarantine");
    profile.runs_dir = Below(inputs.state_dir, "runs");
    profile.state_dir = inputs.state_dir;
  }

  using rules::ProfileKind;
  const bool full = kind == ProfileKind::kFullAccess,
             tool = kind == ProfileKind::kTool;
  if (tool && !inputs.lending)
    return Fail(ErrorCode::kInvalid,
                "the profile `tool` lends the credentials of one program: only "
                "the policy gives it, to a line that runs that program alone");
  if (full) {
    profile.write.push_back("/");
  } else if (kind == ProfileKind::kWorkspaceWrite || tool) {
    if (!inputs.workspace.empty()) {
      profile.write.push_back(inputs.workspace);
      profile.write.insert(profile.write.end(), inputs.git_dirs.begin(),
                           inputs.git_dirs.end());
    }
    profile.write.insert(profile.write.end(), inputs.caches.begin(),
                         inputs.caches.end());
  } else if (kind != ProfileKind::kReadOnly) {
    return Fail(ErrorCode::kInvalid, "no profile is asked for");
  }

  // Tickets, keys and the record are out of reach in every profile.
  profile.deny_read.reserve(1 + Hidden().size() +
                            known::Names(known::List::kSystemHidden).size());
  if (!inputs.state_dir.empty()) profile.deny_read.push_back(inputs.state_dir);
  std::vector<std::string> homes = inputs.other_homes;
  if (!inputs.home.empty()) homes.insert(homes.begin(), inputs.home);
  if (!full) {
    for (const std::string& home : homes)
      for (std::string_view secret : Hidden())
        profile.deny_read.push_back(Below(home, secret));
    for (std::string_view secret : known::Names(known::List::kSystemHidden))
      profile.deny_read.emplace_back(secret);
    for (std::string& path : SecretsAt(inputs.relocated_dirs, inputs.workspace))
      profile.deny_read.push_back(std::move(path));
  }
  if (tool) Lend(*inputs.lending, &profile);
  const auto names = ProtectedNames();
  profile.protect_names.assign(names.begin(), names.end());
  // That the state is hidden does not keep the directories above it in place.
  for (const std::string* place :
       {&inputs.config_dir, &inputs.cache_dir, &inputs.state_dir})
    if (!place->empty()) profile.protect.push_back(*place);
  if (!full && !profile.write.empty())
    for (const std::string& home : homes) {
      // These first: they lie in few directories, which are then listed and
      // answer for what lies deeper.
      for (std::string_view sole : ProtectedAtHome())
        profile.alias_checked_paths.push_back(Below(home, sole));
      for (std::string_view sole : AutoExecuted())
        profile.alias_checked_paths.push_back(Below(home, sole));
    }
  AddNamed(inputs, &profile);
  for (const std::string& cache : inputs.caches)
    if (!full && !profile.write.empty() && BaseName(cache).ends_with(kCcache))
      profile.protect.push_back(Below(cache, kCcacheSettings));
  // A workspace may be the directory that such a file lies in.
  for (const std::string& home : inputs.real_homes) {
    if (full || !IsWithin(inputs.workspace, home)) continue;
    for (std::string_view sole : AutoExecuted())
      if (std::string path = Below(home, sole);
          IsWithin(path, inputs.workspace))
        profile.protect.push_back(std::move(path));
  }
  if (full) {
    for (std::string_view protect : kProtectedSystem)
      profile.protect.emplace_back(protect);
    for (const std::string& home : homes) {
      for (std::string_view protect : ProtectedNames())
        profile.protect.push_back(Below(home, protect));
      for (std::string_view protect : ProtectedAtHome())
        profile.protect.push_back(Below(home, protect));
      for (std::string_view protect : AutoExecuted())
        profile.protect.push_back(Below(home, protect));
    }
  }
  return profile;
}

}  // namespace gate::router
