#include "parser/expand/special.h"

namespace gate::parser {
namespace {

// bash 5.2.15, `declare -p` of `bash -c`; what an assignment does was tried.
// BASH_MONOSECONDS and BASH_TRAPSIG are of bash 5.3, by its manual.
constexpr Special kSpecials[] = {
    {"BASHOPTS", SpecialKind::kText, false, true},
    {"BASHPID", SpecialKind::kDigits, true, false},
    {"BASH_ALIASES", SpecialKind::kCommands, false, false},
    {"BASH_ARGC", SpecialKind::kText, false, false},
    {"BASH_ARGV", SpecialKind::kText, false, false},
    {"BASH_ARGV0", SpecialKind::kZero, false, false},
    {"BASH_CMDS", SpecialKind::kCommands, false, false},
    {"BASH_COMMAND", SpecialKind::kText, false, false},
    {"BASH_COMPAT", SpecialKind::kBehaviour, false, false},
    {"BASH_LINENO", SpecialKind::kText, false, false},
    {"BASH_MONOSECONDS", SpecialKind::kDigits, false, false},
    {"BASH_SOURCE", SpecialKind::kText, false, false},
    {"BASH_SUBSHELL", SpecialKind::kDigits, false, false},
    {"BASH_TRAPSIG", SpecialKind::kText, false, false},
    {"BASH_VERSINFO", SpecialKind::kText, false, true},
    {"DIRSTACK", SpecialKind::kText, false, false},
    {"EPOCHREALTIME", SpecialKind::kText, false, false},
    {"EPOCHSECONDS", SpecialKind::kDigits, false, false},
    {"EUID", SpecialKind::kDigits, true, true},
    {"FUNCNAME", SpecialKind::kText, false, false},
    {"GROUPS", SpecialKind::kNumbers, false, false},
    {"HISTCMD", SpecialKind::kDigits, true, false},
    {"HISTFILESIZE", SpecialKind::kTruncates, false, false},
    {"LINENO", SpecialKind::kDigits, false, false},
    {"PIPESTATUS", SpecialKind::kNumbers, false, false},
    {"POSIXLY_CORRECT", SpecialKind::kBehaviour, false, false},
    {"PPID", SpecialKind::kDigits, true, true},
    {"RANDOM", SpecialKind::kDigits, true, false},
    {"SECONDS", SpecialKind::kDigits, false, false},
    {"SHELLOPTS", SpecialKind::kText, false, true},
    {"SRANDOM", SpecialKind::kDigits, true, false},
    {"UID", SpecialKind::kDigits, true, true},
};
constexpr Special kOrdinary{};

}  // namespace

const Special& FindSpecial(std::string_view name) {
  if (name.size() < 3 || name[0] < 'B' || name[0] > 'U') return kOrdinary;
  for (const Special& special : kSpecials)
    if (special.name == name) return special;
  return kOrdinary;
}

}  // namespace gate::parser
