// Descriptions (JSON) -> image.
//
// Files are parsed, option groups of all files are collected, then every
// program is laid out with its sub-commands; `@path` children are resolved
// when all nodes of their program exist. At last the examples are run against
// the image that was made.

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "parser/programs/effects.h"
#include "parser/programs/examples.h"
#include "parser/programs/name_tables.h"

namespace gate::parser {
namespace programs {
namespace {

constexpr std::string_view kNodeKeys[] = {
    "name",  "is",    "options",  "number",  "do",      "commands",
    "use",   "stdin", "prints",   "network", "decodes", "examples",
    "about", "help",  "rehearse", "output",  "leaves",  "runs"};

struct File {
  std::string name;
  std::string_view text;
  Json json;
};

std::vector<std::string> Words(std::string_view text) {
  return SplitTokens(text);
}

// The options known at a node, with those of its parents.
struct Scope {
  const Scope* parent = nullptr;
  std::map<std::string, uint32_t, std::less<>> options;

  uint32_t Find(std::string_view name) const {
    for (const Scope* s = this; s != nullptr; s = s->parent) {
      const auto it = s->options.find(name);
      if (it != s->options.end()) return it->second;
    }
    return kNone;
  }
};

class Compiler {
 public:
  explicit Compiler(std::vector<Diagnostic>* diagnostics)
      : diagnostics_(*diagnostics) {}

  void AddFile(const std::string& name, std::string_view text) {
    auto json = ParseJson(text, /*comments=*/true);
    if (!json) {
      Report(name, text, json.error().offset, "program-json",
             json.error().message);
      return;
    }
    files_.push_back({name, text, std::move(*json)});
  }

  void Run() {
    for (const File& file : files_) {
      file_ = &file;
      CheckFile();
      if (!file.json.is_object() || !file.json.contains("groups")) continue;
      for (const auto& [name, group] : file.json["groups"].items()) {
        if (!groups_.emplace(name, &group).second) {
          Problem("/groups/" + name, "group `" + name + "` exists already");
        }
      }
    }
    for (const File& file : files_) {
      file_ = &file;
      if (!file.json.is_object()) continue;
      const Json programs = file.json.value("programs", Json::array());
      for (size_t k = 0; k < programs.size(); ++k) {
        Program(programs[k], "/programs/" + std::to_string(k));
      }
      const OnProblem problem = Problems();
      tables_.AddEnvironment(file.json.value("environment", Json::object()),
                             problem);
      tables_.AddLanguages(file.json.value("languages", Json::object()),
                           problem);
    }
  }

  std::string Finish() {
    std::sort(names_.begin(), names_.end(),
              [](const Named& a, const Named& b) { return a.name < b.name; });
    std::vector<ProgramName> names;
    for (const Named& each : names_) {
      names.push_back({writer_.Text(each.name), each.node,
                       static_cast<uint32_t>(each.models.output),
                       static_cast<uint32_t>(each.models.leaves),
                       static_cast<uint32_t>(each.models.runs)});
    }
    writer_.Section(names);
    writer_.Section(nodes_);
    writer_.Section(option_names_);
    writer_.Section(options_);
    writer_.Section(children_);
    writer_.Section(effects_);
    writer_.Section(terms_);
    tables_.Write(&writer_);
    return writer_.Finish(kMagic);
  }

  const std::vector<File>& files() const { return files_; }

 private:
  void Report(const std::string& file, std::string_view text, size_t offset,
              const char* code, std::string message) {
    Diagnostic d;
    d.code = code;
    d.file = file;
    const LineColumn at = Locate(text, std::min(offset, text.size()));
    d.line = at.line;
    d.column = at.column;
    d.message = std::move(message);
    diagnostics_.push_back(std::move(d));
  }

  void Problem(const std::string& pointer, std::string message) {
    Report(file_->name, file_->text, LocatePointer(file_->text, pointer),
           "program-description", std::move(message));
  }

  OnProblem Problems() {
    return [this](const std::string& pointer, std::string message) {
      Problem(pointer, std::move(message));
    };
  }

  void CheckFile() {
    if (!file_->json.is_object()) return Problem("", "expected an object");
    if (file_->json.value("schema", Json()) != Json(1)) {
      Problem("/schema", "`schema` must be 1");
    }
    for (const auto& [key, value] : file_->json.items()) {
      const bool known = (key == "schema" && value.is_number()) ||
                         (key == "about" && value.is_string()) ||
                         (key == "programs" && value.is_array()) ||
                         (key == "groups" && value.is_object()) ||
                         (key == "environment" && value.is_object()) ||
                         (key == "languages" && value.is_object());
      if (!known)
        Problem("/" + key, "unknown key or wrong type: `" + key + "`");
    }
  }

  void Program(const Json& json, const std::string& pointer) {
    if (!json.is_object() || !json.contains("name") ||
        !json["name"].is_string()) {
      return Problem(pointer, "a program is an object with a `name`");
    }
    const auto names = Words(json["name"].get<std::string>());
    if (names.empty()) return Problem(pointer, "empty name");
    paths_.clear();
    pending_.clear();
    const size_t effects = effects_.size();
    const uint32_t node = AddNode(json, pointer, names[0], "", nullptr);
    if (std::any_of(effects_.begin() + static_cast<std::ptrdiff_t>(effects),
                    effects_.end(), [](const EffectRecord& effect) {
                      return effect.role == static_cast<uint32_t>(Role::kAct);
                    }))
      nodes_[node].flags |= Node::kSpeaksOfActs;
    for (const std::string& name : names) {
      const bool taken =
          std::any_of(names_.begin(), names_.end(),
                      [&](const Named& other) { return other.name == name; });
      if (taken) Problem(pointer, "`" + name + "` is described twice");
      names_.push_back(
          {name, node, ParseModels(json, pointer, names, name, Problems())});
    }
    for (const auto& [child, path, where] : pending_) {
      const auto it = paths_.find(path);
      if (it == paths_.end()) {
        Problem(where, "no such sub-command `" + path + "`");
      } else {
        children_[child].node = it->second;
      }
    }
  }

  uint32_t AddNode(const Json& json, const std::string& pointer,
                   const std::string& name, const std::string& path,
                   const Scope* parent) {
    const uint32_t index = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back();
    paths_[path] = index;
    Node node;
    node.name = writer_.Text(name);
    Scope scope;
    scope.parent = parent;
    if (parent != nullptr) node.flags |= inherited_flags_;
    // `"status": ["…"]` is short for `"status": {"do": ["…"]}`.
    Json object = json;
    if (json.is_array()) object = Json{{"do", json}};
    if (!object.is_object()) {
      Problem(pointer, "expected an object");
      return index;
    }
    for (const auto& [key, value] : object.items()) {
      if (std::find(std::begin(kNodeKeys), std::end(kNodeKeys), key) ==
          std::end(kNodeKeys)) {
        Problem(pointer + "/" + key, "unknown key `" + key + "`");
      }
      if (parent != nullptr &&
          (key == "output" || key == "leaves" || key == "runs"))
        Problem(pointer + "/" + key, "only a program has `" + key + "`");
    }
    std::vector<std::pair<std::string, std::string>> options, effects;
    std::vector<SpecialSpec> specials;
    Gather(object, pointer, &node, &options, &effects, &specials, 0);
    AddOptions(options, specials, pointer, &node, &scope);
    if (object.contains("number")) {
      node.number_option = scope.Find(object["number"].get<std::string>());
      if (node.number_option == kNone) {
        Problem(pointer + "/number", "no such option");
      }
    }
    const EffectContext context = Context(&scope);
    node.effects = static_cast<uint32_t>(effects_.size());
    for (const auto& [text, where] : effects) {
      auto effect = ParseEffect(Words(text), context);
      if (!effect) {
        Problem(where, effect.error().message);
        continue;
      }
      const Role role = static_cast<Role>(effect->role);
      const bool ranged = (effect->flags & EffectRecord::kRange) != 0;
      if (ranged &&
          (role == Role::kCommand || role == Role::kShellCode ||
           role == Role::kScriptFile || role == Role::kSplitCommand)) {
        node.flags |= Node::kWrapper;
      }
      effects_.push_back(*effect);
    }
    node.effects_count = static_cast<uint32_t>(effects_.size()) - node.effects;
    node.reads_stdin = Property(object, "stdin", pointer, context);
    node.prints_input = Property(object, "prints", pointer, context);
    node.prints_network = Property(object, "network", pointer, context);
    node.decodes = Property(object, "decodes", pointer, context);
    if (object.contains("commands")) {
      // A program's `--version` says nothing of a sub-command's.
      std::vector<SpecialSpec> saved = inherited_specials_;
      for (const SpecialSpec& special : specials)
        if (special.kind != Option::kVersion)
          inherited_specials_.push_back(special);
      AddChildren(object["commands"], pointer + "/commands", path, scope,
                  &node);
      inherited_specials_ = std::move(saved);
    }
    nodes_[index] = node;
    return index;
  }

  // Collects flags, options and effects of a node and of the groups it uses.
  void Gather(const Json& object, const std::string& pointer, Node* node,
              std::vector<std::pair<std::string, std::string>>* options,
              std::vector<std::pair<std::string, std::string>>* effects,
              std::vector<SpecialSpec>* specials, int depth) {
    if (object.contains("is")) {
      for (const std::string& word : Strings(object["is"], pointer + "/is")) {
        for (const std::string& flag : Words(word))
          AddFlag(flag, pointer, node);
      }
    }
    const auto collect = [&](const char* key, auto* out) {
      if (!object.contains(key)) return;
      const auto strings = Strings(object[key], pointer + "/" + key);
      for (size_t k = 0; k < strings.size(); ++k) {
        out->emplace_back(strings[k],
                          pointer + "/" + key + "/" + std::to_string(k));
      }
    };
    collect("options", options);
    collect("do", effects);
    for (const auto& [key, kind] : {std::pair{"help", Option::kHelp},
                                    std::pair{"rehearse", Option::kRehearse}}) {
      if (!object.contains(key)) continue;
      const std::string where = pointer + "/" + key;
      for (const std::string& text : Strings(object[key], where))
        for (const std::string& word : Words(text)) {
          if (auto special = ParseSpecial(word, kind))
            specials->push_back(std::move(*special));
          else
            Problem(where, special.error().message);
        }
    }
    if (!object.contains("use") || depth > 8) return;
    for (const std::string& text : Strings(object["use"], pointer + "/use")) {
      for (const std::string& group : Words(text)) {
        const auto it = groups_.find(group);
        if (it == groups_.end()) {
          Problem(pointer + "/use", "no such group `" + group + "`");
        } else {
          Gather(*it->second, pointer, node, options, effects, specials,
                 depth + 1);
        }
      }
    }
  }

  void AddFlag(const std::string& flag, const std::string& pointer,
               Node* node) {
    const uint32_t bits = FlagOf(flag);
    node->flags |= bits;
    if (bits != 0) return;
    Problem(pointer + "/is", "unknown word `" + flag + "`");
  }

  std::vector<std::string> Strings(const Json& json,
                                   const std::string& pointer) {
    if (json.is_string()) return {json.get<std::string>()};
    std::vector<std::string> strings;
    if (json.is_array()) {
      for (const Json& item : json) {
        if (item.is_string()) {
          strings.push_back(item.get<std::string>());
        } else {
          Problem(pointer, "expected strings");
        }
      }
    } else {
      Problem(pointer, "expected a string or strings");
    }
    return strings;
  }

  EffectContext Context(const Scope* scope) {
    return {&writer_, &terms_,
            [scope](std::string_view name) { return scope->Find(name); }};
  }

  // An entry is one or several options and the effects of the last of them.
  void AddOptions(const std::vector<std::pair<std::string, std::string>>& all,
                  const std::vector<SpecialSpec>& specials,
                  const std::string& pointer, Node* node, Scope* scope) {
    struct Later {
      uint32_t option;
      std::vector<std::string> tokens;
      std::string where;
    };
    std::vector<Later> later;
    for (const auto& [text, where] : all) {
      const auto tokens = Words(text);
      size_t specs = 0;
      while (specs < tokens.size() && !BeginsEffect(tokens[specs])) ++specs;
      if (specs == 0) {
        Problem(where, "expected option names");
        continue;
      }
      for (size_t k = 0; k < specs; ++k) {
        auto spec = ParseOptionSpec(tokens[k]);
        if (!spec) {
          Problem(where, spec.error().message);
          continue;
        }
        const uint32_t option = static_cast<uint32_t>(options_.size());
        // The first long name is the canonical one.
        std::string canonical = spec->names[0];
        for (const std::string& name : spec->names) {
          if (name.starts_with("--")) {
            canonical = name;
            break;
          }
        }
        std::string spellings = canonical;
        for (const std::string& name : spec->names) {
          // What is said first holds: a node before the groups it uses.
          const bool ours = scope->options.emplace(name, option).second;
          if (ours && name != canonical) spellings += " " + name;
        }
        spec->option.spellings = writer_.Text(spellings);
        options_.push_back(spec->option);
        if (k + 1 == specs && specs < tokens.size()) {
          later.push_back(
              {option,
               {tokens.begin() + static_cast<long>(specs), tokens.end()},
               where});
        }
      }
    }
    for (const SpecialSpec& special : specials)
      AddSpecial(special, /*own=*/true, pointer, scope);
    for (const SpecialSpec& special : inherited_specials_)
      AddSpecial(special, /*own=*/false, pointer, scope);
    // Effects come when all names are known, for their conditions.
    const EffectContext context = Context(scope);
    for (const Later& l : later) {
      Option& option = options_[l.option];
      option.effects = static_cast<uint32_t>(effects_.size());
      std::vector<std::string> tokens;
      for (size_t k = 0; k <= l.tokens.size(); ++k) {
        if (k < l.tokens.size() && l.tokens[k] != ";") {
          tokens.push_back(l.tokens[k]);
          continue;
        }
        auto effect = ParseEffect(tokens, context);
        if (effect) {
          effects_.push_back(*effect);
        } else {
          Problem(l.where, effect.error().message);
        }
        tokens.clear();
      }
      option.effects_count =
          static_cast<uint32_t>(effects_.size()) - option.effects;
    }
    node->option_names = static_cast<uint32_t>(option_names_.size());
    for (const auto& [name, option] : scope->options) {
      option_names_.push_back({writer_.Text(name), option});
    }
    node->option_names_count =
        static_cast<uint32_t>(option_names_.size()) - node->option_names;
  }

  // Makes the option `special`, or a flag of that name where there is none.
  // What a sub-command calls so itself is not what its program means.
  void AddSpecial(const SpecialSpec& special, bool own,
                  const std::string& pointer, Scope* scope) {
    const auto [it, made] = scope->options.emplace(
        special.name, static_cast<uint32_t>(options_.size()));
    if (made) {
      Option option;
      option.spellings = writer_.Text(special.name);
      if (!special.values.empty()) option.arity = Option::kOptional;
      options_.push_back(option);
    } else if (!own) {
      return;
    }
    Option& option = options_[it->second];
    if (special.values.empty() && option.arity != Option::kFlag &&
        option.arity != Option::kOptional)
      Problem(pointer, "say which values of `" + special.name + "` count");
    option.special = special.kind;
    option.special_values = writer_.Text(special.values);
    if (special.kind == Option::kRehearse && special.name.starts_with("--"))
      AddSpecial({"--no-" + special.name.substr(2), "", Option::kUnrehearse},
                 own, pointer, scope);
  }

  static bool BeginsEffect(const std::string& token) {
    return ParseRole(std::string_view(token).substr(0, token.find(':'))) !=
           kRoles;
  }

  Condition Property(const Json& object, const char* key,
                     const std::string& pointer, const EffectContext& context) {
    Condition never;
    never.begin = static_cast<uint32_t>(terms_.size());
    never.count = 1;
    const std::string where = pointer + "/" + key;
    if (object.contains(key) && object[key].is_boolean() &&
        object[key].get<bool>()) {
      return {};
    }
    if (object.contains(key) && object[key].is_string()) {
      auto condition =
          ParseCondition(Words(object[key].get<std::string>()), context);
      if (condition) return *condition;
      Problem(where, condition.error().message);
    } else if (object.contains(key)) {
      Problem(where, "expected true or a condition");
    }
    terms_.emplace_back();
    never.begin = static_cast<uint32_t>(terms_.size()) - 1;
    return never;
  }

  void AddChildren(const Json& commands, const std::string& pointer,
                   const std::string& path, const Scope& scope, Node* node) {
    if (!commands.is_object()) return Problem(pointer, "expected an object");
    struct Entry {
      std::string name, canonical, reference, where;
      uint32_t node;
    };
    std::vector<Entry> entries;
    for (const auto& [key, value] : commands.items()) {
      const auto names = Words(key);
      const std::string where = pointer + "/" + key;
      if (names.empty()) {
        Problem(where, "empty name");
        continue;
      }
      std::string reference;
      uint32_t child = 0;
      if (value.is_string()) {
        reference = value.get<std::string>();
        if (!reference.starts_with('@')) {
          Problem(where, "expected `@` and a path of sub-commands");
          continue;
        }
      } else {
        const uint32_t saved = inherited_flags_;
        inherited_flags_ = node->flags & (Node::kInherits | Node::kSingle |
                                          Node::kNoAbbreviation | Node::kLoose);
        child =
            AddNode(value, where, names[0],
                    path.empty() ? names[0] : path + " " + names[0], &scope);
        inherited_flags_ = saved;
      }
      for (const std::string& name : names) {
        entries.push_back({name, names[0], reference, where, child});
      }
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) {
                return ChildBefore(a.name, b.name);
              });
    node->children = static_cast<uint32_t>(children_.size());
    for (size_t k = 0; k < entries.size(); ++k) {
      const Entry& e = entries[k];
      if (k > 0 && entries[k - 1].name == e.name) {
        Problem(e.where, "`" + e.name + "` is described twice");
      }
      const auto stars = std::count(e.name.begin(), e.name.end(), '*');
      if (stars > 1) Problem(e.where, "a pattern has one `*`");
      ++(stars == 0 ? node->children_count : node->patterns_count);
      children_.push_back(
          {writer_.Text(e.name), writer_.Text(e.canonical), e.node});
      if (!e.reference.empty()) {
        pending_.push_back({static_cast<uint32_t>(children_.size() - 1),
                            e.reference.substr(1), e.where});
      }
    }
  }

  struct Named {
    std::string name;
    uint32_t node;
    Models models;
  };

  struct Pending {
    uint32_t child;
    std::string path;
    std::string where;
  };

  std::vector<Diagnostic>& diagnostics_;
  std::vector<File> files_;
  const File* file_ = nullptr;
  std::map<std::string, const Json*> groups_;
  std::map<std::string, uint32_t> paths_;
  std::vector<Pending> pending_;
  uint32_t inherited_flags_ = 0;
  std::vector<SpecialSpec> inherited_specials_;

  FlatWriter writer_;
  std::vector<Named> names_;
  std::vector<Node> nodes_;
  std::vector<OptionName> option_names_;
  std::vector<Option> options_;
  std::vector<Child> children_;
  std::vector<EffectRecord> effects_;
  std::vector<Term> terms_;
  NameTables tables_;
};

}  // namespace
}  // namespace programs

Result<std::string> CompilePrograms(
    const std::vector<std::pair<std::string, std::string>>& files,
    std::vector<Diagnostic>* diagnostics) {
  programs::Compiler compiler(diagnostics);
  for (const auto& [name, text] : files) compiler.AddFile(name, text);
  compiler.Run();
  if (HasErrors(*diagnostics)) {
    return Fail(ErrorCode::kInvalid, "the descriptions have errors");
  }
  std::string image = compiler.Finish();
  for (const auto& file : compiler.files()) {
    programs::RunExamples(image, file.name, file.text, file.json, diagnostics);
  }
  if (HasErrors(*diagnostics)) {
    return Fail(ErrorCode::kInvalid, "examples do not hold");
  }
  return image;
}

}  // namespace gate::parser
