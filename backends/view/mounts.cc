#include "backends/view/mounts.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/file.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

// `path`, which is `from` or below it, with `to` in the place of `from`.
std::string Moved(const std::string& path, const std::string& from,
                  const std::string& to) {
  const std::string rest = path.size() == from.size()
                               ? ""
                               : path.substr(from == "/" ? 0 : from.size());
  if (to == "/") return rest.empty() ? "/" : rest;
  return to + (rest == "/" ? "" : rest);
}

}  // namespace

std::string UnescapeMount(std::string_view text) {
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

std::vector<HostMount> ParseMounts(std::string_view mountinfo) {
  std::vector<HostMount> mounts;
  while (!mountinfo.empty()) {
    std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
    mountinfo.remove_prefix(std::min(line.size() + 1, mountinfo.size()));
    // Number, parent, device, root, place.
    std::array<std::string_view, 5> fields;
    for (std::string_view& field : fields) {
      field = line.substr(0, line.find(' '));
      line.remove_prefix(std::min(field.size() + 1, line.size()));
    }
    if (!fields[3].starts_with('/') || !fields[4].starts_with('/')) continue;
    mounts.push_back({std::string(fields[2]), UnescapeMount(fields[3]),
                      UnescapeMount(fields[4])});
  }
  return mounts;
}

Result<std::vector<HostMount>> ReadMounts(const std::string& of) {
  constexpr size_t kMost = size_t{4} << 20;
  const std::string path = "/proc/" + of + "/mountinfo";
  // Not ReadFile: the size is not known beforehand.
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return FailErrno("cannot read " + path);
  GATE_TRY(const std::string text, ReadAll(file.get(), kMost));
  return ParseMounts(text);
}

std::string MountBelow(const std::vector<HostMount>& mounts,
                       const std::string& directory) {
  for (const HostMount& mount : mounts)
    if (mount.place != directory && IsWithin(mount.place, directory))
      return mount.place;
  return "";
}

std::vector<OtherName> OtherNames(const std::vector<HostMount>& mounts,
                                  const std::string& path) {
  const HostMount* holder = nullptr;
  std::vector<const HostMount*> origins;
  for (const HostMount& mount : mounts) {
    if (IsWithin(path, mount.place) &&
        (holder == nullptr || mount.place.size() >= holder->place.size()))
      holder = &mount;
    else if (mount.place != path && IsWithin(mount.place, path))
      origins.push_back(&mount);
  }
  if (holder != nullptr) origins.push_back(holder);
  std::vector<OtherName> names;
  for (const HostMount* origin : origins) {
    const bool holds = origin == holder;
    const std::string here = holds ? path : origin->place;
    const std::string inside =
        holds ? Moved(path, origin->place, origin->root) : origin->root;
    for (const HostMount& mount : mounts) {
      if (&mount == origin || mount.device != origin->device) continue;
      OtherName other;
      if (IsWithin(inside, mount.root))
        other = {Moved(inside, mount.root, mount.place), here};
      else if (IsWithin(mount.root, inside))
        other = {mount.place, Moved(mount.root, inside, here)};
      else
        continue;
      if (!IsWithin(other.name, path)) names.push_back(std::move(other));
    }
  }
  return names;
}

std::vector<std::string> NamesOf(const std::vector<HostMount>& mounts,
                                 const std::vector<HostMount>& theirs,
                                 const std::string& path) {
  const HostMount* holder = nullptr;
  for (const HostMount& mount : theirs)
    if (IsWithin(path, mount.place) &&
        (holder == nullptr || mount.place.size() >= holder->place.size()))
      holder = &mount;
  std::vector<std::string> names;
  if (holder == nullptr) return names;
  const std::string inside = Moved(path, holder->place, holder->root);
  for (const HostMount& mount : mounts)
    if (mount.device == holder->device && IsWithin(inside, mount.root))
      names.push_back(Moved(inside, mount.root, mount.place));
  return names;
}

bool IsSame(const OtherName& other) {
  struct stat found = {}, same = {};
  return stat(other.name.c_str(), &found) == 0 &&
         stat(other.same.c_str(), &same) == 0 && found.st_ino == same.st_ino &&
         found.st_dev == same.st_dev;
}

}  // namespace gate::backends
