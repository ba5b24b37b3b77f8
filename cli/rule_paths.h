// Policies that are named on the command line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "rules/policy.h"

namespace gate::app {

// `path` itself, or the *.json of the directory it is, in byte order.
Result<std::vector<std::string>> RulePaths(const std::string& path);

// The rule files at `path`: a file, or the *.json of a directory.
Result<std::vector<rules::RuleFile>> ReadRuleFiles(const std::string& path,
                                                   rules::Layer layer);

// The shipped policy with the files at `path` as the user's; `builtin` names
// the shipped policy alone.
Result<rules::Policy> ReadPolicy(const std::string& path);

}  // namespace gate::app
