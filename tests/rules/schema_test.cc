// The shipped JSON Schema and the loader say the same.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
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

const Regex& Compiled(const std::string& pattern) {
  static std::map<std::string, Regex> known;
  auto found = known.find(pattern);
  if (found == known.end())
    found = known.emplace(pattern, *Regex::Compile(pattern)).first;
  return found->second;
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
      } else if (key == "anyOf") {
        Must(std::any_of(want.begin(), want.end(),
                         [&](const Json& one) {
                           Validator inner;
                           inner.Check(value, one, at);
                           return inner.errors.empty();
                         }),
             at + ": fits no form");
      } else if (key == "not") {
        Validator inner;
        inner.Check(value, want, at);
        Must(!inner.errors.empty(), at + ": fits what it must not");
      } else if (key == "pattern") {
        Must(!value.is_string() ||
                 Compiled(want.get<std::string>())
                         .Search(value.get<std::string>()) == MatchResult::kYes,
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
        if (!value.is_object()) continue;
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
  for (const char* folder : {"/rules/compile", "/rules/matchers"})
    for (const auto& entry : std::filesystem::directory_iterator(
             GATE_SOURCE_DIR + std::string(folder))) {
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

// What only the loader can know: names and ids that stand elsewhere, the syntax
// of a regex, sizes of it all, the layer and what may stand in it.
bool IsBeyondASchema(const Diagnostic& diagnostic) {
  static const std::set<std::string> kCodes = {
      "rule-bad-class",       "rule-bad-host",      "rule-bad-regex",
      "rule-cyclic-macro",    "rule-duplicate-id",  "rule-duplicate-list",
      "rule-duplicate-macro", "rule-not-here",      "rule-loosen-condition",
      "rule-too-deep",        "rule-too-large",     "rule-too-many",
      "rule-unknown-list",    "rule-unknown-macro", "rule-untrusted"};
  const auto says = [&](const char* part) {
    return diagnostic.message.find(part) != std::string::npos;
  };
  return kCodes.contains(diagnostic.code) ||
         // A kind or code that is the member of a list.
         (diagnostic.code == "rule-bad-value" && says("`a`")) ||
         (diagnostic.code == "rule-bad-value" && says("`only_does` knows")) ||
         (diagnostic.code == "rule-bad-value" && says("is no act here")) ||
         (diagnostic.code == "rule-bad-value" && says("`hosts` has no")) ||
         (diagnostic.code == "rule-bad-value" &&
          says("is nothing that a program")) ||
         // A class that is not defined; a regex that matches all; a list that
         // has no members.
         (diagnostic.code == "rule-bad-path" &&
          diagnostic.help.find("a class must be") != std::string::npos) ||
         (diagnostic.code == "rule-empty-pattern" &&
          (says("this regex") || says("`options` says nothing")));
}

// What the loader says against `text`; empty: it loads.
std::vector<Diagnostic> Refused(const std::string& text) {
  RuleFile file;
  file.name = "f";
  file.layer = Layer::kSystem;
  file.text = text;
  std::vector<Diagnostic> out;
  const Policy policy = MakePolicy({file}, false);
  for (const Diagnostic& diagnostic : policy.diagnostics())
    if (diagnostic.severity == Severity::kError) out.push_back(diagnostic);
  return out;
}

// Both say yes, or both say no, except for what a schema cannot know.
void Agree(const Json& value, const std::string& what) {
  const std::vector<std::string> errors = Errors(value);
  const std::vector<Diagnostic> refused = Refused(value.dump());
  if (!errors.empty() && refused.empty())
    ADD_FAILURE() << "the schema refuses what loads: " << errors[0] << "\n"
                  << what;
  if (errors.empty() && !refused.empty() &&
      std::none_of(refused.begin(), refused.end(), &IsBeyondASchema))
    ADD_FAILURE() << "the schema takes what does not load: "
                  << Render(refused[0]) << "\n"
                  << what;
}

// One file in which every key stands.
const char kEveryKey[] = R"({
  "$schema": "s", "schema": 1, "pack": "p", "description": "d",
  "default_action": "sandbox",
  "lists": {"l": ["a", "b"]}, "classes": {"c": ["/x/**", "~"], "e": "/y"},
  "macros": {"m": {"program": "x"}}, "disable": ["git.push"],
  "unlock": ["files.delete-root"],
  "rules": [
    {"id": "r1", "action": "allow", "reason": "r", "suggestion": "s",
     "suggestions": {"x y": "s"},
     "description": "d", "severity": "low", "profile": "read-only",
     "network": "none", "network_max": "open", "mode": "observe",
     "since": "2026-01-31", "expires": "2026-01-31T12:00:00Z",
     "tags": ["t"], "except": ["git.push"], "lint": {"lint-x": "meant"},
     "references": [1], "owner": "o",
     "examples": {"match": ["x"], "no_match": ["y"]},
     "match": {"program": ["x", "y*"], "subcommand": "a b",
               "options": {"any_of": ["-a"], "all_of": "-b", "none_of": ["-c"],
                           "only": ["-a", "-b"], "globs_are_harmless": true},
               "operands": {"any": ["a"], "all": "*", "none": ["z"],
                            "any_path": ["/x/**"], "written": "x", "min": 1,
                            "max": 3},
               "only_does": ["read", "run"], "act": {"only": ["look", "local"]},
               "redirects": ["endpoint", "hidden"], "project": ["/p/**"]}},
    {"id": "r2", "action": "deny", "reason": "r", "locked": true,
     "when_unknown": "ask", "unknown_text": "mark",
     "match": {"prefix": ["git", ["push", "pull"]], "glob": ["git *"],
               "regex": "^git", "line": "git", "sends": true,
               "effect": {"kind": ["write", "read"], "name": "n",
                          "path": ["c", "/x"], "not_path": "e",
                          "target": "/y", "host": "h*", "not_host": ["i"],
                          "recursive": true, "certain": false,
                          "listens": true, "from_redirect": true,
                          "source_only": true},
               "flow": {"kind": "file_to_network", "source": "c",
                        "not_source": ["/z"], "not_to": ["p"]},
               "env": {"name": ["A"], "value": ["b*"]}, "via": ["sudo"],
               "unknown": ["limit"], "cwd": "~/x/**", "agent": "claude",
               "branch": "main", "interactive": true, "inspected": true,
               "all": [{"env": ["A"]}, {"macro": "m"}],
               "any": [{"any_flow": {"kind": ["file_to_code"]}},
                       {"any_effect": {"kind": "delete", "path": "@l2"}}],
               "unless": [{"env": "A"}]}},
    {"id": "r3", "action": "sandbox", "reason": "r", "lift": "except",
     "match": {"program": "x"}},
    {"id": "r4", "action": "ask", "reason": "r", "yes": "places",
     "opens": ["$HOME/x/", "$NODE_PREFIX/y", "$WRITES"], "binds": "directory",
     "network": "domains", "hosts": ["a.example", "*.b.example:8443"],
     "hosts_deny": "192.0.2.7", "match": {"program": "y"}}]})";

TEST(Schema, AndTheLoaderAgreeOnEveryChangeOfAnyValue) {
  std::string text = kEveryKey;
  text.replace(text.find("@l2"), 3, "e");
  const Json whole = Json::parse(text);
  ASSERT_TRUE(Errors(whole).empty()) << Errors(whole)[0];
  const auto refused = Refused(text);
  ASSERT_TRUE(refused.empty()) << Render(refused[0]);
  const std::vector<Json> values = {nullptr,
                                    true,
                                    1.5,
                                    1001,
                                    "",
                                    "x",
                                    "@",
                                    "*",
                                    "~x",
                                    "$HOMES",
                                    "a/b",
                                    "2026-13-01",
                                    std::string(2001, 'x'),
                                    std::string(4097, 'x'),
                                    Json::array(),
                                    Json::object(),
                                    Json::array({""}),
                                    Json::array({"x"}),
                                    Json::array({Json::array()}),
                                    Json::array({Json::object()}),
                                    Json{{"program", "x"}}};
  size_t tried = 0;
  const Json flat = whole.flatten();
  for (const auto& [place, value] : flat.items()) {
    // The value itself and everything that it stands in.
    for (std::string at = place; !at.empty(); at.resize(at.rfind('/'))) {
      // Once for each, by its first leaf.
      const Json& here = whole.at(Json::json_pointer(at));
      const Json inside = here.flatten();
      if (at != place && inside.begin().key() != place.substr(at.size()))
        continue;
      Json changed = whole;
      for (const Json& other : values) {
        changed[Json::json_pointer(at)] = other;
        Agree(changed, at + " = " + other.dump().substr(0, 60));
        ++tried;
      }
      changed = whole;
      if (here.is_object()) {
        changed[Json::json_pointer(at)]["unheard_of"] = "x";
        Agree(changed, at + " with a key that is none");
      }
      const Json::json_pointer pointer(at);
      changed = whole;
      Json& parent = changed[pointer.parent_pointer()];
      if (parent.is_object())
        parent.erase(pointer.back());
      else
        parent.erase(std::stoul(pointer.back()));
      Agree(changed, at + " left out");
      ++tried;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(tried, 2000u);
}

TEST(Schema, AndTheLoaderAgreeOnWholeRules) {
  const auto file = [](const std::string& rule) {
    return Json::parse(R"({"schema": 1, "pack": "p", "rules": [)" + rule +
                       "]}");
  };
  const auto with = [&](const std::string& match, const char* action = "deny") {
    return file(R"({"id": "a", "reason": "r", "action": ")" +
                std::string(action) + R"(", "match": )" + match + "}");
  };
  for (
      const Json& value :
      {file(R"({"id": "a", "action": "deny", "reason": "r", "except": ["b"],
                 "match": {"program": "x"}})"),
       file(R"({"id": "a b", "action": "deny", "reason": "r",
                 "match": {"program": "x"}})"),
       with(R"({"options": {}})"),
       with(R"({"options": {"globs_are_harmless": true}})"),
       with(R"({"options": {"only": []}})"),
       with(R"({"operands": {}})"),
       with(R"({"glob": ""})"),
       with(R"({"glob": "* *"})"),
       with(R"({"glob": ["x", "*"]})"),
       with(R"({"prefix": [[]]})"),
       with(R"({"prefix": ["x", [""]]})"),
       with(R"({"program": "/bin/x"})"),
       with(R"({"unless": {}})"),
       with(R"({"sends": false})"),
       with(R"({"effect": {"path": "/x"}})"),
       with(R"({"any": []})"),
       with(R"({"effect": {"kind": "@kinds"}})"),
       with(R"({"only_does": ["read", "sing"]})"),
       with(R"({"env": {"value": "x"}})"),
       with(R"({"env": {"name": []}})"),
       with(R"({"program": "x", "branch": "main"})"),
       with(R"({"program": "x", "branch": "main"})", "allow"),
       Json::parse(R"({"schema": 1, "pack": "p", "macros": {"m": 5}})"),
       Json::parse(R"({"schema": 1, "pack": "p", "macros": {"m": {}}})"),
       Json::parse(
           R"({"schema": 1, "pack": "p", "macros": {"m": {"programm": "x"}}})"),
       Json::parse(R"({"schema": 1, "pack": "p", "classes": {"a b": "/x"}})"),
       Json::parse(R"({"schema": 1, "pack": "p", "classes": {"a": []}})"),
       Json::parse(R"({"schema": 1, "pack": "p", "lists": {"a": [""]}})"),
       Json::parse(R"({"schema": 1, "pack": "p", "$schema": 5})"),
       Json::parse(R"({"schema": 1})"),
       Json::parse(R"({"pack": "p"})"),
       Json::parse(R"([])"),
       Json::parse("1")})
    Agree(value, value.dump());
}

}  // namespace
}  // namespace gate::rules
