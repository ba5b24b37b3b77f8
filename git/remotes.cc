#include "git/remotes.h"

#include <dirent.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "git/config.h"
#include "git/doubts.h"

namespace gate::app {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;
// A question that names more is not read.
constexpr size_t kMaxNamed = 8;
constexpr size_t kMaxRemoteFiles = 1000;

// The URL without what may be a password.
std::string Shown(std::string url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  const size_t begin = scheme + 3;
  const size_t end = url.find('/', begin);
  const size_t at = url.substr(0, end).rfind('@');
  if (at != std::string::npos && at >= begin) url.erase(begin, at + 1 - begin);
  return url;
}

class RemotesReader {
 public:
  void Read(const GitDirectories& git) {
    Add(git.common);
    for (const std::string& file :
         {git.common + "/config", git.own + "/config.worktree"})
      ReadConfiguration(file);
    for (const char* name : {"/remotes", "/branches"})
      ReadDirectory(git.common + name);
  }

  GitRemotes Take() {
    GitRemotes out;
    if (names_ > kMaxNamed)
      text_ += ", and " + std::to_string(names_ - kMaxNamed) + " more";
    out.text = std::move(text_);
    out.mark = Hex(Sha256(all_));
    return out;
  }

 private:
  // Lengths before texts, so that no two lists are one.
  void Add(const std::string& text) {
    all_ += std::to_string(text.size()) + ":" + text;
  }

  Result<std::string> AddFile(const std::string& path) {
    Result<std::string> text = ReadFile(path, kMaxBytes);
    if (text)
      Add("=" + *text);
    else if (text.error().code == ErrorCode::kNotFound)
      Add("-");
    else
      Add("?" + RandomBytes(16));  // fits nothing that was approved
    return text;
  }

  void Name(const std::string& what) {
    if (++names_ > kMaxNamed) return;
    text_ += (text_.empty() ? "" : ", ") + Visible(what);
  }

  void ReadConfiguration(const std::string& path) {
    const Result<std::string> text = AddFile(path);
    std::vector<GitEntry> entries;
    if (!text || !ParseGitConfig(*text, &entries)) return;
    for (const GitEntry& entry : entries) {
      const std::string_view key = entry.key;
      const size_t first = key.find('.'), last = key.rfind('.');
      if (first == std::string_view::npos || first == last) continue;
      const std::string middle(key.substr(first + 1, last - first - 1));
      const std::string_view name = key.substr(last + 1);
      if (key.starts_with("remote.") && (name == "url" || name == "pushurl"))
        Name(middle + (name == "url" ? " " : " (push) ") + Shown(entry.value));
      if (key.starts_with("url."))
        Name(Shown(middle) + " in place of " + Shown(entry.value));
    }
  }

  // git takes a file there for a remote that the configuration does not have.
  void ReadDirectory(const std::string& path) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(path.c_str()),
                                                      ::closedir);
    while (entries != nullptr && names.size() <= kMaxRemoteFiles) {
      const dirent* entry = ::readdir(entries.get());
      if (entry == nullptr) break;
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
    if (names.size() > kMaxRemoteFiles) Add(RandomBytes(16));
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      Add(name);
      AddFile(path + "/" + name);
      Name(name + " (see " + path + "/" + name + ")");
    }
    Add(".");
  }

  std::string all_, text_;
  size_t names_ = 0;
};

}  // namespace

GitRemotes RemotesOfGit(const parser::Analysis& analysis,
                        const engine::Decision& decision) {
  RemotesReader reader;
  const auto commands = AskedGit(analysis, decision);
  for (const parser::Invocation* command : commands)
    for (const std::string& cwd : parser::DirectoriesOf(*command)) {
      std::string doubt;
      reader.Read(FindGitDirectories(GitDirectoryOf(*command, cwd, &doubt)));
    }
  return commands.empty() ? GitRemotes{} : reader.Take();
}

}  // namespace gate::app
