// Feeds bytes to the readers of /proc/self/mountinfo and /proc/self/cgroup,
// whose paths other programs choose. Besides not crashing, no more mounts are
// found than there are lines, and no name of one holds a NUL that its text does
// not.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "backends/native/cgroup.h"
#include "backends/view/mounts.h"
#include "fuzz/require.h"

using namespace gate;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto mounts = backends::ParseMounts(text);
  Require(mounts.size() <=
          static_cast<size_t>(std::ranges::count(text, '\n')) + 1);
  for (const backends::HostMount& mount : mounts)
    Require(mount.place.size() <= text.size());
  const size_t cut = text.find('\0');
  if (cut == text.npos) return 0;
  backends::ParseCgroupPlaces(text.substr(0, cut), text.substr(cut + 1));
  return 0;
}
