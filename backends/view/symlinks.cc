#include "backends/symlinks.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "backends/protect/quarantine.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr int kMaxHops = 40;  // links on one way, as the kernel counts

}  // namespace

SymlinkTrace ResolveSymlinks(const std::string& path) {
  SymlinkTrace way;
  std::string at = "/", rest = path;
  int hops = 0;
  while (!rest.empty()) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string name = rest.substr(0, slash);
    rest.erase(0, slash + 1);
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      if (at != "/") way.left.push_back(at);
      at = std::string(DirName(at));
      continue;
    }
    std::string next = at == "/" ? "/" + name : at + "/" + name;
    char buffer[PATH_MAX];
    std::string below;
    const int from = HeldFrom(next, &below);
    const ssize_t size =
        readlinkat(from, below.c_str(), buffer, sizeof(buffer));
    if (size <= 0 || ++hops > kMaxHops) {
      at = std::move(next);
      continue;
    }
    const std::string target(buffer, static_cast<size_t>(size));
    way.links.push_back({std::move(next), target});
    if (target[0] == '/') at = "/";
    rest = target + "/" + rest;
  }
  way.place = std::move(at);
  return way;
}

std::unexpected<Error> SymlinkChanged(const std::string& root) {
  return Fail(ErrorCode::kInvalid,
              "`" + root +
                  "`, where the command may write, is now a symbolic link, "
                  "or lies behind one");
}

std::string PathFrom(std::string_view directory, std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  while (path.starts_with('.')) {
    const std::string_view name = path.substr(0, path.find('/'));
    if (name != "." && name != "..") break;
    if (name == "..") directory = DirName(directory);
    path.remove_prefix(name.size());
    while (path.starts_with('/')) path.remove_prefix(1);
  }
  if (path.empty()) return std::string(directory);
  std::string full(directory);
  if (full != "/") full += '/';
  return full.append(path);
}

}  // namespace gate::backends
