#include "base/git_config.h"

#include <sys/stat.h>

#include <array>
#include <cctype>

#include "base/file.h"
#include "base/paths.h"

namespace gate {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

// Sections all of whose variables may name programs or files to include.
constexpr std::array kSections = {
    "include",  "includeif", "alias",       "filter",    "difftool",
    "mergetool", "browser",  "man",         "credential", "gpg",
    "pager",    "sendemail", "uploadpack",  "instaweb",  "hook",
    "trailer",  "web",       "guitool",     "interactive"};
// Variables that name a program, or a place that git takes programs from.
constexpr std::array kVariables = {
    "core.fsmonitor", "core.pager",    "core.editor",
    "core.hookspath", "core.sshcommand", "core.gitproxy",
    "core.askpass",   "core.alternaterefscommand", "core.worktree",
    "diff.external",  "sequence.editor", "init.templatedir",
    "extensions.worktreeconfig"};
// The last part of keys with a subsection: diff.X.command, merge.X.driver,
// remote.X.uploadpack, submodule.X.update …
constexpr std::array kLeaves = {"command", "textconv",   "driver", "cmd",
                                "program", "helper",     "vcs",    "update",
                                "receivepack", "uploadpack", "proxy"};

// `false`, `0` and friends switch a program off rather than name one.
bool IsOff(std::string_view value) {
  const std::string lower = Lower(Trim(value));
  return lower == "false" || lower == "0" || lower == "no" || lower == "off";
}

bool RunsProgram(const std::string& key, std::string_view value) {
  if (IsOff(value)) return false;
  const std::string section = key.substr(0, key.find('.'));
  for (const char* name : kSections)
    if (section == name) return true;
  for (const char* name : kVariables)
    if (key == name) return true;
  const size_t last = key.rfind('.');
  if (key.find('.') == last) return false;  // no subsection
  const std::string leaf = key.substr(last + 1);
  for (const char* name : kLeaves) {
    if (leaf != name) continue;
    // A submodule's update is one of four words unless it begins with `!`.
    const std::string_view word = Trim(value);
    return section != "submodule" || word.starts_with('!') ||
           word.starts_with('"');
  }
  return false;
}

bool IsDirectory(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// One logical line: continuations joined, comments kept (they are cut later).
std::string_view NextLine(std::string_view* rest, std::string* joined) {
  joined->clear();
  while (!rest->empty()) {
    const size_t newline = rest->find('\n');
    std::string_view line = rest->substr(0, newline);
    rest->remove_prefix(newline == std::string_view::npos ? rest->size()
                                                          : newline + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    size_t slashes = 0;
    while (slashes < line.size() && line[line.size() - 1 - slashes] == '\\')
      ++slashes;
    if (slashes % 2 == 1) {
      joined->append(line.substr(0, line.size() - 1));
      continue;
    }
    joined->append(line);
    break;
  }
  return *joined;
}

}  // namespace

GitDirectories FindGitDirectories(const std::string& directory) {
  GitDirectories found;
  for (std::string at = Normalise(directory, "/");;
       at = std::string(DirName(at))) {
    const std::string dot_git = at + (at == "/" ? ".git" : "/.git");
    struct stat info{};
    if (::stat(dot_git.c_str(), &info) == 0) {
      found.worktree = at;
      found.own = dot_git;
      if (S_ISREG(info.st_mode)) {
        auto text = ReadFile(dot_git, 4096);
        if (text && text->starts_with("gitdir:"))
          found.own = Normalise(Trim(std::string_view(*text).substr(7)), at);
      }
      break;
    }
    // A bare repository: git takes the directory itself for one.
    struct stat head{};
    if (::stat((at + "/HEAD").c_str(), &head) == 0 &&
        IsDirectory(at + "/objects") && IsDirectory(at + "/refs")) {
      found.worktree = at;
      found.own = at;
      break;
    }
    if (at == "/") return found;
  }
  found.common = found.own;
  if (auto common = ReadFile(found.own + "/commondir", 4096))
    found.common = Normalise(Trim(*common), found.own);
  return found;
}

std::vector<std::string> GitProgramKeysIn(std::string_view text) {
  std::vector<std::string> keys;
  std::string section;
  std::string joined;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    std::string_view line = Trim(NextLine(&text, &joined));
    while (!line.empty() && line.front() == '[') {
      // [section "subsection"] or [section.subsection]; what follows on the
      // same line is a variable.
      size_t close = 1;
      bool quoted = false;
      for (; close < line.size(); ++close) {
        if (line[close] == '\\' && quoted) { ++close; continue; }
        if (line[close] == '"') quoted = !quoted;
        if (line[close] == ']' && !quoted) break;
      }
      if (close >= line.size()) {
        keys.push_back("malformed");
        return keys;
      }
      const std::string_view head = Trim(line.substr(1, close - 1));
      const size_t quote = head.find('"');
      section = Lower(Trim(head.substr(0, quote)));
      if (quote != std::string_view::npos)
        section += "." + std::string(head.substr(quote + 1,
                                                 head.rfind('"') - quote - 1));
      line = Trim(line.substr(close + 1));
    }
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    const size_t equals = line.find('=');
    const std::string variable = Lower(Trim(line.substr(0, equals)));
    // A variable without a value means "true".
    const std::string_view value = equals == std::string_view::npos
                                       ? std::string_view("true")
                                       : line.substr(equals + 1);
    for (const char c : variable)
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-') {
        keys.push_back("malformed");
        return keys;
      }
    if (section.empty()) {
      keys.push_back("malformed");
      return keys;
    }
    const std::string key = section + "." + variable;
    if (RunsProgram(key, value)) keys.push_back(key);
  }
  return keys;
}

Result<std::vector<std::string>> GitProgramKeys(const std::string& file) {
  auto text = ReadFile(file, kMaxConfigBytes);
  if (!text) {
    if (text.error().code == ErrorCode::kNotFound)
      return std::vector<std::string>();
    return std::unexpected(text.error());
  }
  return GitProgramKeysIn(*text);
}

}  // namespace gate
