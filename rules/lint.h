// What is wrong or doubtful in rules that load.
//
// Loading refuses what cannot be understood (unknown keys, regexes that do not
// compile, empty patterns, duplicate ids within a layer); these findings are
// about rules that load and are still a mistake. What must be evaluated to be
// known (examples, witnesses, what an allow lets through) is engine/lint.h's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "rules/policy.h"

namespace gate::rules {

// One kind of finding; the table is in rules/lint/lint.cc and docs/rules.md.
struct LintKind {
  std::string_view code;     // stable, "lint-…"
  std::string_view summary;  // one sentence
  std::string_view help;     // what to do in general
};
std::span<const LintKind> LintKinds();

struct Finding {
  Diagnostic diagnostic;
  std::string rule;      // its id; empty when it is about a file
  std::string other;     // of two rules, the other's id
  std::string witness;   // a command that shows it, evaluated
  std::string accepted;  // why the rule says it is meant; then only a note
};

// Rules of the builtin layer are held to more: examples (two each way),
// severity and, for ask and deny, a suggestion or "no_alternative" among tags.
std::vector<Finding> Lint(const Policy& policy, uint64_t now_ms);

// --- For those who add findings ---

struct LoadedLayer;

// `finding` of rule number `rule` of `layer`, with its place filled in, and
// accepted when the rule's `lint` says so.
Finding MakeFinding(const LoadedLayer& layer, uint32_t rule, Severity severity,
                    std::string_view code, std::string message,
                    std::string help);

}  // namespace gate::rules
