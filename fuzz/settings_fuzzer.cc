// Feeds bytes to the readers of settings files: the first byte chooses the
// file. Besides not crashing, they must keep their promises:
//   - what does not parse has no copy;
//   - a copy parses, and its own copy is the same;
//   - nothing in a copy has a known beginning of a token.
#include <cstdint>
#include <string>

#include "base/text.h"
#include "fuzz/require.h"
#include "settings/copy.h"

using namespace gate;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto* const kFiles =
      new std::vector<rules::SettingsFile>(rules::SettingsFiles());
  if (size == 0) return 0;
  const rules::SettingsFile& file = (*kFiles)[data[0] % kFiles->size()];
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto may_include = [](std::string_view) { return true; };
  const settings::Copy copy = settings::CopyOf(file, text, may_include);
  if (!copy.parsed) {
    Require(copy.text.empty());
    return 0;
  }
  Require(IsUtf8(copy.text));
  // A longer copy than its original is one of many short names.
  if (copy.text.size() > settings::kMaxCopyBytes / 16) return 0;
  const settings::Copy again = settings::CopyOf(file, copy.text, may_include);
  // Of keys nothing may be left, which is no file of keys.
  Require(again.parsed || copy.text.empty());
  Require(again.text == copy.text);
  Require(!copy.text.contains("ghp_0123456789abcdefghijABCDEFGHIJ012345"));
  return 0;
}
