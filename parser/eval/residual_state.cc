// What a line leaves behind in a shell that reads further lines.
//
// Each later line is read as the first of a fresh `bash -c`. So whatever makes
// it mean something else there has to be told when it is left behind: names
// that stand for something else, variables whose assignments no longer store
// what they say, options that change how words are expanded.
#include <array>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "base/locale.h"
#include "parser/eval/evaluate.h"
#include "parser/programs.h"

namespace gate::parser {
namespace {

// What gate takes as given when it reads a line.
constexpr auto kGiven =
    std::to_array<std::string_view>({"LOGNAME", "SHELL", "USER"});
// Expanded before each line of a shell with a prompt.
constexpr auto kPrompts =
    std::to_array<std::string_view>({"PS0", "PS1", "PS2"});

// Whether bash itself reads the variable while it reads and runs lines, and
// does something else by it: in the rest of the line as well, which gate does
// not follow (`line`), or only in later ones.
enum class Rereads : uint8_t { kNo, kLater, kLine };
Rereads RereadsBy(std::string_view name) {
  const std::optional<EnvironmentMeaning> meaning = EnvironmentRole(name);
  if (!meaning) return Rereads::kNo;
  if (meaning->role == Role::kWrite)
    return meaning->detail == "bash" ? Rereads::kLater : Rereads::kNo;
  if (meaning->role != Role::kSetVariable) return Rereads::kNo;
  if (meaning->modifier == Modifier::kLine) return Rereads::kLine;
  return meaning->modifier == Modifier::kLater ? Rereads::kLater : Rereads::kNo;
}

// Whether one of the values may hold a character of `special`.
bool MayHold(const Variable& variable, std::string_view special) {
  for (const Value& value : variable.scalar)
    if (!value.known() ||
        value.text().find_first_of(special) != std::string::npos)
      return true;
  return variable.shape != Variable::Shape::kScalar;
}

// Whether a value of it may choose a charset in which bash reads other lines.
bool MayChooseCharset(std::string_view name, const Variable& variable) {
  if (!ChoosesCharset(name)) return false;
  for (const Value& value : variable.scalar)
    if (!value.known() || !IsSafeLocale(value.text())) return true;
  return variable.shape != Variable::Shape::kScalar;
}

// Whether a prompt of this text may run something or show a variable.
bool MayExpand(const Variable& variable) {
  if (variable.shape != Variable::Shape::kScalar) return true;
  for (const Value& value : variable.scalar) {
    if (!value.known()) return true;
    const std::string_view text = value.text();
    if (text.find('`') != std::string_view::npos) return true;
    for (size_t at = 0; (at = text.find('$', at)) != std::string_view::npos;)
      if (++at < text.size() && text[at] != ' ' && text[at] != '\\')
        return true;
  }
  return false;
}

// Whether a later assignment to it stores something else, or does not replace
// all of it, or fails and leaves the old text.
bool DistortsAssignments(const std::string& name, const Variable& variable) {
  if (name == "BASH_REMATCH" || name == "PIPESTATUS") return false;
  return variable.readonly || variable.maybe_readonly || variable.integer ||
         variable.lower || variable.upper || variable.reference ||
         variable.maybe_attributes || variable.maybe_reference ||
         variable.shape != Variable::Shape::kScalar;
}

bool ChangesExpansion(const Shell& shell) {
  return shell.extglob || shell.extglob_unknown || shell.nullglob ||
         shell.noglob || shell.globstar || shell.dotglob || shell.nocaseglob ||
         shell.nocasematch || shell.nocasematch_unknown || shell.failglob ||
         shell.lastpipe || !shell.brace_expansion || shell.brace_unknown ||
         shell.ifs_unknown || shell.posix || shell.allexport;
}

}  // namespace

bool ChangesPrograms(std::string_view name, const Variable& variable) {
  // A path in place of a language makes programs take their messages, with the
  // formats in them, from there.
  const bool language =
      name == "LANG" || name == "LANGUAGE" || name.starts_with("LC_");
  // Of HOME they take their configuration, which may name programs.
  return name == "HOME" || (language && MayHold(variable, "/")) ||
         MayChooseCharset(name, variable) || MakesProgramsRunCode(name) ||
         RereadsBy(name) == Rereads::kLine;
}

void Evaluator::NoteWhatStays(const Shell& shell) {
  Analysis& out = analysis_;
  out.alters_later_lines |= !shell.functions.empty() ||
                            !shell.aliases.empty() || !shell.traps.empty() ||
                            !shell.hashed.empty() ||
                            !shell.positional.empty() ||
                            shell.positional_unknown || ChangesExpansion(shell);
  for (const Value& cwd : shell.cwd) {
    if (!cwd.known()) {
      out.leaves_cwds.clear();
      break;
    }
    out.leaves_cwds.emplace_back(cwd.text());
  }
  if (shell.variables.Shares(initial_variables_)) return;
  for (const auto& [name, variable] : shell.variables) {
    if (out.alters_later_lines) break;
    // OPTIND is an integer from the start.
    out.alters_later_lines =
        name != "OPTIND" && DistortsAssignments(name, variable);
    if (out.alters_later_lines) break;
    if (name == "PWD") {
      // `cd` sets it to what the next line's directory will be.
      out.alters_later_lines =
          variable.scalar != shell.cwd && !IsAsFound(name, variable);
      continue;
    }
    if (IsAsFound(name, variable)) continue;
    out.alters_later_lines =
        Contains(kGiven, name) || RereadsBy(name) != Rereads::kNo ||
        (Contains(kPrompts, name) && MayExpand(variable)) ||
        ChangesPrograms(name, variable);
  }
  Invocation probe;
  AddPath(shell, &probe);
  if (!probe.environment.empty())
    out.leaves_path = std::move(probe.environment.front().value);
}

}  // namespace gate::parser
