// What a push over the person's login may do, read from the streams between git
// inside and `git receive-pack` on the other machine (gitprotocol-pack(5)).
//
// What git sends is held until its whole list of commands is there. Only then,
// and only when each of them is a ref that the line named and either a new one
// or one that keeps all that was there, anything is passed on. Nothing that the
// inside says is believed: what a ref is now, the other machine said itself,
// and that a commit has another among its ancestors is proven (commit_chain.h).
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "credentials/commit_chain.h"

namespace gate::credentials {

// What more is sent before the first command has been passed on is refused.
inline constexpr size_t kMaxAdvertisedBytes = size_t{64} << 20;
inline constexpr size_t kMaxHeldBytes = size_t{16} << 20;
inline constexpr size_t kMaxPushCommands = 20'000;
// Refs that are there and get other commits, at most: each needs a proof.
inline constexpr size_t kMaxPushUpdates = 2'000;

// What the line says of its pushes.
struct PushScope {
  std::set<std::string> refs;      // "refs/heads/main"
  std::set<std::string> prefixes;  // "refs/tags/": all that begin so
  std::set<std::string> options;   // of `git push -o`
  // Sessions that may begin for one target; more are somebody else's.
  size_t sessions = 0;
};
bool Covers(const PushScope& scope, std::string_view ref);

// Whether `ref` is a name that git itself would give: "refs/", and none of what
// git-check-ref-format(1) forbids in bytes.
bool IsPlainRef(std::string_view ref);

class PushGuard {
 public:
  // `scope` outlives it.
  explicit PushGuard(const PushScope& scope) : scope_(scope) {}

  // What the other machine sends, which git inside is to have as well. Every
  // error of this class ends the session: its message says for people what is
  // not passed on.
  Status FromServer(std::string_view bytes);
  // What git sends; held until passed().
  Status FromGit(std::string_view bytes);

  // What is to be proven next: a commit, and the one that must be among its
  // ancestors. Each is told once.
  struct Claim {
    std::string ancestor, commit;
  };
  std::optional<Claim> NextClaim();
  // The proof of the claim that was told last: bytes for CommitChain, and that
  // no more come.
  Status AddProof(std::string_view bytes);
  Status EndProof();

  // Whether what is held may still be passed on without more from git.
  bool waits() const {
    return judged_ ? !passed_ : !advertised_ && !held_.empty();
  }

  // Whether all was judged. From then on the streams are nobody's here.
  bool passed() const { return passed_; }
  // What was held. Once.
  std::string TakeHeld();

  // "new refs/heads/x; refs/heads/main 1234567..89abcde", for the record: what
  // was passed on, shortened.
  const std::string& pushed() const { return pushed_; }

 private:
  struct Update {
    std::string ref, before, after;
  };

  Status ReadAdvertised(std::string_view line);
  Status ReadCommand(std::string_view line);
  Status ReadCapabilities(std::string_view words);
  Status ReadCommands();
  Status Judge();
  void PassIfProven();
  void Note(const std::string& text);

  const PushScope& scope_;
  std::string server_;  // what is not yet read of it
  size_t server_bytes_ = 0;
  bool first_line_ = true;
  bool advertised_ = false;  // its list has ended
  bool failed_ = false;      // the other machine said ERR: nothing follows
  std::map<std::string, std::string, std::less<>> refs_;  // that are covered

  std::string held_;
  size_t read_ = 0;  // of held_
  bool commands_ended_ = false, options_ended_ = false, has_options_ = false;
  bool judged_ = false, passed_ = false;
  std::vector<Update> commands_;
  std::deque<Update> unproven_;
  std::optional<Update> proving_;
  std::optional<CommitChain> chain_;
  std::string pushed_;
  size_t noted_ = 0;
};

}  // namespace gate::credentials
