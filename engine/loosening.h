// What takes back what a rule says: exceptions, and a person's allow.
//
// Exceptions and lifting are for one subject (a command, or the line), after
// all of its rules were tried. Neither ever adds a match, and neither touches a
// locked rule.
#pragma once

#include <functional>
#include <vector>

#include "rules/index.h"
#include "rules/match.h"
#include "rules/policy_impl.h"

namespace gate::engine {

using rules::Action;

// A rule that matches a subject, or may.
struct Hit {
  const rules::LoadedLayer* layer = nullptr;
  uint32_t rule = 0;
  Action action = Action::kDeny;  // what it is worth here
  bool certain = true;
  bool excepted = false;
  bool error = false;    // it could not be evaluated, so it counts as a match
  bool allowed = false;  // excepted by a rule that allows
  bool lifted = false;   // its sandbox is lifted; what else it says stands
  const rules::RuleRecord& record() const { return layer->view.rules[rule]; }
};

// Told of each hit that was taken back: the hit, how ("excepted by "), by what.
using TakenBack = std::function<void(const Hit&, const char*, const Hit&)>;

// Takes back what exceptions name: rules of their own or a less trusted layer,
// never locked ones. A rule that is itself named by one takes nothing back.
// Cost: hits times exceptions.
void Except(rules::Matcher& matcher, const rules::Subject& subject,
            std::vector<Hit>* hits, const TakenBack& taken_back);

// Whether every word of the command is there as it is written, or a pattern
// that cannot become an option. Only then do rules that are not shipped allow
// it. True for the line.
bool IsSettled(const rules::Subject& subject);

// Lifts what shipped sandbox rules say of a command that a person's allow names
// (rules/lifting.h), for certain. To be called when the command is allowed, its
// words being settled and its variables harmless. Cost: allow rules that match
// times hits.
void Lift(const rules::Subject& subject, std::vector<Hit>* hits,
          const TakenBack& taken_back);

}  // namespace gate::engine
