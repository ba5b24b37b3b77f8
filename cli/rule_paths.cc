#include "cli/rule_paths.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"

namespace gate::app {

Result<std::vector<std::string>> RulePaths(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0)
    return FailErrno("`" + path + "` cannot be read");
  if (!S_ISDIR(info.st_mode)) return std::vector<std::string>{path};
  std::vector<std::string> paths;
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return FailErrno("`" + path + "`");
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with('.') && name.ends_with(".json"))
      paths.push_back(path + "/" + std::string(name));
  }
  ::closedir(directory);
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<std::vector<rules::RuleFile>> ReadRuleFiles(const std::string& path,
                                                   rules::Layer layer) {
  GATE_TRY(const auto paths, RulePaths(path));
  std::vector<rules::RuleFile> files;
  for (const std::string& file : paths) {
    GATE_TRY(std::string text, ReadFile(file, rules::kMaxRuleFileBytes));
    files.push_back({file, layer, std::move(text), false});
  }
  return files;
}

Result<rules::Policy> ReadPolicy(const std::string& path) {
  if (path == "builtin") return rules::MakePolicy({}, true);
  GATE_TRY(const auto files, ReadRuleFiles(path, rules::Layer::kUser));
  return rules::MakePolicy(files, true);
}

}  // namespace gate::app
