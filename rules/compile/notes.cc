// What loads and is still doubtful in the files themselves, kept in the image
// for `gate rules lint`: a decision does not look at it.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "rules/compile/compiler.h"

namespace gate::rules {
namespace {

constexpr size_t kMaxHidden = 20;  // notes of a file

}  // namespace

void Compiler::Define(File& file, const TreeNode& node, Kind kind) {
  defined_.try_emplace({kind, std::string(node.key)},
                       Defined{&file, node.key_begin, false, Untrusted(file)});
}

bool Compiler::Untrusted(const File& file) const {
  return options_.layer == Layer::kProject && !file.source->trusted;
}

void Compiler::Distrust(Kind kind, std::string_view name) {
  const auto found = defined_.find(std::pair(kind, std::string(name)));
  if (found != defined_.end()) found->second.untrusted = true;
}

void Compiler::Use(Kind kind, std::string_view name) {
  const auto found = defined_.find(std::pair(kind, std::string(name)));
  if (found == defined_.end()) return;
  found->second.used = true;
  stands_on_untrusted_ |= found->second.untrusted;
}

void Compiler::AddNote(File& file, uint32_t offset, uint32_t kind,
                       std::string_view id) {
  const auto [line, column] = Place(file, offset);
  notes_.push_back(
      {writer_.Text(id), kind, line, column, writer_.Text(file.source->name)});
}

void Compiler::NoteHiddenText(File& file) {
  const std::string_view text = file.source->text;
  // Plain ASCII, which nearly every file is, costs one look at each byte.
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x7F || (byte < 0x20 && c != '\n' && c != '\t' && c != '\r');
  });
  if (plain) return;
  size_t count = 0;
  for (const Span& span : FindHidden(text)) {
    if (text.substr(span.begin, span.end - span.begin) == "\r" ||
        (span.begin == 0 && text.starts_with("\xEF\xBB\xBF")))
      continue;
    if (++count > kMaxHidden) return;
    AddNote(file, static_cast<uint32_t>(span.begin), kNoteHiddenText,
            Visible(text.substr(span.begin, span.end - span.begin)));
  }
}

void Compiler::NoteUnused() {
  // What the shipped rules define is there for users' rules.
  const bool shipped = options_.layer == Layer::kBuiltin;
  for (const auto& [key, defined] : defined_) {
    if (defined.used || (shipped && key.first != Kind::kMacro)) continue;
    AddNote(*defined.file, defined.offset,
            key.first == Kind::kList    ? kNoteUnusedList
            : key.first == Kind::kMacro ? kNoteUnusedMacro
                                        : kNoteUnusedClass,
            key.second);
  }
}

// {"lint-code": "why it is meant"}: a finding that is accepted, with a reason.
void Compiler::ReadLint(File& file, const TreeNode& node, RuleRecord* rule) {
  if (!Is(file, node, Type::kObject, "lint")) return;
  std::vector<std::string_view> pairs;
  for (const TreeNode& member : file.tree.children(node)) {
    if (!member.key.starts_with("lint-"))
      UnknownKey(
          file, member, "lint",
          "lint-shadowed lint-conflict lint-open-tail lint-never-matches "
          "lint-unanchored");
    const std::string_view reason = String(file, member, "a reason");
    pairs.push_back(member.key);
    pairs.push_back(reason);
  }
  rule->lint = AddStrings(pairs);
}

// By the words of the commands that they are for: the program, and words that
// it is given.
void Compiler::ReadSuggestions(File& file, const TreeNode& node,
                               RuleRecord* rule) {
  if (!Is(file, node, Type::kObject, "suggestions")) return;
  std::vector<std::string_view> pairs;
  for (const TreeNode& member : file.tree.children(node)) {
    if (member.key.empty())
      Problem(file, member.key_begin, "rule-bad-value",
              "a suggestion is for a program, and words that it is given");
    pairs.push_back(member.key);
    pairs.push_back(String(file, member, "a suggestion", kMaxReasonBytes));
  }
  rule->suggestions = AddStrings(pairs);
}

// Places are named one by one: of a pattern nobody could say what it opens.
void Compiler::ReadOpens(File& file, const TreeNode& node, RuleRecord* rule) {
  constexpr auto kBases =
      std::to_array<std::string_view>({"$HOME/", "$NODE_PREFIX/"});
  const std::vector<std::string_view> places = StringList(file, node, "opens");
  const auto is_below = [&](std::string_view place) {
    return std::ranges::any_of(kBases, [&](std::string_view base) {
      return place.starts_with(base) && place.size() > base.size();
    });
  };
  // `$NAME/…|…`: where a variable of the caller's says, or else.
  const auto is_variable = [](std::string_view place) {
    const size_t end =
        place.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", 1);
    return place.starts_with('$') && end > 1 && end < place.size() &&
           place[end] == '/' && place.find('|', end) != place.npos;
  };
  for (const std::string_view place : places) {
    const bool below = (is_below(place) || is_variable(place)) &&
                       place.find_first_of("*?[\\") == std::string_view::npos;
    if (place != "$WRITES" && !below)
      Problem(file, node.begin, "rule-bad-value",
              "this is no place that a yes can open",
              "$WRITES, or a file or DIRECTORY/ below $HOME/ or $NODE_PREFIX/");
  }
  if (options_.layer < Layer::kBuiltin) {
    Problem(file, node.begin, "rule-not-here",
            "`opens` has no meaning in this layer", "leave it out",
            Severity::kWarning);
    return;
  }
  rule->opens = AddStrings(places);
}

}  // namespace gate::rules
