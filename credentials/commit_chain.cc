#include "credentials/commit_chain.h"

#include <charconv>
#include <utility>

#include "base/hash.h"
#include "credentials/pkt_line.h"

namespace gate::credentials {
namespace {

constexpr size_t kCommitIdDigits = 40;
// "ID commit SIZE\n" of the longest kind.
constexpr size_t kMaxHead = 128;

std::string NameOf(std::string_view commit, size_t digits) {
  std::string head = "commit " + std::to_string(commit.size());
  head += '\0';
  if (digits != kCommitIdDigits) return Hex(Sha256(head + std::string(commit)));
  Sha1 hash;
  hash.Add(head);
  hash.Add(commit);
  return hash.Hex();
}

std::unexpected<Error> NoChain() {
  return Fail(ErrorCode::kInvalid, "it is no chain of commits");
}

}  // namespace

CommitChain::CommitChain(std::string ancestor, std::string from)
    : ancestor_(std::move(ancestor)) {
  proven_ = ancestor_ == from;
  known_.insert(std::move(from));
}

Status CommitChain::Add(std::string_view bytes) {
  total_ += bytes.size();
  if (proven_) return {};
  if (total_ > kMaxChainBytes)
    return Fail(ErrorCode::kTooLarge, "its chain of commits is too long");
  held_ += bytes;
  size_t taken = 0;
  while (!proven_) {
    const std::string_view rest = std::string_view(held_).substr(taken);
    if (!size_) {
      const size_t end = rest.find('\n');
      if (end == rest.npos && rest.size() <= kMaxHead) break;
      constexpr std::string_view kType = " commit ";
      const std::string_view head = rest.substr(0, end);
      const size_t type = head.find(kType);
      if (head.size() > kMaxHead || type == head.npos) return NoChain();
      const std::string_view number = head.substr(type + kType.size());
      size_t size = 0;
      const auto [stop, error] =
          std::from_chars(number.data(), number.data() + number.size(), size);
      if (error != std::errc() || stop != number.data() + number.size() ||
          size > kMaxCommitBytes)
        return NoChain();
      size_ = size;
      taken += end + 1;
      continue;
    }
    if (rest.size() < *size_ + 1) break;
    if (rest[*size_] != '\n') return NoChain();
    GATE_CHECK(Read(rest.substr(0, *size_)));
    taken += *size_ + 1;
    size_.reset();
  }
  held_.erase(0, taken);
  return {};
}

// commit.c, parse_commit_buffer: the tree, then the parents.
Status CommitChain::Read(std::string_view commit) {
  const size_t digits = ancestor_.size();
  if (!known_.contains(NameOf(commit, digits))) return NoChain();
  constexpr std::string_view kTree = "tree ", kParent = "parent ";
  const size_t tree = kTree.size() + digits + 1;
  if (!commit.starts_with(kTree) || commit.size() < tree ||
      commit[tree - 1] != '\n')
    return NoChain();
  commit.remove_prefix(tree);
  while (commit.starts_with(kParent)) {
    const std::string_view parent = commit.substr(kParent.size(), digits);
    const size_t line = kParent.size() + digits + 1;
    if (commit.size() < line || commit[line - 1] != '\n' ||
        parent.size() != digits || !IsObjectId(parent))
      return NoChain();
    commit.remove_prefix(line);
    proven_ |= parent == ancestor_;
    if (known_.size() >= kMaxChainParents)
      return Fail(ErrorCode::kTooLarge, "its chain of commits is too long");
    known_.emplace(parent);
  }
  return {};
}

}  // namespace gate::credentials
