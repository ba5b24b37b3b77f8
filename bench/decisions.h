// What a decision bench reads, counts and prints: commands with what is
// expected of them, the answers of several guards, and the tables. Nothing
// here starts a process; decisions_bench.cc does.
//
// A guard is judged by what the client would do with its answer, by the hook
// protocol of Claude Code that all of them document: exit 2 blocks; exit 0 with
// an answer on stdout denies, asks or allows; exit 0 in silence lets the
// command run. Everything else is an error of the guard: the client would run
// the command, but it is neither counted as let through nor as stopped.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gate::bench {

// What a row of input says about its command.
enum class Expected {
  kDeny,     // an attack that should be denied
  kAsk,      // one that should be asked at least
  kContain,  // one that should be contained at least
  kBenign,   // ordinary work, which should not be stopped
  kUnknown,  // real commands without a label
};

std::string_view Name(Expected expected);

struct Command {
  std::string set;  // "attacks", "benign" or "agent"
  std::string id;
  Expected expected = Expected::kUnknown;
  std::string category;
  std::string text;
  std::string cwd;  // empty: the fixture's project
};

struct Commands {
  std::vector<Command> rows;
  std::vector<std::string> refused;  // "FILE:LINE: why" of rows left out
};

// Reads the text of a file as rows of `set`. Three forms are known, by their
// content: JSONL rows {"id","cmd"[,"cwd"][,"expected"][,"category"]}; TSV whose
// first line names its columns, "id" and "command" among them; and bounds,
// `>=ACTION<tab>COMMAND` and `<=ACTION<tab>COMMAND` with comments after #, of
// which "attacks" takes the former and "benign" the latter. In TSV and bounds
// \n, \t, \r and \\ are escapes.
Commands ReadCommands(std::string_view set, std::string_view file,
                      std::string_view text);

// What becomes of the command after a guard's answer.
enum class Verdict {
  kRan,        // it runs as it is
  kContained,  // it runs inside the guard's own runner
  kAsked,      // a person is asked
  kDenied,
  kError,    // no answer in the protocol
  kTimeout,  // no answer in time
};
inline constexpr int kVerdicts = 6;

std::string_view Name(Verdict verdict);
inline bool Stopped(Verdict verdict) {
  return verdict == Verdict::kAsked || verdict == Verdict::kDenied;
}

// How a guard's process ended.
struct Answer {
  int status = 0;  // exit status, 128 + n for a signal
  bool timed_out = false;
  std::string out;
};

// The verdict of `program` (its argv[0]) on `command`. A rewritten command
// counts as contained only when it starts `program` itself: a guard that
// changes a command in another way let it run.
Verdict Judge(const Answer& answer, std::string_view program,
              std::string_view command);

// The event that a client sends for `command`, as one line of JSON; empty when
// the command is no text that JSON can hold.
std::string Event(std::string_view session, std::string_view cwd,
                  std::string_view command);

// `text` with every `from` replaced; `from` must end where a path's name ends.
std::string StandIn(std::string_view text, std::string_view from,
                    std::string_view to);

struct Counts {
  int n = 0;
  int of[kVerdicts] = {};
  int stopped() const {
    return of[static_cast<int>(Verdict::kAsked)] +
           of[static_cast<int>(Verdict::kDenied)];
  }
  int at(Verdict verdict) const { return of[static_cast<int>(verdict)]; }
};

struct Guard {
  std::string name;
  bool judged = true;  // false: only timed, as /bin/true is
  std::vector<std::string> environment;
  std::vector<std::string> argv;
  std::vector<Verdict> verdicts;  // one for each command
  std::vector<double> us;         // one for each decision that was made
};

// Reads NAME<tab>KIND<tab>WORD… lines; KIND is "hook" or "baseline". Words that
// look like NAME=VALUE before the program are its environment. An error names
// the line.
std::expected<std::vector<Guard>, std::string> ReadGuards(
    std::string_view text);

// The `q` quantile (nearest rank) of `values`; 0 of none.
double Quantile(std::vector<double> values, double q);

// Counts by label ("deny", "ask" …, or by category), in order of appearance.
struct Table {
  std::vector<std::string> labels;
  std::map<std::string, Counts> counts;
};
Table Count(const std::vector<Command>& commands, const Guard& guard,
            std::string_view set, bool by_category);

// The tables, as Markdown.
std::string Report(const std::vector<Command>& commands,
                   const std::vector<Guard>& guards, bool by_category);

// One TSV line per command (with a heading): set, id, expected, category, one
// verdict per guard, command. With `only_disagreements` those on which two
// guards that answered differ in whether it is stopped.
std::string Rows(const std::vector<Command>& commands,
                 const std::vector<Guard>& guards, bool only_disagreements);

}  // namespace gate::bench
