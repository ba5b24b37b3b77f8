// Places that git configuration named already before the run: hooks kept in a
// directory of the workspace, and work trees.
//
// Such a directory cannot be mounted read-only: tools that keep hooks there
// write them again, with the same content, at every installation. So their
// content is remembered and put back.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <string_view>

#include "backends/guard.h"
#include "backends/listing.h"
#include "backends/quarantine.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

// What git starts by its name.
constexpr auto kHookNames = std::to_array<std::string_view>({
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-prepare-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "post-index-change",
});

// The work tree of the repository whose configuration is `config`, as far as
// its place tells: the directory that holds `.git`.
std::string WorkTree(const std::string& config) {
  const size_t git = config.rfind("/.git/");
  return git == std::string::npos ? std::string(DirName(config))
                                  : config.substr(0, git);
}

}  // namespace

void Guard::RecordNamedHooks(const std::string& config,
                             const std::string& content) {
  std::vector<GitEntry> entries;
  ParseGitConfig(content, &entries);
  for (const GitEntry& entry : entries) {
    if (entry.key != "core.hookspath" || entry.value.empty() ||
        entry.value[0] == '~')
      continue;
    char buffer[PATH_MAX];
    const std::string place = Normalise(entry.value, WorkTree(config));
    if (realpath(place.c_str(), buffer) == nullptr) {
      // Named and not there: whatever appears is the run's.
      if (RootOf(place) != nullptr) absent_hooks_.push_back({place});
      continue;
    }
    RecordHookPlace(buffer);
    // husky keeps its starters one directory below the scripts they start.
    if (BaseName(buffer) == "_") RecordHookPlace(std::string(DirName(buffer)));
  }
}

void Guard::RecordPersonsHooks(const std::vector<std::string>& sole_names) {
  // The person's own configuration may name a place in every repository.
  if (workspace_.empty()) return;
  for (const std::string& path : sole_names) {
    if (!path.ends_with("/.gitconfig") && !path.ends_with("/git/config"))
      continue;
    const Result<std::string> text = ReadFile(path, kMaxGitConfig);
    if (!text || text->find("ath") == std::string::npos) continue;
    std::vector<GitEntry> entries;
    ParseGitConfig(*text, &entries);
    for (const GitEntry& entry : entries) {
      if (entry.key != "core.hookspath" || entry.value.empty()) continue;
      std::string place = entry.value;
      const std::string home(path.substr(
          0, path.size() - (path.ends_with("/.gitconfig")
                                ? sizeof("/.gitconfig") - 1
                                : sizeof("/.config/git/config") - 1)));
      if (place.starts_with("~/")) place = home + place.substr(1);
      place = Normalise(place, workspace_);
      char buffer[PATH_MAX];
      if (realpath(place.c_str(), buffer) != nullptr)
        RecordHookPlace(buffer);
      else if (RootOf(place) != nullptr)
        absent_hooks_.push_back({place});
    }
  }
}

bool Guard::IsNamedHook(const std::string& path) const {
  const std::string_view directory = DirName(path), name = BaseName(path);
  const auto is_directory = [&](const std::string& place) {
    return place == directory;
  };
  if (std::none_of(hook_places_.begin(), hook_places_.end(), is_directory))
    return false;
  return std::find(kHookNames.begin(), kHookNames.end(), name) !=
             kHookNames.end() ||
         std::any_of(hook_files_.begin(), hook_files_.end(),
                     [&](const HookFile& known) { return known.path == path; });
}

void Guard::RecordHookPlace(const std::string& directory) {
  // A root is no place of hooks alone.
  if (const std::string* root = RootOf(directory);
      root == nullptr || *root == directory || directory == workspace_)
    return;
  if (std::find(hook_places_.begin(), hook_places_.end(), directory) !=
      hook_places_.end())
    return;
  hook_places_.push_back(directory);
  Pin(*RootOf(directory), directory + "/*");  // stays where it is
  int count = 0;
  for (const std::string& name : NamesIn(directory)) {
    const std::string path = directory + "/" + name;
    struct stat info = {};
    if (!StatPath(path, &info) || S_ISDIR(info.st_mode)) continue;
    Result<std::string> text = ReadRegular(path, kMaxHookFile);
    // What cannot be put back must not change.
    if (!text || ++count > kMaxHookFiles) {
      ProtectPath(path);
      continue;
    }
    hook_files_.push_back({path, std::move(*text), info.st_mode & 0777});
  }
}

void Guard::SweepNamedHooks() {
  for (const HookFile& hook : hook_files_) {
    struct stat info = {};
    if (!StatPath(hook.path, &info)) continue;  // removed: runs nothing
    const Result<std::string> text = ReadRegular(hook.path, kMaxHookFile);
    if (text && *text == hook.content) continue;
    Quarantine(hook.path, "git-hook", "a hook changed by the run");
    if (Status restored = WriteRegular(hook.path, hook.content, hook.mode);
        !restored)
      Report("git-hook", hook.path + ": could not be restored: " +
                             restored.error().message);
  }
  for (const std::string& directory : hook_places_) {
    for (const std::string& name : NamesIn(directory)) {
      const std::string path = directory + "/" + name;
      if (std::find(kHookNames.begin(), kHookNames.end(), name) ==
              kHookNames.end() ||
          bound_.contains(path) ||
          std::any_of(
              hook_files_.begin(), hook_files_.end(),
              [&](const HookFile& known) { return known.path == path; }))
        continue;
      Quarantine(path, "git-hook", "a hook made by the run");
    }
  }
}

void Guard::SweepHookNames(const std::string& directory) {
  for (const std::string_view name : kHookNames) {
    const std::string path = directory + "/" + std::string(name);
    struct stat info = {};
    if (StatPath(path, &info) && Changed(info))
      Quarantine(path, "git-hook", "a hook made by the run");
  }
}

bool Guard::LeadsOut(const std::string& config, const GitEntry& entry) const {
  // Git would write the repository's files there: start-up files among them.
  return entry.key == "core.worktree" &&
         RootOf(Normalise(entry.value, DirName(config))) == nullptr;
}

}  // namespace gate::backends
