#include "rules/lending.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/json.h"

namespace gate::rules {

std::string_view EmbeddedLending();  // lending_image.cc, made by the build

namespace {

using Text = std::string_view;
using List = std::vector<Text>;

enum class Kind : uint8_t { kHomePath, kAbsolutePath, kVariable, kName };

// The members of an entry: one line of the image each item, by its letter.
struct Member {
  Text name;
  char letter;
  Kind kind;
  List Lending::* field;
};
constexpr auto kMembers = std::to_array<Member>({
    {"files", 'f', Kind::kHomePath, &Lending::files},
    {"copies", 'c', Kind::kHomePath, &Lending::copies},
    {"sockets", 's', Kind::kAbsolutePath, &Lending::sockets},
    {"variables", 'v', Kind::kVariable, &Lending::variables},
    {"places", 'p', Kind::kVariable, &Lending::places},
    {"engines", 'e', Kind::kVariable, &Lending::engines},
    {"line", 'l', Kind::kVariable, &Lending::line},
    {"refuses", 'r', Kind::kVariable, &Lending::refuses},
    {"away", 'a', Kind::kName, &Lending::away},
    {"values", 'o', Kind::kName, &Lending::values},
    {"hosts", 'h', Kind::kName, &Lending::hosts},
    {"lists", 'n', Kind::kName, &Lending::lists},
    {"workspace", 'w', Kind::kName, &Lending::workspace},
    {"runs", 'g', Kind::kName, &Lending::runs},
    {"plugins", 'x', Kind::kName, &Lending::plugins},
});
// "=NAME NAME…" begins an entry; what stands before the first is for all.
constexpr char kEntry = '=';
// "K1DIRECTORY\tPROGRAMS" is a cache, with 1 a shared one; "RNAMES" runners.
constexpr char kCache = 'K', kRunner = 'R';
// "FFILE\tFORMAT\tPROGRAMS" is a file of settings; its keys follow.
constexpr char kSettings = 'F';
struct KeyList {
  Text name;
  char letter;
  List SettingsFile::* field;
};
constexpr auto kKeyLists = std::to_array<KeyList>({
    {"sources", 'S', &SettingsFile::sources},
    {"urls", 'U', &SettingsFile::urls},
    {"paths", 'P', &SettingsFile::paths},
    {"words", 'W', &SettingsFile::words},
    {"texts", 'T', &SettingsFile::texts},
    {"publics", 'Y', &SettingsFile::publics},
});
constexpr auto kFormats = std::to_array<Text>(
    {"aws", "git", "ini", "json", "known-hosts", "npmrc", "properties",
     "public-keys", "signers", "ssh", "toml", "xml", "yaml"});

bool IsNameText(Text text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || Text("._-/ =@+:,").find(c) != Text::npos;
  });
}

bool IsVariableText(Text text) {
  const Text name = text.substr(0, text.find('='));
  return !name.empty() && name[0] != '*' &&
         std::ranges::count(name, '*') <= 1 &&
         std::ranges::all_of(name,
                             [](char c) {
                               return (c >= 'a' && c <= 'z') ||
                                      (c >= 'A' && c <= 'Z') ||
                                      (c >= '0' && c <= '9') || c == '_' ||
                                      c == '*';
                             }) &&
         text.find('\n') == Text::npos;
}

std::string Wrong(Kind kind, Text item) {
  const bool climbs = item == ".." || item.starts_with("../") ||
                      item.ends_with("/..") ||
                      item.find("/../") != Text::npos ||
                      item.find("//") != Text::npos || item.ends_with('/');
  switch (kind) {
    case Kind::kHomePath:
      return !IsNameText(item) || item.starts_with('/') || climbs
                 ? "is no path below a home directory"
                 : "";
    case Kind::kAbsolutePath:
      return !IsNameText(item) || !item.starts_with('/') || climbs
                 ? "is no absolute path"
                 : "";
    case Kind::kVariable:
      return IsVariableText(item) ? "" : "is no variable";
    case Kind::kName:
      return IsNameText(item) && !item.starts_with('/') && !climbs
                 ? ""
                 : "is no name";
  }
  return "is of no kind";
}

// Calls `each` for every line of `image`; until it returns false.
template <class Each>
void EachLine(Text image, Each each) {
  while (!image.empty()) {
    const size_t end = std::min(image.find('\n'), image.size());
    if (end > 0 && !each(image[0], image.substr(1, end - 1))) return;
    image.remove_prefix(std::min(end + 1, image.size()));
  }
}

Result<std::string> CompileCaches(const Json& caches) {
  const auto wrong = [](std::string what) {
    return Fail(ErrorCode::kInvalid, "caches: " + std::move(what));
  };
  if (!caches.is_array()) return wrong("they are no list");
  std::string out;
  for (const Json& cache : caches) {
    if (!cache.is_object()) return wrong("one is no object");
    std::string directory, programs;
    bool shared = false;
    for (const auto& [name, value] : cache.items()) {
      if (name == "directory" && value.is_string())
        directory = value.get<std::string>();
      else if (name == "programs" && value.is_string())
        programs = value.get<std::string>();
      else if (name == "shared" && value.is_boolean())
        shared = value.get<bool>();
      else
        return wrong("there is no such member `" + name + "`");
    }
    if (const std::string why = Wrong(Kind::kHomePath, directory); !why.empty())
      return wrong("`" + directory + "` " + why);
    if (!programs.empty() && !IsNameText(programs))
      return wrong("`" + programs + "` names no programs");
    out += kCache + std::string(shared ? "1" : "0") + directory + "\t" +
           programs + "\n";
  }
  return out;
}

Result<std::string> CompileSettings(const Json& files) {
  const auto wrong = [](std::string what) {
    return Fail(ErrorCode::kInvalid, "settings: " + std::move(what));
  };
  if (!files.is_array()) return wrong("they are no list");
  std::string out;
  for (const Json& one : files) {
    if (!one.is_object()) return wrong("one is no object");
    std::string file, format, programs, keys;
    for (const auto& [name, value] : one.items()) {
      const auto list = std::ranges::find(kKeyLists, name, &KeyList::name);
      if (list != kKeyLists.end() && value.is_array()) {
        for (const Json& key : value) {
          if (!key.is_string() || key.get<std::string>().empty() ||
              key.get<std::string>().find('\n') != std::string::npos)
            return wrong("`" + name + "` holds no key");
          keys += list->letter + key.get<std::string>() + "\n";
        }
        continue;
      }
      if (!value.is_string())
        return wrong("there is no such member `" + name + "`");
      if (name == "file")
        file = value.get<std::string>();
      else if (name == "format")
        format = value.get<std::string>();
      else if (name == "programs")
        programs = value.get<std::string>();
      else if (name != "source")
        return wrong("there is no such member `" + name + "`");
    }
    if (const std::string why = Wrong(Kind::kHomePath, file); !why.empty())
      return wrong("`" + file + "` " + why);
    if (std::ranges::find(kFormats, format) == kFormats.end())
      return wrong("`" + format + "` is no format");
    if (!programs.empty() && !IsNameText(programs))
      return wrong("`" + programs + "` names no programs");
    out += kSettings + file + "\t" + format + "\t" + programs + "\n" + keys;
  }
  return out;
}

// One entry, or what is for all of them, as lines of the image.
Result<std::string> CompileEntry(const Json& entry) {
  const auto wrong = [](std::string what) {
    return Fail(ErrorCode::kInvalid, std::move(what));
  };
  std::string out;
  for (const auto& [name, value] : entry.items()) {
    if (name == "program" || name == "source") continue;
    const auto member = std::ranges::find(kMembers, name, &Member::name);
    if (member == kMembers.end())
      return wrong("there is no member `" + name + "`");
    if (!value.is_array()) return wrong("`" + name + "` is no list");
    for (const Json& item : value) {
      if (!item.is_string()) return wrong("`" + name + "` holds no text");
      const auto text = item.get<std::string>();
      if (const std::string why = Wrong(member->kind, text); !why.empty())
        return wrong("`" + text + "` of `" + name + "` " + why);
      out += member->letter + text + "\n";
    }
  }
  return out;
}

}  // namespace

bool HasWord(Text words, Text word) {
  for (size_t at = 0; at <= words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

std::optional<Lending> FindLendingIn(Text image, Text program) {
  if (program.empty()) return std::nullopt;
  Lending found;
  bool all = true, mine = false;
  EachLine(image, [&](char letter, Text text) {
    if (letter == kEntry) {
      if (mine) return false;
      all = false;
      mine = HasWord(text, program);
      if (mine) found.program = text.substr(0, text.find(' '));
      return true;
    }
    if (!all && !mine) return true;
    const auto member = std::ranges::find(kMembers, letter, &Member::letter);
    if (member != kMembers.end()) (found.*member->field).push_back(text);
    return true;
  });
  if (!mine) return std::nullopt;
  return found;
}

std::optional<Lending> FindLending(Text program) {
  return FindLendingIn(EmbeddedLending(), program);
}

std::vector<Text> LendingPrograms() {
  std::vector<Text> names;
  EachLine(EmbeddedLending(), [&](char letter, Text text) {
    if (letter == kEntry) names.push_back(text.substr(0, text.find(' ')));
    return true;
  });
  return names;
}

std::vector<ToolCache> ToolCaches() {
  std::vector<ToolCache> caches;
  EachLine(EmbeddedLending(), [&](char letter, Text text) {
    if (letter == kEntry) return false;
    const size_t tab = text.find('\t');
    if (letter == kCache && tab != Text::npos)
      caches.push_back(
          {text.substr(1, tab - 1), text[0] == '1', text.substr(tab + 1)});
    return true;
  });
  return caches;
}

std::vector<SettingsFile> SettingsFiles() {
  std::vector<SettingsFile> files;
  EachLine(EmbeddedLending(), [&](char letter, Text text) {
    const auto list = std::ranges::find(kKeyLists, letter, &KeyList::letter);
    if (letter == kSettings) {
      const size_t one = text.find('\t'), two = text.find('\t', one + 1);
      files.push_back({text.substr(0, one),
                       text.substr(one + 1, two - one - 1),
                       text.substr(two + 1),
                       {},
                       {},
                       {},
                       {},
                       {},
                       {}});
    } else if (list != kKeyLists.end() && !files.empty()) {
      (files.back().*list->field).push_back(text);
    }
    return letter != kEntry;
  });
  return files;
}

std::vector<Text> CacheRunners() {
  std::vector<Text> runners;
  EachLine(EmbeddedLending(), [&](char letter, Text text) {
    if (letter == kRunner) runners.push_back(text);
    return letter != kEntry;
  });
  return runners;
}

bool NamesVariable(Text pattern, Text name) {
  const Text of = pattern.substr(0, pattern.find('='));
  const size_t star = of.find('*');
  if (star == Text::npos) return name == of;
  return name.size() + 1 >= of.size() && name.starts_with(of.substr(0, star)) &&
         name.ends_with(of.substr(star + 1));
}

bool AcceptsSetting(const List& line, Text name, std::optional<Text> value) {
  return std::ranges::any_of(line, [&](Text pattern) {
    if (!NamesVariable(pattern, name)) return false;
    const size_t equals = pattern.find('=');
    if (equals == Text::npos) return true;
    if (!value) return false;
    for (size_t at = equals + 1;;) {
      const size_t end = std::min(pattern.find('|', at), pattern.size());
      if (pattern.substr(at, end - at) == *value) return true;
      if (end == pattern.size()) return false;
      at = end + 1;
    }
  });
}

bool LeadsAway(const List& away, Text word, bool operand) {
  // Of a bundle what stands behind one of these is a value.
  constexpr Text kTakeValues = "cdefklmnopuvCLN";
  const bool option = word.size() > 1 && word[0] == '-';
  const bool two = word.starts_with("--");
  const Text name = word.substr(0, word.find('='))
                        .substr(two      ? 2
                                : option ? 1
                                         : 0);
  return std::ranges::any_of(away, [&](Text entry) {
    if (entry == ":") return !option && word.starts_with(':');
    if (entry == ",") return !option && word.find(',') != Text::npos;
    if (!entry.starts_with('-')) return operand && entry == word;
    if (!option) return false;
    if (entry.starts_with("--"))
      // Unambiguous beginnings are the option, and Go knows one dash as well.
      return name == entry.substr(2) ||
             (two && name.size() >= 3 && entry.substr(2).starts_with(name));
    if (two || entry.size() != 2) return !two && name == entry.substr(1);
    const size_t at = name.find(entry[1]);
    return at == 0 || (at != Text::npos && name.substr(0, at).find_first_of(
                                               kTakeValues) == Text::npos);
  });
}

Result<std::string> CompileLending(Text text) {
  const auto json = ParseJson(text, /*comments=*/true);
  if (!json)
    return Fail(ErrorCode::kInvalid, "byte " +
                                         std::to_string(json.error().offset) +
                                         ": " + json.error().message);
  if (!json->is_object() || !json->contains("schema") ||
      json->at("schema") != 1 || !json->contains("programs") ||
      !json->at("programs").is_array())
    return Fail(ErrorCode::kInvalid, "it has no schema 1 or no programs");
  for (const auto& [name, value] : json->items())
    if (name != "schema" && name != "all" && name != "programs" &&
        name != "caches" && name != "runners" && name != "settings")
      return Fail(ErrorCode::kInvalid, "there is no member `" + name + "`");
  std::string image;
  if (json->contains("all")) {
    GATE_TRY(const std::string all, CompileEntry(json->at("all")));
    image += all;
  }
  if (json->contains("caches")) {
    GATE_TRY(const std::string caches, CompileCaches(json->at("caches")));
    image += caches;
  }
  if (json->contains("settings")) {
    GATE_TRY(const std::string settings, CompileSettings(json->at("settings")));
    image += settings;
  }
  if (json->contains("runners")) {
    if (!json->at("runners").is_array())
      return Fail(ErrorCode::kInvalid, "runners: they are no list");
    for (const Json& runner : json->at("runners")) {
      if (!runner.is_string() || !IsNameText(runner.get<std::string>()))
        return Fail(ErrorCode::kInvalid, "runners: one is no name");
      image += kRunner + runner.get<std::string>() + "\n";
    }
  }
  std::set<std::string, std::less<>> known;
  for (const Json& entry : json->at("programs")) {
    if (!entry.is_object() || !entry.contains("program") ||
        !entry.at("program").is_string())
      return Fail(ErrorCode::kInvalid, "an entry names no program");
    const auto names = entry.at("program").get<std::string>();
    if (!IsNameText(names) || names.find('/') != std::string::npos ||
        names.starts_with(' '))
      return Fail(ErrorCode::kInvalid, "`" + names + "` names no program");
    for (size_t at = 0; at < names.size();) {
      const size_t end = std::min(names.find(' ', at), names.size());
      if (!known.insert(names.substr(at, end - at)).second)
        return Fail(ErrorCode::kInvalid,
                    "`" + names.substr(at, end - at) + "` is there twice");
      at = end + 1;
    }
    auto lines = CompileEntry(entry);
    if (!lines)
      return Fail(ErrorCode::kInvalid,
                  "`" + names + "`: " + lines.error().message);
    image += kEntry + names + "\n" + *lines;
  }
  return image;
}

}  // namespace gate::rules
