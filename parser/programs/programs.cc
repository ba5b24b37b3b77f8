// The embedded descriptions.

#include "parser/programs.h"

#include <algorithm>

#include "parser/programs/image.h"

namespace gate::parser {
namespace {

// Opened at the first use; nothing is parsed. An image that the build broke
// would know no program, which the tests of the descriptions would show.
const programs::Tables& Embedded() {
  static const programs::Tables tables = [] {
    programs::Tables t;
    if (!programs::OpenTables(EmbeddedPrograms(), /*check=*/false, &t)) {
      return programs::Tables();
    }
    return t;
  }();
  return tables;
}

}  // namespace

ArgumentAnalysis ReadArguments(std::span<const Argument> argv) {
  return programs::Read(Embedded(), argv);
}

OptionsRead OptionsOf(const ArgumentAnalysis& arguments) {
  OptionsRead read;
  read.known = arguments.known;
  read.complete = arguments.complete;
  read.unread = arguments.unread;
  read.options = arguments.options;
  read.acts = arguments.acts;
  for (const ArgumentEffect& effect : arguments.effects)
    read.roles |= uint32_t{1} << static_cast<unsigned>(effect.role);
  return read;
}

bool IsDescribed(std::string_view program) {
  return programs::FindProgram(Embedded(), program) != nullptr;
}

Language LanguageNamed(std::string_view detail) {
  if (detail.empty()) return Language::kPosixShell;
  const programs::Tables& t = Embedded();
  const auto it = std::lower_bound(
      t.languages.begin(), t.languages.end(), detail,
      [&](const programs::LanguageName& a, std::string_view b) {
        return t.image.Text(a.name) < b;
      });
  const bool found =
      it != t.languages.end() && t.image.Text(it->name) == detail;
  return found ? static_cast<Language>(it->language) : Language::kNone;
}

std::vector<std::string_view> SpellingsOf(
    std::string_view program, std::span<const std::string> subcommand,
    std::string_view name) {
  const programs::Tables& t = Embedded();
  std::vector<std::string_view> found;
  const programs::ProgramName* named = programs::FindProgram(t, program);
  uint32_t index = named == nullptr ? programs::kNone : named->node;
  for (size_t depth = 0; index != programs::kNone; ++depth) {
    const programs::Node& node = t.nodes[index];
    for (const programs::OptionName& each :
         t.option_names.subspan(node.option_names, node.option_names_count))
      if (t.image.Text(each.name) == name)
        found.push_back(t.image.Text(t.options[each.option].spellings));
    if (depth == subcommand.size()) break;
    index = programs::kNone;
    const auto children = t.children.subspan(
        node.children, node.children_count + node.patterns_count);
    for (const programs::Child& child : children)
      if (t.image.Text(child.canonical) == subcommand[depth])
        index = child.node;
    if (index != programs::kNone) continue;
    if (const auto* child = programs::FindChild(t, node, subcommand[depth]))
      index = child->node;
  }
  return found;
}

Described DescribesOption(std::string_view program, std::string_view name) {
  const programs::Tables& t = Embedded();
  const programs::ProgramName* root = programs::FindProgram(t, program);
  if (root == nullptr) return Described::kUnsure;
  if (name == "--help" || name == "--version") return Described::kYes;
  const std::string with_two = "-" + std::string(name);
  const std::string_view with_one =
      name.starts_with("--") ? name.substr(1) : name;
  bool all = true;
  std::vector<uint32_t> nodes = {root->node};
  // The same node may be a sub-command of several.
  for (size_t i = 0; i < nodes.size(); ++i) {
    const programs::Node& node = t.nodes[nodes[i]];
    const bool single = (node.flags & programs::Node::kSingle) != 0;
    all = all && (node.flags & programs::Node::kLoose) == 0;
    for (const programs::OptionName& each :
         t.option_names.subspan(node.option_names, node.option_names_count)) {
      const std::string_view text = t.image.Text(each.name);
      if (text == name || (single && (text == with_one || text == with_two)))
        return Described::kYes;
    }
    for (const programs::Child& child : t.children.subspan(
             node.children, node.children_count + node.patterns_count))
      if (std::find(nodes.begin(), nodes.end(), child.node) == nodes.end())
        nodes.push_back(child.node);
  }
  return all ? Described::kNo : Described::kUnsure;
}

std::optional<EnvironmentMeaning> EnvironmentRole(std::string_view name) {
  const programs::Tables& t = Embedded();
  const auto find = [&](std::string_view prefix,
                        std::string_view tail) -> const auto* {
    const auto compare = [&](const programs::EnvironmentName& e) {
      const std::string_view text = t.image.Text(e.name);
      const int head = text.substr(0, prefix.size()).compare(prefix);
      if (head != 0) return head;
      return text.substr(std::min(prefix.size(), text.size())).compare(tail);
    };
    const auto it = std::partition_point(
        t.environment.begin(), t.environment.end(),
        [&](const programs::EnvironmentName& e) { return compare(e) < 0; });
    const bool found = it != t.environment.end() && compare(*it) == 0;
    return found ? &*it : nullptr;
  };
  const auto meaning = [&](const programs::EnvironmentName& e) {
    const std::string_view detail = t.image.Text(e.detail);
    return EnvironmentMeaning{static_cast<Role>(e.role), ModifierOf(detail),
                              detail};
  };
  if (const auto* e = find(name, "")) return meaning(*e);
  // Families of names are described as `PREFIX_*`.
  for (size_t k = name.size(); k-- > 0;) {
    if (name[k] != '_') continue;
    if (const auto* e = find(name.substr(0, k + 1), "*")) return meaning(*e);
  }
  return std::nullopt;
}

}  // namespace gate::parser
