// Matchers: JSON -> nodes, and for each node the keys under which a rule is
// found (KeySet): a condition that is necessary for a match.
#include <algorithm>

#include "base/regex.h"
#include "base/text.h"
#include "rules/compile/compiler.h"
#include "rules/glob.h"
#include "rules/names.h"

namespace gate::rules {
namespace {

constexpr int kMaxMatchDepth = 16;
constexpr size_t kMaxPrefixKeys = 64;
constexpr char kMatchers[] =
    "prefix glob regex line program subcommand options operands only_does "
    "act redirects effect "
    "any_effect flow any_flow sends env via unknown cwd project agent branch "
    "interactive inspected all any unless macro";

KeySet ProgramKeys(const std::vector<std::string_view>& names) {
  KeySet keys;
  keys.always = false;
  for (const std::string_view name : names) {
    if (HasWildcard(name)) return {};
    keys.programs.emplace_back(name);
  }
  return keys;
}

// The name under which a word that stands for a program is indexed.
std::string_view ProgramOf(std::string_view word) {
  const size_t slash = word.rfind('/');
  if (slash != std::string_view::npos) word = word.substr(slash + 1);
  if (word.size() > 4 && word.ends_with(".exe")) word.remove_suffix(4);
  return word;
}

}  // namespace

Compiler::Names Compiler::NamesOf(std::string_view program, bool fixed) {
  if (program.empty()) return Names::kAny;
  return fixed || !RunsWhatItIsGiven(ProgramOf(program)) ? Names::kCommands
                                                         : Names::kRunners;
}

uint32_t Compiler::AddNode(const Node& node) {
  nodes_.push_back(node);
  return static_cast<uint32_t>(nodes_.size() - 1);
}

Compiler::Match Compiler::Never() {
  Match match;
  match.node = AddNode({});
  match.keys.always = false;
  return match;
}

Compiler::Match Compiler::MatchObject(File& file, const TreeNode& node) {
  if (++match_depth_ > kMaxMatchDepth) {
    Problem(file, node.begin, "rule-too-deep", "the match is nested too deep");
    --match_depth_;
    return Never();
  }
  if (++matches_ > most_matches_) {
    // Said once; every further match would say the same.
    if (matches_ == most_matches_ + 1)
      Problem(file, node.begin, "rule-too-large",
              "with their macros written out, the rules have too many matches",
              "use fewer macros inside macros");
    file.broken = true;
    --match_depth_;
    return Never();
  }
  std::vector<Match> parts;
  uint32_t only_node = UINT32_MAX;
  // `operands` means the operands that are left when the options of the same
  // object are read, so `options` comes first whatever the order in the file.
  if (const TreeNode* options = file.tree.Find(node, "options")) {
    parts.push_back(MatchMember(file, *options, UINT32_MAX));
    const Node& made = nodes_[parts.back().node];
    if (made.kind == NodeKind::kOptions && made.d.count > 0)
      only_node = parts.back().node;
  }
  for (const TreeNode& member : file.tree.children(node))
    if (member.key != "options")
      parts.push_back(MatchMember(file, member, only_node));
  --match_depth_;
  if (parts.size() == 1) return std::move(parts[0]);
  Match match;
  Node all;
  all.kind = NodeKind::kAll;
  all.a = {static_cast<uint32_t>(links_.size()),
           static_cast<uint32_t>(parts.size())};
  for (Match& part : parts) {
    links_.push_back(part.node);
    match.scope |= part.scope;
    match.command |= part.command;
    match.subcommand |= part.subcommand;
    match.names = std::max(match.names, part.names);
    match.effects |= part.effects;
    if (part.keys.Rank() > match.keys.Rank()) match.keys = std::move(part.keys);
  }
  if (match.names == Names::kRunners && match.subcommand)
    match.names = Names::kCommands;
  // Commands and line: what is said of commands decides where it is tried.
  if (match.scope & kPerInvocation && match.keys.Rank() == 3)
    match.scope = kPerInvocation;
  match.node = AddNode(all);
  return match;
}

Compiler::Match Compiler::MatchMember(File& file, const TreeNode& node,
                                      uint32_t only_node) {
  const std::string_view key = node.key;
  if (key == "prefix") return Prefix(file, node);
  if (key == "glob") return Glob(file, node);
  if (key == "regex") return RegexMatch(file, node);
  if (key == "line") return LineMatch(file, node);
  if (key == "program") return Program(file, node);
  if (key == "subcommand") {
    Match match = Strings(file, node, NodeKind::kSubcommand);
    match.subcommand = true;
    nodes_[match.node].e = {only_node, 0};
    return match;
  }
  if (key == "options") return Options(file, node);
  if (key == "operands") return Operands(file, node, only_node);
  if (key == "only_does") return OnlyDoes(file, node);
  if (key == "act") return Act(file, node);
  if (key == "redirects") return Redirects(file, node);
  if (key == "effect" || key == "any_effect") return Effect(file, node);
  if (key == "flow" || key == "any_flow") return Flow(file, node);
  if (key == "sends") return Sends(file, node);
  if (key == "env") return Env(file, node);
  if (key == "via") return Strings(file, node, NodeKind::kVia);
  if (key == "unknown") return Codes(file, node);
  if (key == "cwd") return Condition(file, node, NodeKind::kCwd);
  if (key == "project") return Condition(file, node, NodeKind::kProject);
  if (key == "agent") return Condition(file, node, NodeKind::kAgent);
  if (key == "branch") {
    header_.asks_branch = 1;
    return Condition(file, node, NodeKind::kBranch);
  }
  if (key == "interactive")
    return Condition(file, node, NodeKind::kInteractive);
  if (key == "inspected") return Condition(file, node, NodeKind::kInspected);
  if (key == "all") return Combination(file, node, NodeKind::kAll);
  if (key == "any") return Combination(file, node, NodeKind::kAny);
  if (key == "unless") return Unless(file, node);
  if (key == "macro") return Macro(file, node);
  UnknownKey(file, node, "a match", kMatchers);
  return Never();
}

Compiler::Match Compiler::Combination(File& file, const TreeNode& node,
                                      NodeKind kind) {
  const char* what = kind == NodeKind::kAll ? "all" : "any";
  if (!Is(file, node, Type::kArray, what)) return Never();
  if (node.count == 0) {
    Problem(file, node.begin, "rule-empty-pattern",
            std::string("`") + what + "` is empty");
    return Never();
  }
  std::vector<Match> parts;
  for (const TreeNode& item : file.tree.children(node)) {
    if (!Is(file, item, Type::kObject, "a match")) return Never();
    if (item.count == 0) {
      Problem(file, item.begin, "rule-empty-pattern", "an empty match");
      return Never();
    }
    parts.push_back(MatchObject(file, item));
  }
  Match match;
  Node made;
  made.kind = kind;
  made.a = {static_cast<uint32_t>(links_.size()),
            static_cast<uint32_t>(parts.size())};
  if (kind == NodeKind::kAny) {
    match.keys.always = false;
    match.command = true;  // when every branch does
    match.names = Names::kCommands;
  }
  for (Match& part : parts) {
    links_.push_back(part.node);
    match.scope |= part.scope;
    match.effects |= part.effects;
    if (kind == NodeKind::kAll) {
      match.command |= part.command;
      match.names = std::max(match.names, part.names);
    } else {
      match.command &= part.command;
      match.names = std::min(match.names, part.names);
    }
    if (kind == NodeKind::kAll) {
      if (part.keys.Rank() > match.keys.Rank())
        match.keys = std::move(part.keys);
    } else if (part.keys.always) {
      match.keys.always = true;
    } else {
      for (const uint32_t b : part.keys.buckets)
        match.keys.buckets.push_back(b);
      for (std::string& p : part.keys.programs)
        match.keys.programs.push_back(std::move(p));
    }
  }
  if (match.keys.always) match.keys = {};
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::Unless(File& file, const TreeNode& node) {
  inverted_ = !inverted_;
  std::vector<Match> parts;
  if (node.type == Type::kObject) {
    if (node.count == 0)
      Problem(file, node.begin, "rule-empty-pattern", "an empty match");
    else
      parts.push_back(MatchObject(file, node));
  } else if (Is(file, node, Type::kArray, "unless")) {
    if (node.count == 0)
      Problem(file, node.begin, "rule-empty-pattern", "`unless` is empty");
    for (const TreeNode& item : file.tree.children(node)) {
      if (!Is(file, item, Type::kObject, "a match")) continue;
      if (item.count == 0)
        Problem(file, item.begin, "rule-empty-pattern", "an empty match");
      else
        parts.push_back(MatchObject(file, item));
    }
  }
  inverted_ = !inverted_;
  Match match;
  Node made;
  made.kind = NodeKind::kUnless;
  made.a = {static_cast<uint32_t>(links_.size()),
            static_cast<uint32_t>(parts.size())};
  for (const Match& part : parts) {
    links_.push_back(part.node);
    match.scope |= part.scope;
  }
  match.node = AddNode(made);
  return match;  // always: the absence of something is no key
}

Compiler::Match Compiler::Macro(File& file, const TreeNode& node) {
  const std::string name(String(file, node, "macro"));
  const auto found = macros_.find(name);
  if (found == macros_.end()) {
    Problem(file, node.begin, "rule-unknown-macro",
            "there is no macro `" + name + "`");
    return Never();
  }
  Use(Kind::kMacro, name);
  if (macro_depth_ >= 8) {
    Problem(file, node.begin, "rule-cyclic-macro",
            "the macro `" + name + "` refers to itself or is nested too deep");
    return Never();
  }
  auto [owner, body] = found->second;
  if (body->type != Type::kObject || body->count == 0) {
    Problem(*owner, body->begin, "rule-bad-type",
            "a macro must be an object with matchers");
    file.broken = true;
    return Never();
  }
  ++macro_depth_;
  Match match = MatchObject(*owner, *body);
  --macro_depth_;
  if (owner->broken) file.broken = true;
  return match;
}

Compiler::Match Compiler::Prefix(File& file, const TreeNode& node) {
  if (!Is(file, node, Type::kArray, "prefix")) return Never();
  if (node.count == 0) {
    Problem(file, node.begin, "rule-empty-pattern", "`prefix` is empty",
            "name at least the program: [\"git\", \"push\"]");
    return Never();
  }
  std::vector<std::vector<std::string_view>> words;
  for (const TreeNode& item : file.tree.children(node))
    words.push_back(StringList(file, item, "a word of `prefix`"));
  Node made;
  made.kind = NodeKind::kPrefix;
  made.a = {static_cast<uint32_t>(positions_.size()),
            static_cast<uint32_t>(words.size())};
  for (const auto& alternatives : words)
    positions_.push_back(AddStrings(alternatives));
  Match match;
  match.command = true;
  match.scope = kPerInvocation;
  match.keys.always = false;
  const bool two =
      words.size() > 1 && words[0].size() * words[1].size() <= kMaxPrefixKeys;
  // `bash -c` says no more than `bash`.
  const bool fixed = words.size() > 1 &&
                     std::ranges::none_of(words[1], [](std::string_view word) {
                       return word.starts_with('-');
                     });
  match.names = Names::kCommands;
  for (const std::string_view first : words[0]) {
    const std::string_view program = ProgramOf(first);
    match.names = std::min(match.names, NamesOf(program, fixed));
    if (!two) {
      match.keys.programs.emplace_back(program);
      continue;
    }
    for (const std::string_view second : words[1])
      match.keys.programs.push_back(std::string(program) + " " +
                                    std::string(second));
  }
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::Glob(File& file, const TreeNode& node) {
  const auto patterns = StringList(file, node, "glob");
  Match match;
  match.names = Names::kCommands;
  match.command = true;
  match.scope = kPerInvocation;
  match.keys.always = false;
  for (const std::string_view pattern : patterns) {
    if (pattern.size() > kMaxGlobBytes)
      Problem(file, node.begin, "rule-too-long", "the glob is too long");
    if (pattern.find_first_not_of("* ") == std::string_view::npos)
      Problem(file, node.begin, "rule-empty-pattern",
              "this glob matches every command");
    const std::string_view word = FirstLiteralWord(pattern, false);
    if (word.empty()) match.keys.always = true;
    match.keys.programs.emplace_back(word);
    match.names =
        std::min(match.names, NamesOf(word, /*fixed=*/!HasWildcard(pattern)));
  }
  if (match.keys.always) match.keys = {};
  Node made;
  made.kind = NodeKind::kGlob;
  if (unknown_is_mark_) made.flags = kUnknownIsMark;
  made.a = AddStrings(patterns);
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::RegexMatch(File& file, const TreeNode& node) {
  const std::string_view pattern =
      String(file, node, "a regex", Regex::kMaxPatternBytes);
  if (pattern.empty()) {
    file.broken = true;
    return Never();
  }
  auto compiled = Regex::Compile(pattern);
  if (!compiled) {
    Problem(file, node.begin, "rule-bad-regex", compiled.error().message,
            "the syntax is RE2's: no look-around, no back-references");
    return Never();
  }
  if (compiled->Search("") == MatchResult::kYes &&
      compiled->Search("\x01 \x02") == MatchResult::kYes)
    Problem(file, node.begin, "rule-empty-pattern",
            "this regex matches every command");
  Match match;
  match.command = true;
  match.scope = kPerInvocation;
  const std::string_view word = FirstLiteralWord(pattern, true);
  if (!word.empty()) {
    match.keys.always = false;
    match.keys.programs.emplace_back(word);
  }
  match.names = NamesOf(word, /*fixed=*/false);
  const std::vector<std::string> required = Regex::RequiredAny(pattern);
  const Range atoms = AddStrings({required.begin(), required.end()});
  Node made;
  made.kind = NodeKind::kRegex;
  if (unknown_is_mark_) made.flags = kUnknownIsMark;
  made.x = static_cast<uint32_t>(regexes_.size());
  regexes_.push_back({writer_.Text(pattern), atoms});
  match.node = AddNode(made);
  return match;
}

// A regex over the text of the whole line, quoted words and all. It matches
// what is only data, so it must not be the only thing that a rule says, and it
// takes nothing back.
Compiler::Match Compiler::LineMatch(File& file, const TreeNode& node) {
  if (loosens_ || inverted_)
    Problem(file, node.key_begin, "rule-loosen-condition",
            "a rule that loosens may not stand on the text of the whole line",
            "use `regex`, which sees each command by itself");
  Match match = RegexMatch(file, node);
  nodes_[match.node].kind = nodes_[match.node].kind == NodeKind::kRegex
                                ? NodeKind::kLine
                                : NodeKind::kNever;
  match.command = false;
  match.names = Names::kAny;
  match.scope = 0;
  match.keys = {};
  return match;
}

Compiler::Match Compiler::Program(File& file, const TreeNode& node) {
  const auto names = StringList(file, node, "program");
  Node made;
  made.kind = NodeKind::kProgram;
  made.a = AddStrings(names);
  Match match;
  match.command = true;
  match.scope = kPerInvocation;
  match.keys = ProgramKeys(names);
  match.names = Names::kCommands;
  for (const std::string_view name : names) {
    if (HasWildcard(name)) made.flags = kHasPattern;
    match.names = std::min(
        match.names, NamesOf(HasWildcard(name) ? "" : name, /*fixed=*/false));
  }
  for (const std::string_view name : names)
    if (name.find('/') != std::string_view::npos)
      Problem(file, node.begin, "rule-bad-value",
              "`program` is a name without directories",
              "use `prefix` for a program at one place");
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::Options(File& file, const TreeNode& node) {
  if (!Is(file, node, Type::kObject, "options")) return Never();
  Node made;
  made.kind = NodeKind::kOptions;
  for (const TreeNode& member : file.tree.children(node)) {
    if (member.key == "globs_are_harmless") {
      if (Flag(file, member)) made.flags |= kGlobsAreHarmless;
      continue;
    }
    Range* range = member.key == "any_of"    ? &made.a
                   : member.key == "all_of"  ? &made.b
                   : member.key == "none_of" ? &made.c
                   : member.key == "only"    ? &made.d
                                             : nullptr;
    if (range == nullptr) {
      UnknownKey(file, member, "options",
                 "any_of all_of none_of only globs_are_harmless");
      continue;
    }
    if (range == &made.d && member.type == Type::kArray && member.count == 0) {
      *range = AddStrings({"--"});  // no option at all
      continue;
    }
    *range = AddStrings(StringList(file, member, "options"));
  }
  if (made.a.count + made.b.count + made.c.count + made.d.count == 0)
    Problem(file, node.begin, "rule-empty-pattern", "`options` says nothing");
  Match match;
  match.scope = kPerInvocation;
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::Operands(File& file, const TreeNode& node,
                                   uint32_t only_node) {
  if (!Is(file, node, Type::kObject, "operands")) return Never();
  Node made;
  made.kind = NodeKind::kOperands;
  if (unknown_is_mark_) made.flags = kUnknownIsMark;
  made.x = 0;
  made.e = {only_node, 0};
  for (const TreeNode& member : file.tree.children(node)) {
    if (member.key == "any") {
      made.a = AddStrings(StringList(file, member, "operands"));
    } else if (member.key == "all") {
      made.b = AddStrings(StringList(file, member, "operands"));
    } else if (member.key == "none") {
      made.c = AddStrings(StringList(file, member, "operands"));
    } else if (member.key == "any_path") {
      made.d = AddPaths(file, member, "operands");
    } else if (member.key == "written") {
      const Match regex = RegexMatch(file, member);
      if (nodes_[regex.node].kind == NodeKind::kRegex)
        made.f = {nodes_[regex.node].x, 1};
    } else if (member.key == "min" || member.key == "max") {
      if (Is(file, member, Type::kNumber, "a count") && member.number >= 0 &&
          member.number <= 1000 &&
          member.number == static_cast<uint32_t>(member.number))
        (member.key == "min" ? made.x : made.y) =
            static_cast<uint32_t>(member.number);
      else
        Problem(file, member.begin, "rule-bad-value",
                "a count is a number from 0 to 1000");
    } else {
      UnknownKey(file, member, "operands",
                 "any all none any_path written min max");
    }
  }
  if (node.count == 0)
    Problem(file, node.begin, "rule-empty-pattern", "`operands` says nothing");
  Match match;
  match.scope = kPerInvocation;
  match.node = AddNode(made);
  return match;
}

}  // namespace gate::rules
