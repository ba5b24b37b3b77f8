// Feeds bytes to the reader of git's configuration. Besides not crashing, it
// must keep its promises:
//   - an entry lies inside the text, behind the one before;
//   - neither keys nor values have a NUL byte in a text that is read whole;
//   - what is read whole is read the same again with a comment behind it;
//   - a text with nothing that runs a program has no alias that runs one.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/require.h"
#include "git/config.h"
#include "git/format.h"

using namespace gate;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<GitEntry> entries;
  const bool whole = ParseGitConfig(text, &entries);
  size_t last = 0;
  for (const GitEntry& entry : entries) {
    Require(last <= entry.begin && entry.begin < entry.end &&
            entry.end <= text.size());
    last = entry.end;
    Require(!entry.boolean || entry.value == "true");
    if (whole) Require(entry.key.find('\0') == std::string::npos);
    if (whole) Require(entry.value.find('\0') == std::string::npos);
    if (entry.key.starts_with("alias.") && !IsPlainGitAlias(entry.value))
      Require(RunsProgram(entry));
  }
  const auto hash = ObjectFormatOf(entries);
  Require(!hash || *hash == GitHash::kSha1 || *hash == GitHash::kSha256);
  (void)KeepsRefsInFiles(entries);
  if (!whole) return 0;
  std::vector<GitEntry> again;
  Require(ParseGitConfig(text + "\n# x", &again));
  Require(again.size() == entries.size());
  for (size_t i = 0; i < again.size(); ++i)
    Require(again[i].key == entries[i].key &&
            again[i].value == entries[i].value);
  return 0;
}
