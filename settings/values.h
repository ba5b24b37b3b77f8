// What may stand in a copy: values that are plainly no secrets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/lending.h"
#include "settings/copy.h"

namespace gate::settings {

using Text = std::string_view;

inline constexpr Text kBlanks = " \t\r\f\v";
// A longer run of letters is no word of a language.
inline constexpr size_t kMaxLetters = 20;

Text Trim(Text text);
bool IsLetter(char c);
// Whether all of `text`, which is not empty, are letters, digits and `more`.
bool IsOf(Text text, Text more);
// A word that a person would write: no known beginning of a secret, and where
// it is long no mixture of letters and digits.
bool IsPlainWord(Text word, size_t max_letters = kMaxLetters);
// Plain words between slashes.
bool IsPlainPath(Text path);
// Words of any script, none of which looks like a token.
bool IsPlainText(Text text);
// Whether a command line, as far as `text` is one, hands a program a login: by
// an option or an assignment that is called like a secret (`--token x`,
// `PW=x`), or because it runs a program that takes one by a shorter option
// (`sshpass -p`, `openssl -k`).
bool GivesLogin(Text text);
// http(s)://HOST[:PORT][/PATH] and nothing else.
bool IsPlainUrl(Text url);
// The base64 of a public key names its type once more (RFC 4253, 6.6).
bool IsPublicKey(Text type, Text key);
// Takes the quotes off; nothing where they do not end as they begin.
std::optional<Text> Unquoted(Text value);

// What kind of value the data says that a key has.
enum class Kind : uint8_t {
  kNone,
  kSource,
  kUrl,
  kPath,
  kWord,
  kText,
  kPublic
};
struct KeyKind {
  Kind kind = Kind::kNone;
  bool any = false;  // the data names what it is in, and not the key itself
};

// `matches`: whether a pattern of the data is of the key.
template <class Matches>
KeyKind KindOf(const rules::SettingsFile& file, Matches matches) {
  using rules::SettingsFile;
  constexpr std::pair<Kind, std::vector<Text> SettingsFile::*> kLists[] = {
      {Kind::kSource, &SettingsFile::sources},
      {Kind::kUrl, &SettingsFile::urls},
      {Kind::kPath, &SettingsFile::paths},
      {Kind::kPublic, &SettingsFile::publics},
      {Kind::kWord, &SettingsFile::words},
      {Kind::kText, &SettingsFile::texts}};
  for (const auto& [kind, list] : kLists)
    for (const Text pattern : file.*list)
      if (matches(pattern)) return {kind, pattern.ends_with('*')};
  return {};
}
// The kind of a key that is a name: `@*:registry` is any scope's.
KeyKind KindOfName(const rules::SettingsFile& file, Text key);
// The kind of a name below others: a `*` between slashes is any name. Case
// counts.
KeyKind KindOfPath(const rules::SettingsFile& file,
                   const std::vector<Text>& path);

// The value of `key`, which is of `kind`, as it is written anew; nothing where
// it is left out. Notes in `copy` what is withheld.
std::optional<std::string> Value(KeyKind kind, Text key, Text value,
                                 Copy* copy);

// Calls `each` for every line without its end; until it returns false. Notes in
// `copy` which line that was, or that all are parsed.
template <class Each>
void EachLine(Text text, Copy* copy, Each each) {
  copy->parsed = true;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (!each(text.substr(0, end))) {
      copy->parsed = false;
      copy->line = line;
      copy->column = std::min(text.find_first_not_of(kBlanks), end) + 1;
      return;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// One reader each format. They leave `parsed` false where the text is not all
// of the format.
void CopyAws(const rules::SettingsFile& file, Text text, Copy* copy);
void CopyGit(const rules::SettingsFile& file, Text text,
             const MayInclude& may_include, Copy* copy);
void CopyIni(const rules::SettingsFile& file, Text text, Copy* copy);
void CopyKeys(Text text, bool hosts, Copy* copy);
void CopyNpmrc(const rules::SettingsFile& file, Text text, Copy* copy);
void CopyProperties(const rules::SettingsFile& file, Text text, Copy* copy);
void CopySigners(Text text, Copy* copy);
void CopySsh(const rules::SettingsFile& file, Text text, Copy* copy);
// JSON, TOML or simple YAML, written as what it was.
void CopyTree(const rules::SettingsFile& file, Text text, Copy* copy);
void CopyXml(const rules::SettingsFile& file, Text text, Copy* copy);

}  // namespace gate::settings
