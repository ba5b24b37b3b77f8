// Names of options that the program's description (rules.d/programs) does not
// know. Shipped rules are not looked at: they have examples of what they name.
#include <string>
#include <string_view>

#include "parser/programs.h"
#include "rules/lint/internal.h"
#include "rules/matchers/command_nodes.h"
#include "rules/relations.h"

namespace gate::rules {
namespace {

// Of the options of `rule`, called `name`: what is wrong; empty when nothing.
std::string Wrong(const std::vector<std::string_view>& programs,
                  std::string_view name) {
  name = name.substr(0, name.find('='));
  if (name.size() < 2 || name[0] != '-' || name == "--") return "";
  bool listed = !programs.empty(), letters = !programs.empty();
  for (const std::string_view program : programs) {
    const auto has = parser::DescribesOption(program, name);
    if (has == parser::Described::kYes) return "";
    listed = listed && has == parser::Described::kNo;
    letters = letters && name.size() > 2 && name[1] != '-';
    for (size_t i = 1; letters && i < name.size(); ++i)
      letters =
          parser::DescribesOption(program, {"-" + std::string(1, name[i])}) ==
          parser::Described::kYes;
  }
  if (letters)
    return "is read as one option of that name, not as its letters; name each "
           "by itself";
  return listed ? "is no option that the description of `" +
                      std::string(programs[0]) + "` knows"
                : "";
}

}  // namespace

void LintOptions(const Policy::Impl& policy, std::vector<Finding>* found) {
  for (const auto& layer : policy.layers) {
    if (layer->layer == Layer::kBuiltin) continue;
    const RuleView& view = layer->view;
    for (uint32_t rule = 0; rule < view.rules.size(); ++rule) {
      const auto programs = ProgramsOf({&view, view.rules[rule].match});
      if (!programs) continue;
      std::vector<uint32_t> todo = {view.rules[rule].match};
      for (size_t steps = 0; !todo.empty() && steps < 10000; ++steps) {
        const uint32_t index = todo.back();
        todo.pop_back();
        if (index >= view.nodes.size()) continue;
        const Node& node = view.nodes[index];
        if (node.kind == NodeKind::kAll || node.kind == NodeKind::kAny)
          for (const uint32_t link : LinksOf(view, node)) todo.push_back(link);
        if (node.kind != NodeKind::kOptions) continue;
        const auto& own = node.As<OptionsNode>();
        for (const Range range : {own.any_of, own.all_of, own.none_of})
          for (const FlatText& text : view.In(view.strings, range)) {
            const std::string name(view.Text(text));
            const std::string wrong = Wrong(*programs, name);
            if (!wrong.empty())
              found->push_back(MakeFinding(
                  *layer, rule, Severity::kWarning, "lint-unknown-option",
                  "`" + name + "` of the rule `" +
                      std::string(view.Text(view.rules[rule].id)) + "` " +
                      wrong,
                  ""));
          }
      }
    }
  }
}

}  // namespace gate::rules
