// Policies that are named on the command line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "rules/policy.h"

namespace gate::cli {

// The rule files at `path`: a file, or the *.json of a directory.
Result<std::vector<rules::RuleFile>> ReadRuleFiles(const std::string& path,
                                                   rules::Layer layer);

// The shipped policy with the files at `path` as the user's; `builtin` names
// the shipped policy alone.
Result<rules::Policy> ReadPolicy(const std::string& path);

}  // namespace gate::cli
