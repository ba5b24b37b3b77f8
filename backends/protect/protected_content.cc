#include "backends/protected_content.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/json.h"
#include "known/known.h"

namespace gate::backends {
namespace {

using known::List;
using std::string_view;

// The path itself or what lies below it.
bool IsOrBelow(string_view path, string_view name) {
  return path.starts_with(name) &&
         (path.size() == name.size() || path[name.size()] == '/');
}

// Keys of .npmrc (npm's and pnpm's) and .yarnrc that name no program, no place
// to take code or other settings from, no credential, and switch no check off.
constexpr auto kPackageKeys = std::to_array<string_view>({
    "auto-install-peers",
    "color",
    "dedupe-peer-dependents",
    "engine-strict",
    "fetch-retries",
    "fetch-timeout",
    "fund",
    "heading",
    "hoist",
    "hoist-pattern[]",
    "include-workspace-root",
    "legacy-peer-deps",
    "link-workspace-packages",
    "loglevel",
    "lockfile",
    "maxsockets",
    "message",
    "network-concurrency",
    "network-timeout",
    "node-linker",
    "optional",
    "package-lock",
    "prefer-frozen-lockfile",
    "prefer-offline",
    "prefer-workspace-packages",
    "progress",
    "public-hoist-pattern[]",
    "resolution-mode",
    "save",
    "save-exact",
    "save-peer",
    "save-prefix",
    "save-workspace-protocol",
    "shamefully-hoist",
    "shared-workspace-lockfile",
    "strict-peer-dependencies",
    "strict-peer-deps",
    "symlink",
    "tag-version-prefix",
    "unicode",
    "update-notifier",
    "version-git-message",
    "version-tag-prefix",
});

// Settings of an editor that change what is shown and typed. One that ends with
// a dot stands for all that begin so.
constexpr auto kEditorKeys = std::to_array<string_view>({
    "$schema",
    "breadcrumbs.",
    "cSpell.ignorePaths",
    "cSpell.ignoreWords",
    "cSpell.language",
    "cSpell.words",
    "css.lint.",
    "diffEditor.",
    "editor.",
    "emmet.",
    "explorer.",
    "files.associations",
    "files.autoSave",
    "files.autoSaveDelay",
    "files.encoding",
    "files.eol",
    "files.exclude",
    "files.insertFinalNewline",
    "files.readonlyInclude",
    "files.trimFinalNewlines",
    "files.trimTrailingWhitespace",
    "files.watcherExclude",
    "html.format.",
    "javascript.format.",
    "javascript.preferences.",
    "less.lint.",
    "outline.",
    "problems.",
    "python.analysis.typeCheckingMode",
    "scss.lint.",
    "search.",
    "typescript.format.",
    "typescript.preferences.",
    "window.title",
    "workbench.colorCustomizations",
    "workbench.colorTheme",
    "workbench.editor.",
    "workbench.iconTheme",
});

bool HasPath(List list, string_view path) {
  return std::ranges::any_of(known::Names(list), [&](string_view name) {
    return IsOrBelow(path, name);
  });
}

bool IsEditorKey(string_view key) {
  return std::any_of(
      kEditorKeys.begin(), kEditorKeys.end(), [&](string_view known) {
        return known.ends_with('.') ? key.starts_with(known) : key == known;
      });
}

string_view Trim(string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// In quotes, with nothing in it that ends them sooner for some reader.
bool IsQuoted(string_view text) {
  return text.size() >= 2 && (text[0] == '"' || text[0] == '\'') &&
         text.back() == text[0] &&
         text.substr(1, text.size() - 2).find_first_of("\"'\\") ==
             string_view::npos;
}

// npm's ini: KEY = VALUE, or a key alone.
bool IsNpmPair(string_view line) {
  const size_t equals = std::min(line.find('='), line.size());
  const string_view value =
      Trim(line.substr(std::min(equals + 1, line.size())));
  return Contains(kPackageKeys, Trim(line.substr(0, equals))) &&
         (IsQuoted(value) || value.find_first_of("\"'\\") == string_view::npos);
}

// yarn 1 reads tokens, not lines: after a value comes another key, and a value
// ends where it can be no longer (`truekey`, `10key`). Spaces at the beginning
// of a line are a level, at which it stops reading.
bool IsYarnPair(string_view line) {
  const size_t space = line.find(' ');
  if (space == string_view::npos ||
      !Contains(kPackageKeys, line.substr(0, space)))
    return false;
  const string_view value = Trim(line.substr(space));
  if (value == "true" || value == "false") return true;
  if (value.starts_with('"')) return IsQuoted(value);
  if (value.empty() || value.starts_with("true") || value.starts_with("false"))
    return false;
  if (IsDigit(value[0]))
    return std::all_of(value.begin(), value.end(), IsDigit);
  return IsLetter(value[0]) &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return IsLetter(c) || IsDigit(c) || c == '-' || c == '_' || c == '.';
         });
}

// A line is a comment, or exactly one key with one value. What does not look
// so to every reader is an entry with power.
std::vector<std::string> PackageEntries(string_view content, bool yarn) {
  std::vector<std::string> found;
  for (size_t begin = 0; begin < content.size();) {
    const size_t end = std::min(content.find('\n', begin), content.size());
    string_view line = content.substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!yarn) line = Trim(line);
    if (line.empty()) continue;
    // What is left of a carriage return ends a line to some readers, as other
    // control characters do.
    const bool plain = std::none_of(line.begin(), line.end(), [](char c) {
      return (c >= '\0' && c < ' ' && c != '\t') || c == '\x7f';
    });
    if (plain && (line[0] == '#' || (line[0] == ';' && !yarn))) continue;
    // A value is never read as one of another kind: `${…}` is the
    // environment's.
    const bool ascii = std::all_of(line.begin(), line.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x80;
    });
    if (plain && ascii && line.find("${") == string_view::npos &&
        (yarn ? IsYarnPair(line) : IsNpmPair(line)))
      continue;
    found.emplace_back(line);
  }
  return found;
}

std::optional<std::vector<std::string>> EditorEntries(string_view content,
                                                      bool extensions) {
  // JavaScript's own line ends, which end a comment in the editor's reader.
  for (const string_view end : {"\xe2\x80\xa8", "\xe2\x80\xa9"})
    if (content.find(end) != string_view::npos) return std::nullopt;
  auto json = ParseJson(content, /*comments=*/true);
  if (!json || !json->is_object()) return std::nullopt;
  std::vector<std::string> found;
  for (const auto& [key, value] : json->items()) {
    if (extensions) {
      // Proposed to the person, who installs them or does not.
      if (key == "recommendations" || key == "unwantedRecommendations")
        continue;
    } else if (key.starts_with('[') && value.is_object()) {
      bool plain = true;  // settings for one language
      for (const auto& [inner, ignored] : value.items())
        plain &= IsEditorKey(inner);
      if (plain) continue;
    } else if (IsEditorKey(key)) {
      continue;
    }
    found.push_back(key + "=" + Dump(value));
  }
  return found;
}

}  // namespace

NameClass ClassOf(string_view relative) {
  const std::string path = LowerAscii(relative);
  if (Contains(known::Names(List::kJudged), path)) return NameClass::kSettings;
  return HasPath(List::kReadElsewhere, path) ? NameClass::kElsewhere
                                             : NameClass::kObeyed;
}

bool MayGo(string_view relative) {
  const std::string path = LowerAscii(relative);
  return HasPath(List::kOnlyAdds, path) || HasPath(List::kReadElsewhere, path);
}

std::optional<std::vector<std::string>> EntriesWithPower(string_view relative,
                                                         string_view content) {
  const std::string path = LowerAscii(relative);
  if (content.find('\0') != string_view::npos) return std::nullopt;
  if (path == ".npmrc" || path == ".yarnrc")
    return PackageEntries(content, path == ".yarnrc");
  if (path == ".vscode/settings.json" || path == ".vscode/extensions.json")
    return EditorEntries(content, path.ends_with("extensions.json"));
  return std::nullopt;
}

bool SamePower(string_view relative, const std::string* before,
               const std::string* after) {
  using Entries = std::optional<std::vector<std::string>>;
  const auto entries = [&](const std::string* content) {
    return content == nullptr ? Entries(std::in_place)
                              : EntriesWithPower(relative, *content);
  };
  if (ClassOf(relative) != NameClass::kSettings) return false;
  const Entries old_ones = entries(before), new_ones = entries(after);
  return old_ones && new_ones && *old_ones == *new_ones;
}

}  // namespace gate::backends
