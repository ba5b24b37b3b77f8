#include "git/person_entries.h"

#include <algorithm>

#include "base/file.h"
#include "base/paths.h"
#include "facts/program_files.h"

namespace gate::app {
namespace {

// Of all files together: includes can name each other ten levels deep.
constexpr size_t kMaxPersonFiles = 64;

class PersonReader {
 public:
  PersonReader(const ProcessFacts& facts,
               const std::vector<std::string>& writable)
      : facts_(facts), writable_(writable) {}

  void Read(const std::string& file, int depth) {
    const std::string real = RealPath(file);
    if (real.empty() || depth > kMaxGitIncludes || files_ == kMaxPersonFiles ||
        IsWritablePlace(file, writable_) || IsWritablePlace(real, writable_))
      return;
    ++files_;
    const auto text = ReadFile(file, kMaxGitConfigBytes);
    std::vector<GitEntry> entries;
    if (!text || !ParseGitConfig(*text, &entries)) return;
    for (GitEntry& entry : entries) {
      const bool includes =
          entry.key == "include.path" ||
          (entry.key.starts_with("includeif.") && entry.key.ends_with(".path"));
      if (!includes) {
        entries_.push_back(std::move(entry));
        continue;
      }
      std::string path = entry.value;
      if (path.starts_with("~/")) path = facts_.home + path.substr(1);
      if (!path.starts_with('/'))
        path = std::string(DirName(file)) + "/" + path;
      Read(path, depth + 1);
    }
  }

  std::vector<GitEntry> Take() { return std::move(entries_); }

 private:
  const ProcessFacts& facts_;
  const std::vector<std::string>& writable_;
  std::vector<GitEntry> entries_;
  size_t files_ = 0;
};

}  // namespace

std::vector<GitEntry> PersonsGitEntries(
    const ProcessFacts& facts, const std::vector<std::string>& writable) {
  std::string config = facts.home + "/.config";
  for (const std::string& entry : facts.environment)
    if (entry.starts_with("XDG_CONFIG_HOME=/"))
      config = entry.substr(entry.find('=') + 1);
  PersonReader reader(facts, writable);
  for (const std::string& file :
       {std::string("/etc/gitconfig"), config + "/git/config",
        facts.home + "/.gitconfig"})
    reader.Read(file, 0);
  return reader.Take();
}

bool IsPersonsPlace(const ProcessFacts& facts, const std::string& path,
                    const std::vector<std::string>& writable) {
  const std::string real = path.starts_with('/') ? RealPath(path) : "";
  if (real.empty() || !CheckTrustedPlace(real, facts.uid)) return false;
  return std::ranges::none_of(writable, [&](const std::string& place) {
    return !place.empty() &&
           (IsWithin(real, place) || IsWithin(Normalise(path, "/"), place));
  });
}

}  // namespace gate::app
