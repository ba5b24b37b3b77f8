#include "cli/settings_copies.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>

#include "backends/environment.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/below.h"
#include "cli/log.h"

namespace gate::cli {
namespace {

using Text = std::string_view;
using rules::SettingsFile;

// Copies of before, looked at when a new one is written.
constexpr size_t kMaxLookedAt = 256;
constexpr time_t kIdleSeconds = time_t{24} * 3600;
// A longer word of a value, without blanks and slashes, may be a token.
constexpr size_t kMaxWordBytes = 40, kMaxPlainBytes = 15;
// Of a part of a URL's path, which services also put tokens in.
constexpr size_t kMaxPartWithDigits = 12, kMaxPart = 24;

constexpr Text kBlanks = " \t\r\f\v";

Text Trim(Text text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == Text::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::string Lower(Text text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return lower;
}

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Whether all of `text` are letters, digits and `more`.
bool IsOf(Text text, Text more) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return IsLetter(c) || IsDigit(c) || more.find(c) != Text::npos;
  });
}

// A word that a person would write: no known beginning of a secret, and where
// it is long no mixture of letters and digits.
bool IsPlainWord(Text word) {
  if (word.size() > kMaxWordBytes || backends::LooksSecret("", word))
    return false;
  for (size_t at = 0; at < word.size();) {
    const size_t end =
        std::min(word.find_first_of("-_.~^@:,+%", at), word.size());
    const Text run = word.substr(at, end - at);
    if (run.size() > kMaxPlainBytes && std::ranges::any_of(run, IsDigit))
      return false;
    at = end + 1;
  }
  return true;
}

bool IsPlainPath(Text path) {
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    if (!IsPlainWord(path.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

// Whether no part of a URL's path is as long as what a service would call by a
// number, a key or an identifier.
bool IsShortPath(Text path) {
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const Text part = path.substr(at, end - at);
    if (part.size() >
        (std::ranges::any_of(part, IsDigit) ? kMaxPartWithDigits : kMaxPart))
      return false;
    at = end + 1;
  }
  return true;
}

// http(s)://HOST[:PORT][/PATH] and nothing else.
bool IsPlainUrl(Text url) {
  const std::string lower = Lower(url);
  const size_t scheme = lower.starts_with("https://")  ? 8
                        : lower.starts_with("http://") ? 7
                                                       : 0;
  if (scheme == 0) return false;
  const Text rest = url.substr(scheme);
  const size_t slash = std::min(rest.find('/'), rest.size());
  const Text host = rest.substr(0, slash), path = rest.substr(slash);
  const size_t colon = host.find(':');
  const Text port = colon == Text::npos
                        ? "80"
                        : host.substr(std::min(colon + 1, host.size()));
  return IsOf(host.substr(0, colon), ".-_") &&
         IsPlainPath(host.substr(0, colon)) && !port.empty() &&
         port.size() <= 5 && std::ranges::all_of(port, IsDigit) &&
         (path.empty() ||
          (IsOf(path, "/.-_~+@") && IsPlainPath(path) && IsShortPath(path)));
}

bool IsPlainFile(Text path) {
  return (path.starts_with('/') || path.starts_with("~/")) &&
         IsOf(path, "/.-_~+@") && IsPlainPath(path);
}

// `@*:registry` is any scope's.
bool Matches(Text pattern, Text key) {
  const size_t star = pattern.find('*');
  if (star == Text::npos) return Lower(pattern) == Lower(key);
  const Text head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  constexpr size_t kMaxNameBytes = 128;
  return key.size() > head.size() + tail.size() &&
         key.size() <= kMaxNameBytes && key.starts_with(head) &&
         key.ends_with(tail) && IsOf(key, "@:-_.~");
}

bool HasKey(const std::vector<Text>& list, Text key) {
  return std::ranges::any_of(list, [&](Text one) { return Matches(one, key); });
}

// One value as it is written anew; nothing where it is left out.
std::optional<std::string> CopyValue(const SettingsFile& file, Text key,
                                     Text value) {
  if (HasKey(file.sources, key))
    return std::string(IsPlainUrl(value) ? value : kWithheldSource);
  const bool plain = (HasKey(file.urls, key) && IsPlainUrl(value)) ||
                     (HasKey(file.paths, key) && IsPlainFile(value)) ||
                     (HasKey(file.words, key) && IsOf(value, "._~^:,@*+%-") &&
                      IsPlainPath(value));
  if (!plain) return std::nullopt;
  return std::string(value);
}

// Calls `each` for every line without its end; until it returns false.
template <class Each>
bool EachLine(Text text, Each each) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (!each(text.substr(0, end))) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

// Takes the quotes off; nothing where they do not end as they begin.
std::optional<Text> Unquoted(Text value) {
  if (value.size() < 2 || (value[0] != '"' && value[0] != '\''))
    return value.find_first_of("\"'") == Text::npos ? std::optional<Text>(value)
                                                    : std::nullopt;
  const Text inner = value.substr(1, value.size() - 2);
  if (value.back() != value[0] || inner.find_first_of("\"'\\") != Text::npos)
    return std::nullopt;
  return inner;
}

// npm's: `key = value`, a key alone is true; `;` and `#` begin comments.
void CopyNpmrc(const SettingsFile& file, Text text, SettingsCopy* copy) {
  copy->parsed = EachLine(text, [&](Text raw) {
    const Text line = Trim(raw);
    if (line.empty() || line[0] == ';' || line[0] == '#') return true;
    if (line[0] == '[') return false;
    const size_t equals = std::min(line.find('='), line.size());
    const Text key = Trim(line.substr(0, equals));
    if (!IsOf(key, "@/:._-[]")) return false;
    const auto value = equals == line.size()
                           ? std::optional<Text>("true")
                           : Unquoted(Trim(line.substr(equals + 1)));
    const auto written = value ? CopyValue(file, key, *value)
                         : HasKey(file.sources, key)
                             ? std::optional<std::string>(kWithheldSource)
                             : std::nullopt;
    copy->left_out |= !written || *written == kWithheldSource;
    if (written) copy->text += std::string(key) + "=" + *written + "\n";
    return true;
  });
}

// ssh_config(5). What follows `Match` belongs to it up to the next `Host`.
void CopySsh(const SettingsFile& file, Text text, SettingsCopy* copy) {
  bool shown = true;
  copy->parsed = EachLine(text, [&](Text raw) {
    const Text line = Trim(raw);
    if (line.empty() || line[0] == '#') return true;
    const size_t end = std::min(line.find_first_of(" \t="), line.size());
    const Text key = line.substr(0, end);
    if (!std::ranges::all_of(key, IsLetter) || key.empty()) return false;
    Text rest = Trim(line.substr(end));
    if (rest.starts_with('=')) rest = Trim(rest.substr(1));
    if (rest.empty()) return false;
    const std::string lower = Lower(key);
    if (lower == "host" || lower == "match") shown = lower == "host";
    std::string words;
    bool plain = shown && lower != "match" && HasKey(file.words, key);
    while (plain && !(rest = Trim(rest)).empty()) {
      const size_t stop = std::min(rest.find_first_of(kBlanks), rest.size());
      const auto word = Unquoted(rest.substr(0, stop));
      plain = word && IsOf(*word, "._~:,@*?!+%[]-") && IsPlainPath(*word);
      if (plain) words += " " + std::string(*word);
      rest.remove_prefix(stop);
    }
    // Without its `Host` what follows would hold for another one.
    if (lower == "host" && !plain) shown = false;
    copy->left_out |= !plain;
    if (plain) copy->text += std::string(key) + words + "\n";
    return true;
  });
}

bool IsKeyType(Text word) {
  constexpr std::array<Text, 3> kBegin = {"ssh-", "ecdsa-sha2-", "sk-"};
  return IsOf(word, "-.@") && std::ranges::any_of(kBegin, [&](Text begin) {
           return word.starts_with(begin);
         });
}

// The base64 of a public key names its type once more (RFC 4253, 6.6).
bool IsPublicKey(Text type, Text key) {
  constexpr Text kLength = "AAAA";  // of a name shorter than 64 bytes
  return IsKeyType(type) && key.starts_with(kLength) && IsOf(key, "+/=") &&
         key.size() > 2 * kLength.size();
}

std::vector<Text> WordsOf(Text line) {
  std::vector<Text> words;
  while (!(line = Trim(line)).empty()) {
    const size_t end = std::min(line.find_first_of(kBlanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

// Lines `[@marker] HOSTS TYPE KEY`, or `TYPE KEY` where `hosts` is false;
// what is another line is left out, and so are comments.
void CopyKeys(Text text, bool hosts, SettingsCopy* copy) {
  (void)EachLine(text, [&](Text raw) {
    const Text line = Trim(raw);
    if (line.empty() || line[0] == '#') return true;
    const std::vector<Text> words = WordsOf(line);
    const size_t marker =
        hosts && (words[0] == "@cert-authority" || words[0] == "@revoked") ? 1
                                                                           : 0;
    const size_t type = marker + (hosts ? 1 : 0);
    const bool good = words.size() > type + 1 &&
                      IsPublicKey(words[type], words[type + 1]) &&
                      (!hosts || IsOf(words[marker], "|+/=.,:[]*?!_%-"));
    copy->left_out |= !good;
    if (!good) return true;
    for (size_t i = 0; i <= type + 1; ++i)
      copy->text += (i == 0 ? "" : " ") + std::string(words[i]);
    copy->text += '\n';
    return true;
  });
  copy->parsed = !copy->text.empty();
}

std::optional<std::string> ReadOwn(int home, const std::string& name) {
  // What is neither a file nor a directory must not be waited for.
  const Fd fd =
      OpenBelow(home, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  struct stat info = {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_uid != ::geteuid() ||
      static_cast<size_t>(info.st_size) > kMaxSettingsCopyBytes)
    return std::nullopt;
  auto text = ReadAll(fd.get(), kMaxSettingsCopyBytes);
  if (!text) return std::nullopt;
  return std::move(*text);
}

Fd OpenHome(const std::string& home) {
  return Fd(::open(home.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Takes away copies that nobody used for a day.
void SweepOld(const std::string& place) {
  const Fd directory(
      ::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  std::vector<std::string> names;
  if (!directory || !EntriesOf(directory.get(), kMaxLookedAt, &names)) return;
  for (const std::string& name : names) {
    struct stat info = {};
    if (::fstatat(directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) ==
            0 &&
        info.st_mtim.tv_sec + kIdleSeconds < ::time(nullptr))
      ::unlinkat(directory.get(), name.c_str(), 0);
  }
}

// The file that holds `text`; empty when it cannot be written.
std::string Keep(const ProcessFacts& facts, const std::string& text) {
  const std::string place = facts.places.state + "/settings";
  const std::string file = place + "/" + Hex(Sha256(text));
  if (::utimensat(AT_FDCWD, file.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) != 0) {
    if (!MakeDirectories(place, 0700)) return "";
    SweepOld(place);
    if (!WriteFileAtomically(file, text, 0400)) return "";
  }
  return RealPath(file);
}

}  // namespace

SettingsCopy CopySettings(const SettingsFile& file, Text text) {
  SettingsCopy copy;
  if (text.size() > kMaxSettingsCopyBytes || text.find('\0') != Text::npos)
    return copy;
  if (file.format == "npmrc") CopyNpmrc(file, text, &copy);
  if (file.format == "ssh") CopySsh(file, text, &copy);
  if (file.format == "known-hosts") CopyKeys(text, true, &copy);
  if (file.format == "public-keys") CopyKeys(text, false, &copy);
  if (!copy.parsed) copy.text.clear();
  return copy;
}

SettingsCopy CopySettingsOf(const std::string& home, const SettingsFile& file) {
  const Fd directory = OpenHome(home);
  const auto text = directory ? ReadOwn(directory.get(), std::string(file.file))
                              : std::nullopt;
  return text ? CopySettings(file, *text) : SettingsCopy{};
}

void ShowSettings(const ProcessFacts& facts, backends::Profile* profile) {
  if (facts.home.empty() || facts.places.state.empty()) return;
  const auto is_hidden = [&](const std::string& path) {
    return std::ranges::any_of(
        profile->deny_read,
        [&](const std::string& place) { return IsWithin(path, place); });
  };
  const Fd home = OpenHome(facts.home);
  if (!home) return;
  const auto show = [&](const SettingsFile& file, const std::string& name) {
    const std::string path = facts.home + "/" + name;
    if (!is_hidden(path)) return;
    const auto text = ReadOwn(home.get(), name);
    if (!text) return;
    const SettingsCopy copy = CopySettings(file, *text);
    if (!copy.parsed) return;
    const std::string kept = Keep(facts, copy.text);
    if (!kept.empty()) profile->substitutes.push_back({path, kept, false, {}});
  };
  for (const SettingsFile& file : rules::SettingsFiles()) {
    const std::string name(file.file);
    if (file.format != "public-keys") {
      show(file, name);
      continue;
    }
    constexpr size_t kMaxNames = 1024;
    std::vector<std::string> names;
    const Fd directory = OpenBelow(home.get(), name, O_RDONLY | O_DIRECTORY);
    if (!directory || !EntriesOf(directory.get(), kMaxNames, &names)) continue;
    std::ranges::sort(names);
    std::erase_if(names, [](const std::string& one) {
      return !one.ends_with(".pub") || !IsOf(one, "._-@+");
    });
    if (names.size() > kMaxPublicKeys) names.resize(kMaxPublicKeys);
    for (const std::string& one : names) show(file, name + "/" + one);
  }
}

}  // namespace gate::cli
