// Matchers: JSON -> nodes, and for each node the keys under which a rule is
// found (KeySet): a condition that is necessary for a match. How each matcher
// is read stands in rules/matchers.
#include <algorithm>

#include "base/regex.h"
#include "rules/compile/compiler.h"
#include "rules/matchers/command_nodes.h"
#include "rules/names.h"

namespace gate::rules {
namespace {

constexpr int kMaxMatchDepth = 16;

}  // namespace

CommandNames NamesOf(std::string_view program, bool fixed) {
  if (program.empty()) return CommandNames::kAny;
  return fixed || !RunsWhatItIsGiven(ProgramOf(program))
             ? CommandNames::kCommands
             : CommandNames::kRunners;
}

std::string_view ProgramOf(std::string_view word) {
  const size_t slash = word.rfind('/');
  if (slash != std::string_view::npos) word = word.substr(slash + 1);
  if (word.size() > 4 && word.ends_with(".exe")) word.remove_suffix(4);
  return word;
}

CompiledMatch Compiler::Never() {
  CompiledMatch match;
  nodes_.emplace_back();
  match.node = static_cast<uint32_t>(nodes_.size() - 1);
  match.keys.always = false;
  return match;
}

CompiledMatch Compiler::MatchObject(File& file, const TreeNode& node) {
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
  std::vector<CompiledMatch> parts;
  uint32_t accept_list = UINT32_MAX;
  // `operands` means the operands that are left when the options of the same
  // object are read, so `options` comes first whatever the order in the file.
  if (const TreeNode* options = file.tree.Find(node, "options")) {
    parts.push_back(MatchMember(file, *options));
    const Node& made = nodes_[parts.back().node];
    if (made.kind == NodeKind::kOptions &&
        made.As<OptionsNode>().only.count > 0)
      accept_list = parts.back().node;
  }
  for (const TreeNode& member : file.tree.children(node)) {
    if (member.key == "options") continue;
    accept_list_ = accept_list;
    parts.push_back(MatchMember(file, member));
  }
  accept_list_ = UINT32_MAX;
  --match_depth_;
  if (parts.size() == 1) return std::move(parts[0]);
  CompiledMatch match;
  for (CompiledMatch& part : parts) {
    match.scope |= part.scope;
    match.command |= part.command;
    match.subcommand |= part.subcommand;
    match.names = std::max(match.names, part.names);
    match.effects |= part.effects;
    if (part.keys.Rank() > match.keys.Rank()) match.keys = std::move(part.keys);
  }
  if (match.names == CommandNames::kRunners && match.subcommand)
    match.names = CommandNames::kCommands;
  // Commands and line: what is said of commands decides where it is tried.
  if (match.scope & kPerInvocation && match.keys.Rank() == 3)
    match.scope = kPerInvocation;
  match.node = AddNode(NodeKind::kAll, LinksNode{AddLinks(parts)});
  return match;
}

CompiledMatch Compiler::MatchMember(File& file, const TreeNode& node) {
  for (const MatcherType* matcher : kMatchers)
    if (matcher->read != nullptr && matcher->key == node.key)
      return matcher->read(*this, file, node);
  if (node.key == "macro") return Macro(file, node);
  std::string known;
  for (const MatcherType* matcher : kMatchers)
    if (matcher->read != nullptr) known += std::string(matcher->key) + " ";
  UnknownKey(file, node, "a match", known + "macro");
  return Never();
}

std::vector<CompiledMatch> Compiler::MatchObjects(File& file,
                                                  const TreeNode& node,
                                                  const char* what) {
  if (!Is(file, node, Type::kArray, what)) return {};
  if (node.count == 0) {
    Problem(file, node.begin, "rule-empty-pattern",
            std::string("`") + what + "` is empty");
    return {};
  }
  std::vector<CompiledMatch> parts;
  for (const TreeNode& item : file.tree.children(node)) {
    if (!Is(file, item, Type::kObject, "a match")) return {};
    if (item.count == 0) {
      Problem(file, item.begin, "rule-empty-pattern", "an empty match");
      return {};
    }
    parts.push_back(MatchObject(file, item));
  }
  return parts;
}

std::vector<CompiledMatch> Compiler::InvertedMatches(File& file,
                                                     const TreeNode& node) {
  inverted_ = !inverted_;
  std::vector<CompiledMatch> parts;
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
  return parts;
}

CompiledMatch Compiler::Macro(File& file, const TreeNode& node) {
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
  CompiledMatch match = MatchObject(*owner, *body);
  --macro_depth_;
  if (owner->broken) file.broken = true;
  return match;
}

Range Compiler::AddLinks(const std::vector<CompiledMatch>& parts) {
  const Range range{static_cast<uint32_t>(links_.size()),
                    static_cast<uint32_t>(parts.size())};
  for (const CompiledMatch& part : parts) links_.push_back(part.node);
  return range;
}

Range Compiler::AddPositions(
    const std::vector<std::vector<std::string_view>>& positions) {
  const Range range{static_cast<uint32_t>(positions_.size()),
                    static_cast<uint32_t>(positions.size())};
  for (const auto& alternatives : positions)
    positions_.push_back(AddStrings(alternatives));
  return range;
}

uint32_t Compiler::AddRegex(File& file, const TreeNode& node) {
  const std::string_view pattern =
      String(file, node, "a regex", Regex::kMaxPatternBytes);
  if (pattern.empty()) {
    file.broken = true;
    return UINT32_MAX;
  }
  auto compiled = Regex::Compile(pattern);
  if (!compiled) {
    Problem(file, node.begin, "rule-bad-regex", compiled.error().message,
            "the syntax is RE2's: no look-around, no back-references");
    return UINT32_MAX;
  }
  if (compiled->Search("") == MatchResult::kYes &&
      compiled->Search("\x01 \x02") == MatchResult::kYes)
    Problem(file, node.begin, "rule-empty-pattern",
            "this regex matches every command");
  const std::vector<std::string> required = Regex::RequiredAny(pattern);
  const Range atoms = AddStrings({required.begin(), required.end()});
  regexes_.push_back({writer_.Text(pattern), atoms});
  return static_cast<uint32_t>(regexes_.size() - 1);
}

}  // namespace gate::rules
