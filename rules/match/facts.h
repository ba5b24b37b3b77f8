// What rules may ask besides the line itself.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "parser/analysis.h"
#include "rules/match/path_filter.h"

namespace gate::rules {

// Views of the caller's request.
struct Facts {
  PathBases bases{};
  std::span<const std::string> secrets;  // of the class `secret`, too
  std::string_view cwd, agent, branch;
  std::string_view line;     // as it was written
  bool branch_known = true;  // false: it may be any branch
  bool interactive = false;
  bool inspected = false;
  // False: nothing is ruled out by a first look, neither matchers by their
  // Prefilter, nor regexes by their atoms, nor paths by PathFilter. The answer
  // is the same; tests hold it to it.
  bool first_looks = true;
};

// Reads the options of an invocation whose analysis has them not.
using OptionReader = parser::OptionsRead (*)(const parser::Invocation&);

}  // namespace gate::rules
