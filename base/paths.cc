#include "base/paths.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/file.h"

namespace gate {
namespace {

constexpr char kPasswdFile[] = "/etc/passwd";
// Directories of large sites are some megabytes; more is no passwd file.
constexpr size_t kMaxPasswdBytes = size_t{16} << 20;

// The seven fields of a passwd line.
enum Field { kName = 0, kUid = 2, kHome = 5, kFields = 7 };

// The value of `want` in the first line whose field `by` is `value`.
std::optional<std::string> FindInPasswd(Field by, std::string_view value,
                                        Field want) {
  const Result<std::string> file = ReadFile(kPasswdFile, kMaxPasswdBytes);
  if (!file) return std::nullopt;
  std::string_view rest = *file;
  while (!rest.empty()) {
    const size_t newline = rest.find('\n');
    std::string_view line = rest.substr(0, newline);
    rest.remove_prefix(newline == std::string_view::npos ? rest.size()
                                                         : newline + 1);
    std::array<std::string_view, kFields> fields;
    size_t count = 0;
    while (count < kFields) {
      const size_t colon = line.find(':');
      fields[count++] = line.substr(0, colon);
      if (colon == std::string_view::npos) break;
      line.remove_prefix(colon + 1);
    }
    if (count == kFields && fields[by] == value)
      return std::string(fields[want]);
  }
  return std::nullopt;
}

bool IsAbsolute(std::string_view path) { return path.starts_with('/'); }

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// $variable/gate, or home/fallback/gate when the variable is not absolute.
std::string Place(const char* variable, const std::string& home,
                  std::string_view fallback) {
  const std::string_view value = Environment(variable);
  std::string base =
      IsAbsolute(value) ? Normalise(value, "/") : Normalise(fallback, home);
  return Normalise("gate", base);
}

}  // namespace

std::string Normalise(std::string_view path, std::string_view cwd) {
  std::string out;
  out.reserve(path.size() + cwd.size() + 1);
  const auto append = [&out](std::string_view text) {
    while (!text.empty()) {
      const size_t slash = text.find('/');
      const std::string_view part = text.substr(0, slash);
      text.remove_prefix(slash == std::string_view::npos ? text.size()
                                                         : slash + 1);
      if (part.empty() || part == ".") continue;
      if (part == "..") {
        const size_t last = out.rfind('/');
        out.resize(last == std::string::npos ? 0 : last);
        continue;
      }
      out += '/';
      out += part;
    }
  };
  if (!IsAbsolute(path)) append(cwd);
  append(path);
  if (out.empty()) out = "/";
  return out;
}

bool IsWithin(std::string_view path, std::string_view directory) {
  if (directory == "/") return IsAbsolute(path);
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

bool IsTemporaryPlace(std::string_view path) {
  for (const std::string_view place : {"/tmp", "/var/tmp", "/dev/shm"})
    if (IsWithin(path, place)) return true;
  return false;
}

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (directory != "/") path += '/';
  return path.append(name);
}

std::string_view DirName(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

std::optional<std::string> HomeOf(std::string_view user) {
  if (user.empty()) return std::nullopt;
  std::optional<std::string> home = FindInPasswd(kName, user, kHome);
  if (home && !IsAbsolute(*home)) return std::nullopt;
  return home;
}

std::optional<std::string> HomeOfUid(unsigned uid) {
  std::optional<std::string> home =
      FindInPasswd(kUid, std::to_string(uid), kHome);
  if (home && !IsAbsolute(*home)) return std::nullopt;
  return home;
}

std::optional<std::string> UserName(unsigned uid) {
  return FindInPasswd(kUid, std::to_string(uid), kName);
}

Places FindPlaces() {
  Places places;
  const std::string_view home = Environment("HOME");
  if (IsAbsolute(home)) {
    places.home = Normalise(home, "/");
  } else {
    const std::optional<std::string> entry =
        FindInPasswd(kUid, std::to_string(getuid()), kHome);
    places.home = entry && IsAbsolute(*entry) ? Normalise(*entry, "/") : "/";
  }
  places.config = Place("XDG_CONFIG_HOME", places.home, ".config");
  places.state = Place("XDG_STATE_HOME", places.home, ".local/state");
  places.cache = Place("XDG_CACHE_HOME", places.home, ".cache");
  return places;
}

}  // namespace gate
