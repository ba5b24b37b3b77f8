#include "preview/protect.h"

#include <vector>

#include "backends/git_config.h"
#include "backends/protected_content.h"
#include "base/ascii.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

// As if the root were deep enough for "..": what leaves it is told by name.
constexpr char kRoot[] = "/\x01/";

std::vector<std::string> Split(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t slash = std::min(path.find('/', begin), path.size());
    if (slash > begin) parts.push_back(path.substr(begin, slash - begin));
    begin = slash + 1;
  }
  return parts;
}

// Where `name` (components) is in `path` from `at` on, at any depth; the size
// of `path` when it is not. Of a link or a file also when it would stand where
// the name has a directory.
size_t FindName(const std::vector<std::string>& path,
                const std::vector<std::string>& name, bool directory,
                size_t at) {
  for (; at < path.size(); ++at) {
    size_t same = 0;
    while (same < name.size() && at + same < path.size() &&
           path[at + same] == name[same])
      ++same;
    if (same == name.size()) return at;
    if (same > 0 && at + same == path.size() && !directory) return at;
  }
  return path.size();
}

// Whether settings at a protected name order what they did before
// (protected_content.h). `relative`: from the name's first component on.
bool OrdersTheSame(const std::string& relative, const PreviewEntry& entry,
                   const std::function<std::string(bool)>& content) {
  // A directory that holds nothing but settings, and is new, orders nothing.
  if (entry.type == PreviewType::kDirectory)
    return entry.change == PreviewChange::kAdded && !entry.lower.exists &&
           ClassOf(relative + "/settings.json") == NameClass::kSettings;
  const bool deleted = entry.change == PreviewChange::kDeleted;
  if (entry.change == PreviewChange::kMode ||
      ClassOf(relative) != NameClass::kSettings)
    return false;
  std::string before, after;
  if (entry.lower.exists) {
    if (entry.lower.type != PreviewType::kFile ||
        entry.lower.size > kMaxKeptFile)
      return false;
    before = content(false);
    if (before.size() != entry.lower.size) return false;
  }
  if (!deleted) {
    // Another name of it would be a way to change it later.
    if (entry.type != PreviewType::kFile || entry.names != 1 ||
        entry.size > kMaxKeptFile)
      return false;
    after = content(true);
    if (after.size() != entry.size) return false;
  }
  return SamePower(relative, entry.lower.exists ? &before : nullptr,
                   deleted ? nullptr : &after);
}

bool EndsWith(const std::vector<std::string>& parts, const char* a,
              const char* b) {
  return parts.size() >= 2 && parts[parts.size() - 2] == a && parts.back() == b;
}

}  // namespace

std::string RefusedName(const Profile& profile, const std::string& root,
                        const PreviewEntry& entry,
                        const std::function<std::string(bool)>& content) {
  const bool directory = entry.type == PreviewType::kDirectory;
  const std::vector<std::string> parts = Split(LowerAscii(entry.path));
  for (const std::string& name : profile.protect_names) {
    const std::vector<std::string> wanted = Split(LowerAscii(name));
    if (wanted.empty()) continue;
    for (size_t at = 0;
         (at = FindName(parts, wanted, directory, at)) < parts.size(); ++at) {
      std::string relative = parts[at];
      for (size_t i = at + 1; i < parts.size(); ++i) relative += "/" + parts[i];
      if (!OrdersTheSame(relative, entry, content))
        return "a protected name (" + name + ")";
    }
  }
  const std::string full = root + "/" + entry.path;
  for (const std::string& place : profile.protect)
    if (IsWithin(full, place) || (!directory && IsWithin(place, full)))
      return "a protected path";
  if (!parts.empty() && parts.back() == ".git" &&
      entry.type == PreviewType::kLink)
    return "a link to a git directory";
  const std::string rest = AfterGit(entry.path);
  // A link or a file may go; nothing comes with that.
  const PreviewType type = entry.change == PreviewChange::kDeleted
                               ? PreviewType::kDirectory
                               : entry.type;
  if (!rest.empty() && GitPartOf(rest, type) == GitPart::kRefused)
    return "a part of git that runs programs";
  return "";
}

bool IsGitData(std::string_view rest) {
  // Branches and their logs may be called anything.
  const std::string first =
      LowerAscii(rest.substr(0, std::min(rest.find('/'), rest.size())));
  return first == "refs" || first == "logs" || first == "objects";
}

std::string AfterGit(const std::string& path) {
  // The file systems of other machines fold case; git refuses such names too.
  const std::string lower = "/" + LowerAscii(path);
  size_t at = lower.find("/.git/");
  if (at == std::string::npos) return "";
  // Among git's data there may be another repository.
  while (IsGitData(std::string_view(lower).substr(at + 6))) {
    const size_t next = lower.find("/.git/", at + 5);
    if (next == std::string::npos) break;
    at = next;
  }
  return path.substr(at + 5);
}

GitPart GitPartOf(const std::string& rest, PreviewType type) {
  const std::vector<std::string> parts = Split(LowerAscii(rest));
  if (parts.empty() || IsGitData(rest)) return GitPart::kNothing;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] != "hooks") continue;
    const bool sample =
        i + 2 == parts.size() && parts[i + 1].ends_with(".sample");
    if (i + 1 < parts.size() && !sample) return GitPart::kRefused;
  }
  if (EndsWith(parts, "info", "attributes")) return GitPart::kRefused;
  // What stands in the place of a directory would bring all of the above.
  if (type != PreviewType::kDirectory &&
      (parts.back() == "hooks" || parts.back() == "info"))
    return GitPart::kRefused;
  if (parts.back() == "commondir") return GitPart::kCommonDir;
  if (parts.back() == "config" || parts.back() == "config.worktree")
    return GitPart::kConfig;
  // Git makes no links there but an old kind of HEAD; one could bring modules
  // and worktrees from where nobody looks.
  if (type == PreviewType::kLink && parts.back() != "head" &&
      !parts.back().ends_with(".sample"))
    return GitPart::kRefused;
  return GitPart::kNothing;
}

std::string RefusedConfig(const std::string& path, const std::string& before,
                          const std::string& after) {
  const auto leads_out = [&](const GitEntry& entry) {
    return entry.key == "core.worktree" &&
           !IsWithin(Normalise(entry.value, kRoot + std::string(DirName(path))),
                     "/\x01");
  };
  const std::vector<GitEntry> found =
      NewProgramEntries(before, after, leads_out);
  if (found.empty()) return "";
  std::string keys;
  for (const GitEntry& entry : found)
    keys += (keys.empty() ? "" : ", ") + entry.key;
  return "git configuration that runs programs: " + keys;
}

std::string RefusedPlace(const ProtectedPaths& protected_paths,
                         const std::string& root, const PreviewEntry& entry,
                         const std::function<std::string(bool)>& content) {
  const bool deleted = entry.change == PreviewChange::kDeleted;
  const std::string path = root + "/" + entry.path;
  if (!deleted && entry.type != PreviewType::kDirectory &&
      protected_paths.HoldsBelow(path))
    return "in the place of what git takes orders from";
  switch (protected_paths.HeldAt(path)) {
    case ProtectedPaths::Held::kNothing:
      return "";
    case ProtectedPaths::Held::kProtected:
      return "a protected path";
    case ProtectedPaths::Held::kHook:
      return deleted ? "" : "a hook of the repository's";
    case ProtectedPaths::Held::kConfig:
      break;
  }
  if (deleted) return "";
  if (entry.type != PreviewType::kFile)
    return "git configuration that is no file";
  if (entry.size > kMaxGitConfig) return "git configuration, too large";
  return RefusedConfig(entry.path, content(false), content(true));
}

std::optional<std::string> GitFileTarget(const std::string& path,
                                         const std::string& text) {
  return TargetBelow(path, std::string(GitDirIn(text)));
}

std::optional<std::string> TargetBelow(const std::string& path,
                                       const std::string& aim) {
  if (aim.empty() || aim.starts_with('/')) return std::nullopt;
  // Up again from a name, which can be a link: git does not write that.
  bool down = false;
  for (const std::string& part : Split(aim)) {
    if (part == ".." && down) return std::nullopt;
    down |= part != ".." && part != ".";
  }
  // As if the root were deep enough for "..": what leaves it is told by name.
  const std::string inside =
      Normalise(aim, kRoot + std::string(path.find('/') == std::string::npos
                                             ? ""
                                             : DirName(path)));
  if (!IsWithin(inside, "/\x01")) return std::nullopt;
  return inside.substr(std::min(sizeof(kRoot) - 1, inside.size()));
}

std::string RefusedGitFile(const std::string& path, const std::string& text) {
  return GitFileTarget(path, text)
             ? ""
             : "a .git file that leads out of the workspace";
}

}  // namespace gate::backends
