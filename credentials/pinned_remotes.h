// Where git of a workspace may go with the person's ssh login: the URLs that
// its repository had when gate first saw it, before anything contained could
// write there, and those that a person added.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "credentials/ssh_target.h"
#include "git/config.h"

namespace gate::credentials {

// More URLs or rewrites of one repository are not pinned.
inline constexpr size_t kMaxPinned = 1000;
// The most that is stored.
inline constexpr size_t kMaxPinnedBytes = size_t{1} << 20;

// git-config(1), url.<base>.insteadOf and pushInsteadOf.
struct UrlRewrite {
  std::string base;    // stands in place of
  std::string prefix;  // this
  bool push = false;   // for pushing alone
  bool operator==(const UrlRewrite&) const = default;
};

struct PinnedRemotes {
  std::vector<std::string> fetch;  // remote.*.url and submodule.*.url
  // Where some remote has a pushurl: those, and the URLs of the remotes without
  // one.
  std::vector<std::string> push;
  std::vector<UrlRewrite> rewrites;
  bool operator==(const PinnedRemotes&) const = default;
};

// Adds what `entries` say, of all files of one configuration together, as a
// remote may be spread over them. What has control characters is left out.
void AddRemotes(const std::vector<GitEntry>& entries, PinnedRemotes* remotes);

// Where those lead that begin with ssh, as they stand and rewritten by the
// repository's own rules and the person's (`person.rewrites`, which stand
// before them). A URL for fetching is one for pushing as well, unless `push` is
// not empty.
std::set<SshTarget> TargetsOf(const PinnedRemotes& remotes,
                              const PinnedRemotes& person, SshService service);

// As TargetsOf, but where git itself goes: a URL that is rewritten does not
// count as it stands.
std::set<SshTarget> DestinationsOf(const PinnedRemotes& remotes,
                                   const PinnedRemotes& person,
                                   SshService service);

// One text and back; kCorrupt where it is not such a text.
std::string Serialise(const PinnedRemotes& remotes);
Result<PinnedRemotes> ParsePinned(std::string_view text);

}  // namespace gate::credentials
