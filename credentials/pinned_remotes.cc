#include "credentials/pinned_remotes.h"

#include <algorithm>
#include <map>

namespace gate::credentials {
namespace {

constexpr std::string_view kHeader = "gate.remotes/1";

bool IsOneLine(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
  });
}

void Put(std::vector<std::string>* list, const std::string& url) {
  if (IsOneLine(url) && list->size() < kMaxPinned &&
      std::ranges::find(*list, url) == list->end())
    list->push_back(url);
}

// git's alias_url(): the longest prefix, the first among equals.
const UrlRewrite* RewriteOf(const std::vector<UrlRewrite>& rewrites,
                            std::string_view url, bool push) {
  const UrlRewrite* best = nullptr;
  for (const UrlRewrite& rewrite : rewrites)
    if (rewrite.push == push && url.starts_with(rewrite.prefix) &&
        (best == nullptr || rewrite.prefix.size() > best->prefix.size()))
      best = &rewrite;
  return best;
}

}  // namespace

void AddRemotes(const std::vector<GitEntry>& entries, PinnedRemotes* remotes) {
  // By the remote's name: its URLs, and whether it has others for pushing.
  std::map<std::string_view, std::vector<std::string>> named;
  std::set<std::string_view> pushes_elsewhere;
  for (const GitEntry& entry : entries) {
    const std::string_view key = entry.key;
    const size_t first = key.find('.'), last = key.rfind('.');
    if (first == key.npos || first == last) continue;
    const std::string_view section = key.substr(0, first);
    const std::string_view name = key.substr(last + 1);
    const std::string_view whole = key.substr(0, last);
    if ((section == "remote" || section == "submodule") && name == "url") {
      Put(&remotes->fetch, entry.value);
      named[whole].push_back(entry.value);
    }
    if (section == "remote" && name == "pushurl") {
      Put(&remotes->push, entry.value);
      pushes_elsewhere.insert(whole);
    }
    if (section != "url" || (name != "insteadof" && name != "pushinsteadof"))
      continue;
    UrlRewrite rewrite;
    rewrite.base = key.substr(first + 1, last - first - 1);
    rewrite.prefix = entry.value;
    rewrite.push = name == "pushinsteadof";
    if (IsOneLine(rewrite.base) && IsOneLine(rewrite.prefix) &&
        remotes->rewrites.size() < kMaxPinned)
      remotes->rewrites.push_back(std::move(rewrite));
  }
  // git-config(1), remote.<name>.pushurl: the other remotes keep their own.
  if (pushes_elsewhere.empty()) return;
  for (const auto& [remote, urls] : named)
    if (!pushes_elsewhere.contains(remote))
      for (const std::string& url : urls) Put(&remotes->push, url);
}

namespace {

std::set<SshTarget> Collect(const PinnedRemotes& remotes,
                            const PinnedRemotes& person, SshService service,
                            bool as_they_stand) {
  std::vector<UrlRewrite> rewrites = person.rewrites;
  rewrites.insert(rewrites.end(), remotes.rewrites.begin(),
                  remotes.rewrites.end());
  std::set<SshTarget> targets;
  const auto add = [&](const std::string& url) {
    if (auto target = ParseSshUrl(url)) targets.insert(std::move(*target));
  };
  const auto add_all = [&](const std::string& url, bool push) {
    const UrlRewrite* rewrite = RewriteOf(rewrites, url, push);
    if (rewrite != nullptr)
      add(rewrite->base + url.substr(rewrite->prefix.size()));
    if (rewrite == nullptr || as_they_stand) add(url);
  };
  const bool push = service == SshService::kPush;
  if (push)
    for (const std::string& url : remotes.push) {
      add_all(url, false);
      // A pushurl is not rewritten for pushing; a remote's only URL is.
      if (std::ranges::find(remotes.fetch, url) != remotes.fetch.end())
        add_all(url, true);
    }
  if (push && !remotes.push.empty()) return targets;
  for (const std::string& url : remotes.fetch) {
    add_all(url, false);
    if (push) add_all(url, true);
  }
  return targets;
}

}  // namespace

std::set<SshTarget> TargetsOf(const PinnedRemotes& remotes,
                              const PinnedRemotes& person, SshService service) {
  return Collect(remotes, person, service, /*as_they_stand=*/true);
}

std::set<SshTarget> DestinationsOf(const PinnedRemotes& remotes,
                                   const PinnedRemotes& person,
                                   SshService service) {
  return Collect(remotes, person, service, /*as_they_stand=*/false);
}

std::string Serialise(const PinnedRemotes& remotes) {
  std::string text(kHeader);
  text += '\n';
  for (const std::string& url : remotes.fetch) text += "fetch\t" + url + "\n";
  for (const std::string& url : remotes.push) text += "push\t" + url + "\n";
  for (const UrlRewrite& rewrite : remotes.rewrites)
    text += std::string(rewrite.push ? "push-in-place" : "in-place") + "\t" +
            rewrite.base + "\t" + rewrite.prefix + "\n";
  return text;
}

Result<PinnedRemotes> ParsePinned(std::string_view text) {
  const auto corrupt = [] {
    return Fail(ErrorCode::kCorrupt, "the pinned remotes cannot be read");
  };
  PinnedRemotes remotes;
  bool header = true;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == text.npos) return corrupt();
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (header) {
      if (line != kHeader) return corrupt();
      header = false;
      continue;
    }
    const size_t tab = line.find('\t');
    if (tab == line.npos) return corrupt();
    const std::string_view kind = line.substr(0, tab);
    const std::string value(line.substr(tab + 1));
    if (kind == "fetch") {
      remotes.fetch.push_back(value);
    } else if (kind == "push") {
      remotes.push.push_back(value);
    } else if (kind == "in-place" || kind == "push-in-place") {
      const size_t second = value.find('\t');
      if (second == value.npos) return corrupt();
      remotes.rewrites.push_back({value.substr(0, second),
                                  value.substr(second + 1),
                                  kind == "push-in-place"});
    } else {
      return corrupt();
    }
  }
  if (header) return corrupt();
  return remotes;
}

}  // namespace gate::credentials
