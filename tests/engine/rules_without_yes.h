// Shipped rules that ask and of which no yes works.
#pragma once

#include <set>
#include <string>

namespace gate::test {

// What they ask about runs code of the project with the person's rights, or is
// not known before it runs: the person runs it by hand.
inline std::set<std::string> RulesWithoutYes() {
  return {
      "containers.escape",       "files.delete-search-outside",
      "packages.publish-python", "packages.publish-runs-scripts",
      "privilege.namespaces",    "secrets.read-found",
      "files.other-home",        "installs.git-hooks",
      "editors.no-terminal",
  };
}

}  // namespace gate::test
