// One repository on another machine that git reaches over ssh: read from a URL,
// and from the arguments with which git starts its ssh.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate::credentials {

// Longer ones are no target.
inline constexpr size_t kMaxSshHostBytes = 255;
inline constexpr size_t kMaxSshUserBytes = 64;
inline constexpr size_t kMaxSshPathBytes = 4096;

struct SshTarget {
  std::string user;  // empty: none is named
  std::string host;  // as it is written; an alias of the person's ssh
                     // configuration too
  int port = 0;      // 0: none is named
  std::string path;  // as the other side is told: not normalised
  auto operator<=>(const SshTarget&) const = default;
};

// "user@host:port path", for people. Escaped.
std::string Describe(const SshTarget& target);

// What git starts ssh for when it is given `url`: `[user@]host:path` or
// `ssh://[user@]host[:port]/path`. None for every other URL, and where a part
// is not plain: a user of other characters than letters, digits, `.`, `_`, `+`
// and `-`, a host of others than letters, digits, `.`, `_` and `-` (so no IPv6
// address), either beginning with `-`, a path with control characters or
// beginning with `-`. Pure and linear.
std::optional<SshTarget> ParseSshUrl(std::string_view url);

enum class SshService : unsigned char { kFetch, kPush };
const char* Name(SshService service);  // "git-upload-pack", "git-receive-pack"

struct SshRequest {
  SshService service = SshService::kFetch;
  SshTarget target;
  int family = 0;    // 4 or 6, where git was told so
  int protocol = 0;  // of git: 1 or 2 where it asks for one
};

// `words` are what git passes to the program that it starts as ssh (of variant
// `ssh`), without the program; `git_protocol` is the variable GIT_PROTOCOL.
// kInvalid, with a reason for people, for everything that git itself would not
// write: other options, another command, a path that is not one quoted word, a
// target that is not plain.
Result<SshRequest> ParseSshArguments(const std::vector<std::string>& words,
                                     std::string_view git_protocol);

// What the person's ssh is started with for `request`, without the program: no
// prompt, no forwarding of any kind, no terminal, no command of its own here.
std::vector<std::string> SshArguments(const SshRequest& request);

}  // namespace gate::credentials
