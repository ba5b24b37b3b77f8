// What programs' arguments mean: data from rules.d/programs/*.json.
//
// A program is described, not coded: its options with their arity, which
// operands are commands, code, files, hosts, what its sub-commands are. The
// descriptions are compiled into an image when gate is built and used in
// place. docs/programs.md is the manual of the format.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "parser/analysis.h"
#include "parser/models.h"

namespace gate::parser {

// What one argument, or a run of arguments, is to its program.
enum class Role : uint8_t {
  kCommand,       // `words` is an argument vector that the program executes
  kShellCode,     // words[0] is text run by a shell
  kForeignCode,   // words[0] is text in the language `detail` (awk, perl, …)
  kSplitCommand,  // words[0] is split into an argument vector (env -S)
  kScriptFile,    // words[0] is a file run by the interpreter
  kStdinCode,     // the program runs its standard input; `detail`: language
  kSetVariable,   // words[0] is NAME=VALUE for what the program starts
  kDirectory,     // words[0] is the directory it starts in (env -C, git -C)
  kRead,          // words[0] is a path that is read
  kWrite,         // …created or changed
  kDelete,
  kMoveFrom,  // pairs with the kMoveTo of the same reading
  kMoveTo,
  kPermission,   // path whose mode, owner or attributes change
  kListRead,     // directory whose entries are listed (metadata only)
  kUrl,          // words[0] is a URL or host[:port] it connects to
  kListen,       // words[0] is an address or port it listens on
  kPrivilege,    // acts as the user words[0], or more rights
  kSignal,       // words[0] is a process
  kPersistence,  // makes code run later; words[0] names what
  kSystem,       // changes the machine
  kRemoteState,  // changes state elsewhere; words[0] names what
  kLoadCode,     // words[0] is a library, module or plugin it loads and runs
  kAct,          // no argument effect: `detail` goes to ArgumentAnalysis::acts
  kRedirects,    // the same
};
inline constexpr int kRoles = 25;

// The name of a role as the descriptions spell it ("write", "stdin-code").
const char* Name(Role role);

// One thing that an invocation does. kCommand, kShellCode, kForeignCode,
// kScriptFile, kStdinCode and kLoadCode may carry further words: the arguments
// that the code or script receives ($0, $1… of `sh -c CODE a b`, $1… of `sh
// FILE a b`). All other roles have one word, or none when it is not named on
// the command line.
struct ArgumentEffect {
  Role role = Role::kRead;
  std::vector<Argument> words;
  bool recursive = false;
  bool certain = true;  // false: only in some modes
  // kCommand: more words follow that come from elsewhere (xargs' input, the
  // files find found), appended at the end or in place of `{}`.
  bool appends_unknown = false;
  bool from_stdin = false;  // kCommand of xargs: the words are on stdin
  std::string placeholder;  // "{}": words containing it are unknown there
  // words[0] stands in the description, not on the line: a file that the
  // program always uses.
  bool fixed = false;
  Modifier modifier = Modifier::kNone;  // what gate makes of `detail`
  std::string detail;  // as the description says it: a language, a program
  Span span;
};

// What one invocation's arguments mean.
struct ArgumentAnalysis {
  bool known = false;                   // the program is described
  bool complete = true;                 // every option was understood
  std::string program;                  // canonical name ("gawk" may say "awk")
  std::vector<std::string> subcommand;  // in order, aliases resolved
  // All names of each option that was seen, the canonical one (its first long
  // one) first, with blanks between: "--recursive -r -R". Values are left out.
  // They live as the image.
  std::vector<std::string_view> options;
  // A word may hold options that are not among them: an undescribed letter
  // hides those behind it in a bundle, and `-$x` may be any.
  bool unread = false;
  std::vector<ArgumentEffect> effects;
  ActsRead acts;
  bool reads_stdin = false;     // reads its standard input as data
  bool prints_input = false;    // what it prints may hold what it read
  bool prints_network = false;  // what it prints came from the network
  bool decodes = false;         // base64 -d and the like
  OutputModel output = OutputModel::kNone;
  LeftFiles leaves = LeftFiles::kNone;
  RunModel runs = RunModel::kNone;
};

// Reads the arguments of `argv` (argv[0] is the program). Unknown arguments
// make everything that could stand there possible: `complete` is false then,
// and argument effects that depend on them are not certain. For a program that
// runs another (sudo, timeout) every place where the other's name may stand is
// a kCommand argument effect; where there are too many, one with an unknown
// word. The value that `find -exec … +` and xargs fill in is never guessed. An
// unquoted pattern counts as operands, also where a file's name could begin
// with `-`; where that, or a second file, would do more than reading,
// `complete` is false, unless an argument effect says more than reading and
// running already. Never fails. Bounded: at most kMaxReadings readings of the
// same words.
ArgumentAnalysis ReadArguments(std::span<const Argument> argv);

inline constexpr int kMaxReadings = 24;

// The first of an option's names; whether `name` is one of them.
std::string_view CanonicalName(std::string_view spellings);
bool IsSpelling(std::string_view spellings, std::string_view name);

// All names of the options called `name` that the program, by its base name,
// or the sub-command or one above it has. Empty: it is not described.
std::vector<std::string_view> SpellingsOf(
    std::string_view program, std::span<const std::string> subcommand,
    std::string_view name);

// Whether the program, by its base name, or any of its sub-commands has an
// option called `name`. kUnsure: it is not described, or its description does
// not list all options.
enum class Described : uint8_t { kNo, kYes, kUnsure };
Described DescribesOption(std::string_view program, std::string_view name);

// The part of `arguments` that rules ask for.
OptionsRead OptionsOf(const ArgumentAnalysis& arguments);

// True when the shipped data describes a program of this base name.
bool IsDescribed(std::string_view program);

// What code is written in that a description calls `detail` ("zsh"). Without a
// word it is the shell's that the system starts.
Language LanguageNamed(std::string_view detail);

// Compiles descriptions into an image. `files` are (name, JSON text) pairs;
// problems go to `diagnostics` and make the result kInvalid. Runs the
// examples that stand in the descriptions. Used by the build and by tests.
Result<std::string> CompilePrograms(
    const std::vector<std::pair<std::string, std::string>>& files,
    std::vector<Diagnostic>* diagnostics);

// The image that the build embedded.
std::string_view EmbeddedPrograms();

// Reads arguments as ReadArguments does, by the descriptions in `image` (a
// result of CompilePrograms, 8-byte aligned, that outlives the call). An image
// that does not open knows no program.
ArgumentAnalysis ReadArgumentsWith(std::string_view image,
                                   std::span<const Argument> argv);

// What an assignment in a program's environment makes it do: LD_PRELOAD loads
// code, PAGER is run by a shell, BASH_ENV is a script. nullopt for names that
// the descriptions do not list.
struct EnvironmentMeaning {
  Role role = Role::kShellCode;
  Modifier modifier = Modifier::kNone;
  std::string_view detail;  // the language or the program; lives as the image
};
std::optional<EnvironmentMeaning> EnvironmentRole(std::string_view name);

// A reading as text, one argument effect a line, sorted: how examples are
// written and compared. `delete recursive: x`, `possible command: a b +`.
std::vector<std::string> Describe(const ArgumentAnalysis& arguments);

}  // namespace gate::parser
