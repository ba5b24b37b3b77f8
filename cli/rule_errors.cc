#include "cli/rule_errors.h"

#include <cstdio>

namespace gate::app {

bool TellPolicyErrors(const rules::Policy& policy) {
  if (!HasErrors(policy.diagnostics())) return false;
  for (const Diagnostic& diagnostic : policy.diagnostics())
    std::fputs(Render(diagnostic).c_str(), stderr);
  return true;
}

}  // namespace gate::app
