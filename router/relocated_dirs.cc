#include "router/relocated_dirs.h"

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/paths.h"
#include "known/known.h"

namespace gate::router {
namespace {

using known::Relocation;

// What holds other things than one program's, with what lies above it.
constexpr auto kWide = std::to_array<std::string_view>(
    {"/bin",           "/boot",    "/etc",     "/home",
     "/lib",           "/lib64",   "/media",   "/mnt",
     "/opt",           "/root",    "/run",     "/sbin",
     "/srv",           "/tmp",     "/usr/bin", "/usr/lib",
     "/usr/local/bin", "/Users",   "/var",     "/usr/share",
     "/usr/local/lib", "/var/lib", "/var/tmp", "/usr/local/share"});
constexpr auto kDevices =
    std::to_array<std::string_view>({"/dev", "/proc", "/sys"});

bool IsWide(std::string_view path, std::string_view home) {
  const auto holds = [&](std::string_view place) {
    return IsWithin(place, path);
  };
  const auto in = [&](std::string_view place) { return IsWithin(path, place); };
  return path.empty() || std::ranges::any_of(kWide, holds) ||
         std::ranges::any_of(kDevices, in) || DirName(path) == "/home" ||
         DirName(path) == "/Users" || (!home.empty() && IsWithin(home, path));
}

// As it stands where nothing is there.
std::string Resolved(const std::string& path) {
  std::string real = RealPath(path);
  return real.empty() ? path : real;
}

}  // namespace

std::vector<RelocatedDir> RelocatedDirs(
    const std::vector<std::string>& environment, const std::string& home) {
  std::vector<RelocatedDir> places;
  std::string real_home;  // looked up when a place needs it
  const auto add = [&](const Relocation& variable, std::string_view value) {
    std::string path;
    if (value.starts_with("~/") && !home.empty())
      path = home + "/" + std::string(value.substr(2));
    else if (value.starts_with('/'))
      path = value;
    else
      return;
    path = Normalise(path, "/");
    const bool usual =
        IsWithin(path, home) && path.size() > home.size() &&
        std::string_view(path).substr(home.size() + 1) == variable.name;
    if (usual) return;
    RelocatedDir place{std::move(path), variable.name,
                       variable.kind != Relocation::Kind::kDirectory, true};
    // A link may lead to such a directory, too.
    if (real_home.empty()) real_home = Resolved(home);
    place.whole =
        !IsWide(place.path, home) && !IsWide(Resolved(place.path), real_home);
    places.push_back(std::move(place));
  };
  for (const std::string& entry : environment) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const auto name = std::string_view(entry).substr(0, equals);
    const auto variable = std::ranges::lower_bound(known::Relocations(), name,
                                                   {}, &Relocation::variable);
    if (variable == known::Relocations().end() || variable->variable != name)
      continue;
    std::string_view rest = std::string_view(entry).substr(equals + 1);
    while (variable->kind == Relocation::Kind::kFiles) {
      const size_t end = rest.find(':');
      if (end == std::string_view::npos) break;
      add(*variable, rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    add(*variable, rest);
  }
  return places;
}

std::string At(const RelocatedDir& place, std::string_view name) {
  if (IsWithin(place.name, name)) return place.whole ? place.path : "";
  if (!IsWithin(name, place.name)) return "";
  std::string path = place.path;
  if (path.size() > 1) path += '/';
  return path.append(name.substr(place.name.size() + 1));
}

}  // namespace gate::router
