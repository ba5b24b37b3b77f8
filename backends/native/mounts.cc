#include "backends/native/mounts.h"

#include <algorithm>
#include <charconv>

#include "base/paths.h"

namespace gate::backends {

std::string UnescapeMountPoint(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 4, value, 8)
                .ptr == text.data() + i + 4) {
      out += static_cast<char>(value);
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string MountBelow(std::string_view mountinfo,
                       const std::string& directory) {
  while (!mountinfo.empty()) {
    const std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
    mountinfo.remove_prefix(std::min(line.size() + 1, mountinfo.size()));
    // "36 35 98:0 / /mnt rw,noatime …": the fifth field.
    std::string_view rest = line;
    for (int i = 0; i < 4; ++i) {
      const size_t blank = rest.find(' ');
      rest.remove_prefix(blank == std::string_view::npos ? rest.size()
                                                         : blank + 1);
    }
    std::string point = UnescapeMountPoint(rest.substr(0, rest.find(' ')));
    if (point != directory && IsWithin(point, directory)) return point;
  }
  return "";
}

}  // namespace gate::backends
