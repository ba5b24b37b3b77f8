// The grammar, from config.c: sections `[name "sub"]` or `[name.sub]`, entries
// that may follow the section on its line, comments from `#` or `;`, values
// with quotes and backslash escapes. A backslash continues a line only inside
// a value: in a comment it is a character like any other.
#include "git/config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "base/ascii.h"
#include "base/file.h"
#include "base/paths.h"
#include "known/known.h"

namespace gate {
namespace {

using known::List;

// commondir git reads whole. What follows this much is line ends or behind a
// NUL, or makes the path too long for the kernel.
constexpr size_t kMaxCommonBytes = size_t{1} << 16;

// git's isspace(): no form feed, no vertical tab.
bool IsGitSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool IsAlpha(char c) { return LowerAscii(c) >= 'a' && LowerAscii(c) <= 'z'; }
bool IsKeyChar(char c) {
  return IsAlpha(c) || (c >= '0' && c <= '9') || c == '-';
}

// Whether a value with this key may be a path.
bool IsPathKey(std::string_view key) {
  const std::string_view name = key.substr(key.rfind('.') + 1);
  return name.ends_with("path") || name.ends_with("file") ||
         name.ends_with("dir") || name.ends_with("directory") ||
         name == "worktree";
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<GitEntry>* entries)
      : text_(text), entries_(entries) {}

  bool Run() {
    if (text_.find('\0') != std::string_view::npos) return false;
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    bool comment = false;
    while (true) {
      const size_t begin = at_;
      const char c = Next();
      if (c == '\n') {
        if (end_) return !differs_;
        comment = false;
      } else if (comment || IsGitSpace(c)) {
        continue;
      } else if (c == '#' || c == ';') {
        comment = true;
      } else if (c == '[') {
        if (!Section()) return false;
      } else if (!IsAlpha(c) || !Entry(begin)) {
        return false;
      }
    }
  }

 private:
  // The next character; "\r\n" and the end of the text are a newline.
  char Next() {
    if (at_ >= text_.size()) {
      end_ = true;
      return '\n';
    }
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n')
      ++at_;
    return text_[at_++];
  }

  bool Section() {
    section_.clear();
    while (true) {
      char c = Next();
      if (end_) return false;
      if (c == ']') {
        if (section_.empty()) return false;
        section_ += '.';
        return true;
      }
      if (IsGitSpace(c)) {
        do {
          if (c == '\n') return false;
          c = Next();
        } while (IsGitSpace(c));
        if (c != '"' || !Subsection()) return false;
        section_ += '.';
        return true;
      }
      if (!IsKeyChar(c) && c != '.') return false;
      section_ += LowerAscii(c);
    }
  }

  // After the opening quote, to the closing bracket.
  bool Subsection() {
    section_ += '.';
    while (true) {
      char c = Next();
      if (c == '"') break;
      if (c == '\\') c = Next();
      if (c == '\n') return false;
      section_ += c;
    }
    return Next() == ']';
  }

  // An entry whose first character, at `begin`, was read.
  bool Entry(size_t begin) {
    GitEntry entry;
    entry.begin = begin;
    entry.key = section_ + LowerAscii(text_[begin]);
    char c = Next();
    while (!end_ && IsKeyChar(c)) {
      entry.key += LowerAscii(c);
      c = Next();
    }
    while (c == ' ' || c == '\t') c = Next();
    if (c == '\n') {
      entry.boolean = true;
      entry.value = "true";
    } else if (c != '=' || !Value(&entry.value)) {
      return false;
    }
    if (blanks_differ_ && IsPathKey(entry.key)) differs_ = true;
    // Without the newline that ended it.
    entry.end = end_ ? at_ : at_ - 1;
    entries_->push_back(std::move(entry));
    return true;
  }

  bool Value(std::string* value) {
    bool quoted = false;
    bool comment = false;
    bool other_blanks = false;
    size_t spaces = 0;
    blanks_differ_ = false;
    while (true) {
      char c = Next();
      if (c == '\n') return !quoted;
      if (comment) continue;
      if (IsGitSpace(c) && !quoted) {
        if (value->empty()) continue;
        ++spaces;
        other_blanks |= c != ' ';
        continue;
      }
      if (!quoted && (c == ';' || c == '#')) {
        comment = true;
        continue;
      }
      // From git 2.45 on a tab stays one.
      value->append(spaces, ' ');
      spaces = 0;
      blanks_differ_ |= other_blanks;
      if (c == '"') {
        quoted = !quoted;
        continue;
      }
      if (c == '\\') {
        c = Next();
        if (c == '\n') {
          if (end_) return !quoted;
          continue;
        }
        constexpr std::string_view kEscapes = "ntb\\\"";
        constexpr std::string_view kMeanings = "\n\t\b\\\"";
        const size_t which = kEscapes.find(c);
        if (which == std::string_view::npos) return false;
        c = kMeanings[which];
      }
      *value += c;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  bool end_ = false;
  bool blanks_differ_ = false;  // the last value's, between versions of git
  bool differs_ = false;        // and so does a path
  std::string section_;         // with a final dot
  std::vector<GitEntry>* entries_;
};

// alias.c, split_cmdline(). False where a quote stays open, and where there is
// a backslash, which nobody needs.
bool SplitAlias(std::string_view text, std::vector<std::string>* words) {
  char quote = '\0';
  bool begun = false;
  for (const char c : text) {
    if (c == '\\') return false;
    if (quote == '\0' && IsGitSpace(c)) {
      begun = false;
      continue;
    }
    if (!begun) words->emplace_back();
    begun = true;
    if (quote != '\0' ? c == quote : c == '"' || c == '\'')
      quote = quote == '\0' ? c : '\0';
    else
      words->back() += c;
  }
  return quote == '\0';
}

// Options of an alias that start no program and write no file of their own,
// whatever command of IsPlainGitAlias they belong to. `merges`: it is one that
// may take a merge strategy.
bool IsPlainGitOption(std::string_view word, bool merges) {
  constexpr auto kLong = std::to_array<std::string_view>({
      "",
      "abbrev",
      "abbrev-commit",
      "abort",
      "all",
      "allow-empty",
      "amend",
      "author",
      "autosquash",
      "autostash",
      "branches",
      "cached",
      "cherry-pick",
      "color",
      "color-words",
      "contains",
      "continue",
      "date",
      "date-order",
      "decorate",
      "delete",
      "diff-filter",
      "dry-run",
      "ff",
      "ff-only",
      "first-parent",
      "follow",
      "force",
      "force-with-lease",
      "format",
      "graph",
      "grep",
      "hard",
      "include-untracked",
      "interactive",
      "keep-index",
      "left-right",
      "max-count",
      "merged",
      "merges",
      "message",
      "mixed",
      "name-only",
      "name-status",
      "no-color",
      "no-commit",
      "no-edit",
      "no-ff",
      "no-merged",
      "no-merges",
      "no-rebase",
      "no-verify",
      "numstat",
      "oneline",
      "onto",
      "patch",
      "porcelain",
      "pretty",
      "prune",
      "quiet",
      "rebase",
      "rebase-merges",
      "relative",
      "remotes",
      "reverse",
      "set-upstream",
      "set-upstream-to",
      "short",
      "shortstat",
      "show-current",
      "show-toplevel",
      "since",
      "skip",
      "soft",
      "sort",
      "squash",
      "staged",
      "stat",
      "summary",
      "tags",
      "topo-order",
      "track",
      "until",
      "untracked-files",
      "verbose",
      "word-diff",
  });
  // Each of these alone, joined, or with more of its value is harmless.
  constexpr std::string_view kShort = "0123456789abBcCdDfilmMnpqruvw";
  if (word.starts_with("--")) {
    word.remove_prefix(2);
    return Contains(kLong, word.substr(0, word.find('=')));
  }
  if (!merges && (word == "-s" || word == "-sb")) return true;
  return word.size() > 1 &&
         word.find_first_not_of(kShort, 1) == std::string_view::npos;
}

// A value that git takes for a truth value and not for a program.
bool IsTruthValue(std::string_view value) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"", "true", "false", "yes", "no", "on", "off", "0", "1"});
  return Contains(kWords, LowerAscii(value));
}

// Where a path of GitPathIn leads. `..` is that of the directory that a link
// leads to.
std::string Resolve(std::string_view path, const std::string& directory) {
  std::string full = path.starts_with('/') ? "" : directory + "/";
  std::string real = RealPath(full.append(path));
  return real.empty() ? Normalise(path, directory) : real;
}

bool IsObjectName(std::string_view text) {
  constexpr size_t kSha1Digits = 40;
  return text.size() >= kSha1Digits &&
         std::all_of(text.begin(), text.begin() + kSha1Digits,
                     [](char c) { return HexValue(c) >= 0; });
}

// A pipe or a device: git waits for whoever writes into it.
bool SaysAnything(const struct stat& info) {
  return S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode) ||
         S_ISBLK(info.st_mode);
}

// setup.c, validate_headref(). True for what may be one by the time that git
// reads it.
bool IsHead(const std::string& path) {
  struct stat info = {};
  if (lstat(path.c_str(), &info) != 0) return false;
  if (SaysAnything(info)) return true;
  constexpr size_t kHeadBytes = 255;
  std::array<char, kHeadBytes> buffer;
  if (S_ISLNK(info.st_mode)) {
    const ssize_t size = readlink(path.c_str(), buffer.data(), buffer.size());
    return size >= 0 &&
           std::string_view(buffer.data(), static_cast<size_t>(size))
               .starts_with("refs/");
  }
  // What git cannot open is no repository to it either.
  const Fd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return false;
  const ssize_t size = read(fd.get(), buffer.data(), buffer.size());
  if (size < 0) return false;
  std::string_view text(buffer.data(), static_cast<size_t>(size));
  if (IsObjectName(text)) return true;
  if (!text.starts_with("ref:")) return false;
  text.remove_prefix(4);
  while (!text.empty() && IsGitSpace(text.front())) text.remove_prefix(1);
  return text.starts_with("refs/");
}

// The first `limit` bytes of a regular file.
std::optional<std::string> ReadHead(const std::string& path, size_t limit) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat info = {};
  if (!fd || fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return std::nullopt;
  std::string text(limit, '\0');
  size_t size = 0;
  while (size < limit) {
    const ssize_t got = read(fd.get(), text.data() + size, limit - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  return text;
}

// setup.c, get_common_dir().
std::string CommonOf(const std::string& git_directory) {
  const std::optional<std::string> text =
      ReadHead(git_directory + "/commondir", kMaxCommonBytes);
  return text ? Resolve(GitPathIn(*text), git_directory) : git_directory;
}

// setup.c, is_git_directory().
bool IsGitDirectory(const std::string& path) {
  if (!IsHead(path + "/HEAD")) return false;
  struct stat info = {};
  if (stat((path + "/commondir").c_str(), &info) == 0 && SaysAnything(info))
    return true;
  const std::string common = CommonOf(path);
  return access((common + "/objects").c_str(), X_OK) == 0 &&
         access((common + "/refs").c_str(), X_OK) == 0;
}

}  // namespace

std::string_view GitPathIn(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text.substr(0, text.find('\0'));
}

std::string_view GitDirIn(std::string_view text) {
  constexpr std::string_view kPrefix = "gitdir: ";
  return text.starts_with(kPrefix) ? GitPathIn(text.substr(kPrefix.size()))
                                   : std::string_view();
}

GitDirectories FindGitDirectories(const std::string& directory) {
  GitDirectories found;
  std::string at = RealPath(directory);
  if (at.empty()) at = Normalise(directory, "/");
  for (;; at = std::string(DirName(at))) {
    const std::string dot_git = at == "/" ? "/.git" : at + "/.git";
    struct stat info = {};
    const bool exists = stat(dot_git.c_str(), &info) == 0;
    if (exists && S_ISREG(info.st_mode)) {
      // git goes no further than such a file, whatever is in it.
      found.own = dot_git;
      const Result<std::string> text = ReadFile(dot_git, kMaxGitFileBytes);
      const std::string_view path = text ? GitDirIn(*text) : "";
      if (!path.empty()) found.own = Resolve(path, at);
    } else if (exists && IsGitDirectory(dot_git)) {
      found.own = dot_git;
    } else if (IsGitDirectory(at)) {
      found.own = at;  // bare: git takes the directory itself
    }
    if (!found.own.empty()) {
      found.worktree = at;
      found.common = CommonOf(found.own);
      return found;
    }
    if (at == "/") return found;
  }
}

bool ParseGitConfig(std::string_view text, std::vector<GitEntry>* entries) {
  return Parser(text, entries).Run();
}

bool IsPlainGitAlias(std::string_view value) {
  // Not `worktree`, which writes wherever it is told.
  constexpr auto kPlain = std::to_array<std::string_view>(
      {"add",        "blame",   "branch", "checkout", "cherry-pick", "commit",
       "describe",   "diff",    "fetch",  "log",      "ls-files",    "merge",
       "mv",         "pull",    "push",   "rebase",   "reflog",      "remote",
       "reset",      "restore", "revert", "rev-list", "rev-parse",   "rm",
       "shortlog",   "show",    "stash",  "status",   "switch",      "tag",
       "whatchanged"});
  std::vector<std::string> words;
  if (!SplitAlias(value, &words)) return false;
  if (words.empty()) return true;
  if (!Contains(kPlain, words[0])) return false;
  // Of these -s is a merge strategy, which may be a program.
  const bool merges =
      words[0] == "merge" || words[0] == "pull" || words[0] == "rebase";
  return std::all_of(words.begin() + 1, words.end(), [&](const auto& word) {
    return word.find("::") == std::string::npos &&
           (!word.starts_with('-') || IsPlainGitOption(word, merges));
  });
}

bool RunsProgram(const GitEntry& entry) {
  const std::string_view key = entry.key;
  const std::string_view section = key.substr(0, key.find('.'));
  const std::string_view name = key.substr(key.rfind('.') + 1);
  if (section == "alias") return !IsPlainGitAlias(entry.value);
  // A transport of the form NAME::ADDRESS starts git-remote-NAME.
  if ((section == "url" || section == "remote" || section == "branch" ||
       section == "submodule") &&
      (key.find("::") != std::string_view::npos ||
       entry.value.find("::") != std::string::npos)) {
    return true;
  }
  if (section == "submodule" && name == "update")
    return entry.value.starts_with('!');
  // `true` is git's own monitor or pager; only another value is a program.
  if ((key == "core.fsmonitor" || section == "pager") &&
      IsTruthValue(entry.value)) {
    return false;
  }
  if (key == "extensions.worktreeconfig" && !entry.boolean &&
      (LowerAscii(entry.value) == "false" || entry.value == "0")) {
    return false;
  }
  if (key == "color.pager" || name == "partialclonefilter") return false;
  if (known::Contains(List::kGitKeys, key) ||
      known::Contains(List::kGitSections, section))
    return true;
  // man.x.path, lfs.customtransfer.x.path; a submodule's path is a directory.
  if (name == "path" && section != "submodule") return true;
  return known::EndsWithAny(List::kGitEndings, name);
}

}  // namespace gate
