#include "gateway/programs/printed_secrets.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "backends/environment.h"
#include "base/ascii.h"
#include "base/file.h"
#include "base/paths.h"
#include "git/config.h"
#include "git/doubts.h"
#include "known/known.h"

namespace gate::app {
namespace {

using std::string_view;

constexpr size_t kMaxBytes = size_t{1} << 20;
// Of configuration with all that it includes; who has more is asked.
constexpr size_t kMaxFiles = 32;

// Files of settings that may hold a token, by their last component.
std::span<const string_view> Settings() {
  return known::Names(known::List::kSettings);
}
// What reads these files without printing them.
constexpr auto kSilent = std::to_array<string_view>(
    {"[",      "[[",    "bun",      "bunx", "cksum",   "conda",     "cp",
     "dotnet", "du",    "file",     "find", "ls",      "mamba",     "md5sum",
     "mv",     "node",  "npm",      "npx",  "nuget",   "pip",       "pip3",
     "pnpm",   "pnpx",  "composer", "php",  "sha1sum", "sha256sum", "stat",
     "test",   "touch", "wc",       "yarn"});

// A value that another place fills in: `${NPM_TOKEN}`, `$TOKEN`, `%TOKEN%`.
bool IsPlaceholder(string_view value) {
  const size_t begin = value.find_first_not_of(" \t\"'");
  return begin == string_view::npos || value[begin] == '$' ||
         value[begin] == '%' || value.substr(begin).starts_with("<%");
}

// Whether a URL in `text` has a password, or a token in place of a user.
bool HasCredentialUrl(string_view text) {
  for (size_t at = 0; (at = text.find("://", at)) != string_view::npos;) {
    at += 3;
    const string_view rest =
        text.substr(at, text.find_first_of("/ \t\n\"'", at) - at);
    const size_t end = rest.rfind('@');
    if (end == string_view::npos) continue;
    const string_view user = rest.substr(0, end);
    const size_t colon = user.find(':');
    if (colon != string_view::npos) {
      if (!IsPlaceholder(user.substr(colon + 1))) return true;
    } else if (!IsPlaceholder(user) &&
               (user.size() >= 20 || backends::LooksSecret("", user))) {
      return true;
    }
  }
  return false;
}

bool NamesSecret(string_view name) {
  std::string upper(name);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return known::HoldsAny(known::List::kPrintedParts, upper);
}

bool IsSecret(const GitEntry& entry) {
  if (HasCredentialUrl(entry.key) || HasCredentialUrl(entry.value)) return true;
  const string_view name =
      string_view(entry.key).substr(entry.key.rfind('.') + 1);
  if (entry.value.empty() || entry.boolean || IsPlaceholder(entry.value))
    return false;
  // `credential.helper = !f() { echo password=x; }; f`
  return NamesSecret(name) || backends::LooksSecret("", entry.value) ||
         entry.value.find("password=") != std::string::npos;
}

// Whether a line of settings gives a token: `NAME = VALUE`, `NAME: VALUE`,
// `"NAME": "VALUE"`, `<add key="NAME" value="VALUE" />`.
bool LineHoldsSecret(string_view line) {
  if (HasCredentialUrl(line)) return true;
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == string_view::npos || line[begin] == '#' || line[begin] == ';')
    return false;
  constexpr string_view kXml = " value=";
  size_t sign = line.find(kXml);
  if (sign != string_view::npos)
    sign += kXml.size() - 1;
  else
    sign = line.find('=');
  if (sign == string_view::npos) sign = line.find(": ");
  if (sign == string_view::npos && line.find("\":") != string_view::npos)
    sign = line.find("\":") + 1;
  if (sign == string_view::npos) return false;
  string_view value = line.substr(sign + 1);
  while (!value.empty() &&
         string_view(" \t\r\"',/>").find(value.back()) != string_view::npos)
    value.remove_suffix(1);
  if (IsPlaceholder(value)) return false;
  while (!value.empty() &&
         string_view(" \t\"'").find(value.front()) != string_view::npos)
    value.remove_prefix(1);
  if (value == "true" || value == "false" || value == "null" || value == "{" ||
      value == "[")
    return false;
  return NamesSecret(line.substr(0, sign)) || backends::LooksSecret("", value);
}

bool HoldsSecret(string_view text) {
  for (size_t begin = 0; begin < text.size();) {
    // JSON may stand on one line.
    const size_t end = std::min(text.find_first_of("\n{,", begin), text.size());
    if (LineHoldsSecret(text.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

// Git's configuration as a command in one directory reads it.
class Configuration {
 public:
  Configuration(const ProcessFacts& facts, const std::string& directory)
      : home_(facts.home) {
    const GitDirectories git = FindGitDirectories(directory);
    std::string config = facts.home + "/.config";
    Add("/etc/gitconfig");
    for (const std::string& entry : facts.environment) {
      const size_t equals = std::min(entry.find('='), entry.size());
      const string_view name = string_view(entry).substr(0, equals);
      const std::string value =
          equals < entry.size() ? entry.substr(equals + 1) : "";
      if (value.empty()) continue;
      if (name == "XDG_CONFIG_HOME") config = value;
      if (name == "GIT_CONFIG_GLOBAL" || name == "GIT_CONFIG_SYSTEM")
        Add(value);
    }
    Add(config + "/git/config");
    Add(facts.home + "/.gitconfig");
    if (!git.common.empty()) Add(git.common + "/config");
    if (!git.own.empty()) Add(git.own + "/config.worktree");
  }

  // With what it includes, whatever the condition.
  void Add(const std::string& file) {
    if (Contains(seen_, file)) return;
    if (seen_.size() == kMaxFiles) {
      unknown_ = true;
      return;
    }
    seen_.push_back(file);
    const Result<std::string> text = ReadFile(file, kMaxBytes);
    if (!text) {
      unknown_ |= text.error().code == ErrorCode::kTooLarge;
      return;  // git cannot read it either, or there is none
    }
    std::vector<GitEntry> entries;
    if (!ParseGitConfig(*text, &entries)) unknown_ |= HoldsSecret(*text);
    for (const GitEntry& entry : entries) {
      if (IsSecret(entry)) secrets_.push_back(LowerAscii(entry.key));
      const bool includes =
          entry.key == "include.path" ||
          (entry.key.starts_with("includeif.") && entry.key.ends_with(".path"));
      if (!includes || entry.value.empty()) continue;
      std::string other = entry.value;
      if (other.starts_with("~/")) other.replace(0, 1, home_);
      if (!other.starts_with('/'))
        other = std::string(DirName(file)) + "/" + other;
      Add(other);
    }
  }

  bool HasAny() const { return unknown_ || !secrets_.empty(); }
  bool Has(const std::string& key) const {
    return unknown_ || Contains(secrets_, key);
  }
  // A URL of a remote, or one that stands for a part of it.
  bool HasUrl() const {
    return unknown_ || std::ranges::any_of(secrets_, [](const auto& key) {
             return key.starts_with("remote.") || key.starts_with("url.") ||
                    key.starts_with("submodule.");
           });
  }

 private:
  std::string home_;
  std::vector<std::string> seen_, secrets_;
  bool unknown_ = false;
};

constexpr const char* kOfGit =
    "git's configuration holds a token or a password, and this prints it";

// Whether `git config WORDS…` shows what `configuration` keeps secret.
bool ConfigPrints(const std::vector<const parser::Argument*>& words,
                  const Configuration& configuration) {
  for (size_t i = 0; i < words.size(); ++i) {
    const parser::Argument& word = *words[i];
    const std::string& text = word.text;
    const bool lists = !word.known || word.splits || word.glob ||
                       (text.starts_with("--l") && !text.starts_with("--lo")) ||
                       text.starts_with("--get-r") ||
                       text.starts_with("--get-u") || text == "--regexp" ||
                       (i == 0 && text == "list") ||
                       (text.size() > 1 && text[0] == '-' && text[1] != '-' &&
                        text.find('l') != std::string::npos);
    if (lists ? configuration.HasAny()
              : text.find('.') != std::string::npos &&
                    configuration.Has(LowerAscii(text)))
      return true;
  }
  return false;
}

std::string GitPrints(const ProcessFacts& facts,
                      const parser::Invocation& invocation,
                      const std::string& cwd) {
  static constexpr std::array<string_view, 4> kShows = {"config", "remote",
                                                        "var", "ls-remote"};
  // The sub-command stands behind git's own options, of which some take a word.
  std::vector<const parser::Argument*> words;
  string_view command;
  std::vector<std::string> files;
  for (size_t i = 1; i < invocation.argv.size(); ++i) {
    const parser::Argument& word = invocation.argv[i];
    const bool takes =
        word.text == "-C" || word.text == "-c" || word.text == "--git-dir" ||
        word.text == "--work-tree" || word.text == "--namespace" ||
        word.text == "--config-env" || word.text == "--super-prefix";
    if (!command.empty()) {
      words.push_back(&word);
      const bool next = word.text == "-f" || word.text == "--file";
      if (next && i + 1 < invocation.argv.size())
        files.push_back(invocation.argv[i + 1].text);
      if (word.text.starts_with("--file="))
        files.push_back(word.text.substr(7));
    } else if (takes) {
      ++i;
    } else if (!word.text.starts_with('-')) {
      if (!Contains(kShows, word.text)) return "";
      command = word.text;
    }
  }
  if (command.empty()) return "";
  std::string doubt;
  const std::string directory = GitDirectoryOf(invocation, cwd, &doubt);
  Configuration configuration(facts, directory);
  for (const std::string& file : files)
    configuration.Add(Normalise(file, directory));
  const auto has = [&](std::initializer_list<string_view> options) {
    return std::ranges::any_of(words, [&](const parser::Argument* word) {
      return !word->known || Contains(options, word->text);
    });
  };
  bool prints = false;
  if (command == "config")
    prints = ConfigPrints(words, configuration);
  else if (command == "var")
    prints = has({"-l"}) && configuration.HasAny();
  else if (command == "remote")
    prints = has({"-v", "-vv", "--verbose", "--verb", "show", "get-url"}) &&
             configuration.HasUrl();
  else
    prints = has({"--get-url"}) && configuration.HasUrl();
  return prints ? kOfGit : "";
}

bool IsGitConfig(const std::string& path) {
  return path.ends_with("/.git/config") || path.ends_with("/.gitconfig") ||
         path.ends_with("/git/config") || path.ends_with("/config.worktree");
}

bool IsSettings(const std::string& path) {
  return IsGitConfig(path) || Contains(Settings(), BaseName(path));
}

// Whether the file of settings at `path` holds a secret.
bool FileHoldsSecret(const std::string& path) {
  const bool git = IsGitConfig(path);
  const Result<std::string> text = ReadFile(path, kMaxBytes);
  if (!text) return text.error().code == ErrorCode::kTooLarge;
  if (!git) return HoldsSecret(*text);
  std::vector<GitEntry> entries;
  if (!ParseGitConfig(*text, &entries)) return HoldsSecret(*text);
  return std::ranges::any_of(entries, IsSecret);
}

// The files of settings that a read of `effect` may meet: the file itself, what
// a pattern finds, and, when all of a directory is read, those of a `.git`.
std::vector<std::string> FilesMet(const parser::Effect& effect) {
  const std::string& path = effect.path.text;
  if (!effect.path.known || path.empty()) return {};
  if (!effect.path.glob && !effect.recursive) return {path};
  std::vector<std::string> met;
  if (effect.path.glob) {
    const std::string directory(DirName(path));
    if (directory.find_first_of("*?[\\") != std::string::npos) return {};
    std::vector<string_view> names(Settings().begin(), Settings().end());
    for (const string_view name : {"config", ".gitconfig", "config.worktree"})
      names.push_back(name);
    for (const string_view name : names) {
      std::string file = directory + "/" + std::string(name);
      if (::fnmatch(path.c_str(), file.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0)
        met.push_back(std::move(file));
    }
    return met;
  }
  if (path.ends_with("/.git"))
    met = {path + "/config", path + "/config.worktree"};
  else
    met = {path};
  return met;
}

}  // namespace

std::string PrintsSecret(const ProcessFacts& facts,
                         const parser::Analysis& analysis) {
  for (const parser::Invocation& invocation : analysis.invocations) {
    if (invocation.program != "git") continue;
    for (const std::string& cwd : parser::DirectoriesOf(invocation)) {
      std::string why = GitPrints(facts, invocation, cwd);
      if (!why.empty()) return why;
    }
  }
  size_t files = 0;
  for (const parser::Effect& effect : analysis.effects) {
    if (effect.kind != parser::EffectKind::kRead) continue;
    const bool owned = effect.invocation < analysis.invocations.size();
    if (owned && !effect.from_redirect &&
        (Contains(kSilent, analysis.invocations[effect.invocation].program) ||
         analysis.invocations[effect.invocation].program == "git"))
      continue;
    for (const std::string& file : FilesMet(effect)) {
      if (!IsSettings(file)) continue;
      if (++files > kMaxFiles)
        return "prints more settings files than gate checks for secrets";
      if (FileHoldsSecret(file))
        return std::string(BaseName(file)) +
               " holds a token or a password, and this prints it";
    }
  }
  return "";
}

}  // namespace gate::app
