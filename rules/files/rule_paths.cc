#include "rules/rule_paths.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"

namespace gate::rules {

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

Result<std::vector<RuleFile>> ReadRuleFiles(const std::string& path,
                                            Layer layer) {
  GATE_TRY(const auto paths, RulePaths(path));
  std::vector<RuleFile> files;
  for (const std::string& file : paths) {
    GATE_TRY(std::string text, ReadFile(file, kMaxRuleFileBytes));
    files.push_back({file, layer, std::move(text), false});
  }
  return files;
}

Result<Policy> ReadPolicy(const std::string& path) {
  if (path == "builtin") return MakePolicy({}, true);
  GATE_TRY(const auto files, ReadRuleFiles(path, Layer::kUser));
  return MakePolicy(files, true);
}

std::vector<RuleFile> OwnRuleFiles(const std::string& system_dir,
                                   const std::string& user_dir) {
  std::vector<RuleFile> files;
  const std::pair<std::string, Layer> places[] = {{system_dir, Layer::kSystem},
                                                  {user_dir, Layer::kUser}};
  for (const auto& [place, layer] : places)
    if (auto found = ReadRuleFiles(place, layer))
      for (RuleFile& file : *found) files.push_back(std::move(file));
  return files;
}

}  // namespace gate::rules
