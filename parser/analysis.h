// What a command line would do: the value that rules are evaluated over.
//
// An Analysis lists every command that the line's text makes the shell and the
// wrappers gate knows start, what each reads, writes and reaches, and every
// place where that could not be known. It is plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "parser/acts.h"
#include "parser/via.h"

namespace gate::parser {

// Why something is not known. Values are stable; Name() gives their JSON form.
enum class UnknownCode : uint8_t {
  kSyntaxError,        // bash would refuse the text, or gate cannot read it
  kParseDisagreement,  // the two readers see different commands
  kTooLarge,           // a limit of the reader
  kDynamicCommand,     // the name of a program is computed at run time
  kDynamicCode,        // text run as shell code is computed at run time
  kDynamicArgument,    // an argument is computed at run time
  kDynamicTarget,      // a redirection's target is computed at run time
  kForeignCode,        // code in another language that may start programs
  kScriptFile,         // runs a script file whose content was not looked at
  kUnmodelled,         // a construct gate does not evaluate
  kLimit,              // a bound of the evaluation (steps, alternatives, depth)
  kHiddenText,         // control, bidirectional or invisible characters
};
inline constexpr int kUnknownCodes = 12;

const char* Name(UnknownCode code);

// True when commands or writes may happen that the Analysis does not list.
// kDynamicArgument, kDynamicTarget (listed with an unknown path), kScriptFile,
// kForeignCode and kHiddenText do not hide commands of the line's own text.
bool HidesCommands(UnknownCode code);

struct Unknown {
  UnknownCode code = UnknownCode::kUnmodelled;
  Span span;         // in the line's source
  std::string text;  // what stands there, or more about it
};

// A string of which some parts may be unknown.
struct Argument {
  std::string text;    // when `known` the whole; else the known prefix
  std::string suffix;  // the known end, when !known
  bool known = true;
  bool splits = false;  // unquoted: may become any number of words, also none
  bool glob = false;    // `text` is a pattern: has unquoted glob characters
  Span span;

  friend bool operator==(const Argument&, const Argument&) = default;
};

struct EnvironmentSetting {
  std::string name;
  Argument value;
};

enum class EffectKind : uint8_t {
  kRead,
  kWrite,  // creates or changes
  kDelete,
  kMove,         // `path` goes away, `target` appears
  kPermission,   // mode, owner, attributes
  kNetwork,      // `host`, `port`, `scheme`; listening when `listens`
  kPrivilege,    // other user, capabilities
  kSignal,       // signals processes
  kExecuteFile,  // runs the file at `path` as a program or script
  kPersistence,  // makes code run later: cron, services, start-up files
  kSystem,       // changes the machine: mounts, modules, power, packages
  kRemoteState,  // changes state on another machine: push, publish, deploy
};
inline constexpr int kEffectKinds = 12;

const char* Name(EffectKind kind);

struct Effect {
  EffectKind kind = EffectKind::kRead;
  bool certain = true;  // false: only under a condition, or in some branch
  bool recursive = false;
  bool listens = false;  // kNetwork
  bool from_redirect = false;
  Argument path;     // absolute and lexically normalised when known;
                     // empty text and known when there is none
  Argument target;   // kMove
  std::string host;  // kNetwork; empty when unknown
  std::string scheme;
  int port = 0;
  Span span;
  uint32_t invocation = UINT32_MAX;  // index, or none
};

// What the description of an invocation's program makes of its arguments, in
// short (parser/programs.h has the whole).
struct OptionsRead {
  bool known = false;    // the program is described
  bool complete = true;  // every option was understood
  uint32_t roles = 0;    // bit: number of the Role of an argument effect
  // A word may hold options that the description does not tell: `-Zr` where -Z
  // is not described, `-$x`.
  bool unread = false;
  std::vector<std::string_view> options;  // Reading::options
  ActsRead acts;
};

struct Invocation {
  std::vector<Argument> argv;           // argv[0] as written, after expansion
  std::string program;                  // base name of argv[0], without ".exe";
                                        // empty when unknown
  std::vector<std::string> subcommand;  // {"push"} of git -C x push; from data
  std::optional<OptionsRead> read;      // of argv, when it was read already
  // Assignments before it; what the line exported; PATH, where the line changed
  // it (unknown: it was unset or cannot be told); and variables that make
  // programs run code, or that name the place of their configuration or
  // messages, and were assigned, since they may have been inherited.
  std::vector<EnvironmentSetting> environment;
  std::vector<Via> via;              // outermost first
  Span span;                         // in the line's source
  Argument cwd;                      // the directory it starts in
  std::vector<Argument> other_cwds;  // …or one of these, all known: what ran
                                     // before it decides
  bool builtin = false;              // a builtin of bash, or a function's name
  bool certain = true;               // false: only under a condition
  // Words of a program that is not described, which it may or may not run.
  bool guessed = false;
  bool reads_stdin_data = false;   // its input is another command's output or a
                                   // here-document, not the line's own stdin
  uint32_t pipeline = UINT32_MAX;  // commands of one pipeline share a number
};

// Data that moves from one place to another inside the line.
enum class FlowKind : uint8_t {
  kNetworkToCode,  // what was fetched is run
  kDecodedToCode,  // decoded or computed text is run
  kFileToNetwork,  // the content of `source` is sent to a host
  kFileToCode,     // a file written by the line is run
  kUnseenToCode,   // …whose text is not shown, or may use what was fetched
};
const char* Name(FlowKind kind);

struct Flow {
  FlowKind kind = FlowKind::kNetworkToCode;
  uint32_t source_invocation = UINT32_MAX;
  uint32_t sink_invocation = UINT32_MAX;
  Argument source;  // path or URL where there is one
  Span span;
};

inline constexpr size_t kMaxRunTextBytes = size_t{256} << 10;

struct Analysis {
  std::vector<Invocation> invocations;
  std::vector<Effect> effects;
  std::vector<Flow> flows;
  std::vector<Unknown> unknowns;
  // What the shell's own redirections open for writing, as the expanded word,
  // not resolved against the directory.
  std::vector<Argument> shell_writes;

  bool read_whole = false;   // the text was read without error
  bool parse_error = false;  // syntax error, disagreement or too large
  bool state_only = false;   // only state builtins with constant arguments
  // Set when any unknown HidesCommands().
  bool hides_commands = false;

  // What stays in a shell that reads further lines: functions, aliases, traps,
  // options, positional parameters, or variables by which programs or later
  // lines mean something else.
  bool alters_later_lines = false;
  std::optional<Argument> leaves_path;  // PATH, when the line changed it
  // The directories that the shell may stand in at the end, as far as commands
  // that change it went well; empty when they are not all known.
  std::vector<std::string> leaves_cwds;

  // Texts that the line makes and runs as code, where they do not stand in it
  // as they are run: of a file written in pieces, sent to a shell, joined for
  // eval. `${_gate_unknown}` stands for what is not known of them. Each once,
  // kMaxRunTextBytes in all; with more there is a kLimit unknown.
  std::vector<std::string> run_texts;
};

// What is known of where the line runs.
struct Context {
  std::string cwd = "/";  // absolute
  std::string home;       // of the user; empty: unknown
  std::string user;
  std::string shell = "/bin/bash";
  std::string path;  // PATH; empty: unknown
  // Looks at the real file system (symbolic links, globs that name commands),
  // within bounds. Off: paths are resolved by their text alone.
  bool look_at_files = false;

  friend bool operator==(const Context&, const Context&) = default;
};

// Reads and evaluates `source` as `bash -c SOURCE` would. Never fails; what
// could not be known is in `unknowns`. Deterministic for the same inputs and
// file system. Bounded in time and memory by named constants.
Analysis Analyze(std::string_view source, const Context& context);

// Analyzes an argument vector that is executed without a shell.
Analysis AnalyzeArgv(const std::vector<std::string>& argv,
                     const Context& context);

// The directories that an invocation may start in; none when one of them is
// not known.
std::vector<std::string> DirectoriesOf(const Invocation& invocation);

// The words of an invocation as one line for globs and regexes: single blanks
// between words, a word quoted where it needs it, U+FFFC where unknown.
std::string NormalisedLine(const Invocation& invocation);

}  // namespace gate::parser
