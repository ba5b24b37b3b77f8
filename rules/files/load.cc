// Finding and reading rule files. Whatever cannot be read as it should raises
// the floor of its layer; nothing is skipped in silence.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/ascii.h"
#include "base/file.h"
#include "base/paths.h"
#include "rules/policy.h"
#include "rules/policy_impl.h"

namespace gate::rules {
namespace {

struct Found {
  std::vector<RuleFile> files;
  std::vector<Diagnostic> diagnostics;
  std::vector<Source> sources;
  Action floor = Action::kAllow;
};

void Refuse(Found* found, Layer layer, std::string file, const char* code,
            std::string message, std::string help) {
  found->floor = Strictest(
      found->floor, layer == Layer::kProject ? Action::kAsk : Action::kDeny);
  found->diagnostics.push_back({Severity::kError, code, std::move(file), 0, 0,
                                std::move(message), std::move(help)});
}

// Whether `path` is a link whose target is not there.
bool LeadsNowhere(const std::string& path) {
  struct stat info;
  const int kept = errno;
  const bool nowhere = lstat(path.c_str(), &info) == 0 &&
                       S_ISLNK(info.st_mode) && stat(path.c_str(), &info) != 0;
  errno = kept;
  return nowhere;
}

// A name that a person would take for a rule file's, and gate does not. Left
// out in silence, its rules would be missing.
bool IsMisnamed(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.ends_with(".json")) return false;
  const std::string ending = LowerAscii(name.substr(dot + 1));
  return ending == "json" || ending == "jsonc" || ending == "json5";
}

void ReadDirectory(const std::string& directory, Layer layer, uid_t owner,
                   Found* found) {
  found->sources.push_back({directory, IdentityOf(directory)});
  struct stat info;
  if (lstat(directory.c_str(), &info) != 0) {
    if (errno == ENOENT && !LeadsNowhere(std::string(DirName(directory))))
      return;
    Refuse(found, layer, directory, "rule-file-unreadable",
           errno == ENOENT || errno == ENOTDIR
               ? "what it should lie in is no directory"
               : "the directory cannot be looked at",
           "check what stands there, and its permissions");
    return;
  }
  if (S_ISLNK(info.st_mode) && layer == Layer::kProject) {
    Refuse(found, layer, directory, "rule-file-link",
           "the project's rule directory is a link", "make it a directory");
    return;
  }
  if (layer != Layer::kProject) {
    auto trusted = CheckTrusted(directory, owner);
    if (trusted) trusted = CheckTrustedPlace(directory, owner);
    if (!trusted) {
      Refuse(found, layer, directory, "rule-file-owner",
             trusted.error().message,
             "it, and every directory above it, must belong to you or root and "
             "be writable by nobody else");
      return;
    }
  }
  DIR* stream = opendir(directory.c_str());
  if (stream == nullptr) {
    Refuse(found, layer, directory, "rule-file-unreadable",
           "the directory cannot be read", "check its permissions");
    return;
  }
  std::vector<std::string> names;
  errno = 0;
  for (const dirent* entry = readdir(stream); entry != nullptr;
       errno = 0, entry = readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name.starts_with('.')) continue;
    if (IsMisnamed(name))
      Refuse(found, layer, directory + "/" + std::string(name),
             "rule-file-name", "this file would not be read",
             "rule files are called *.json, comments and all");
    if (!name.ends_with(".json")) continue;
    if (names.size() >= kMaxRuleFiles) {
      Refuse(found, layer, directory, "rule-too-many-files",
             "there are more rule files than gate reads",
             "the limit is 512 files in a layer");
      break;
    }
    names.emplace_back(name);
  }
  if (errno != 0)
    Refuse(found, layer, directory, "rule-file-unreadable",
           "the directory cannot be read to its end", "check its file system");
  closedir(stream);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    found->sources.push_back({path, IdentityOf(path)});
    if (layer != Layer::kProject) {
      if (const auto trusted = CheckTrusted(path, owner); !trusted) {
        Refuse(found, layer, path, "rule-file-owner", trusted.error().message,
               "it must belong to you or root and be writable by nobody else");
        continue;
      }
    }
    auto text = ReadFile(path, kMaxRuleFileBytes, /*follow=*/false);
    if (!text) {
      Refuse(found, layer, path, "rule-file-unreadable", text.error().message,
             "a rule file is a regular file of at most 4 MiB, no link");
      continue;
    }
    found->files.push_back({path, layer, std::move(*text), false});
  }
}

}  // namespace

bool PlacesAreTrusted(const PolicySources& sources) {
  return (sources.system_dir.empty() ||
          CheckTrustedPlace(sources.system_dir, 0)) &&
         (sources.user_dir.empty() ||
          CheckTrustedPlace(sources.user_dir, sources.owner));
}

Policy LoadPolicy(const PolicySources& sources) {
  Found found;
  if (!sources.system_dir.empty())
    ReadDirectory(sources.system_dir, Layer::kSystem, 0, &found);
  if (!sources.user_dir.empty())
    ReadDirectory(sources.user_dir, Layer::kUser, sources.owner, &found);
  if (!sources.project_dir.empty())
    ReadDirectory(sources.project_dir, Layer::kProject, sources.owner, &found);
  for (RuleFile& file : found.files) {
    if (file.layer != Layer::kProject) continue;
    file.trusted =
        std::find(sources.trusted_hashes.begin(), sources.trusted_hashes.end(),
                  FileHash(file.text)) != sources.trusted_hashes.end();
  }
  Policy policy = MakePolicy(found.files, sources.builtin);
  Policy::Impl& impl = policy.impl();
  for (Diagnostic& diagnostic : found.diagnostics)
    impl.diagnostics.push_back(std::move(diagnostic));
  // What keeps the policy from loading is told before what is only doubtful.
  std::stable_partition(impl.diagnostics.begin(), impl.diagnostics.end(),
                        [](const Diagnostic& diagnostic) {
                          return diagnostic.severity == Severity::kError;
                        });
  impl.sources = std::move(found.sources);
  impl.floor = Strictest(impl.floor, found.floor);
  return policy;
}

}  // namespace gate::rules
