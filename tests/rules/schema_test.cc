// The shipped JSON Schema and the loader say the same.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "base/json.h"
#include "base/regex.h"
#include "rules/policy.h"

namespace gate::rules {
namespace {

std::string ReadAll(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

const Json& Schema() {
  static const Json schema =
      *ParseJson(ReadAll(GATE_SOURCE_DIR "/rules/schema.json"));
  return schema;
}

// The keywords that the schema uses; any other fails the test, so that nothing
// in it goes unchecked.
class Validator {
 public:
  std::vector<std::string> errors;

  void Check(const Json& value, const Json& schema, const std::string& at) {
    static const std::set<std::string> kInert = {"description", "title",
                                                 "$schema", "$id", "$defs"};
    for (const auto& [key, want] : schema.items()) {
      if (kInert.contains(key)) continue;
      if (key == "$ref") {
        const std::string ref = want.get<std::string>();
        Check(value, Schema().at(Json::json_pointer(ref.substr(1))), at);
      } else if (key == "type") {
        const std::string type = want.get<std::string>();
        Must((type == "object" && value.is_object()) ||
                 (type == "array" && value.is_array()) ||
                 (type == "string" && value.is_string()) ||
                 (type == "boolean" && value.is_boolean()) ||
                 (type == "integer" && value.is_number_integer()) ||
                 (type == "number" && value.is_number()),
             at + ": not of type " + type);
      } else if (key == "const") {
        Must(value == want, at + ": not " + want.dump());
      } else if (key == "enum") {
        Must(std::find(want.begin(), want.end(), value) != want.end(),
             at + ": not one of " + want.dump());
      } else if (key == "oneOf") {
        size_t fit = 0;
        for (const Json& one : want) {
          Validator inner;
          inner.Check(value, one, at);
          fit += inner.errors.empty() ? 1 : 0;
        }
        Must(fit == 1, at + ": fits " + std::to_string(fit) + " forms");
      } else if (key == "pattern") {
        Must(!value.is_string() || Regex::Compile(want.get<std::string>())
                                           ->Search(value.get<std::string>()) ==
                                       MatchResult::kYes,
             at + ": does not match " + want.get<std::string>());
      } else if (key == "minLength" || key == "maxLength") {
        if (value.is_string())
          Must(key == "minLength"
                   ? value.get<std::string>().size() >= want.get<size_t>()
                   : value.get<std::string>().size() <= want.get<size_t>(),
               at + ": has a wrong length");
      } else if (key == "minItems" || key == "minProperties") {
        if (value.is_array() || value.is_object())
          Must(value.size() >= want.get<size_t>(), at + ": is too short");
      } else if (key == "minimum" || key == "maximum") {
        if (value.is_number())
          Must(key == "minimum" ? value.get<double>() >= want.get<double>()
                                : value.get<double>() <= want.get<double>(),
               at + ": is out of bounds");
      } else if (key == "items") {
        if (value.is_array())
          for (size_t i = 0; i < value.size(); ++i)
            Check(value[i], want, at + "/" + std::to_string(i));
      } else if (key == "required") {
        for (const Json& name : want)
          Must(value.contains(name.get<std::string>()),
               at + ": has no " + name.get<std::string>());
      } else if (key == "propertyNames") {
        if (value.is_object())
          for (const auto& [name, member] : value.items())
            Check(Json(name), want, at + "/" + name + " (name)");
      } else if (key == "properties") {
        if (value.is_object())
          for (const auto& [name, member] : value.items())
            if (want.contains(name)) Check(member, want[name], at + "/" + name);
      } else if (key == "additionalProperties") {
        if (!value.is_object()) continue;
        const Json known = schema.value("properties", Json::object());
        for (const auto& [name, member] : value.items()) {
          if (known.contains(name)) continue;
          if (want.is_boolean())
            Must(want.get<bool>(), at + ": has " + name);
          else
            Check(member, want, at + "/" + name);
        }
      } else {
        errors.push_back("the test does not know the keyword " + key);
      }
    }
  }

 private:
  void Must(bool holds, std::string error) {
    if (!holds) errors.push_back(std::move(error));
  }
};

std::vector<std::string> Errors(const Json& value) {
  Validator validator;
  validator.Check(value, Schema(), "");
  return validator.errors;
}

// True when the loader knows the key: it may still dislike the value.
bool LoaderKnows(const std::string& text, const std::string& key) {
  RuleFile file;
  file.name = "f";
  file.layer = Layer::kSystem;
  file.text = text;
  const Policy policy = MakePolicy({file}, true);
  for (const Diagnostic& diagnostic : policy.diagnostics())
    if (diagnostic.code == "rule-unknown-key" &&
        diagnostic.message.starts_with("`" + key + "`"))
      return false;
  return true;
}

// Every word in the loader's sources, and so every key that it could know.
std::set<std::string> Words() {
  std::set<std::string> words = {"$schema", "colour", "match", "schema"};
  for (const auto& entry :
       std::filesystem::directory_iterator(GATE_SOURCE_DIR "/rules")) {
    if (!entry.path().filename().string().starts_with("compile")) continue;
    std::string word;
    for (const char c : ReadAll(entry.path()))
      if ((c >= 'a' && c <= 'z') || c == '_' || c == '$') {
        word += c;
      } else {
        if (word.size() > 1 && word.size() < 24) words.insert(word);
        word.clear();
      }
  }
  return words;
}

TEST(Schema, EveryShippedFileConforms) {
  size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(GATE_SOURCE_DIR "/rules.d")) {
    if (entry.path().extension() != ".json") continue;
    const auto json = ParseJson(ReadAll(entry.path()), /*comments=*/true);
    ASSERT_TRUE(json) << entry.path();
    for (const std::string& error : Errors(*json))
      ADD_FAILURE() << entry.path() << error;
    ++files;
  }
  EXPECT_GT(files, 10u);
}

TEST(Schema, EveryRuleFileInTheDocumentationConformsAndLoads) {
  size_t found = 0;
  for (const char* name : {"/docs/rules.md", "/README.md"}) {
    const std::string text = ReadAll(std::string(GATE_SOURCE_DIR) + name);
    for (size_t at = text.find("```json"); at != std::string::npos;
         at = text.find("```json", at + 1)) {
      const size_t begin = text.find('\n', at) + 1;
      const std::string body =
          text.substr(begin, text.find("```", begin) - begin);
      if (body.find("\"schema\"") == std::string::npos) continue;
      ++found;
      const auto json = ParseJson(body, /*comments=*/true);
      ASSERT_TRUE(json) << name << body;
      for (const std::string& error : Errors(*json))
        ADD_FAILURE() << name << error;
      RuleFile file;
      file.name = name;
      file.layer = Layer::kUser;
      file.text = body;
      const Policy policy = MakePolicy({file}, true);
      for (const Diagnostic& diagnostic : policy.diagnostics())
        ADD_FAILURE() << Render(diagnostic);
    }
  }
  EXPECT_GE(found, 1u);
}

TEST(Schema, KnowsTheKeysThatTheLoaderKnowsAndNoOthers) {
  const Json& defs = Schema()["$defs"];
  const Json& match = defs["match"]["properties"];
  const auto one_object = [](const Json& schema) {
    if (schema.contains("properties")) return schema["properties"];
    for (const Json& form : schema.value("oneOf", Json::array()))
      if (form.contains("properties")) return form["properties"];
    return Json::object();
  };
  const auto resolve = [](const Json& schema) {
    return schema.contains("$ref")
               ? Schema().at(Json::json_pointer(
                     schema["$ref"].get<std::string>().substr(1)))
               : schema;
  };
  const auto rule = [](const std::string& inside) {
    return R"({"schema": 1, "pack": "p", "rules": [{"id": "a", "action": "deny",
             "reason": "r", )" +
           inside + "}]}";
  };
  struct Place {
    const char* name;
    Json known;
    std::function<std::string(const std::string&)> file;
  };
  const auto in_match = [&](const char* key) {
    return [&rule, key](const std::string& k) {
      return rule("\"match\": {\"" + std::string(key) + "\": {\"" + k +
                  "\": \"x\"}}");
    };
  };
  const Place places[] = {
      {"file", Schema()["properties"],
       [](const std::string& k) { return "{\"" + k + "\": \"x\"}"; }},
      {"rule", defs["rule"]["properties"],
       [](const std::string& k) {
         return R"({"schema": 1, "pack": "p", "rules": [{")" + k +
                R"(": "x"}]})";
       }},
      {"match", match,
       [&](const std::string& k) {
         return rule("\"match\": {\"" + k + "\": \"x\"}");
       }},
      {"options", one_object(resolve(match["options"])), in_match("options")},
      {"operands", one_object(resolve(match["operands"])),
       in_match("operands")},
      {"effect", one_object(resolve(match["effect"])), in_match("effect")},
      {"any_effect", one_object(resolve(match["any_effect"])),
       in_match("any_effect")},
      {"flow", one_object(resolve(match["flow"])), in_match("flow")},
      {"any_flow", one_object(resolve(match["any_flow"])),
       in_match("any_flow")},
      {"env", one_object(resolve(match["env"])), in_match("env")},
      {"examples", one_object(resolve(defs["rule"]["properties"]["examples"])),
       [&](const std::string& k) {
         return rule("\"examples\": {\"" + k + "\": []}");
       }},
  };
  const std::set<std::string> words = Words();
  EXPECT_GT(words.size(), 300u);
  for (const Place& place : places) {
    std::set<std::string> tried = words;
    for (const auto& [key, value] : place.known.items()) tried.insert(key);
    EXPECT_FALSE(place.known.empty()) << place.name;
    for (const std::string& word : tried)
      EXPECT_EQ(LoaderKnows(place.file(word), word), place.known.contains(word))
          << place.name << "." << word;
  }
}

}  // namespace
}  // namespace gate::rules
