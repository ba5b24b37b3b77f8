#include "rules/import/importer.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "rules/lint.h"

namespace gate::rules {

const ImportFormat* ParseImportFormat(std::string_view name) {
  for (const ImportFormat* (*get)() : AllImportFormats())
    if (get()->name == name) return get();
  return nullptr;
}

std::vector<std::string> ImportFormatNames() {
  std::vector<std::string> names;
  for (const ImportFormat* (*get)() : AllImportFormats())
    names.emplace_back(get()->name);
  return names;
}

Imported ImportRules(const ImportFormat& format, const std::string& file,
                     std::string_view text, Action allow_as) {
  const auto importer = format.make(file, text, allow_as);
  importer->Read();
  return importer->Take();
}

std::string ProgramOf(const std::string& glob) {
  const std::string word = glob.substr(0, glob.find(' '));
  return word.find_first_of("*?") == std::string::npos ? word : "";
}

std::string EscapePointer(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string ImportedFile(std::string_view pack, const Imported& imported) {
  std::string out = "{\n  \"schema\": 1, \"pack\": " + Dump(std::string(pack)) +
                    ",\n  \"rules\": [\n";
  for (size_t i = 0; i < imported.rules.size(); ++i)
    out += "    " + Dump(imported.rules[i]) +
           (i + 1 < imported.rules.size() ? ",\n" : "\n");
  return out + "  ]\n}\n";
}

void Importer::Refuse(size_t offset, std::string message, std::string help) {
  const LineColumn at = Locate(text_, offset);
  RefuseAt(at.line, at.column, std::move(message), std::move(help));
}

void Importer::RefuseAt(size_t line, size_t column, std::string message,
                        std::string help) {
  result_.diagnostics.push_back({Severity::kError, "import-refused", file_,
                                 line, column, std::move(message),
                                 help.empty()
                                     ? "write this rule by hand (docs/rules.md)"
                                     : std::move(help)});
}

void Importer::Note(size_t offset, std::string message) {
  const LineColumn at = Locate(text_, offset);
  NoteAt(at.line, at.column, std::move(message));
}

void Importer::NoteAt(size_t line, size_t column, std::string message) {
  result_.diagnostics.push_back({Severity::kNote, "import-other", file_, line,
                                 column, std::move(message), ""});
}

size_t Importer::At(const std::string& pointer) const {
  return LocatePointer(text_, pointer);
}

std::string Importer::Id(std::string_view prefix, std::string_view words) {
  std::string id(prefix);
  id += '.';
  for (const char c : words.substr(0, 40))
    id += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
  while (id.ends_with('-')) id.pop_back();
  const std::string base = id;
  const auto taken = [this](const std::string& name) {
    return ids_.contains(name) ||
           std::any_of(result_.rules.begin(), result_.rules.end(),
                       [&](const Json& rule) { return rule["id"] == name; });
  };
  for (int i = 2; taken(id); ++i) id = base + "-" + std::to_string(i);
  return id;
}

std::optional<Json> Importer::ReadJson() {
  auto json = ParseJson(text_, /*comments=*/true);
  if (!json) {
    Refuse(json.error().offset, json.error().message, "mend the file first");
    return std::nullopt;
  }
  if (!json->is_object()) {
    Refuse(0, "the file is not a JSON object", "is it of this tool?");
    return std::nullopt;
  }
  return std::move(*json);
}

bool IsNoProgram(std::string_view word) {
  static constexpr std::string_view kGrammar[] = {
      "!",    "time",   "if",       "then",   "else", "elif", "fi",
      "for",  "in",     "while",    "until",  "do",   "done", "case",
      "esac", "select", "function", "coproc", "[["};
  if (std::find(std::begin(kGrammar), std::end(kGrammar), word) !=
      std::end(kGrammar))
    return true;
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<long>(equals),
                     [](char c) {
                       return std::isalnum(static_cast<unsigned char>(c)) ||
                              c == '_' || c == '+' || c == '*' || c == '?';
                     });
}

std::string EmbeddedIn(std::string_view regex) {
  bool in_class = false;
  for (size_t i = 0; i < regex.size(); ++i) {
    const std::string_view rest = regex.substr(i);
    if (rest[0] == '\\') {
      if (rest.size() < 2) return std::string(rest);
      const char c = rest[1];
      // Letters that mean the same to every dialect.
      const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
      if (std::string_view("$|(){}\\").find(c) != std::string_view::npos ||
          std::string_view("'\"`;&<>~#").find(c) != std::string_view::npos ||
          (letter &&
           std::string_view("bBdDsSwWtnrfv").find(c) == std::string_view::npos))
        return std::string(rest.substr(0, 2));
      ++i;
      continue;
    }
    if (std::string_view("'\"`;&<>~#").find(rest[0]) != std::string_view::npos)
      return std::string(rest.substr(0, 1));
    if (in_class) {
      if (std::string_view("$|(){}").find(rest[0]) != std::string_view::npos)
        return std::string(rest.substr(0, 1));
      // Sets of sets, and differences of sets, in other dialects.
      if ((rest[0] == '[' && !rest.starts_with("[:")) || rest.starts_with("--"))
        return std::string(rest.substr(0, 2));
      if (rest.starts_with("[:")) {
        const size_t end = rest.find(":]");
        if (end == std::string_view::npos) return "[:";
        i += end + 1;
      } else if (rest[0] == ']') {
        in_class = false;
      }
      continue;
    }
    if (rest[0] == '[') {
      in_class = true;
      if (regex.substr(i + 1, 1) == "^") ++i;
      if (regex.substr(i + 1, 1) == "]") ++i;
      continue;
    }
    // A variable's name before `=`: gate keeps assignments apart.
    size_t name = i;
    while (name < regex.size() &&
           ((regex[name] >= 'A' && regex[name] <= 'Z') || regex[name] == '_'))
      ++name;
    if (name - i > 1) {
      if (name < regex.size() && regex[name] == '=' &&
          (i == 0 || regex[i - 1] != '-'))
        return std::string(regex.substr(i, name - i + 1));
      i = name - 1;
    }
  }
  return "";
}

std::optional<std::string> Importer::GlobOf(size_t offset,
                                            const std::string& pattern,
                                            bool question, Action action) {
  // Gate matches the command as the shell splits it, each word quoted where it
  // needs it; text that speaks of quoting or operators matches something else.
  if (const size_t bad = pattern.find_first_of("'\"\\`$;|&<>(){}[]#\n\t~");
      bad != std::string::npos) {
    Refuse(offset, "the pattern `" + Visible(pattern) +
                       "` speaks of shell syntax (`" +
                       Visible(pattern.substr(bad, 1)) +
                       "`), which gate has resolved before it matches");
    return std::nullopt;
  }
  std::string glob;
  for (const char c : pattern) {
    if (c == ' ' && (glob.empty() || glob.back() == ' ')) continue;
    if (c == '?' && !question) glob += '\\';
    glob += c;
  }
  while (glob.ends_with(' ')) glob.pop_back();
  if (IsNoProgram(std::string_view(glob).substr(0, glob.find(' ')))) {
    Refuse(offset,
           "no command begins with the first word of `" + Visible(pattern) +
               "` once gate has read it",
           "match the program that runs, or an assignment with `env`");
    return std::nullopt;
  }
  // What an allow means must match as it stands; the others are tried on the
  // words without quotes, too.
  if (action == Action::kAllow) {
    std::string quoted;
    for (size_t at = 0; at < glob.size();) {
      const size_t end = std::min(glob.find(' ', at), glob.size());
      const std::string word = glob.substr(at, end - at);
      const bool plain = ShellQuote(word) == word;
      const bool wild = word.find_first_of("*?") != std::string::npos;
      std::string bare = word;
      std::erase_if(bare, [](char c) { return c == '*' || c == '?'; });
      if (!plain && wild && !bare.empty() && ShellQuote(bare) != bare) {
        Refuse(offset, "a word of `" + Visible(pattern) +
                           "` is quoted by gate before it matches");
        return std::nullopt;
      }
      quoted += (at == 0 ? "" : " ") + (wild ? word : ShellQuote(word));
      at = end + 1;
    }
    glob = quoted;
  }
  if (glob.find_first_not_of("* ") == std::string::npos) {
    Refuse(offset, "the pattern means every command, or none",
           "set `default_action` in a rule file for what no rule knows");
    return std::nullopt;
  }
  return glob;
}

void Importer::Add(const std::string& id, Action action, std::string reason,
                   Json match, Json more) {
  Json rule = std::move(more);
  rule["id"] = id;
  rule["action"] = Name(action == Action::kAllow ? allow_as_ : action);
  rule["reason"] = std::move(reason);
  rule["match"] = std::move(match);
  result_.rules.push_back(std::move(rule));
}

}  // namespace gate::rules
