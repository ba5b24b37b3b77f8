#include "git/https.h"

#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "git/config.h"
#include "git/doubts.h"

namespace gate::app {
namespace {

std::string HostOf(std::string_view url) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!url.starts_with(scheme)) continue;
    std::string_view host = url.substr(scheme.size());
    host = host.substr(0, host.find_first_of("/?#"));
    if (const size_t at = host.rfind('@'); at != host.npos)
      host.remove_prefix(at + 1);
    return host.empty() ? "" : std::string(scheme) + std::string(host);
  }
  return "";
}

}  // namespace

std::string HttpHostOf(const parser::Invocation& invocation) {
  std::vector<std::string_view> words;
  for (size_t i = 1; i < invocation.argv.size(); ++i)
    if (invocation.argv[i].known) words.push_back(invocation.argv[i].text);
  for (const std::string_view word : words)
    if (std::string host = HostOf(word); !host.empty()) return host;
  std::string named, origin;
  for (const std::string& cwd : parser::DirectoriesOf(invocation)) {
    std::string doubt;
    const GitDirectories git =
        FindGitDirectories(GitDirectoryOf(invocation, cwd, &doubt));
    if (git.common.empty()) continue;
    const auto text =
        ReadFile(git.common + "/config", kMaxGitConfigBytes, /*follow=*/false);
    std::vector<GitEntry> entries;
    if (!text || !ParseGitConfig(*text, &entries)) continue;
    for (const GitEntry& entry : entries) {
      constexpr std::string_view kSection = "remote.", kName = ".url";
      const std::string_view key = entry.key;
      if (!key.starts_with(kSection) || !key.ends_with(kName) ||
          key.size() <= kSection.size() + kName.size())
        continue;
      const std::string_view remote = key.substr(
          kSection.size(), key.size() - kSection.size() - kName.size());
      if (remote == "origin") origin = entry.value;
      for (const std::string_view word : words)
        if (word == remote) named = entry.value;
    }
  }
  return HostOf(named.empty() ? origin : named);
}

std::string GitLoginOf(const parser::Invocation& invocation) {
  const std::string host = HttpHostOf(invocation);
  return host.empty()
             ? "git's ssh keys, ssh agent and credential helper"
             : "git's logins for " + Visible(host) + " (its credential helper)";
}

}  // namespace gate::app
