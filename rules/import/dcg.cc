// dcg: packs (YAML), allow-lists and settings (TOML).
//
// Its patterns are searched in the raw line and know look-around; gate's are
// RE2 and see one command at a time, words quoted as needed. What depends on
// the difference is refused. Its allows only take back its own denials, which
// gate has none of, so each of them is refused, too.
#include <algorithm>

#include "base/regex.h"
#include "base/text.h"
#include "rules/data.h"
#include "rules/import/importer.h"

namespace gate::rules {
namespace {

// `pattern` as RE2 patterns: what must match, and what must not ("" for
// none). Nothing, and why, when it would match other text.
struct Converted {
  std::string regex, unless, problem;
};

Converted Convert(const std::string& pattern) {
  Converted out;
  out.regex = pattern;
  // ^A(?!.*B)C: A stands at one place only, so "not followed by B" is "A.*B
  // does not match".
  const size_t look = pattern.find("(?!.*");
  if (look != std::string::npos && pattern.starts_with('^')) {
    int depth = 0;
    size_t end = look;
    for (; end < pattern.size(); ++end) {
      if (pattern[end] == '\\') {
        ++end;
      } else if (pattern[end] == '[') {
        break;
      } else if (pattern[end] == '(') {
        ++depth;
      } else if (pattern[end] == ')' && --depth == 0) {
        break;
      }
    }
    const std::string head = pattern.substr(0, look);
    // What can take more or less text could end at several places.
    if (end < pattern.size() && pattern[end] == ')' &&
        head.find_first_of("*+?{|") == std::string::npos) {
      out.unless =
          head + "(?:.*" + pattern.substr(look + 5, end - look - 5) + ")";
      out.regex = head + pattern.substr(end + 1);
    }
  }
  for (const std::string* one : {&out.regex, &out.unless}) {
    if (one->find("(?=") != std::string::npos ||
        one->find("(?!") != std::string::npos ||
        one->find("(?<=") != std::string::npos ||
        one->find("(?<!") != std::string::npos) {
      out.problem = "looks around, which RE2 does not";
      return out;
    }
    if (const std::string raw = EmbeddedIn(*one); !raw.empty()) {
      out.problem = "speaks of shell syntax (`" + Visible(raw) +
                    "`), which gate has resolved, or means something else to "
                    "RE2";
      return out;
    }
    if (one->empty()) continue;
    auto compiled = Regex::Compile(*one);
    if (!compiled) {
      out.problem = "is not known to RE2: " + compiled.error().message;
      return out;
    }
    if (one == &out.regex && compiled->Search("") == MatchResult::kYes) {
      out.problem = "matches every command";
      return out;
    }
  }
  return out;
}

class DcgImporter final : public Importer {
 public:
  using Importer::Importer;
  void Read() override;

 private:
  void Pack(const DataValue& pack);
  void Settings(const DataValue& settings);
};

void DcgImporter::Read() {
  // A pack is YAML and begins with keys; settings are TOML.
  bool yaml = false;
  for (size_t at = 0; at < text_.size();) {
    const size_t end = std::min(text_.find('\n', at), text_.size());
    const std::string_view line = text_.substr(at, end - at);
    if (!line.empty() && line[0] != '#' && line[0] != ' ') {
      const size_t sign = line.find_first_of(":=[");
      yaml = line.starts_with("---") ||
             (sign != std::string_view::npos && line[sign] == ':');
      break;
    }
    at = end + 1;
  }
  const auto file = yaml ? ReadSimpleYaml(text_) : ReadToml(text_);
  if (!file) {
    RefuseAt(file.error().line, file.error().column, file.error().message,
             "mend the file first, or write its rules by hand");
    return;
  }
  if (!file->IsTable()) {
    RefuseAt(1, 1, "the file is not a table", "is it dcg's?");
    return;
  }
  if (yaml)
    Pack(*file);
  else
    Settings(*file);
}

void DcgImporter::Pack(const DataValue& pack) {
  std::string name;
  const DataValue* destructive = nullptr;
  const DataValue* safe = nullptr;
  for (const auto& [key, value] : pack.members) {
    if (key == "id" && value.IsText())
      name = value.text;
    else if (key == "destructive_patterns" && value.IsList())
      destructive = &value;
    else if (key == "safe_patterns" && value.IsList())
      safe = &value;
    else if (key != "schema_version" && key != "name" && key != "version" &&
             key != "description" && key != "keywords")
      RefuseAt(value.line, value.column,
               "`" + Visible(key) + "` is not part of a pack of dcg");
  }
  if (name.empty() || destructive == nullptr) {
    RefuseAt(1, 1, "there are no `id` and `destructive_patterns`",
             "is it a pack of dcg?");
    return;
  }
  // A safe pattern takes a whole line back there, one command here.
  Json unless = Json::array();
  for (const DataValue& entry :
       safe != nullptr ? safe->items : std::vector<DataValue>()) {
    const DataValue* pattern = entry.Find("pattern");
    const Converted converted = pattern != nullptr && pattern->IsText()
                                    ? Convert(pattern->text)
                                    : Converted{{}, {}, "is missing"};
    if (!converted.problem.empty() || !converted.unless.empty()) {
      RefuseAt(
          entry.line, entry.column,
          "the safe pattern " +
              (converted.problem.empty() ? "looks around" : converted.problem));
      continue;
    }
    unless.push_back({{"regex", converted.regex}});
  }
  for (const DataValue& entry : destructive->items) {
    std::string id, pattern, severity = "high", reason;
    bool understood = entry.IsTable();
    for (const auto& [key, value] : entry.members) {
      if (!value.IsText()) understood = false;
      if (key == "name")
        id = value.text;
      else if (key == "pattern")
        pattern = value.text;
      else if (key == "severity")
        severity = value.text;
      else if (key == "description")
        reason = value.text;
      else if (key != "explanation")
        understood = false;
    }
    const bool known = severity == "critical" || severity == "high" ||
                       severity == "medium" || severity == "low";
    if (!understood || id.empty() || pattern.empty() || !known) {
      RefuseAt(entry.line, entry.column,
               "the pattern has another form than dcg's");
      continue;
    }
    const Converted converted = Convert(pattern);
    if (!converted.problem.empty()) {
      RefuseAt(entry.line, entry.column,
               "the pattern of `" + Visible(id) + "` " + converted.problem);
      continue;
    }
    Json match = {{"regex", converted.regex}};
    Json back = unless;
    if (!converted.unless.empty())
      back.push_back({{"regex", converted.unless}});
    if (!back.empty()) match["unless"] = {{"any", back}};
    Json more = {{"severity", severity}};
    // Of these dcg only warns, or only writes it down.
    const bool stops = severity == "critical" || severity == "high";
    if (!stops) more["mode"] = "observe";
    Add(Id("dcg." + name, id), stops ? Action::kDeny : Action::kAsk,
        reason.empty() ? "imported from dcg (" + name + ")" : reason, match,
        more);
  }
}

void DcgImporter::Settings(const DataValue& settings) {
  constexpr char kTakesBack[] =
      "an allow of dcg takes back one of dcg's own rules, which gate does not "
      "have";
  constexpr char kExcept[] =
      "see `gate explain` for the rule that stops the command, and take that "
      "one back with `except` (docs/rules.md)";
  const auto blocks = [&](const DataValue& list) {
    for (const DataValue& entry : list.items) {
      const DataValue* pattern =
          entry.IsText() ? &entry : entry.Find("pattern");
      if (pattern == nullptr) pattern = entry.Find("regex");
      const DataValue* reason = entry.Find("reason");
      if (pattern == nullptr || !pattern->IsText()) {
        RefuseAt(entry.line, entry.column, "the entry has no pattern");
        continue;
      }
      const Converted converted = Convert(pattern->text);
      if (!converted.problem.empty()) {
        RefuseAt(entry.line, entry.column, "the pattern " + converted.problem);
        continue;
      }
      Json match = {{"regex", converted.regex}};
      if (!converted.unless.empty())
        match["unless"] = {{"regex", converted.unless}};
      Add(Id("dcg.block", pattern->text), Action::kDeny,
          reason != nullptr && reason->IsText() && !reason->text.empty()
              ? reason->text
              : "imported from dcg (block)",
          match);
    }
  };
  for (const auto& [key, value] : settings.members) {
    if (key == "allow" && value.IsList()) {
      for (const DataValue& entry : value.items)
        RefuseAt(entry.line, entry.column, kTakesBack, kExcept);
    } else if (key == "overrides" && value.IsTable()) {
      for (const auto& [name, list] : value.members) {
        if (name == "block" && list.IsList())
          blocks(list);
        else if (name == "allow" && list.IsList())
          for (const DataValue& entry : list.items)
            RefuseAt(entry.line, entry.column, kTakesBack, kExcept);
        else
          RefuseAt(list.line, list.column,
                   "`overrides." + Visible(name) + "` is not known");
      }
    } else if (key == "policy" || key == "agents" || key == "projects") {
      RefuseAt(value.line, value.column,
               "`" + Visible(key) +
                   "` speaks of dcg's own packs, which gate "
                   "does not have");
    } else if (key == "general" || key == "output" || key == "theme" ||
               key == "logging" || key == "history" || key == "interactive" ||
               key == "packs" || key == "heredoc" || key == "confidence" ||
               key == "git_awareness") {
      NoteAt(value.line, value.column,
             "`" + Visible(key) + "` is about dcg itself and stays there");
    } else {
      RefuseAt(value.line, value.column,
               "`" + Visible(key) + "` is not part of dcg's settings");
    }
  }
}

}  // namespace

namespace dcg {
const ImportFormat* Get();
const ImportFormat* Get() {
  static constexpr ImportFormat kFormat = FormatOf<DcgImporter>("dcg");
  return &kFormat;
}
}  // namespace dcg

}  // namespace gate::rules
