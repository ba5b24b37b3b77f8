// Files are read twice: first what rules refer to (lists, classes, macros) of
// all files, so that the order of files means nothing, then the rules. Every
// problem is a diagnostic and reading goes on, so that a person sees all of
// them at once; a file with errors keeps only the rules that tighten.
#include "rules/compile/compile.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "rules/compile/compiler.h"
#include "rules/names.h"
#include "rules/policy.h"

namespace gate::rules {
namespace {

bool IsId(std::string_view text) {
  if (text.empty() || text.size() > 100) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  });
}

}  // namespace

CompiledRules CompileRules(std::span<const SourceFile> files,
                           const CompileOptions& options) {
  return Compiler(options).Run(files);
}

CompiledRules Compiler::Run(std::span<const SourceFile> sources) {
  std::vector<File> files(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    File& file = files[i];
    file.source = &sources[i];
    // No match is written in fewer than four bytes, no member in fewer than
    // two.
    most_matches_ += sources[i].text.size() / 4;
    most_members_ += sources[i].text.size() / 2;
    if (sources[i].text.size() > kMaxRuleFileBytes) {
      Problem(file, 0, "rule-file-too-large", "the file is too large",
              "split it; the limit is 4 MiB");
      continue;
    }
    auto tree = Tree::Parse(sources[i].text);
    if (!tree) {
      Problem(file, static_cast<uint32_t>(tree.error().offset), "rule-json",
              tree.error().message,
              "a rule file is JSON; comments (// and /* */) are allowed");
      continue;
    }
    file.tree = std::move(*tree);
    file.parsed = true;
    if (file.tree.root().type != Type::kObject) {
      Problem(file, 0, "rule-bad-type", "a rule file must be a JSON object",
              R"(start from {"schema": 1, "pack": "mine", "rules": []})");
      file.parsed = false;
    }
  }
  for (File& file : files)
    if (file.parsed) ReadHeader(file);
  for (File& file : files)
    if (file.parsed)
      if (const TreeNode* list = file.tree.Find(file.tree.root(), "rules"))
        ReadRules(file, *list);
  ReadUnusedMacros();
  for (File& file : files)
    if (file.parsed) NoteHiddenText(file);
  NoteUnused();
  for (const File& file : files) result_.broken |= file.broken;
  result_.image = Finish(sources);
  return std::move(result_);
}

void Compiler::ReadHeader(File& file) {
  const TreeNode& root = file.tree.root();
  bool schema = false, pack = false;
  for (const TreeNode& node : file.tree.children(root)) {
    if (node.key == "schema") {
      schema = true;
      if (node.type != Type::kNumber || node.number != 1)
        Problem(file, node.begin, "rule-bad-schema",
                "this gate reads rule files of schema 1",
                "write \"schema\": 1");
    } else if (node.key == "pack") {
      pack = true;
      const std::string_view name = String(file, node, "pack");
      if (!name.empty() && !IsId(name))
        Problem(file, node.begin, "rule-bad-value",
                "a pack's name has letters, digits, `.`, `-` and `_`");
    } else if (node.key == "lists") {
      ReadLists(file, node);
    } else if (node.key == "classes") {
      ReadClasses(file, node);
    } else if (node.key == "macros") {
      ReadMacros(file, node);
    } else if (node.key == "disable") {
      ReadNotes(file, node, 0);
    } else if (node.key == "unlock") {
      ReadNotes(file, node, 1);
    } else if (node.key == "default_action") {
      const std::string_view text = String(file, node, "default_action");
      const auto action = ParseAction(text);
      if (!action) {
        Problem(file, node.begin, "rule-bad-value",
                "`" + std::string(text) + "` is no action",
                "one of allow, sandbox, ask, deny");
      } else if (header_.default_action == RuleRecord::kUnset ||
                 header_.default_action < static_cast<uint8_t>(*action)) {
        header_.default_action = static_cast<uint8_t>(*action);
      }
    } else if (node.key == "description") {
      String(file, node, "description");
    } else if (node.key == "$schema") {
      String(file, node, "$schema");
    } else if (node.key != "rules") {
      UnknownKey(file, node, "a rule file",
                 "schema pack description lists classes macros disable unlock "
                 "default_action rules");
    }
  }
  if (!schema)
    Problem(file, root.begin, "rule-missing-key", "`schema` is missing",
            "write \"schema\": 1");
  if (!pack)
    Problem(file, root.begin, "rule-missing-key", "`pack` is missing",
            "name the file's rules: \"pack\": \"mine\"");
}

void Compiler::ReadLists(File& file, const TreeNode& node) {
  if (!Is(file, node, Type::kObject, "lists")) return;
  for (const TreeNode& list : file.tree.children(node)) {
    const std::string name(list.key);
    if (list_values_.contains(name)) {
      Problem(file, list.key_begin, "rule-duplicate-list",
              "the list `" + name + "` is defined twice");
      continue;
    }
    std::vector<std::string_view> values;
    stands_on_untrusted_ = false;
    if (Is(file, list, Type::kArray, "a list"))
      for (const TreeNode& item : file.tree.children(list)) {
        const std::string_view text = String(file, item, "a list's member");
        if (AddKnown(file, item, &values)) continue;
        if (text.starts_with('@')) {
          const auto other = list_values_.find(std::string(text.substr(1)));
          if (other == list_values_.end()) {
            Problem(file, item.begin, "rule-unknown-list",
                    "the list `" + std::string(text) + "` is not known here",
                    "define it above, in the same file");
          } else {
            Use(Kind::kList, other->first);
            if (!AddMembers(file, item.begin, other->second, &values)) break;
          }
        } else {
          values.push_back(text);
        }
      }
    Define(file, list, Kind::kList);
    if (stands_on_untrusted_) Distrust(Kind::kList, name);
    lists_.push_back({writer_.Text(name), AddStrings(values)});
    list_values_[name] = std::move(values);
  }
}

void Compiler::ReadClasses(File& file, const TreeNode& node) {
  if (!Is(file, node, Type::kObject, "classes")) return;
  for (const TreeNode& entry : file.tree.children(node)) {
    const std::string name(entry.key);
    bool taken = class_names_.contains(name) || name == "workspace" ||
                 name == "outside" || name == "private-temp" || !IsId(name);
    if (options_.known)
      for (const ClassRecord& known : options_.known->classes)
        taken = taken || options_.known->Text(known.name) == name;
    if (taken) {
      Problem(file, entry.key_begin, "rule-bad-class",
              "the class `" + name + "` cannot be defined here",
              "its name is taken or is not a name");
      continue;
    }
    Define(file, entry, Kind::kClass);
    stands_on_untrusted_ = false;
    const Range paths = AddPaths(file, entry, "a class");
    if (stands_on_untrusted_) Distrust(Kind::kClass, name);
    // Known from here on: a class that named itself would have no end.
    class_names_[name] = static_cast<uint32_t>(classes_.size());
    classes_.push_back({writer_.Text(name), paths});
  }
}

void Compiler::ReadMacros(File& file, const TreeNode& node) {
  if (!Is(file, node, Type::kObject, "macros")) return;
  for (const TreeNode& entry : file.tree.children(node)) {
    if (!macros_.emplace(entry.key, std::pair(&file, &entry)).second)
      Problem(file, entry.key_begin, "rule-duplicate-macro",
              "the macro `" + std::string(entry.key) + "` is defined twice");
    else
      Define(file, entry, Kind::kMacro);
  }
}

// What no rule uses is read as well, so that what is wrong in it is said.
void Compiler::ReadUnusedMacros() {
  loosens_ = inverted_ = unknown_is_mark_ = false;
  const auto defined = defined_;  // what is used by this only is not used
  for (const auto& [key, definition] : defined) {
    if (key.first != Kind::kMacro || definition.used) continue;
    const auto [file, body] = macros_.at(key.second);
    if (!Is(*file, *body, Type::kObject, "a macro")) continue;
    match_depth_ = 0;
    macro_depth_ = 1;
    if (body->count == 0)
      Problem(*file, body->begin, "rule-empty-pattern", "an empty match");
    else
      MatchObject(*file, *body);
  }
  macro_depth_ = 0;
  defined_ = defined;
}

void Compiler::ReadNotes(File& file, const TreeNode& node, uint32_t kind) {
  const char* what = kind == 0 ? "disable" : "unlock";
  if (kind == 1 && options_.layer != Layer::kSystem) {
    Problem(file, node.key_begin, "rule-not-here",
            "only the system layer may unlock rules");
    return;
  }
  if (Untrusted(file)) {
    Problem(file, node.key_begin, "rule-untrusted",
            "`disable` counts only in a project file that you trusted",
            "see `gate trust`", Severity::kWarning);
    return;
  }
  if (!Is(file, node, Type::kArray, what)) return;
  for (const TreeNode& item : file.tree.children(node)) {
    const std::string_view id = String(file, item, "a rule's id");
    if (id.empty()) continue;
    AddNote(file, item.begin, kind, id);
  }
}

void Compiler::ReadRules(File& file, const TreeNode& node) {
  if (!Is(file, node, Type::kArray, "rules")) return;
  for (const TreeNode& rule : file.tree.children(node)) {
    if (rules_.size() >= kMaxRules) {
      Problem(file, rule.begin, "rule-too-many",
              "there are more rules than gate takes");
      return;
    }
    if (Is(file, rule, Type::kObject, "a rule")) ReadRule(file, rule);
  }
}

void Compiler::ReadRule(File& file, const TreeNode& node) {
  const bool was_broken = file.broken;
  file.broken = false;
  RuleRecord rule;
  const auto [line, column] = Place(file, node.begin);
  rule.line = line;
  rule.column = column;
  rule.file = writer_.Text(file.source->name);
  if (const TreeNode* pack = file.tree.Find(file.tree.root(), "pack"))
    if (pack->type == Type::kString) rule.pack = writer_.Text(pack->text);

  // What loosens must be known before the matcher is read.
  const TreeNode* action_node = file.tree.Find(node, "action");
  const TreeNode* except_node = file.tree.Find(node, "except");
  bool action_ok = false;
  if (action_node != nullptr && action_node->type == Type::kString)
    if (const auto action = ParseAction(action_node->text)) {
      rule.action = static_cast<uint8_t>(*action);
      action_ok = true;
    }
  loosens_ = rule.action == static_cast<uint8_t>(Action::kAllow) ||
             except_node != nullptr;
  inverted_ = false;
  const TreeNode* unknown_text = file.tree.Find(node, "unknown_text");
  unknown_is_mark_ = unknown_text != nullptr && unknown_text->text == "mark";
  stands_on_untrusted_ = false;
  match_depth_ = 0;

  std::string_view id;
  bool has_reason = false;
  const TreeNode *match_node = nullptr, *hosts_node = nullptr;
  for (const TreeNode& member : file.tree.children(node)) {
    const std::string_view key = member.key;
    if (key == "id") {
      id = String(file, member, "id");
      if (!id.empty() && !IsId(id))
        Problem(file, member.begin, "rule-bad-value",
                "an id has at most 100 letters, digits, `.`, `-` and `_`");
    } else if (key == "action") {
      if (!action_ok)
        Problem(file, member.begin, "rule-bad-value", "this is no action",
                "one of allow, sandbox, ask, deny");
    } else if (key == "match") {
      match_node = &member;
    } else if (key == "reason") {
      const auto text = String(file, member, "reason", kMaxReasonBytes);
      rule.reason = writer_.Text(text);
      has_reason = !text.empty();
    } else if (key == "suggestion") {
      rule.suggestion =
          writer_.Text(String(file, member, "suggestion", kMaxReasonBytes));
    } else if (key == "suggestions") {
      ReadSuggestions(file, member, &rule);
    } else if (key == "description") {
      rule.description =
          writer_.Text(String(file, member, "description", kMaxReasonBytes));
    } else if (key == "severity") {
      rule.severity = Choice(file, member, SeverityNames(), "severity");
    } else if (key == "profile") {
      rule.profile = static_cast<ProfileKind>(
          Choice(file, member, ProfileNames(), "profile"));
    } else if (key == "yes") {
      rule.yes = Choice(file, member, YesNames(), "yes");
      if (rule.action != static_cast<uint8_t>(Action::kAsk))
        Problem(file, member.key_begin, "rule-bad-value",
                "only the yes to a question can be granted",
                "`yes` belongs to an ask rule");
    } else if (key == "binds") {
      rule.binds = Choice(file, member, BindsNames(), "binds");
    } else if (key == "opens") {
      ReadOpens(file, member, &rule);
    } else if (key == "lift") {
      rule.lift = Choice(file, member, LiftNames(), "lift");
      if (rule.action != static_cast<uint8_t>(Action::kSandbox))
        Problem(file, member.key_begin, "rule-bad-value",
                "only a sandbox is lifted", "`lift` belongs to a sandbox rule");
      else if (options_.layer != Layer::kBuiltin)
        Problem(file, member.key_begin, "rule-not-here",
                "`lift` has no meaning in this layer: an allow never lifts it",
                "leave it out", Severity::kWarning);
    } else if (key == "network") {
      rule.network = static_cast<NetworkAccess>(
          Choice(file, member, NetworkNames(), "network"));
    } else if (key == "network_max") {
      rule.network_max = static_cast<NetworkAccess>(
          Choice(file, member, NetworkNames(), "network_max"));
    } else if (key == "hosts") {
      hosts_node = &member;
      rule.hosts = AddHostRules(file, member, "hosts");
    } else if (key == "hosts_deny") {
      rule.hosts_deny = AddHostRules(file, member, "hosts_deny");
    } else if (key == "when_unknown") {
      const auto action = ParseAction(String(file, member, "when_unknown"));
      if (!action || *action == Action::kAllow)
        Problem(file, member.begin, "rule-bad-value",
                "`when_unknown` is one of sandbox, ask, deny");
      else
        rule.when_unknown = static_cast<uint8_t>(*action);
    } else if (key == "unknown_text") {
      const std::string_view text = String(file, member, "unknown_text");
      if (text != "mark" && text != "anything")
        Problem(file, member.begin, "rule-bad-value",
                "`unknown_text` is anything or mark");
    } else if (key == "locked") {
      rule.locked = Flag(file, member) ? 1 : 0;
      if (rule.locked && options_.layer < Layer::kBuiltin) {
        Problem(file, member.key_begin, "rule-not-here",
                "`locked` has no meaning in this layer", "leave it out",
                Severity::kWarning);
        rule.locked = 0;
      }
    } else if (key == "mode") {
      const std::string_view mode = String(file, member, "mode");
      if (mode != "enforce" && mode != "observe")
        Problem(file, member.begin, "rule-bad-value",
                "`mode` is enforce or observe");
      rule.observe = mode == "observe" ? 1 : 0;
    } else if (key == "since") {
      ReadTime(file, member, &rule.since_ms);
    } else if (key == "expires") {
      ReadTime(file, member, &rule.expires_ms);
    } else if (key == "tags") {
      rule.tags = AddStrings(StringList(file, member, "tags"));
    } else if (key == "except") {
      rule.except = AddStrings(StringList(file, member, "except"));
      if (rule.action == static_cast<uint8_t>(Action::kDeny))
        Problem(file, member.key_begin, "rule-bad-value",
                "a deny rule has no exceptions to make",
                "`except` belongs to an allow, sandbox or ask rule");
    } else if (key == "lint") {
      ReadLint(file, member, &rule);
    } else if (key == "examples") {
      ReadExamples(file, member, &rule);
    } else if (key != "references" && key != "owner") {
      UnknownKey(
          file, member, "a rule",
          "id action match reason suggestion suggestions severity description "
          "tags "
          "examples except locked when_unknown unknown_text profile network "
          "network_max hosts hosts_deny yes opens binds lift since expires "
          "mode lint references "
          "owner");
    }
  }
  if (hosts_node != nullptr && rule.network < NetworkAccess::kDomains)
    Problem(file, hosts_node->key_begin, "rule-bad-value",
            "`hosts` has no meaning without `\"network\": \"domains\"`, or "
            "`open`",
            "say it beside them: no other network is limited to hosts");
  if (id.empty())
    Problem(file, node.begin, "rule-missing-key", "the rule has no `id`");
  if (action_node == nullptr)
    Problem(file, node.begin, "rule-missing-key", "the rule has no `action`");
  if (!has_reason)
    Problem(file, node.begin, "rule-missing-key", "the rule has no `reason`",
            "say in one sentence why, for the person and for the agent");
  Match match = Never();
  if (match_node == nullptr) {
    Problem(file, node.begin, "rule-missing-key", "the rule has no `match`");
  } else if (Is(file, *match_node, Type::kObject, "match")) {
    if (match_node->count == 0)
      Problem(file, match_node->begin, "rule-empty-pattern",
              "an empty `match` would match every command");
    else
      match = MatchObject(file, *match_node);
  }
  rule.id = writer_.Text(id);
  rule.match = match.node;
  rule.names_command = match.command ? 1 : 0;
  rule.lifts = match.names == CommandNames::kCommands ? 1 : 0;
  rule.effects = match.effects;
  rule.scope = match.scope != 0 ? match.scope : kPerLine;
  if (!id.empty()) {
    const auto [first, fresh] = ids_.emplace(id, line);
    if (!fresh)
      Problem(file, node.begin, "rule-duplicate-id",
              "the id `" + std::string(id) + "` is taken by the rule at line " +
                  std::to_string(first->second));
  }

  const bool rule_broken = file.broken;
  file.broken = was_broken || rule_broken;
  // What a rule that cannot be read would have said is unknown: the layer's
  // floor stands for it. A readable rule of a broken file tightens still.
  if (rule_broken || match_node == nullptr) return;
  // A trusted rule is no more than what it is made of: its macros, lists and
  // classes may stand in another file, which has changed since.
  const bool untrusted = Untrusted(file) || stands_on_untrusted_;
  if (untrusted && loosens_) {
    Problem(file, node.begin, "rule-untrusted",
            "the rule `" + std::string(id) + "` loosens, and " +
                (Untrusted(file) ? "this project file is not trusted"
                                 : "what it refers to stands in a project "
                                   "file that is not trusted"),
            "see `gate trust`", Severity::kWarning);
    if (rule.action == static_cast<uint8_t>(Action::kAllow)) return;
    rule.except = {};
  }
  if (options_.layer < Layer::kBuiltin && rule.network > NetworkAccess::kNone) {
    AddNote(file, node.begin, kNoteNoNetwork, id);
    rule.network = NetworkAccess::kUnsaid;
    rule.hosts = {};
  }
  if (untrusted && rule.profile > ProfileKind::kWorkspaceWrite)
    rule.profile = ProfileKind::kUnsaid;
  const uint32_t index = static_cast<uint32_t>(rules_.size());
  rules_.push_back(rule);
  AddToIndex(index, match.keys);
}

void Compiler::ReadExamples(File& file, const TreeNode& node,
                            RuleRecord* rule) {
  if (!Is(file, node, Type::kObject, "examples")) return;
  rule->examples.begin = static_cast<uint32_t>(examples_.size());
  for (const TreeNode& kind : file.tree.children(node)) {
    if (kind.key != "match" && kind.key != "no_match") {
      UnknownKey(file, kind, "examples", "match no_match");
      continue;
    }
    if (!Is(file, kind, Type::kArray, "examples")) continue;
    for (const TreeNode& item : file.tree.children(kind)) {
      const std::string_view text = String(file, item, "an example", 65536);
      if (!options_.examples) continue;
      examples_.push_back({writer_.Text(text), Place(file, item.begin).first,
                           kind.key == "match" ? 1u : 0u});
    }
  }
  rule->examples.count =
      static_cast<uint32_t>(examples_.size()) - rule->examples.begin;
}

void Compiler::AddToIndex(uint32_t rule, const KeySet& keys) {
  if (keys.always) {
    buckets_[kAlwaysBucket].push_back(rule);
    return;
  }
  for (const uint32_t bucket : keys.buckets) buckets_[bucket].push_back(rule);
  for (const std::string& program : keys.programs)
    program_keys_.emplace_back(program, rule);
}

std::string Compiler::Finish(std::span<const SourceFile> sources) {
  std::sort(program_keys_.begin(), program_keys_.end());
  program_keys_.erase(std::unique(program_keys_.begin(), program_keys_.end()),
                      program_keys_.end());
  std::vector<uint32_t> bucket_rules;
  std::vector<KeyRecord> programs;
  for (size_t i = 0; i < program_keys_.size();) {
    KeyRecord record;
    record.key = writer_.Text(program_keys_[i].first);
    record.rules.begin = static_cast<uint32_t>(bucket_rules.size());
    const std::string& key = program_keys_[i].first;
    for (; i < program_keys_.size() && program_keys_[i].first == key; ++i)
      bucket_rules.push_back(program_keys_[i].second);
    record.rules.count =
        static_cast<uint32_t>(bucket_rules.size()) - record.rules.begin;
    programs.push_back(record);
  }
  std::vector<Range> buckets;
  for (const std::vector<uint32_t>& bucket : buckets_) {
    buckets.push_back({static_cast<uint32_t>(bucket_rules.size()),
                       static_cast<uint32_t>(bucket.size())});
    bucket_rules.insert(bucket_rules.end(), bucket.begin(), bucket.end());
  }
  std::string all;
  for (const SourceFile& source : sources) {
    all += std::to_string(source.text.size()) + (source.trusted ? "t " : " ");
    all += source.text;
  }
  header_.source_hash = writer_.Text(gate::Hex(Sha256(all)));

  writer_.Section(std::vector<Header>{header_});
  writer_.Section(rules_);
  writer_.Section(nodes_);
  writer_.Section(links_);
  writer_.Section(strings_);
  writer_.Section(positions_);
  writer_.Section(paths_);
  writer_.Section(classes_);
  writer_.Section(lists_);
  writer_.Section(regexes_);
  writer_.Section(programs);
  writer_.Section(buckets);
  writer_.Section(bucket_rules);
  writer_.Section(examples_);
  writer_.Section(notes_);
  WritePrefilters();
  return writer_.Finish(kRuleMagic);
}

}  // namespace gate::rules
