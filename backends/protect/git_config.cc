#include "backends/git_config.h"

#include <algorithm>

#include "backends/symlinks.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

using std::string_view;

// Who stands between git and the host gets the person's password.
bool Intercepts(const GitEntry& entry) {
  const string_view key = entry.key;
  const string_view section = key.substr(0, key.find('.'));
  if (section != "http" && section != "remote") return false;
  const string_view name = key.substr(key.rfind('.') + 1);
  if (name == "sslverify") return !entry.boolean && entry.value != "true";
  return name == "proxy" || name.starts_with("sslca");
}

// Git writes what the server sends into http.cookieFile, where saveCookies says
// so, and sends what is in it; format-patch writes into another directory,
// which format.suffix, the end of a path, names as well (git-config(1)).
bool NamesFile(const GitEntry& entry) {
  const string_view key = entry.key;
  const string_view name = key.substr(key.rfind('.') + 1);
  if (key.starts_with("http."))
    return name == "cookiefile" || name == "savecookies";
  return key == "format.outputdirectory" ||
         (key == "format.suffix" && entry.value.find('/') != string_view::npos);
}

// Whether an entry reaches out of the sandbox once git reads it outside.
// config.worktree is guarded as config is, so that switching it on, which
// git sparse-checkout does, brings nothing new into effect.
bool Reaches(const GitEntry& entry) {
  return (RunsProgram(entry) && entry.key != "extensions.worktreeconfig") ||
         Intercepts(entry) || NamesFile(entry);
}

}  // namespace

std::vector<GitEntry> NewProgramEntries(string_view before, string_view after,
                                        const GitEntryTest& also) {
  std::vector<GitEntry> old_entries, new_entries, found;
  ParseGitConfig(before, &old_entries);
  const bool whole = ParseGitConfig(after, &new_entries);
  for (GitEntry& entry : new_entries) {
    if (!Reaches(entry) && !(also && also(entry))) continue;
    const bool known = std::any_of(
        old_entries.begin(), old_entries.end(), [&](const GitEntry& old_entry) {
          return old_entry.key == entry.key && old_entry.value == entry.value;
        });
    if (!known) found.push_back(std::move(entry));
  }
  if (!whole) found.push_back({"(syntax error)", "", false, 0, 0});
  return found;
}

std::string WithoutProgramEntries(string_view text, const GitEntryTest& also) {
  std::vector<GitEntry> entries;
  if (!ParseGitConfig(text, &entries)) return "";
  std::string out;
  size_t at = 0;
  for (const GitEntry& entry : entries) {
    if (!Reaches(entry) && !(also && also(entry))) continue;
    out += text.substr(at, entry.begin - at);
    at = entry.end;
  }
  out += text.substr(at);
  return out;
}

std::vector<std::string> IncludedFiles(string_view text, string_view directory,
                                       string_view home) {
  std::vector<GitEntry> entries;
  ParseGitConfig(text, &entries);
  std::vector<std::string> files;
  for (const GitEntry& entry : entries) {
    const bool includes =
        entry.key == "include.path" ||
        (entry.key.starts_with("includeif.") && entry.key.ends_with(".path"));
    if (!includes || entry.value.empty()) continue;
    const std::string path = ExpandHome(entry.value, home);
    if (path.starts_with('~') && home.empty()) continue;
    files.push_back(PathFrom(directory, path));
  }
  return files;
}

std::string ExpandHome(string_view value, string_view home) {
  constexpr string_view kOptional = ":(optional)";
  if (value.starts_with(kOptional)) value.remove_prefix(kOptional.size());
  if (!value.starts_with('~')) return std::string(value);
  const size_t slash = std::min(value.find('/'), value.size());
  const string_view user = value.substr(1, slash - 1);
  std::string base(home);
  if (!user.empty()) base = HomeOf(user).value_or("");
  if (base.empty()) return std::string(value);
  return base.append(value.substr(slash));
}

}  // namespace gate::backends
