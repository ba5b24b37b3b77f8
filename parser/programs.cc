// The embedded descriptions.

#include "parser/programs.h"

#include <algorithm>

#include "parser/programs_image.h"

namespace gate::parser {
namespace {

// Opened at the first use; nothing is parsed. An image that the build broke
// would know no program, which the tests of the descriptions would show.
const programs::Tables& Embedded() {
  static const programs::Tables tables = [] {
    programs::Tables t;
    if (!programs::OpenTables(EmbeddedPrograms(), &t))
      return programs::Tables();
    return t;
  }();
  return tables;
}

}  // namespace

Reading ReadArguments(std::span<const Argument> argv) {
  return programs::Read(Embedded(), argv);
}

bool IsDescribed(std::string_view program) {
  return programs::FindProgram(Embedded(), program) != programs::kNone;
}

std::optional<EnvironmentMeaning> EnvironmentRole(std::string_view name) {
  const programs::Tables& t = Embedded();
  const auto meaning = [&](const programs::EnvironmentName& e) {
    return EnvironmentMeaning{static_cast<Role>(e.role),
                              t.image.Text(e.detail)};
  };
  // Names that end in `*` stand after their own beginnings and are few.
  for (const programs::EnvironmentName& e : t.environment) {
    const std::string_view pattern = t.image.Text(e.name);
    if (pattern == name) return meaning(e);
    if (pattern.ends_with('*') &&
        name.starts_with(pattern.substr(0, pattern.size() - 1))) {
      return meaning(e);
    }
  }
  return std::nullopt;
}

}  // namespace gate::parser
