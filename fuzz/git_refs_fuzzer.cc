// Feeds bytes to the readers of HEAD, loose refs and lists of alternates.
// Besides not crashing, they must keep their promises:
//   - the target of a symbolic ref is one trimmed piece without a NUL byte;
//   - a ref that is an object name has its digits alone;
//   - an alternate is one line that is no comment.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "git/format.h"

using namespace gate;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kBlanks = " \t\r\n";
  const GitRef ref = ParseGitRef(text);
  Require(ref.target.empty() == (ref.kind != GitRef::Kind::kSymbolic));
  if (ref.kind == GitRef::Kind::kSymbolic)
    Require(text.starts_with("ref:") &&
            ref.target.find('\0') == std::string::npos &&
            kBlanks.find(ref.target.front()) == std::string_view::npos &&
            kBlanks.find(ref.target.back()) == std::string_view::npos);
  if (ref.kind == GitRef::Kind::kObject)
    Require(text.find_first_not_of("0123456789abcdefABCDEF \t\r\n") ==
            std::string::npos);
  if (const auto alternates = ParseAlternates(text))
    for (const std::string& each : *alternates)
      Require(!each.empty() && each[0] != '#' && each[0] != '"' &&
              each.find('\n') == std::string::npos &&
              each.find('\0') == std::string::npos);
  return 0;
}
