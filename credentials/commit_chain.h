// The proof that one commit has another among its ancestors, from somebody who
// is not believed: the commits themselves, each of which is named by the hash
// of its content, and names its parents.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/result.h"
#include "credentials/sha1.h"

namespace gate::credentials {

// Bounds of one proof. What needs more is not proven.
inline constexpr size_t kMaxCommitBytes = size_t{1} << 20;
inline constexpr size_t kMaxChainBytes = size_t{256} << 20;
inline constexpr size_t kMaxChainParents = 1'000'000;

// Reads what `git cat-file --batch` prints of commits, of which each comes
// after one that names it as a parent, the first being `from`: "ID commit
// SIZE", a newline, the content, a newline. Nothing of it is believed but what
// hashes to a name that is known: linear in the bytes, and holds one commit and
// the names of the parents.
class CommitChain {
 public:
  // Whether `ancestor` is one of `from`; both are IsObjectId.
  CommitChain(std::string ancestor, std::string from);

  // The next bytes. kInvalid for what cannot be read, for a commit that no
  // other one named; kTooLarge.
  Status Add(std::string_view bytes);
  // True once the bytes so far show it; what comes then is not read.
  bool proven() const { return proven_; }

 private:
  Status Read(std::string_view commit);

  std::string ancestor_;
  std::unordered_set<std::string> known_;
  std::string held_;
  std::optional<size_t> size_;  // of the commit that begins `held_`
  size_t total_ = 0;
  bool proven_ = false;
};

}  // namespace gate::credentials
