#include "gateway/grants/opened_places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <string_view>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "gateway/grants/below.h"
#include "gateway/workspace.h"

namespace gate::app {
namespace {

constexpr std::string_view kHome = "$HOME/", kNodePrefix = "$NODE_PREFIX/";
constexpr size_t kMaxSettings = size_t{1} << 20;

std::string Shown(const std::string& path) { return "`" + Visible(path) + "`"; }

// `path` without links, as far as it is there.
std::string ResolvedStart(const std::string& path) {
  std::string rest, start = path;
  for (struct stat info = {}; ::lstat(start.c_str(), &info) != 0;) {
    if (start == "/") return path;
    rest = "/" + std::string(BaseName(start)) + rest;
    start = DirName(start);
  }
  const std::string real = RealPath(start);
  if (real.empty()) return "";
  return real == "/" ? rest : real + rest;
}

// The setting `prefix` of a npmrc (ini): the last one counts.
std::string PrefixIn(const std::string& file, const std::string& home) {
  const auto text = ReadFile(file, kMaxSettings);
  std::string found;
  if (!text) return found;
  for (const auto part : std::views::split(*text, '\n')) {
    const std::string_view line(part.begin(), part.end());
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const auto trimmed = [](std::string_view of) {
      constexpr std::string_view kAround = " \t\r\"'";
      const size_t begin = of.find_first_not_of(kAround);
      if (begin == std::string_view::npos) return std::string();
      return std::string(
          of.substr(begin, of.find_last_not_of(kAround) - begin + 1));
    };
    if (trimmed(line.substr(0, equals)) == "prefix")
      found = trimmed(line.substr(equals + 1));
  }
  for (const std::string_view start : {"~/", "${HOME}/", "$HOME/"})
    if (found.starts_with(start))
      return home + "/" + found.substr(start.size());
  return found;
}

// Where npm puts what it installs for every project: as it is told, else where
// node lies (npm-prefix(1), npmrc(5)). `*told`: by a setting that it does not
// see inside.
std::string NodePrefix(const ProcessFacts& facts, bool* told) {
  *told = true;
  for (const std::string_view name :
       {"npm_config_prefix=", "NPM_CONFIG_PREFIX="})
    for (const std::string& entry : facts.environment)
      if (entry.starts_with(name) && entry.size() > name.size())
        return entry.substr(name.size());
  if (std::string prefix = PrefixIn(facts.home + "/.npmrc", facts.home);
      !prefix.empty())
    return prefix;
  *told = false;
  for (const auto part : std::views::split(facts.path, ':')) {
    const std::string node = std::string(part.begin(), part.end()) + "/node";
    if (!node.starts_with('/') || ::access(node.c_str(), X_OK) != 0) continue;
    const std::string real = RealPath(node);
    return std::string(DirName(DirName(real)));
  }
  return "";
}

class Finder {
 public:
  Finder(const ProcessFacts& facts, const std::string& workspace)
      : facts_(facts), workspace_(workspace), home_(RealPath(facts.home)) {}

  void AddNamed(const std::string& text) {
    // Of several the first that a variable of the caller's leads to or that is
    // there, else the last.
    if (const size_t bar = text.find('|'); bar != std::string::npos) {
      const std::string first = text.substr(0, bar);
      if (!first.starts_with(kHome) && !first.starts_with(kNodePrefix)) {
        const size_t slash = std::min(first.find('/'), first.size());
        const std::string name = first.substr(1, slash - 1);
        const std::string value = ValueOf(name);
        if (value.empty()) return AddNamed(text.substr(bar + 1));
        // Of a list what is installed goes to the first.
        const std::string place = value.substr(0, value.find(':'));
        if (!place.starts_with('/'))
          return Refuse(name + " is not an absolute path");
        out_.variables[name] = value;
        return AddPath(place + first.substr(slash), first.ends_with('/'));
      }
      struct stat info = {};
      const bool there =
          first.starts_with(kHome) &&
          ::lstat((home_ + "/" + first.substr(kHome.size())).c_str(), &info) ==
              0;
      return AddNamed(there ? first : text.substr(bar + 1));
    }
    std::string path;
    if (text.starts_with(kHome)) {
      path = home_ + "/" + text.substr(kHome.size());
    } else if (!text.starts_with(kNodePrefix)) {
      return Refuse(Shown(text) + " is not below the home directory");
    } else {
      bool told = false;
      const std::string prefix = NodePrefix(facts_, &told);
      if (!prefix.starts_with('/'))
        return Refuse(
            "the directory where npm installs for every project is not known");
      path = prefix + "/" + text.substr(kNodePrefix.size());
      if (told) out_.variables["npm_config_prefix"] = Normalise(prefix, "/");
    }
    AddPath(path, text.ends_with('/'));
  }

  // What a rule names, wherever that is.
  void AddPath(std::string path, bool directory) {
    path = ResolvedStart(Normalise(path, "/"));
    if (home_.empty() || path == home_ || !IsWithin(path, home_))
      return Refuse(Shown(path) + " is not below the home directory");
    if (!workspace_.empty() && IsWithin(workspace_, path))
      return Refuse(Shown(path) + " holds the workspace");
    struct stat info = {};
    const bool there = ::lstat(path.c_str(), &info) == 0;
    if (there && (directory ? !S_ISDIR(info.st_mode)
                            : !S_ISREG(info.st_mode) || info.st_nlink != 1))
      return Refuse(Shown(path) + " is not what it usually is");
    if (!IsOwn(path)) return Refuse(Shown(path) + " is somebody else's");
    out_.auto_executed = true;
    Add(path, directory);
  }

  // A directory that the line makes.
  void AddWritten(const std::string& text) {
    const std::string above = RealPath(std::string(DirName(text)));
    if (above.empty())
      return Refuse(Shown(std::string(DirName(text))) + " is not there");
    const std::string path =
        (above == "/" ? "" : above) + "/" + std::string(BaseName(text));
    if (!workspace_.empty() && IsWithin(path, workspace_)) return;
    struct stat info = {};
    if (::lstat(path.c_str(), &info) == 0 &&
        (!S_ISDIR(info.st_mode) || !IsEmptyDirectory(path)))
      return Refuse(Shown(path) + " is there already");
    if (!IsOwn(path)) return Refuse(Shown(above) + " is somebody else's");
    if (FindWorkspace(facts_, path).empty() || IsLookedInto(path))
      return Refuse(Shown(path) + " is a place where programs look");
    Add(path, true);
    out_.made.push_back(path + "/");
  }

  OpenedPlaces Take() {
    // The run is another user's then, who could not write what is made here.
    struct stat info = {};
    if (facts_.uid == 0 && !workspace_.empty() &&
        ::stat(workspace_.c_str(), &info) == 0 && info.st_uid != 0)
      Refuse("gate runs as root, and the workspace belongs to another user");
    return std::move(out_);
  }

 private:
  void Refuse(std::string why) {
    if (out_.why.empty()) out_.why = std::move(why);
  }

  std::string ValueOf(const std::string& name) const {
    const std::string start = name + "=";
    for (const std::string& entry : facts_.environment)
      if (entry.starts_with(start)) return entry.substr(start.size());
    return "";
  }

  void Add(const std::string& path, bool directory) {
    std::string place = directory ? path + "/" : path;
    if (std::ranges::find(out_.places, place) == out_.places.end())
      out_.places.push_back(std::move(place));
  }

  // Whether what is there of it, itself or the nearest above, is this user's.
  bool IsOwn(const std::string& path) const {
    struct stat info = {};
    for (std::string at = path;; at = std::string(DirName(at))) {
      if (::lstat(at.c_str(), &info) == 0) return info.st_uid == facts_.uid;
      if (at == "/") return false;
    }
  }

  static bool IsEmptyDirectory(const std::string& path) {
    const Fd fd(
        ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    std::vector<std::string> names;
    return fd && EntriesOf(fd.get(), 1, &names) && names.empty();
  }

  // What of a home begins with a dot is some program's, and shells look through
  // PATH.
  bool IsLookedInto(const std::string& path) const {
    if (!home_.empty() && IsWithin(path, home_) &&
        path.substr(home_.size()).starts_with("/."))
      return true;
    return std::ranges::any_of(
        std::views::split(facts_.path, ':'), [&](const auto part) {
          const std::string entry =
              Normalise(std::string_view(part.begin(), part.end()), "/");
          const std::string real = RealPath(entry);
          const auto meets = [&](const std::string& at) {
            return IsWithin(at, path) || (at != "/" && IsWithin(path, at));
          };
          return meets(entry) || (!real.empty() && meets(real));
        });
  }

  const ProcessFacts& facts_;
  const std::string& workspace_;
  const std::string home_;
  OpenedPlaces out_;
};

// The directory `path` (absolute): as it is, or made with those above it.
Fd MakeDirectory(int root, const std::string& path,
                 std::vector<std::string>* made) {
  constexpr uint64_t kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  if (path == "/") return Fd(::dup(root));
  Fd fd = OpenBelow(root, path.substr(1), kFlags);
  if (fd || errno != ENOENT) return fd;
  const Fd above = MakeDirectory(root, std::string(DirName(path)), made);
  struct stat info = {};
  if (!above || ::fstat(above.get(), &info) != 0) return {};
  if (info.st_uid != ::geteuid()) {
    errno = EPERM;
    return {};
  }
  if (::mkdirat(above.get(), std::string(BaseName(path)).c_str(), 0755) == 0)
    made->push_back(path + "/");
  else if (errno != EEXIST)
    return {};
  return OpenBelow(root, path.substr(1), kFlags);
}

}  // namespace

OpenedPlaces FindOpened(const ProcessFacts& facts,
                        const engine::Decision& decision,
                        const std::string& workspace) {
  Finder finder(facts, workspace);
  for (const std::string& text : decision.opens) finder.AddNamed(text);
  for (const std::string& text : decision.opens_written)
    finder.AddWritten(text);
  return finder.Take();
}

std::string ShowOpened(const std::vector<std::string>& places,
                       const std::string& home) {
  std::string text;
  const std::string real = RealPath(home);
  for (size_t i = 0; i < places.size(); ++i) {
    std::string place = places[i];
    if (place.ends_with('/')) place.pop_back();
    if (!real.empty() && real != "/" && IsWithin(place, real))
      place = "~" + place.substr(real.size());
    if (i > 0) text += i + 1 == places.size() ? " and " : ", ";
    text += Visible(place);
  }
  return text;
}

MadePlaces::~MadePlaces() {
  for (const std::string& place : std::views::reverse(made_)) {
    struct stat info = {};
    if (place.ends_with('/'))
      ::rmdir(place.c_str());  // fails where something is in it
    else if (::lstat(place.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
             info.st_size == 0)
      ::unlink(place.c_str());
  }
}

Status MadePlaces::Make(const std::vector<std::string>& opened) {
  if (opened.empty()) return {};
  const Fd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const std::string& place : opened) {
    const std::string path = Normalise(place, "/");
    const bool directory = place.ends_with('/');
    const Fd at = MakeDirectory(
        root.get(), directory ? path : std::string(DirName(path)), &made_);
    if (!at) return FailErrno("`" + path + "` cannot be made");
    if (directory) continue;
    const std::string name(BaseName(path));
    const Fd file(::openat(at.get(), name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           0644));
    if (file)
      made_.push_back(path);
    else if (errno != EEXIST)
      return FailErrno("`" + path + "` cannot be made");
  }
  return {};
}

}  // namespace gate::app
