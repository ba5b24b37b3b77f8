// The kinds of findings. docs/rules.md has the same table for people.
#include <array>

#include "rules/lint.h"

namespace gate::rules {
namespace {

constexpr std::array<LintKind, 25> kKinds = {{
    {"lint-duplicate-id", "an id is used in two layers",
     "give one of them another name"},
    {"lint-conflict", "two rules match the same and say different things",
     "keep one of them"},
    {"lint-shadowed", "a stricter rule matches whatever this one matches",
     "drop the rule, or except the other one"},
    {"lint-dead-exception", "an exception or `disable` has no effect",
     "drop it, or name the rule that is meant"},
    {"lint-unknown-exception", "an exception names no rule",
     "see `gate rules list`"},
    {"lint-never-matches", "nothing matches the rule, or a part of it",
     "mend the condition"},
    {"lint-unknown-option", "an option that the program is not known to have",
     "see `gate parse` for what gate reads; name each option by itself"},
    {"lint-allow-interpreter", "an allow lets through whatever a program runs",
     "name the sub-command or the script, or let it run in the sandbox"},
    {"lint-broad-allow", "an allow covers programs of any name",
     "name the programs"},
    {"lint-open-tail", "an allow lets options through that write or execute",
     "list the options that may be given: \"options\": {\"only\": […]}"},
    {"lint-unanchored", "a pattern also matches text inside arguments",
     "begin the regex with ^ and name the program"},
    {"lint-catch-all", "a rule matches nearly every command",
     "narrow it, or set `default_action`"},
    {"lint-raw-text", "a pattern speaks of shell syntax that gate has resolved",
     "match each command by itself, redirections by `effect`"},
    {"lint-unused", "a list, macro or class that nothing refers to", "drop it"},
    {"lint-no-examples", "a rule has too few examples",
     "give commands it must match and commands it must not"},
    {"lint-example", "an example does not hold",
     "change the rule or the example"},
    {"lint-no-suggestion", "a rule stops without saying what to do instead",
     "add a `suggestion`, or the tag `no_alternative`"},
    {"lint-no-severity", "a shipped rule has no severity",
     "low, medium, high or critical"},
    {"lint-hidden-text", "text that a person does not see or sees otherwise",
     "write it as an escape, or take it out"},
    {"lint-not-indexed", "a rule is tried on every command",
     "name a program, an effect or another word that must stand there"},
    {"lint-weaker", "a more trusted layer is stricter, so the rule is ignored",
     "drop the rule, or take the other one back in that layer"},
    {"lint-file-writable", "the agent or others can write what is trusted",
     "let only you or root write there"},
    {"lint-no-backend", "what a rule asks for is not available here",
     "see `gate backends`"},
    {"lint-expired", "a rule is over, or has not begun",
     "take it out or give it a new date"},
    {"lint-project-network", "a project's rule cannot give network",
     "put it into the user's rules"},
}};

}  // namespace

std::span<const LintKind> LintKinds() { return kKinds; }

}  // namespace gate::rules
