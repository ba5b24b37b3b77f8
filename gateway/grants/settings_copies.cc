#include "gateway/settings_copies.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"
#include "gateway/grants/below.h"
#include "settings/passwords.h"

namespace gate::app {
namespace {

using rules::SettingsFile;

// Copies of before, looked at when a new one is written.
constexpr size_t kMaxOldCopies = 256;
constexpr time_t kCopyIdleSeconds = time_t{24} * 3600;
// Files that git's configuration includes, of one run, and how deep
// (MAX_INCLUDE_DEPTH of git's config.c).
constexpr size_t kMaxIncluded = 32, kMaxIncludeDepth = 10;
constexpr size_t kMaxNames = 1024;
// libpq's, https://www.postgresql.org/docs/17/libpq-pgpass.html.
constexpr const char* kPasswordFile = ".pgpass";

std::optional<std::string> ReadOwn(int home, const std::string& name) {
  // What is neither a file nor a directory must not be waited for.
  const Fd fd =
      OpenBelow(home, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  struct stat info = {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_uid != ::geteuid() ||
      static_cast<size_t>(info.st_size) > settings::kMaxCopyBytes)
    return std::nullopt;
  auto text = ReadAll(fd.get(), settings::kMaxCopyBytes);
  if (!text) return std::nullopt;
  return std::move(*text);
}

Fd OpenHome(const std::string& home) {
  return Fd(::open(home.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Takes away copies that nobody used for a day.
void SweepOld(const std::string& place) {
  const Fd directory(
      ::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  std::vector<std::string> names;
  if (!directory || !EntriesOf(directory.get(), kMaxOldCopies, &names)) return;
  for (const std::string& name : names) {
    struct stat info = {};
    if (::fstatat(directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) ==
            0 &&
        info.st_mtim.tv_sec + kCopyIdleSeconds < ::time(nullptr))
      ::unlinkat(directory.get(), name.c_str(), 0);
  }
}

// The file that holds `text`; empty when it cannot be written.
std::string Keep(const ProcessFacts& facts, const std::string& text) {
  const std::string place = facts.places.state + "/settings";
  const std::string file = place + "/" + Hex(Sha256(text));
  if (::utimensat(AT_FDCWD, file.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) != 0) {
    if (!MakeDirectories(place, 0700)) return "";
    SweepOld(place);
    if (!WriteFileAtomically(file, text, 0400)) return "";
  }
  return RealPath(file);
}

// The names of the public keys in the directory `name`, in their order.
std::vector<std::string> PublicKeysOf(int home, const std::string& name) {
  std::vector<std::string> names;
  const Fd directory = OpenBelow(home, name, O_RDONLY | O_DIRECTORY);
  if (!directory || !EntriesOf(directory.get(), kMaxNames, &names)) return {};
  std::ranges::sort(names);
  std::erase_if(names, [](const std::string& one) {
    return !one.ends_with(".pub") || one.front() == '.' ||
           one.find('\n') != std::string::npos;
  });
  if (names.size() > kMaxPublicKeys) names.resize(kMaxPublicKeys);
  for (std::string& one : names) one.insert(0, name + "/");
  return names;
}

bool IsHiddenIn(const backends::Profile& profile, const std::string& path) {
  return std::ranges::any_of(profile.deny_read, [&](const std::string& place) {
    return IsWithin(path, place);
  });
}

class Shower {
 public:
  Shower(const ProcessFacts& facts, bool can_show, backends::Profile* profile)
      : facts_(facts),
        can_show_(can_show),
        profile_(profile),
        home_(RealPath(facts.home)),
        fd_(OpenHome(home_)) {}

  void Show() {
    if (!fd_) return;
    for (const SettingsFile& file : rules::SettingsFiles()) {
      const std::string name(file.file);
      if (file.format == "public-keys") {
        for (const std::string& one : PublicKeysOf(fd_.get(), name))
          (void)ShowFile(file, facts_.home + "/" + one, 0);
        continue;
      }
      (void)ShowFile(file, facts_.home + "/" + name, 0);
      for (const router::RelocatedDir& place : facts_.relocated_dirs)
        if (const std::string path = router::At(place, name); !path.empty())
          (void)ShowFile(file, path, 0);
    }
  }

 private:
  bool IsHidden(const std::string& path) const {
    return IsHiddenIn(*profile_, path);
  }

  // Whether it is written, or the project's own, as the profile says.
  bool IsGiven(const std::string& path, const std::string& real) const {
    return std::ranges::any_of(profile_->write, [&](const std::string& root) {
      return root == "/" || root == path || root == real ||
             (path != real && IsWithin(real, root));
    });
  }

  // False where the file is there and stays hidden.
  bool ShowFile(const SettingsFile& file, const std::string& path,
                size_t depth) {
    struct stat info = {};
    if (::lstat(path.c_str(), &info) != 0) return errno == ENOENT;
    const bool hidden = IsHidden(path);
    // What is hidden by its name is shown by its name alone. Of others a
    // person's link is followed, as far as it stays in the home; what lies
    // elsewhere is no file of the home.
    std::string real = facts_.home.empty() || !IsWithin(path, facts_.home)
                           ? path
                           : home_ + path.substr(facts_.home.size());
    if (!hidden) {
      real = RealPath(path);
      if (real.empty() || !IsWithin(real, home_) || IsGiven(path, real))
        return ::access(path.c_str(), R_OK) == 0;
    }
    if (!seen_.insert(real).second) return shown_.contains(real);
    if (!IsWithin(real, home_)) return false;
    const auto text = ReadOwn(
        fd_.get(), real.substr(std::min(home_.size() + 1, real.size())));
    settings::Copy copy;
    bool all_included = true;
    if (text)
      copy = settings::CopyOf(file, *text, [&](std::string_view include) {
        const bool there = ShowIncluded(file, path, include, depth);
        all_included &= there;
        return there;
      });
    std::string kept;
    if (copy.parsed && can_show_) kept = Keep(facts_, copy.text);
    // Where nothing can stand in its place, a file in which nothing looks
    // secret is seen as it is. Git ends where it cannot read what that
    // includes.
    if (!hidden && (can_show_ || !copy.parsed || copy.secret || !all_included))
      profile_->deny_read.push_back(path);
    if (kept.empty()) return !IsHidden(path);
    profile_->substitutes.push_back({path, kept, false, {}});
    shown_.insert(real);
    return true;
  }

  // `~/…`, absolute, or from the directory by whose name it is included.
  bool ShowIncluded(const SettingsFile& file, const std::string& from,
                    std::string_view include, size_t depth) {
    if (depth >= kMaxIncludeDepth || seen_.size() >= kMaxIncluded) return false;
    std::string path(include);
    if (include.starts_with("~/"))
      path = facts_.home + path.substr(1);
    else if (include.starts_with('~'))
      return false;  // another user's
    else if (!include.starts_with('/'))
      path = std::string(DirName(from)) + "/" + path;
    return ShowFile(file, Normalise(path, "/"), depth + 1);
  }

  const ProcessFacts& facts_;
  const bool can_show_;
  backends::Profile* profile_;
  const std::string home_;  // without links
  const Fd fd_;
  std::set<std::string> seen_, shown_;  // without links
};

// The home's entries for `ports` of this machine; empty where it has none.
std::string PasswordsOf(const ProcessFacts& facts,
                        const std::vector<uint16_t>& ports) {
  if (facts.home.empty()) return "";
  const Fd home = OpenHome(RealPath(facts.home));
  const auto text = home ? ReadOwn(home.get(), kPasswordFile) : std::nullopt;
  return text ? settings::PasswordsFor(*text, ports) : "";
}

}  // namespace

settings::Copy CopySettingsOf(const std::string& home,
                              const SettingsFile& file) {
  const std::string real = RealPath(home + "/" + std::string(file.file));
  const std::string root = RealPath(home);
  const Fd directory = OpenHome(root);
  const bool within = directory && IsWithin(real, root) && real != root;
  const auto text = within
                        ? ReadOwn(directory.get(), real.substr(root.size() + 1))
                        : std::nullopt;
  return text ? settings::CopyOf(file, *text,
                                 [](std::string_view) { return true; })
              : settings::Copy{};
}

std::string DescribeSettings(const ProcessFacts& facts) {
  std::string shown, hidden;
  for (const SettingsFile& file : rules::SettingsFiles()) {
    const std::string path = facts.home + "/" + std::string(file.file);
    if (file.format == "public-keys" || ::access(path.c_str(), F_OK) != 0)
      continue;
    const settings::Copy copy = CopySettingsOf(facts.home, file);
    std::string& list = copy.parsed ? shown : hidden;
    list += (list.empty() ? "~/" : ", ~/") + std::string(file.file);
    if (copy.parsed && copy.left_out) list += " (in part)";
    if (copy.line != 0)
      list += " (line " + std::to_string(copy.line) + ", column " +
              std::to_string(copy.column) + ")";
  }
  std::string text = shown.empty() ? "" : "written anew inside: " + shown;
  if (!hidden.empty())
    text += (text.empty() ? "hidden, since they do not parse: "
                          : "; hidden, since they do not parse: ") +
            hidden;
  return text;
}

void ShowSettings(const ProcessFacts& facts, bool can_show,
                  backends::Profile* profile) {
  if (facts.home.empty() || facts.places.state.empty()) return;
  Shower(facts, can_show, profile).Show();
}

bool HasPasswordFor(const ProcessFacts& facts, uint16_t port) {
  return !PasswordsOf(facts, {port}).empty();
}

void ShowPasswords(const ProcessFacts& facts, bool can_show,
                   backends::Profile* profile) {
  if (!can_show || profile->services.empty() || facts.places.state.empty())
    return;
  const std::string path = facts.home + "/" + kPasswordFile;
  if (!IsHiddenIn(*profile, path)) return;
  std::vector<uint16_t> ports;
  for (const backends::LocalService& service : profile->services)
    ports.push_back(service.port);
  const std::string text = PasswordsOf(facts, ports);
  if (text.empty()) return;
  const std::string kept = Keep(facts, text);
  if (!kept.empty()) profile->substitutes.push_back({path, kept, false, {}});
}

}  // namespace gate::app
