// Feeds bytes to the reader of a preview's manifest. Besides not crashing, what
// is read is written again as a text that reads to the same.
#include <cstdint>
#include <string>

#include "fuzz/require.h"
#include "preview/preview.h"

using namespace gate;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto manifest = backends::ManifestFromText(text);
  if (!manifest) return 0;
  const std::string once = backends::ManifestToText(*manifest);
  const auto again = backends::ManifestFromText(once);
  Require(again.has_value());
  Require(backends::ManifestToText(*again) == once);
  return 0;
}
