// Which files of a project agents and git take orders from.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "approvals/trust.h"
#include "backends/git_config.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"
#include "git/config.h"
#include "known/known.h"

namespace gate::app {
namespace {

constexpr int kMaxDepth = 12;
// Files of a repository's configuration, with those that they include.
constexpr size_t kMaxGitConfigs = 64;

class Finder {
 public:
  // A file, or everything below a directory. What is not there is no item.
  void Add(const std::string& path, TrustKind kind, int depth = 0) {
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) {
      if (errno != ENOENT && errno != ENOTDIR)
        Problem(path, kind, "it cannot be looked at");
      return;
    }
    if (S_ISDIR(info.st_mode)) return AddDirectory(path, kind, depth);
    if (full_) return;
    if (items_.size() >= kMaxTrustedFiles || bytes_ >= kMaxTrustedBytes) {
      full_ = true;
      return Problem(path, kind, "there are more files than gate reads");
    }
    if (S_ISLNK(info.st_mode))
      return Problem(path, kind, "it is a link, whose target may change");
    auto text = ReadFile(path, kMaxTrustedFileBytes, /*follow=*/false);
    if (!text) return Problem(path, kind, text.error().message);
    bytes_ += text->size();
    TrustItem item;
    item.path = path;
    item.kind = kind;
    item.hash = Hex(Sha256(*text));
    item.text = std::move(*text);
    items_.push_back(std::move(item));
  }

  std::vector<TrustItem> Take() {
    std::sort(
        items_.begin(), items_.end(),
        [](const TrustItem& a, const TrustItem& b) { return a.path < b.path; });
    return std::move(items_);
  }

 private:
  void AddDirectory(const std::string& path, TrustKind kind, int depth) {
    if (full_) return;
    if (depth > kMaxDepth) return Problem(path, kind, "it is nested too deep");
    // Opened without following: the entry may have been swapped for a link.
    const int fd =
        ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR* directory = fd < 0 ? nullptr : ::fdopendir(fd);
    if (directory == nullptr) {
      if (fd >= 0) ::close(fd);
      return Problem(path, kind, "the directory cannot be read");
    }
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(directory)) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      names.push_back(name);
      if (names.size() > kMaxTrustedFiles) break;
    }
    ::closedir(directory);
    for (const std::string& name : names)
      Add(path + "/" + name, kind, depth + 1);
  }

  void Problem(const std::string& path, TrustKind kind, std::string why) {
    TrustItem item;
    item.path = path;
    item.kind = kind;
    item.problem = std::move(why);
    items_.push_back(std::move(item));
  }

  std::vector<TrustItem> items_;
  size_t bytes_ = 0;
  bool full_ = false;
};

// Files and directories that agents load from the directory they start in.
void AddAgentSettingsOf(const std::string& directory, Finder* finder) {
  for (const std::string_view name : known::Names(known::List::kAgentProject))
    finder->Add(directory + "/" + std::string(name), TrustKind::kAgent);
}

void AddAgentSettings(const std::string& workspace,
                      const std::string& directory, Finder* finder) {
  std::string at = directory;
  while (true) {
    AddAgentSettingsOf(at, finder);
    if (at == workspace || !IsWithin(at, workspace) || at == "/") break;
    at = DirName(at);
  }
  if (!IsWithin(directory, workspace)) AddAgentSettingsOf(workspace, finder);
}

// Git runs the executable files that are called like a hook; the samples it
// ships are not. A directory that the repository's own configuration names, or
// a file that it includes, counts, too.
void AddGitHooks(const std::string& directory, Finder* finder) {
  const GitDirectories git = FindGitDirectories(directory);
  if (git.common.empty()) return;
  std::vector<std::string> places = {git.common + "/hooks"};
  const std::string home = FindPlaces().home;
  std::vector<std::string> files = {git.common + "/config",
                                    git.own + "/config.worktree"};
  for (size_t i = 0; i < files.size() && i < kMaxGitConfigs; ++i) {
    const std::string file = files[i];
    const auto text = ReadFile(file, 1u << 20);
    if (!text) continue;
    std::vector<GitEntry> entries;
    (void)ParseGitConfig(*text, &entries);
    for (const GitEntry& entry : entries)
      if (entry.key == "core.hookspath" && !entry.value.empty())
        places.push_back(
            Normalise(backends::ExpandHome(entry.value, home), git.worktree));
    for (std::string& other :
         backends::IncludedFiles(*text, DirName(file), home))
      if (std::find(files.begin(), files.end(), other) == files.end())
        files.push_back(std::move(other));
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const std::string& place : places) {
    DIR* stream = ::opendir(place.c_str());
    if (stream == nullptr) continue;
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || name.ends_with(".sample") ||
          names.size() > kMaxTrustedFiles)
        continue;
      names.emplace_back(name);
    }
    ::closedir(stream);
    for (const std::string& name : names)
      finder->Add(place + "/" + name, TrustKind::kHook);
  }
}

}  // namespace

std::vector<TrustItem> FindAgentSettings(const std::string& workspace,
                                         const std::string& directory) {
  Finder finder;
  AddAgentSettings(workspace, directory, &finder);
  return finder.Take();
}

std::vector<TrustItem> FindGitHooks(const std::string& directory) {
  Finder finder;
  AddGitHooks(directory, &finder);
  return finder.Take();
}

std::vector<TrustItem> FindTrustItems(const std::string& workspace,
                                      const std::string& directory) {
  Finder finder;
  const std::string rules = workspace + "/.gate/rules.d";
  if (DIR* stream = ::opendir(rules.c_str())) {
    // What loading reads: JSON files, none in directories below.
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (!name.starts_with('.') && name.ends_with(".json"))
        finder.Add(rules + "/" + std::string(name), TrustKind::kRules);
    }
    ::closedir(stream);
  }
  AddAgentSettings(workspace, directory, &finder);
  AddGitHooks(workspace, &finder);
  return finder.Take();
}

}  // namespace gate::app
