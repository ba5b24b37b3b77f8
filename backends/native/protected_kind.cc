// What a protected path is called in a report.
#include <algorithm>
#include <string_view>

#include "backends/native/calls/calls.h"
#include "base/paths.h"
#include "known/known.h"

namespace gate::backends {
namespace {

using known::List;

struct Kind {
  List list;
  ViolationKind kind;
};
constexpr Kind kKinds[] = {{List::kReportShell, ViolationKind::kShellStartup},
                           {List::kReportAgent, ViolationKind::kAgentSettings},
                           {List::kReportGit, ViolationKind::kGit},
                           {List::kReportEditor, ViolationKind::kEditor},
                           {List::kReportTool, ViolationKind::kToolSettings}};

bool HasLastPart(List list, std::string_view part) {
  return std::ranges::any_of(known::Names(list), [&](std::string_view name) {
    return BaseName(name) == part;
  });
}

}  // namespace

ViolationKind ProtectedKind(const std::string& path) {
  size_t begin = 0;
  while (begin < path.size()) {
    size_t end = path.find('/', begin);
    if (end == std::string::npos) end = path.size();
    const std::string_view part(path.data() + begin, end - begin);
    if (part.starts_with('.') || end == path.size()) {
      for (const auto& [list, kind] : kKinds)
        if (HasLastPart(list, part)) return kind;
    }
    begin = end + 1;
  }
  return ViolationKind::kOtherProtected;
}

}  // namespace gate::backends
