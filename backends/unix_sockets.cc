#include "backends/unix_sockets.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"

namespace gate::backends {
namespace {

constexpr size_t kMaxTable = size_t{8} << 20;

}  // namespace

std::vector<std::string> ParseUnixSockets(std::string_view table) {
  // Num RefCount Protocol Flags Type St Inode Path
  constexpr int kColumnsBeforePath = 7;
  std::vector<std::string> paths;
  while (!table.empty()) {
    const size_t end = table.find('\n');
    std::string_view line = table.substr(0, end);
    table.remove_prefix(end == std::string_view::npos ? table.size() : end + 1);
    int column = 0;
    for (; column < kColumnsBeforePath; ++column) {
      while (line.starts_with(' ')) line.remove_prefix(1);
      const size_t space = line.find(' ');
      if (space == std::string_view::npos) break;
      line.remove_prefix(space);
    }
    if (column < kColumnsBeforePath || !line.starts_with(" /")) continue;
    paths.emplace_back(line.substr(1));
  }
  return paths;
}

std::vector<std::string> FindUnixSockets() {
  const Fd fd(open("/proc/self/net/unix", O_RDONLY | O_CLOEXEC));
  if (!fd) return {};
  const Result<std::string> table = ReadAll(fd.get(), kMaxTable);
  return table ? ParseUnixSockets(*table) : std::vector<std::string>();
}

}  // namespace gate::backends
