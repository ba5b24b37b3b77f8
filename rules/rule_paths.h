// Policies that are named on the command line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "rules/policy.h"

namespace gate::rules {

// `path` itself, or the *.json of the directory it is, in byte order.
Result<std::vector<std::string>> RulePaths(const std::string& path);

// The rule files at `path`: a file, or the *.json of a directory.
Result<std::vector<RuleFile>> ReadRuleFiles(const std::string& path,
                                            Layer layer);

// The shipped policy with the files at `path` as the user's; `builtin` names
// the shipped policy alone.
Result<Policy> ReadPolicy(const std::string& path);

// The rule files of the system and the user, in these directories. What cannot
// be read is left out: a policy of them says so where it matters.
std::vector<RuleFile> OwnRuleFiles(const std::string& system_dir,
                                   const std::string& user_dir);

}  // namespace gate::rules
