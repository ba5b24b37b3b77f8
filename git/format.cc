#include "git/format.h"

#include <algorithm>

#include "base/ascii.h"

namespace gate {
namespace {

constexpr std::string_view kBlanks = " \t\n\r";  // git's isspace()

}  // namespace

std::optional<GitHash> ObjectFormatOf(const std::vector<GitEntry>& entries) {
  std::optional<GitHash> said;
  bool first_version = false, other_version = false;
  for (const GitEntry& entry : entries) {
    if (entry.key == "core.repositoryformatversion") {
      (entry.value == "1" ? first_version : other_version) = true;
    } else if (entry.key == "extensions.objectformat") {
      const GitHash hash =
          entry.value == "sha256" ? GitHash::kSha256 : GitHash::kSha1;
      if (hash == GitHash::kSha1 && entry.value != "sha1") return std::nullopt;
      if (said && *said != hash) return std::nullopt;
      said = hash;
    }
  }
  if (said == GitHash::kSha256 && (!first_version || other_version))
    return std::nullopt;
  return said.value_or(GitHash::kSha1);
}

bool KeepsRefsInFiles(const std::vector<GitEntry>& entries) {
  return std::none_of(
      entries.begin(), entries.end(), [](const GitEntry& entry) {
        return entry.key == "extensions.refstorage" && entry.value != "files";
      });
}

GitRef ParseGitRef(std::string_view text) {
  // A C string in git's hands, whose end is trimmed before it is read.
  while (!text.empty() && kBlanks.find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  GitRef ref;
  if (text.find('\0') != std::string_view::npos) return ref;
  constexpr std::string_view kSymbolic = "ref:";
  if (text.starts_with(kSymbolic)) {
    text.remove_prefix(kSymbolic.size());
    const size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return ref;
    ref.kind = GitRef::Kind::kSymbolic;
    ref.target = text.substr(begin);
    return ref;
  }
  // git takes a name by its first digits and lets a blank and more follow;
  // which number of digits depends on the repository's hash.
  const size_t digits =
      static_cast<size_t>(std::find_if(text.begin(), text.end(),
                                       [](char c) { return HexValue(c) < 0; }) -
                          text.begin());
  constexpr size_t kDigitsAByte = 2;
  if (digits == text.size() &&
      (digits == kDigitsAByte * static_cast<size_t>(GitHash::kSha1) ||
       digits == kDigitsAByte * static_cast<size_t>(GitHash::kSha256)))
    ref.kind = GitRef::Kind::kObject;
  return ref;
}

std::optional<std::vector<std::string>> ParseAlternates(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  std::vector<std::string> found;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('"')) return std::nullopt;
    if (!line.empty() && !line.starts_with('#')) found.emplace_back(line);
  }
  return found;
}

}  // namespace gate
