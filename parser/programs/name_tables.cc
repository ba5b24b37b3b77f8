#include "parser/programs/name_tables.h"

#include <algorithm>

#include "parser/programs/effects.h"

namespace gate::parser::programs {
namespace {

constexpr auto kByName = [](const auto& a, const auto& b) {
  return a.first < b.first;
};

// The word that `value` gives to `name`; empty: none.
std::string WordFor(const Json& value, const std::string& where,
                    const std::vector<std::string>& names,
                    const std::string& name, const OnProblem& problem) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object()) {
    problem(where, "expected a word, or names with a word each");
    return "";
  }
  std::string word;
  for (const auto& [key, each] : value.items()) {
    if (!each.is_string()) {
      problem(where + "/" + key, "expected a word");
      continue;
    }
    for (const std::string& one : SplitTokens(key)) {
      if (std::find(names.begin(), names.end(), one) == names.end())
        problem(where + "/" + key, "`" + one + "` is no name of it");
      if (one == name) word = each.get<std::string>();
    }
  }
  return word;
}

}  // namespace

void NameTables::AddEnvironment(const Json& variables,
                                const OnProblem& problem) {
  for (const auto& [name, role] : variables.items()) {
    const std::string where = "/environment/" + name;
    if (!role.is_string()) {
      problem(where, "expected a role");
      continue;
    }
    const std::string text = role.get<std::string>();
    const size_t colon = text.find(':');
    const int number = ParseRole(std::string_view(text).substr(0, colon));
    if (number == kRoles || static_cast<Role>(number) == Role::kAct ||
        static_cast<Role>(number) == Role::kRedirects) {
      problem(where, "no such role `" + text + "`");
      continue;
    }
    const size_t star = name.find('*');
    if (star != std::string::npos &&
        (star + 1 != name.size() || star == 0 || name[star - 1] != '_')) {
      problem(where, "`*` stands only at the end, behind `_`");
      continue;
    }
    environment_.push_back(
        {name,
         {static_cast<uint32_t>(number),
          colon == std::string::npos ? "" : text.substr(colon + 1)}});
  }
}

void NameTables::AddLanguages(const Json& languages, const OnProblem& problem) {
  for (const auto& [words, value] : languages.items()) {
    const std::string where = "/languages/" + words;
    const std::optional<Language> language =
        value.is_string() ? LanguageOf(value.get<std::string>()) : std::nullopt;
    if (!language) {
      problem(where, "expected the name of a language that gate reads");
      continue;
    }
    for (const std::string& word : SplitTokens(words)) {
      const bool taken =
          std::any_of(languages_.begin(), languages_.end(),
                      [&](const auto& other) { return other.first == word; });
      if (taken) problem(where, "`" + word + "` is named twice");
      languages_.emplace_back(word, *language);
    }
  }
}

void NameTables::Write(FlatWriter* writer) {
  std::sort(environment_.begin(), environment_.end(), kByName);
  std::vector<EnvironmentName> environment;
  for (const auto& [name, meaning] : environment_) {
    environment.push_back(
        {writer->Text(name), writer->Text(meaning.second), meaning.first});
  }
  std::sort(languages_.begin(), languages_.end(), kByName);
  std::vector<LanguageName> languages;
  for (const auto& [name, language] : languages_) {
    languages.push_back({writer->Text(name), static_cast<uint32_t>(language)});
  }
  writer->Section(environment);
  writer->Section(languages);
}

Models ParseModels(const Json& json, const std::string& pointer,
                   const std::vector<std::string>& names,
                   const std::string& name, const OnProblem& problem) {
  Models models;
  const auto read = [&](const char* key, auto parse, auto* model) {
    const auto it = json.find(key);
    if (it == json.end()) return;
    const std::string where = pointer + "/" + key;
    const std::string word = WordFor(*it, where, names, name, problem);
    if (word.empty()) return;
    if (const auto found = parse(word)) {
      *model = *found;
    } else {
      problem(where, std::string("no such `") + key + "`: `" + word + "`");
    }
  };
  read("output", OutputModelOf, &models.output);
  read("leaves", LeftFilesOf, &models.leaves);
  read("runs", RunModelOf, &models.runs);
  return models;
}

}  // namespace gate::parser::programs
