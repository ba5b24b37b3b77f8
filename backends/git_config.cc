// The grammar is git's (config.c): sections `[name "sub"]` or `[name.sub]`,
// assignments that may follow the section on its line, comments from `#` or
// `;`, values with quotes, backslash escapes and lines continued by a final
// backslash.
#include "backends/git_config.h"

#include <algorithm>
#include <array>

#include "base/git_config.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

using std::string_view;

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool IsAlpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsKeyChar(char c) {
  return IsAlpha(c) || (c >= '0' && c <= '9') || c == '-';
}

class Parser {
 public:
  Parser(string_view text, std::vector<GitEntry>* entries)
      : text_(text), entries_(entries) {}

  bool Run() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (true) {
      while (!End() && (IsSpace(Peek()) || Peek() == '\n')) ++at_;
      if (End()) return true;
      const char c = Peek();
      if (c == '\0') return false;
      if (c == '#' || c == ';') {
        SkipLine();
      } else if (c == '[') {
        if (!Section()) return false;
      } else if (!Assignment()) {
        return false;
      }
    }
  }

 private:
  bool End() const { return at_ >= text_.size(); }
  char Peek() const { return text_[at_]; }
  void SkipLine() {
    while (!End() && Peek() != '\n') ++at_;
  }

  bool Section() {
    ++at_;
    section_.clear();
    while (!End() && (IsKeyChar(Peek()) || Peek() == '.'))
      section_ += Lower(text_[at_++]);
    if (section_.empty() || End()) return false;
    if (IsSpace(Peek())) {
      while (!End() && IsSpace(Peek())) ++at_;
      if (End() || Peek() != '"') return false;
      ++at_;
      section_ += '.';
      while (true) {
        if (End() || Peek() == '\n') return false;
        char c = text_[at_++];
        if (c == '"') break;
        if (c == '\\') {
          if (End() || Peek() == '\n') return false;
          c = text_[at_++];
        }
        section_ += c;
      }
    }
    if (End() || Peek() != ']') return false;
    ++at_;
    return true;
  }

  bool Assignment() {
    if (!IsAlpha(Peek()) || section_.empty()) return false;
    GitEntry entry;
    entry.begin = at_;
    entry.key = section_ + ".";
    while (!End() && IsKeyChar(Peek())) entry.key += Lower(text_[at_++]);
    while (!End() && IsSpace(Peek())) ++at_;
    if (End() || Peek() == '\n' || Peek() == '#' || Peek() == ';') {
      entry.boolean = true;
      entry.value = "true";
      SkipLine();
    } else {
      if (Peek() != '=') return false;
      ++at_;
      if (!Value(&entry.value)) return false;
    }
    entry.end = at_;
    entries_->push_back(std::move(entry));
    return true;
  }

  bool Value(std::string* value) {
    bool quoted = false;
    size_t keep = 0;  // length up to the last byte that is not loose space
    while (!End() && IsSpace(Peek())) ++at_;
    while (!End()) {
      const char c = text_[at_];
      if (c == '\n') break;
      ++at_;
      if (c == '\0') return false;
      if (!quoted && (c == '#' || c == ';')) {
        SkipLine();
        break;
      }
      if (c == '"') {
        quoted = !quoted;
        keep = value->size();
        continue;
      }
      if (c == '\\') {
        if (!End() && Peek() == '\r') ++at_;
        if (End()) break;
        const char next = text_[at_++];
        if (next == '\n') continue;
        const string_view from = "ntb\\\"", to = "\n\t\b\\\"";
        const size_t which = from.find(next);
        if (which == string_view::npos) return false;
        *value += to[which];
        keep = value->size();
        continue;
      }
      *value += c;
      if (quoted || !IsSpace(c)) keep = value->size();
    }
    if (quoted) return false;
    value->resize(keep);
    return true;
  }

  string_view text_;
  size_t at_ = 0;
  std::string section_;
  std::vector<GitEntry>* entries_;
};

// Exact keys beyond the words below.
constexpr auto kKeys = std::to_array<string_view>({
    "core.fsmonitor",
    "core.hookspath",
    "core.sshcommand",
    "core.gitproxy",
    "core.askpass",
    "core.pager",
    "core.editor",
    "core.attributesfile",
    "init.templatedir",
    "include.path",
    "imap.tunnel",
    "protocol.allow",
    "gpg.program",
    "sequence.editor",
    "web.browser",
    "sendemail.smtpserver",
    "diff.external",
    "interactive.difffilter",
    "uploadpack.packobjectshook",
});
// Sections whose every entry names a program or where to find one.
constexpr auto kSections = std::to_array<string_view>({
    "alias",
    "pager",
    "filter",
    "includeif",
    "hook",
    "protocol",
    "mergetool",
    "difftool",
    "guitool",
    "browser",
    "man",
    "instaweb",
});
// Last words of names that stand for programs in git or its helpers.
constexpr auto kWords = std::to_array<string_view>({
    "command",     "cmd",           "program",       "helper",   "hook",
    "hookspath",   "editor",        "pager",         "textconv", "driver",
    "smudge",      "clean",         "process",       "browser",  "uploadpack",
    "receivepack", "uploadarchive", "vcs",           "askpass",  "tunnel",
    "external",    "filter",        "transferagent", "args",     "script",
    "exec",        "shell",
});

bool IsFalseOrTrue(string_view value) {
  std::string lower(value);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  constexpr auto kBooleans = std::to_array<string_view>(
      {"", "true", "false", "yes", "no", "on", "off", "0", "1"});
  return std::find(kBooleans.begin(), kBooleans.end(), lower) !=
         kBooleans.end();
}

template <class List>
bool Contains(const List& list, string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

bool ParseGitConfig(string_view text, std::vector<GitEntry>* entries) {
  return Parser(text, entries).Run();
}

bool RunsProgram(const GitEntry& entry) {
  const string_view key = entry.key;
  const string_view section = key.substr(0, key.find('.'));
  const string_view name = key.substr(key.rfind('.') + 1);
  if (section == "alias") return !gate::IsPlainGitAlias(entry.value);
  // A transport of the form NAME::ADDRESS starts git-remote-NAME.
  if (section == "url" || section == "remote" || section == "branch" ||
      section == "submodule") {
    if (key.find("::") != string_view::npos ||
        entry.value.find("::") != string_view::npos)
      return true;
  }
  // Who is between git and the host gets the person's password.
  if (section == "http" || section == "remote") {
    if (name == "proxy" || name.starts_with("sslca")) return true;
    if (name == "sslverify") return !entry.boolean && entry.value != "true";
  }
  if (section == "submodule" && name == "update")
    return entry.value.starts_with('!');
  // `true` is git's own daemon or pager; only another value names a program.
  if (key == "core.fsmonitor" || section == "pager" || name == "textconv")
    if (IsFalseOrTrue(entry.value)) return false;
  if (name == "filter" && section == "remote") return false;  // partialclone
  if (key == "extensions.partialclone") return false;
  if (name == "partialclonefilter") return false;
  if (Contains(kKeys, key) || Contains(kSections, section)) return true;
  if (name == "path" && section != "submodule") return true;
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](string_view word) { return name.ends_with(word); });
}

std::vector<GitEntry> NewProgramEntries(string_view before, string_view after,
                                        const GitEntryTest& also) {
  std::vector<GitEntry> old_entries, new_entries, found;
  ParseGitConfig(before, &old_entries);
  const bool whole = ParseGitConfig(after, &new_entries);
  for (GitEntry& entry : new_entries) {
    if (!RunsProgram(entry) && !(also && also(entry))) continue;
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
    if (!RunsProgram(entry) && !(also && also(entry))) continue;
    out += text.substr(at, entry.begin - at);
    at = entry.end;
  }
  out += text.substr(at);
  return out;
}

std::vector<std::string> IncludedFiles(string_view text,
                                       string_view directory) {
  std::vector<GitEntry> entries;
  ParseGitConfig(text, &entries);
  std::vector<std::string> files;
  for (const GitEntry& entry : entries) {
    const bool includes =
        entry.key == "include.path" ||
        (entry.key.starts_with("includeif.") && entry.key.ends_with(".path"));
    if (includes && !entry.value.empty() && entry.value[0] != '~')
      files.push_back(Normalise(entry.value, directory));
  }
  return files;
}

}  // namespace gate::backends
