// Whether a line gets the profile `tool`: the credentials of the one program
// that it runs. Pure; what has to be looked up comes in as values.
//
// Given only if the line runs that program alone, by what its name means, with
// nothing that sends the credentials elsewhere or makes it run other code.
// Where it is not given, the line is asked about and gets nothing without a
// yes.
#pragma once

#include <string>
#include <vector>

#include "engine/decision.h"
#include "engine/evaluate.h"
#include "parser/analysis.h"
#include "rules/lending.h"

namespace gate::engine {

// What the caller found out. The default gives nothing.
struct ToolFacts {
  // Whether all programs of the line are what their names say, as for `allow`.
  ProgramVerification names = {false, "its programs were not looked at"};
  std::string workspace;  // empty: none
};

struct ToolAccess {
  bool given = false;
  std::string program;  // the first name of its entry in rules.d/lending
  std::vector<uint32_t> invocations;  // the runs of it
  // Where it is not given: what stands in the way, and what to do.
  std::string why, suggestion;
};

// `decision`: of `analysis`, by Evaluate. Linear in the commands and effects.
ToolAccess JudgeToolAccess(const parser::Analysis& analysis,
                           const Decision& decision, const ToolFacts& facts);

// Makes of a decision that cannot have the profile a question, and of a
// question one whose yes runs the line as the person would: what a sandbox
// without credentials would do fails without a word.
// What is asked about are the runs of programs that have credentials.
void AskInsteadOfTool(const parser::Analysis& analysis,
                      const ToolAccess& access, Decision* decision);

}  // namespace gate::engine
