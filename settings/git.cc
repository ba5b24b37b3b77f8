// git's configuration (git-config(1)), read as git reads it.
#include <algorithm>
#include <array>

#include "backends/environment.h"
#include "base/ascii.h"
#include "base/text.h"
#include "git/config.h"
#include "settings/values.h"

namespace gate::settings {
namespace {

// section.subsection.name; a subsection may have dots.
struct Key {
  Text section, subsection, name;
  bool has_subsection = false;
};

Key SplitKey(Text key) {
  const size_t first = std::min(key.find('.'), key.size()),
               last = key.rfind('.');
  Key split;
  split.section = key.substr(0, first);
  if (last == Text::npos) return split;
  split.name = key.substr(last + 1);
  split.has_subsection = last > first;
  if (split.has_subsection)
    split.subsection = key.substr(first + 1, last - first - 1);
  return split;
}

bool Matches(Text pattern, const Key& key) {
  const Key wanted = SplitKey(pattern);
  return wanted.section == key.section &&
         wanted.has_subsection == key.has_subsection &&
         (wanted.subsection == "*" || wanted.subsection == key.subsection) &&
         (wanted.name == "*" || wanted.name == key.name);
}

std::string GitQuoted(Text text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n' || c == '\t')
      quoted += c == '\n' ? "\\n" : "\\t";
    else
      quoted += c;
  }
  return quoted + "\"";
}

// Whether what is run, or told to a program, is about a login: words too plain
// to be told from others.
bool NamesLogin(Text value) {
  constexpr std::array<Text, 12> kWords = {
      "passw",  "passphr", "token",   "secret", "bearer", "authori",
      "apikey", "api_key", "api-key", "header", "--user", "credential"};
  const std::string lower = LowerAscii(value);
  return std::ranges::any_of(kWords,
                             [&](Text word) { return lower.contains(word); });
}

// Where a server's own name and password may stand, its place alone.
std::string WithoutUser(Text url, Copy* copy) {
  const size_t scheme = url.find("://");
  const Text authority =
      scheme == Text::npos
          ? Text()
          : url.substr(scheme + 3, url.find('/', scheme + 3) - scheme - 3);
  const size_t user = authority.rfind('@');
  if (user == Text::npos) return std::string(url);
  // git's own is the same for everybody (ssh://git@HOST).
  if (authority.substr(0, user) == "git") return std::string(url);
  copy->left_out = true;
  copy->secret = true;
  return std::string(url.substr(0, scheme + 3)) +
         std::string(url.substr(scheme + 3 + user + 1));
}

// A URL, part of one, or a short name that stands for one (`gh:`).
bool IsPlainPlace(Text place) {
  if (place.starts_with("http")) return IsPlainUrl(place);
  return IsOf(place, "/.-_~+@:") && IsPlainText(place) && IsPlainPath(place);
}

class Writer {
 public:
  Writer(const rules::SettingsFile& file, const MayInclude& may_include,
         Copy* copy)
      : file_(file), may_include_(may_include), copy_(copy) {}

  void Add(const GitEntry& entry) {
    const Key key = SplitKey(entry.key);
    if (key.section == "include" || key.section == "includeif")
      return AddInclude(key, entry);
    if (key.section == "url") return AddUrl(key, entry);
    std::string subsection(key.subsection);
    if (key.section == "http") subsection = WithoutUser(subsection, copy_);
    if (key.has_subsection &&
        !(key.section == "http"
              ? IsPlainPlace(subsection)
              : IsPlainText(subsection) && !subsection.contains('\n')))
      return LeaveOut(true);
    constexpr std::array<Text, 3> kPeople = {"user", "author", "committer"};
    // git reads a variable that stands before any section, for nobody.
    if (key.section.empty() || key.name.empty() || !IsPlainText(key.name) ||
        (std::ranges::find(kPeople, key.section) == kPeople.end() &&
         NamesLogin(entry.value))) {
      Withhold(key);
      return LeaveOut(true);
    }
    const KeyKind kind =
        KindOf(file_, [&](Text pattern) { return Matches(pattern, key); });
    if (const auto value = Value(kind, key.name, entry.value, copy_))
      Write(key, subsection, entry.boolean ? nullptr : &*value);
    else
      Withhold(key);
  }

  // Without its filter git would keep a file as it stands, where a person has
  // it changed or encrypted first. So it ends instead.
  void End() {
    const std::string program =
        "echo a filter of the configuration is withheld here >&2; exit 1";
    const std::string required = "true";
    for (const std::string& filter : withheld_filters_) {
      for (const Text name : kFilterPrograms)
        Write({"filter", filter, name, true}, filter, &program);
      Write({"filter", filter, "required", true}, filter, &required);
    }
  }

 private:
  static constexpr std::array<Text, 3> kFilterPrograms = {"clean", "smudge",
                                                          "process"};

  void Withhold(const Key& key) {
    if (key.section != "filter" || !key.has_subsection ||
        std::ranges::find(kFilterPrograms, key.name) == kFilterPrograms.end())
      return;
    std::string filter(key.subsection);
    if (std::ranges::find(withheld_filters_, filter) == withheld_filters_.end())
      withheld_filters_.push_back(std::move(filter));
  }

  void LeaveOut(bool secret) {
    copy_->left_out = true;
    copy_->secret |= secret;
  }

  void AddInclude(const Key& key, const GitEntry& entry) {
    if (key.name != "path" || entry.boolean ||
        (key.section == "include") == key.has_subsection ||
        !IsPlainText(key.subsection) || key.subsection.contains('\n') ||
        !IsPlainText(entry.value) || !may_include_ ||
        !may_include_(entry.value))
      return LeaveOut(false);
    Write(key, std::string(key.subsection), &entry.value);
  }

  // `url.BASE.insteadOf`: without the base another server would be asked.
  void AddUrl(const Key& key, const GitEntry& entry) {
    if (!key.has_subsection ||
        (key.name != "insteadof" && key.name != "pushinsteadof"))
      return LeaveOut(true);
    std::string base = WithoutUser(key.subsection, copy_);
    const std::string value = WithoutUser(entry.value, copy_);
    if (!IsPlainPlace(value)) return LeaveOut(true);
    if (!IsPlainPlace(base)) {
      LeaveOut(true);
      base = kWithheldSource;
    }
    Write(key, base, &value);
  }

  void Write(const Key& key, const std::string& subsection,
             const std::string* value) {
    std::string head = "[" + std::string(key.section);
    if (key.has_subsection) head += " " + GitQuoted(subsection);
    head += "]\n";
    if (head != head_) copy_->text += head;
    head_ = std::move(head);
    copy_->text += "\t" + std::string(key.name);
    if (value != nullptr) copy_->text += " = " + GitQuoted(*value);
    copy_->text += '\n';
  }

  const rules::SettingsFile& file_;
  const MayInclude& may_include_;
  Copy* copy_;
  std::string head_;  // of the section that was written last
  std::vector<std::string> withheld_filters_;
};

}  // namespace

void CopyGit(const rules::SettingsFile& file, Text text,
             const MayInclude& may_include, Copy* copy) {
  std::vector<GitEntry> entries;
  copy->parsed = ParseGitConfig(text, &entries);
  if (!copy->parsed) {
    const size_t read = entries.empty() ? 0 : entries.back().end;
    const auto [line, column] = Locate(
        text, std::min(text.find_first_not_of(" \t\r\n", read), text.size()));
    copy->line = line;
    copy->column = column;
    return;
  }
  Writer writer(file, may_include, copy);
  for (const GitEntry& entry : entries) writer.Add(entry);
  writer.End();
}

}  // namespace gate::settings
