// Feeds bytes to the reader of git's index, as they are and behind a header
// that says a version and a count. Besides not crashing, it must keep its
// promises:
//   - the name of a shared index is one, and cannot lead elsewhere;
//   - the checksum at the end changes nothing;
//   - where a file is found, nothing of the index is unreadable;
//   - directories of a sparse index lie below the work tree, and none of its
//     entries is a gitlink.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/require.h"
#include "git/index.h"

namespace {

using namespace gate;  // NOLINT(google-build-using-namespace)

void FuzzIndex(std::string bytes) {
  for (const GitHash hash : {GitHash::kSha1, GitHash::kSha256}) {
    const size_t size = static_cast<size_t>(hash);
    std::string shared, other;
    const Gitlinks found = GitlinksIn(bytes, hash, &shared);
    constexpr std::string_view kPrefix = "sharedindex.";
    Require(shared.empty() ||
            (found == Gitlinks::kNone && shared.starts_with(kPrefix) &&
             shared.size() == kPrefix.size() + 2 * size &&
             shared.find_first_not_of("0123456789abcdef", kPrefix.size()) ==
                 std::string::npos));
    const auto collapsed = CollapsedIn(bytes, hash);
    Require(!collapsed || (found != Gitlinks::kSome && shared.empty()));
    for (const std::string& name :
         collapsed.value_or(std::vector<std::string>()))
      Require(!name.empty() &&
              ("/" + name + "/").find("/../") == std::string::npos);
    for (const char* name : {"a", "d/e", ""}) {
      const bool has = FindIndexed(bytes, hash, name).has_value();
      std::string cut = bytes;
      if (has) cut.resize(cut.size() - 1);
      Require(!has || !FindIndexed(cut, hash, name));
    }
    if (bytes.size() < size) continue;
    bytes.replace(bytes.size() - size, size, size, '\x7f');
    Require(GitlinksIn(bytes, hash, &other) == found && other == shared);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  FuzzIndex(bytes);
  if (size < 2) return 0;
  std::string framed = "DIRC";
  framed += {'\0', '\0', '\0', static_cast<char>(2 + data[0] % 3)};
  framed += {'\0', '\0', '\0', static_cast<char>(data[1] % 8)};
  FuzzIndex(framed + bytes.substr(2));
  return 0;
}
