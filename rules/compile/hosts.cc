// `hosts` and `hosts_deny`: which hosts a contained command reaches, by name.
#include <set>
#include <string>
#include <string_view>

#include "base/text.h"
#include "net/host_list.h"
#include "rules/compile/compiler.h"

namespace gate::rules {

Range Compiler::AddHostRules(File& file, const TreeNode& node,
                             const char* what) {
  std::set<std::string> hosts;
  const auto add = [&](const TreeNode& item) {
    if (!Is(file, item, Type::kString, what)) return;
    if (item.text == kHostsNamed || item.text == kHostsOfProgram) {
      if (list_values_.contains(std::string(item.text.substr(1))))
        Problem(file, item.begin, "rule-bad-host",
                "`" + std::string(item.text) + "` is a word of gate's here",
                "give the list of that name another one");
      else if (std::string_view(what) != "hosts")
        Problem(file, item.begin, "rule-bad-host",
                "`" + std::string(item.text) + "` says what is reached",
                "it belongs in `hosts`; name what is denied");
      else
        hosts.emplace(item.text);
      return;
    }
    for (const std::string_view text : StringList(file, item, what)) {
      const auto rule = net::ParseHostRule(text);
      if (rule) {
        hosts.insert(net::Print(*rule));
        continue;
      }
      Problem(file, item.begin, "rule-bad-host",
              "`" + Visible(text) +
                  "` is no rule for a host: " + rule.error().message,
              "HOST, HOST:PORT, *.HOST or *.HOST:PORT, as in "
              "\"registry.npmjs.org\" or \"*.example.org:8443\"");
    }
  };
  if (node.type == Type::kString) {
    add(node);
  } else if (Is(file, node, Type::kArray, what)) {
    if (node.count == 0)
      Problem(file, node.begin, "rule-empty-pattern",
              std::string("`") + what + "` is empty");
    for (const TreeNode& item : file.tree.children(node)) add(item);
  }
  if (hosts.size() > kMaxHostsOfRule) {
    Problem(file, node.begin, "rule-too-many",
            std::string("`") + what + "` has more than " +
                std::to_string(kMaxHostsOfRule) + " hosts",
            "`*.example.org` stands for every host below example.org");
    return {};
  }
  return AddStrings({hosts.begin(), hosts.end()});
}

}  // namespace gate::rules
