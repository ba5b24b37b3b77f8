// How every command tells of a wrong usage and a failure.
#include <cstdio>
#include <optional>
#include <string>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"

namespace gate::app {

void Complain(const std::string& message) {
  // It may quote what somebody else wrote: arguments, file names.
  std::fprintf(stderr, "gate: %s\n", Visible(message).c_str());
}

int FailedInternally(const Error& error) {
  Complain(error.message);
  return kExitInternal;
}

std::optional<int> ParseWith(Options& app, const Arguments& arguments) {
  const Status parsed = app.Parse(arguments);
  if (!app.help().empty()) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  }
  if (parsed) return std::nullopt;
  Complain(Visible(parsed.error().message));
  std::fprintf(stderr, "help: `%s --help` lists the options\n",
               app.name().c_str());
  return kExitUsage;
}

}  // namespace gate::app
