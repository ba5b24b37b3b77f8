#include "gateway/workspace.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "backends/listing.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"
#include "router/plan.h"

namespace gate::app {
namespace {

constexpr std::array kMarkers = {
    ".git",           ".hg",           ".jj",
    "package.json",   "Cargo.toml",    "go.mod",
    "pyproject.toml", "setup.py",      "CMakeLists.txt",
    "Makefile",       "pom.xml",       "build.gradle",
    "Gemfile",        "composer.json", ".gate"};

// Trees that belong to the system, never to a project.
constexpr std::array kSystemTrees = {
    "/bin", "/boot", "/dev", "/etc", "/lib",     "/lib32",   "/lib64",  "/proc",
    "/run", "/sbin", "/sys", "/usr", "/var/lib", "/var/log", "/var/run"};
// Directories that are too wide themselves, though projects live below them.
constexpr std::array kTooWide = {"/",      "/home",    "/root",      "/opt",
                                 "/srv",   "/mnt",     "/media",     "/tmp",
                                 "/var",   "/var/tmp", "/usr/local", "/usr/src",
                                 "/Users", "/dev/shm"};

constexpr uint64_t kIdleMs = 24ull * 60 * 60 * 1000;
constexpr int kSweepPerCall = 4;

bool Exists(const std::string& path, struct stat* info) {
  return ::lstat(path.c_str(), info) == 0;
}

bool MayBeWorkspace(const ProcessFacts& facts, const std::string& path) {
  for (const char* wide : kTooWide)
    if (path == wide) return false;
  for (const char* tree : kSystemTrees)
    if (IsWithin(path, tree) && !IsWithin(path, "/usr/src/") &&
        !IsWithin(path, "/usr/local/src") && !IsWithin(path, "/dev/shm"))
      return false;
  // A home directory and whatever holds it.
  if (!facts.home.empty() && IsWithin(facts.home, path)) return false;
  if (DirName(path) == "/home" || DirName(path) == "/Users") return false;
  for (const std::string& own :
       {facts.places.config, facts.places.state, facts.places.cache})
    if (!own.empty() && (IsWithin(path, own) || IsWithin(own, path)))
      return false;
  for (const std::string& client : facts.client_dirs)
    if (!client.empty() && !IsWithin(facts.home, client) &&
        IsWithin(path, client))
      return false;
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0) {
    if (!S_ISDIR(info.st_mode)) return false;
    // root works on other people's trees; everyone else only on their own.
    if (facts.uid != 0 && info.st_uid != facts.uid) return false;
  }
  return true;
}

using RestrictedHomeDirs = std::vector<router::RestrictedHomeDir>;

using Number = std::pair<dev_t, ino_t>;

// The part of `path` below `home`; empty when it does not lie there.
std::string_view Below(std::string_view path, std::string_view home) {
  if (path == home || !IsWithin(path, home)) return "";
  return path.substr(home == "/" ? 1 : home.size() + 1);
}

// Says of names below a home that they are not there: most are not.
class HomeListing {
 public:
  explicit HomeListing(const std::string& home) {
    for (size_t i = 0; i < kShared.size(); ++i)
      if (i == 0 || MayHold(kShared[i].substr(0, kShared[i].size() - 1)))
        lists_[i] = backends::Listing::Of(home + "/" + std::string(kShared[i]));
  }
  bool MayHold(std::string_view name) const {
    size_t in = kShared.size() - 1;
    while (!name.starts_with(kShared[in])) --in;
    return lists_[in] && lists_[in]->MayHold(name.substr(kShared[in].size()));
  }

 private:
  // Each but the first lies in one before it.
  static constexpr auto kShared = std::to_array<std::string_view>(
      {"", ".config/", ".local/", ".local/share/"});
  std::array<std::optional<backends::Listing>, kShared.size()> lists_;
};

// What is private to a person: the homes, and where variables put what lies in
// one.
struct Private {
  std::vector<std::string> homes;  // links resolved
  std::vector<router::RelocatedDir> named;
  RestrictedHomeDirs closed = router::RestrictedHomeDirs();
};

Private FindPrivate(const ProcessFacts& facts, std::vector<std::string> homes) {
  Private places{std::move(homes), {}};
  for (const router::RelocatedDir& named : facts.relocated_dirs) {
    if (named.file || !named.whole) continue;
    places.named.push_back(named);
    if (std::string real = RealPath(named.path);
        !real.empty() && real != named.path)
      places.named.back().path = std::move(real);
  }
  return places;
}

// Calls `test` with what `path` is called below a home, by each home it is in
// and each variable that leads there, until it says true.
template <class Test>
bool AnyNameOf(const Private& places, const std::string& path, Test test) {
  for (const std::string& home : places.homes)
    if (const std::string_view below = Below(path, home);
        !below.empty() && test(below))
      return true;
  for (const router::RelocatedDir& named : places.named) {
    if (!IsWithin(path, named.path)) continue;
    std::string below(named.name);
    if (path != named.path) below.append("/").append(Below(path, named.path));
    if (test(std::string_view(below))) return true;
  }
  return false;
}

// Whether `path`, resolved, lies in a closed place, by its name.
bool IsClosedName(const RestrictedHomeDirs& closed, std::string_view below) {
  return std::ranges::any_of(closed,
                             [&](const router::RestrictedHomeDir& place) {
                               return IsWithin(below, place.name);
                             });
}
bool IsClosed(const Private& places, const std::string& path) {
  return AnyNameOf(places, path, [&](std::string_view below) {
    return IsClosedName(places.closed, below);
  });
}

// The same by any other name, which a link or a second mount gives it: compared
// are the directories themselves.
bool IsClosedElsewhere(const Private& places, const std::string& path) {
  std::vector<Number> on_the_way;
  for (std::string at = path;; at = std::string(DirName(at))) {
    struct stat info{};
    if (::stat(at.c_str(), &info) == 0)
      on_the_way.emplace_back(info.st_dev, info.st_ino);
    if (at == "/" || at == ".") break;
  }
  const auto leads_there = [&](const std::string& place) {
    struct stat info{};
    return ::stat(place.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
           std::ranges::find(on_the_way, Number(info.st_dev, info.st_ino)) !=
               on_the_way.end();
  };
  for (const std::string& home : places.homes) {
    const HomeListing listing(home);
    for (const router::RestrictedHomeDir& place : places.closed)
      if (listing.MayHold(place.name) &&
          leads_there(home + "/" + std::string(place.name)))
        return true;
  }
  return std::ranges::any_of(places.named,
                             [&](const router::RelocatedDir& named) {
                               return IsClosedName(places.closed, named.name) &&
                                      leads_there(named.path);
                             });
}

// Whether such places lie in `path`, itself in a home: ~/.config, ~/.local.
bool HoldsClosed(const Private& places, const std::string& path) {
  return AnyNameOf(places, path, [&](std::string_view below) {
    return std::ranges::any_of(
        places.closed, [&](const router::RestrictedHomeDir& place) {
          return place.above && IsWithin(place.name, below);
        });
  });
}

// Symbolic links in `path` resolved as far as it exists, so that a link named
// like a project cannot make the place it points to writable.
std::string Resolve(const std::string& path) {
  std::error_code error;
  const auto resolved = std::filesystem::weakly_canonical(path, error);
  return error ? path : resolved.lexically_normal().string();
}

// FindWorkspace of a caller's directory. The kernel named that of the process
// without links: one that is on the way by now was put there since, by a run
// that may write there, and whatever it leads to is not what is called in.
Result<std::string> FindCallersWorkspace(const ProcessFacts& facts,
                                         const std::string& start) {
  std::string workspace = FindWorkspace(facts, start);
  if (start == facts.cwd && !workspace.empty() && !IsWithin(start, workspace))
    return Fail(ErrorCode::kUnavailable,
                "`" + start +
                    "`, where this is called, is now a symbolic link, or "
                    "lies behind one");
  return workspace;
}

std::string SessionKey(const std::string& id, const std::string& workspace) {
  return Hex(Sha256(id.empty() ? "w:" + workspace : "s:" + id)).substr(0, 32);
}

}  // namespace

Homes FindHomes(const ProcessFacts& facts, const std::string& place) {
  std::vector<uid_t> uids = {facts.uid};
  for (std::string at = place; facts.uid == 0 && at.size() > 1;
       at = std::string(DirName(at))) {
    struct stat info{};
    if (::stat(at.c_str(), &info) == 0 && info.st_uid != 0 &&
        std::find(uids.begin(), uids.end(), info.st_uid) == uids.end())
      uids.push_back(info.st_uid);
  }
  Homes homes;
  const auto add_real = [&](const std::string& home) {
    std::string real = RealPath(home);
    homes.real.push_back(real.empty() ? home : std::move(real));
  };
  if (!facts.home.empty()) add_real(facts.home);
  for (const uid_t uid : uids) {
    auto home = HomeOfUid(uid);
    if (!home || *home == "/" || *home == facts.home) continue;
    add_real(*home);
    homes.others.push_back(std::move(*home));
  }
  return homes;
}

std::string FindWorkspace(const ProcessFacts& facts, const std::string& start) {
  const std::string from = Resolve(Normalise(start, "/"));
  if (!MayBeWorkspace(facts, from)) return "";
  const Private places = FindPrivate(facts, FindHomes(facts, from).real);
  if (IsClosed(places, from) || IsClosedElsewhere(places, from)) return "";
  for (std::string at = from;; at = std::string(DirName(at))) {
    if (!MayBeWorkspace(facts, at) || HoldsClosed(places, at)) break;
    for (const char* marker : kMarkers) {
      struct stat info{};
      if (Exists(at + "/" + marker, &info)) return at;
    }
    if (at == "/" || at == ".") break;
  }
  return HoldsClosed(places, from) ? "" : from;
}

Result<Session> OpenSession(const ProcessFacts& facts, const std::string& id,
                            const std::string& project, const std::string& cwd,
                            bool write) {
  Session session;
  const std::string start = project.empty() ? cwd : project;
  if (id.empty()) {
    GATE_TRY(session.workspace, FindCallersWorkspace(facts, start));
    session.key = SessionKey(id, session.workspace);
    return session;
  }
  session.key = SessionKey(id, "");
  const std::string directory = facts.places.state + "/sessions/" + session.key;
  const std::string pin = directory + "/workspace";
  auto stored = ReadFile(pin, 8192, /*follow=*/false);
  if (stored) {
    // What it is by other names was looked at when it was pinned.
    Homes homes = FindHomes(facts, *stored);
    const Private places = FindPrivate(facts, homes.real);
    if (MayBeWorkspace(facts, *stored) && !IsClosed(places, *stored) &&
        !HoldsClosed(places, *stored)) {
      session.workspace = *stored;
      session.homes = std::move(homes);
    }
    return session;
  }
  if (stored.error().code != ErrorCode::kNotFound)
    return std::unexpected(stored.error());
  GATE_TRY(session.workspace, FindCallersWorkspace(facts, start));
  if (write) {
    GATE_CHECK(MakeDirectories(directory, 0700));
    GATE_CHECK(WriteFileAtomically(pin, session.workspace, 0600));
  }
  return session;
}

namespace {

void RemoveIdleSessions(const std::string& root, const std::string& current,
                        uint64_t now_ms) {
  DIR* directory = ::opendir(root.c_str());
  if (directory == nullptr) return;
  int budget = kSweepPerCall;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.size() != 32 || name == current) continue;
    struct stat info{};
    const std::string path = root + "/" + name;
    if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    const auto used = static_cast<uint64_t>(info.st_mtim.tv_sec) * 1000;
    if (used + kIdleMs > now_ms) continue;
    // A run that lasts longer than a day holds a lock.
    const Fd held(
        ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (held && ::flock(held.get(), LOCK_EX | LOCK_NB) == 0) {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    if (--budget == 0) break;
  }
  ::closedir(directory);
}

}  // namespace

Result<Fd> PrepareSessionTmp(const ProcessFacts& facts,
                             const std::string& private_tmp, uint64_t now_ms) {
  const std::string root = facts.places.state + "/sessions";
  const std::string directory(DirName(private_tmp));
  if (DirName(directory) != root)
    return Fail(ErrorCode::kInvalid,
                "`" + private_tmp + "` is not below the state directory");
  Fd held;
  for (int attempt = 0; !held; ++attempt) {
    GATE_CHECK(MakeDirectories(private_tmp, 0700));
    Fd fd(::open(directory.c_str(),
                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd || ::flock(fd.get(), LOCK_SH) != 0)
      return FailErrno("cannot lock `" + directory + "`");
    // Whoever removed it in between held the lock until it was gone.
    struct stat locked{}, there{};
    if (::fstat(fd.get(), &locked) == 0 &&
        ::lstat(private_tmp.c_str(), &there) == 0 && locked.st_nlink > 0)
      held = std::move(fd);
    else if (attempt == 3)
      return Fail(ErrorCode::kUnavailable,
                  "`" + directory + "` is removed again and again");
  }
  // The modification time of the session's directory is its last use.
  ::utimensat(AT_FDCWD, directory.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  RemoveIdleSessions(root, std::string(BaseName(directory)), now_ms);
  return held;
}

}  // namespace gate::app
