// Internal to parser/: the abstract interpreter that makes an Analysis.
//
// Evaluator runs a Script over a Shell, a value that holds what is known of
// one shell process and of the world that processes share (files the line
// wrote, pipes). Where execution branches, every branch is run from a copy and
// the results are joined, so that what is recorded is what any execution could
// do. A path that cannot go on (exit, break, exec) is `exited`: the frame that
// it leaves to keeps its state; what follows is listed, as not certain.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/real_paths.h"
#include "parser/analysis.h"
#include "parser/effects/provenance.h"
#include "parser/embedded/code.h"
#include "parser/expand/expand.h"
#include "parser/expand/state.h"
#include "parser/programs.h"
#include "parser/read.h"

namespace gate::parser {

// Bounds of one evaluation. Exceeding one is a kLimit unknown.
inline constexpr size_t kMaxSteps = 300000;
inline constexpr size_t kMaxInvocations = 20000;
inline constexpr size_t kMaxEffects = 40000;
inline constexpr size_t kMaxUnknowns = 1000;
inline constexpr size_t kMaxFlows = 1000;
inline constexpr size_t kMaxMaybeWrittenPaths = 256;
// PATH_MAX: no call takes a longer name. A directory with one is not known, so
// that `cd d; cd d; …` and `git -C d -C d …` cost no more than they say.
inline constexpr size_t kMaxDirectoryBytes = 4096;
inline constexpr size_t kPathBytesPerStep = 32;
inline constexpr int kMaxTextNesting = 16;    // eval, bash -c, … in each other
inline constexpr int kMaxCallDepth = 24;      // functions
inline constexpr int kMaxExecuteDepth = 400;  // nodes in each other, all texts
inline constexpr int kMaxRounds = 64;         // of a loop that is followed
inline constexpr int kWidenAfter = 3;         // rounds of a loop that is not

// What a descriptor of the shell leads to.
struct Descriptor {
  enum class Kind : uint8_t {
    kOutside,  // the line's own input and output
    kStream,   // a pipe, here-document or opened file: Shell::streams
    kFile,     // open for writing: text goes to State::files[path]
    kNull,
    kUnknown,
  };
  Kind kind = Kind::kOutside;
  int stream = -1;
  std::string path;
  // What the line opened here by a path, for reading: absolute, or an unknown
  // part.
  Values opened = {};
  bool closed = false;  // kNull: nothing is open here

  friend bool operator==(const Descriptor&, const Descriptor&) = default;
};

struct Shell : State {
  std::map<int, Descriptor> fds;              // absent: kOutside
  std::map<int, Values> streams;              // what is still to be read
  std::map<std::string, std::string> hashed;  // hash -p: name to path
  std::set<std::string> exported_functions;
  // What the line's programs put into files, by path (PlacesOf).
  SharedMap<Provenance> made;
  // After `cd`, and a list that one stands in: the directory when it succeeded
  // and when it failed; used by what the status decides (`cd x && …`, `cd x ||
  // exit`). Holds for the status of this very command: ForgetDirections.
  std::optional<Values> cwd_on_success, cwd_on_failure;
  bool interactive = false;
  bool posix = false;
};

// Joins branches. A state that has left (exited) does not take part.
Shell JoinShells(const Shell& a, const Shell& b);
// `before`: the state when the command that led to `shell` did not run since
// its redirections failed. What was written stays.
void JoinFailed(Shell& shell, Shell&& before);
// Joins in place; cheap when nothing differs.
void JoinInto(Shell& into, const Shell& other);
void MergeInto(std::optional<Shell>& slot, const Shell& shell);
void MergeInto(std::optional<Shell>& slot, Shell&& shell);
// True when nothing that evaluation depends on differs.
bool SameShell(const Shell& a, const Shell& b);
// What the directory is no longer follows from the status.
void ForgetDirections(Shell& shell);
// Makes what differs between `before` and `*after` unknown.
void Widen(const Shell& before, Shell* after);
// Rough cost of copying, in steps.
size_t CopyCost(const Shell& shell);

// Where a path leaves to.
struct Frame {
  enum class Kind : uint8_t { kProcess, kFunction, kSource, kLoop, kLine };
  Kind kind = Kind::kProcess;
  std::optional<Shell> left;       // by exit, return, break; kLine: by an
                                   // expansion error
  std::optional<Shell> continued;  // kLoop
  std::vector<std::pair<std::string, std::optional<Variable>>> saved;  // local
  int depth = 0;  // of the process it is in
};

// An argument of declare and the like that is an assignment in the source.
struct Declared {
  Span span;  // of the word, in the script
  const Assignment* assignment = nullptr;
  Values value;  // of name=word, expanded with the other words
};

// One command about to run, its words expanded.
struct Call {
  Fields fields;  // fields[0] is the name
  Span span;      // in the line's source
  const Script* script = nullptr;
  const Node* node = nullptr;  // kNone for commands without source
  std::vector<Declared> declared;
};

struct ProgramCall {
  Fields argv;
  Span span;
  bool from_wrapper = false;
};

// `text` with something unknown wherever the placeholder stands, or unknown as
// a whole where that is empty.
Value Filled(const std::string& text, std::string_view placeholder,
             UnknownCode code, Span span);

// True for variables whose value programs run or load code by.
bool MakesProgramsRunCode(std::string_view name);
// Or, holding what `variable` does, makes them find their configuration in
// another place or read their arguments in another way.
bool ChangesPrograms(std::string_view name, const Variable& variable);

class FieldsByText;  // fields_by_text.h

class Evaluator final : public Host {
 public:
  Evaluator(std::string_view source, const Context& context);

  Analysis RunLine();
  Analysis RunVector(const std::vector<std::string>& argv);

  // Host.
  Values Substitute(State& state, const Script& script, NodeId body,
                    Span span) override;
  Value Process(State& state, const Script& script, NodeId body, char direction,
                Span span) override;
  std::string HomeOf(const std::string& user) override;
  void Note(UnknownCode code, Span span, std::string text) override;
  bool Spend(size_t steps) override;
  void Fail(State& state) override;
  void Holds(const std::string& name, const Values& values) override;

  // evaluate.cc: recording.
  void NoteAt(UnknownCode code, Span mapped, std::string text);
  Span Map(const Script& script, Span span) const;
  std::string TextAt(Span mapped) const;
  uint32_t Record(Shell& shell, const Fields& argv, Span span, bool builtin);
  // Whether a variable holds what the line found in it.
  bool IsAsFound(const std::string& name, const Variable& variable) const;
  bool HandsOn(const std::string& name, const Variable& variable) const;
  // Adds PATH where the line changed it.
  void AddPath(const Shell& shell, Invocation* invocation) const;
  // leftovers.cc: records what the line leaves behind in `shell`, where it
  // ends.
  void NoteWhatStays(const Shell& shell);
  // `!` in later lines stands for words of earlier ones.
  void NoteHistory(bool on) {
    analysis_.alters_later_lines |= on;
    uses_history_ = true;
  }
  // The line itself puts something into the history.
  void NoteUsesHistory() { uses_history_ = true; }
  // Adds what the line changed of the environment that the command will see.
  void AddEnvironment(const Shell& shell, Invocation* invocation) const;
  void AddSetting(const Shell& shell, const std::string& name,
                  const Variable* variable, Invocation* invocation) const;
  // In a shell that is not bash `name` is a program, not what bash takes it
  // for: it is listed with any words.
  void RecordForeign(Shell& shell, std::string_view name, Span span);
  Argument ToArgument(const Field& field, const Shell& shell) const;
  Values UnknownValue(Span span,
                      UnknownCode code = UnknownCode::kDynamicArgument);
  bool exhausted() const { return exhausted_; }
  void NoteLimit(std::string text);
  void NoteUnseenLinks(std::string text);
  // Files that were run and that the line may have written.
  void NoteWrittenScripts();

  // evaluate.cc: texts that are run as code.
  struct TextOptions {
    std::optional<Via> via;   // pushed while it runs, with its span
    bool new_frame = false;   // `source`: return leaves it
    bool quiet_hole = false;  // the caller has noted what is unknown
  };
  void RunText(Shell& shell, const Values& code, Span span,
               const TextOptions& options);
  void RunKnownText(Shell& shell, std::string_view code, Span span,
                    const TextOptions& options);
  void NoteCode(const Values& code, Span span);
  // Keeps it for Analysis::run_texts.
  void KeepText(std::string_view code, Span span);
  std::shared_ptr<const Script> ReadText(std::string_view text, Span span,
                                         bool extglob);
  void RunRoot(Shell& shell, std::shared_ptr<const Script> script);
  std::optional<std::string> ExpandAliasText(
      const Shell& shell, std::string_view text,
      const std::vector<std::string>& active, bool* changed);

  // execute_*.cc.
  void Execute(Shell& shell, const Script& script, NodeId node);
  void ExecuteNode(Shell& shell, const Script& script, const Node& node);
  void ExecuteKind(Shell& shell, const Script& script, const Node& node);
  void ExecuteSimple(Shell& shell, const Script& script, const Node& node);
  void ExecuteWithAssignments(Shell& shell, Call& call);
  void ExecuteCall(Shell& shell, Call& call);
  void ExecuteName(Shell& shell, Call& call, bool functions, bool builtins);
  void CallFunction(Shell& shell, const Function& function, const Call& call);
  void ExecuteList(Shell& shell, const Script& script, const Node& node);
  void ExecuteAndOr(Shell& shell, const Script& script, const Node& node);
  void ExecuteIf(Shell& shell, const Script& script, const Node& node);
  void ExecuteFor(Shell& shell, const Script& script, const Node& node);
  void ExecuteSelect(Shell& shell, const Script& script, const Node& node);
  void ExecuteWhile(Shell& shell, const Script& script, const Node& node);
  void ExecuteArithmeticFor(Shell& shell, const Script& script,
                            const Node& node);
  void ExecuteCase(Shell& shell, const Script& script, const Node& node);
  void ExecutePipeline(Shell& shell, const Script& script, const Node& node);
  void ExecuteConditional(Shell& shell, const Script& script, const Node& node);
  void ExecuteArithmetic(Shell& shell, const Script& script, const Node& node);
  void ExecuteCoproc(Shell& shell, const Script& script, const Node& node);
  void RunAsync(Shell& shell, const Script& script, NodeId node);
  // Runs `node` where it may or may not run: the state after it is joined.
  // Runs it for the list only: the state stays.
  void ExecuteDead(const Shell& shell, const Script& script, NodeId node);

  // Loops. `head` runs the condition and returns whether to go round: true,
  // false, or nullopt when not known. `body` runs one round, `step` what comes
  // between two rounds.
  template <typename Head, typename Body, typename Step>
  void Loop(Shell& shell, Head head, Body body, Step step);

  // Processes.
  Shell Fork(const Shell& shell);
  void Join(Shell& parent, Shell&& child);  // the child ended
  void RunExitTrap(Shell& shell);
  void RunTrap(Shell& shell, const std::string& name, bool certain);
  void RunPendingTraps(Shell& shell);
  void RunPendingProcesses(Shell& shell, size_t mark);
  // Where the line ends: what reads from pipes that it went on writing to.
  void RunLateReaders(Shell& shell);

  // Leaving.
  void Leave(Shell& shell, size_t frame, bool continued = false);
  bool LeaveProcess(Shell& shell);
  bool LeaveFunction(Shell& shell);

  // redirects.cc.
  void Redirect(Shell& shell, const Script& script,
                const std::vector<RedirectId>& redirects);
  void RedirectOne(Shell& shell, const Script& script,
                   const parser::Redirect& redirect);
  // Whether the command may not run at all because one of them fails.
  bool RedirectMayFail(const Script& script,
                       const std::vector<RedirectId>& redirects) const;
  void OpenForWriting(Shell& shell, int fd, const Field& target, Span span,
                      bool append, bool also_read);
  void OpenForReading(Shell& shell, int fd, const Field& target, Span span);
  // What the line opened by a path at the descriptor that `path`, /dev/fd/N or
  // its kin, names: who opens that path opens this.
  Values OpenedAt(const Shell& shell, std::string_view path) const;
  int NewStream(Shell& shell, Values text);
  void Write(Shell& shell, int fd, const Values& text);
  bool Captured(const Shell& shell, int fd) const;
  Values ReadRest(Shell& shell, int fd, Span span);
  bool HasInput(const Shell& shell, int fd) const;
  Values ContentOf(Shell& shell, const std::string& path, Span span,
                   bool* known_file);
  void StoreFile(Shell& shell, const std::string& path, const Values& text,
                 bool append);

  // effects.cc.
  Argument Resolve(const Shell& shell, const Argument& path) const;
  // The directories that a process stands in which goes to `word` (chdir(2)).
  Values DirectoriesFrom(const Shell& shell, const Argument& word,
                         Span span) const;
  std::vector<std::string> KnownPaths(const Shell& shell,
                                      const Argument& path) const;
  void AddEffect(Effect effect);
  void AddPathEffect(const Shell& shell, EffectKind kind, const Argument& path,
                     Span span, uint32_t invocation, bool redirect);
  std::vector<std::string> LinksAmong(const std::string& pattern, bool dotglob);
  void AddNetwork(const std::string& host, int port, const std::string& scheme,
                  Span span, uint32_t invocation, bool listens);
  void AddUrl(const Argument& url, Span span, uint32_t invocation);
  void AddGlobbedUrl(const Argument& url, Span span, uint32_t invocation);

  // flows.cc.
  Origin OriginOf(const Values& values) const;
  void AddHeld(Span span, Origin* origin) const;
  void SetOrigin(Span span, const Origin& origin);
  // A file that the line wrote is run.
  void AddWrittenFlows(const std::string& path, const Values& content,
                       uint32_t sink, Span span);
  void AddFlow(FlowKind kind, uint32_t source, uint32_t sink, Argument from,
               Span span);
  void AddCodeFlows(const Values& code, uint32_t sink, Span span,
                    bool decoded = true);
  void AddUploadFlows(const Values& data, uint32_t sink, Span span);

  // provenance.cc: files that the line's programs made.
  std::vector<std::string> PlacesOf(const Shell& shell, const Argument& word,
                                    const Fields& known) const;
  std::string NameOfUnknowns(const Value& value) const;
  // Where the content of what `word` names came from; `below`: of all that is
  // in it as well.
  Origin OriginOfFiles(const Shell& shell, const Argument& word,
                       const Fields& known, bool below) const;
  void NoteMade(Shell& shell, const std::string& place, const Origin& origin,
                bool below, bool pattern);
  void ForgetMade(Shell& shell, const std::string& place, bool below);
  void NoteFilesMade(Shell& shell, const ProgramCall& call,
                     const ArgumentAnalysis& arguments, const Origin& origin);
  // The file that `word` names is run.
  void AddFileFlows(const Shell& shell, const Argument& word,
                    const Fields& known, bool fixed, uint32_t sink, Span span,
                    bool below = false);
  void AddOriginFlows(const Origin& origin, const Argument& from, uint32_t sink,
                      Span span);

  // run_program.cc: an external program.
  void RunProgram(Shell& shell, const ProgramCall& call);
  // run_tails.cc: words of a program that is not described, from which on they
  // may be a command, or one word that may be a line, from `skip` on. At most
  // 16; where there are more that is noted as kTooLarge.
  struct Tail {
    size_t word = 0;
    size_t skip = 0;
    bool line = false;
  };
  std::vector<Tail> TailsOf(const ProgramCall& call, bool has_input);
  // Runs each from the state `before` the call, as not certain and guessed.
  void RunTails(Shell& shell, const Shell& before, const ProgramCall& call,
                const std::vector<Tail>& tails, uint32_t invocation);
  // A program whose name is not known, recorded as `invocation`.
  void RunUnnamed(Shell& shell, const ProgramCall& call, uint32_t invocation);
  void RunArgumentEffects(Shell& shell, const ProgramCall& call,
                          const ArgumentAnalysis& arguments,
                          uint32_t invocation);
  void RunWords(Shell& shell, const ProgramCall& call,
                const ArgumentAnalysis& arguments,
                const ArgumentEffect& effect);
  void RunSplit(Shell& shell, const ProgramCall& call,
                const ArgumentEffect& effect);
  void ResolveCommandGlob(Shell& shell, const Call& call);
  bool RunWrittenFile(Shell& shell, const std::string& path,
                      const ProgramCall& call, uint32_t invocation);
  void RunScriptFile(Shell& shell, const ProgramCall& call,
                     const ArgumentEffect& effect, uint32_t invocation);
  void RunEmbedded(Shell& shell, const std::string& language,
                   const Values& code, Span span, uint32_t invocation);
  // run_lists.cc: lists of URLs, options and names.
  static bool IsList(const ArgumentEffect& effect);
  void RunLists(Shell& shell, const ProgramCall& call,
                const ArgumentAnalysis& arguments, uint32_t invocation);
  void RunList(Shell& shell, const ProgramCall& call,
               const ArgumentEffect& effect, const std::string& text,
               uint32_t invocation);
  void AddEmbeddedEffects(Shell& shell, const EmbeddedCode& code, Span span,
                          uint32_t invocation);
  Values ValuesOf(const Argument& word, const Fields& known) const;
  // The word as it stood in the call. Of many, by one FieldsByText.
  Field ToField(const Argument& word, const Fields& known) const;
  Field ToField(const Argument& word, FieldsByText& by_text) const;

  // run_parallel.cc: arguments behind `:::`; false when they are not plain.
  bool RunParallel(Shell& shell, const ProgramCall& call,
                   const ArgumentAnalysis& arguments, uint32_t invocation);

  // run_xargs.cc: words that come from standard input.
  bool RunXargs(Shell& shell, const ProgramCall& call,
                const ArgumentEffect& effect);
  // Whether it is GNU's, which puts no input into the command's name.
  bool XargsKeepsName(const Shell& shell, const ProgramCall& call) const;

  // run_output.cc: what a program prints and does to files.
  void RunOutput(Shell& shell, const ProgramCall& call,
                 const ArgumentAnalysis& arguments, uint32_t invocation,
                 bool wrapper);
  // The shell's, or (`*moved`) where the program's options say that it goes.
  Values DirectoryOf(Shell& shell, const ArgumentAnalysis& arguments,
                     bool* moved) const;
  void AddArgumentEffects(Shell& shell, const ProgramCall& call,
                          const ArgumentAnalysis& arguments,
                          uint32_t invocation);
  // output_text.cc: what it prints. `*seen`: the line shows all that matters.
  Values FilterOutput(Shell& shell, const ProgramCall& call, OutputModel model,
                      const Values& input, bool reads_stdin, bool* seen);
  Values FilteredText(OutputModel model, const std::vector<std::string>& words,
                      const Values& text, bool* seen);
  Values EditedInPlace(const ProgramCall& call,
                       const ArgumentAnalysis& arguments, const Values& content,
                       bool* seen);
  // left_files.cc: what it leaves. `in_place`: in files that it edits.
  void LeaveFiles(Shell& shell, const ProgramCall& call,
                  const ArgumentAnalysis& arguments, const Values& input,
                  const std::map<std::string, Values>& in_place);

  // shells.cc: code for another shell process.
  struct ShellCode {
    std::string language = "bash";
    Via via;
    std::vector<Values> words;  // $0, $1, …
    bool words_unknown = false;
    bool xtrace = false, allexport = false, extglob = false;
    bool expand_aliases = false;
    bool interactive = false;
    bool given = false;  // by -c: its lines are not kept as history
    bool login = false;
    bool no_braces = false, no_glob = false, physical = false;
    uint32_t invocation = UINT32_MAX;
  };
  void RunShellCode(Shell& shell, const Values& code, const ShellCode& how,
                    Span span);
  // What the options of `call` say of the shell that it starts; O(words).
  ShellCode ShellOptions(const ProgramCall& call,
                         const ArgumentAnalysis& arguments) const;
  // …and `effect` of its code and words.
  ShellCode HowShellRuns(const ProgramCall& call, const ShellCode& options,
                         const ArgumentEffect& effect,
                         uint32_t invocation) const;
  Shell ChildShell(const Shell& shell);
  // Start-up files that the line wrote, BASH_ENV, imported functions.
  void StartShell(Shell& child, const ShellCode& how, Span span);
  // A variable was set that makes programs run code.
  void CheckEnvironment(Shell& shell, const std::string& name,
                        const Values& value, Span span);

  // State of one evaluation. Public to the files of the evaluator only.
  struct Mapping {
    bool identity = false;
    Span span;
  };
  struct Pending {  // >(…), run when the command that names it has ended
    std::string path;
    Shell shell;
    const Script* script = nullptr;
    NodeId body = kNone;
    Span span;
  };
  struct Active {  // a function that is running
    const Script* script = nullptr;
    NodeId body = kNone;
    std::vector<Values> positional;
    SharedMap<Variable> variables;
  };

  std::string source_;
  Context context_;
  Analysis analysis_;
  std::vector<std::shared_ptr<const Script>> scripts_;
  std::unordered_map<const Script*, Mapping> mappings_;
  // Texts that were read already, by what they are and where they came from.
  std::unordered_map<std::string, std::shared_ptr<const Script>> read_;
  const Script* script_ = nullptr;  // the one that is being evaluated
  std::vector<Via> via_;
  std::vector<Frame> frames_;
  std::vector<Pending> pending_;
  // Readers of pipes that the line goes on writing to (coproc, `exec 3> >(…)`):
  // they are run at once, with input that is not known, and where it ends.
  std::vector<Pending> late_;
  std::string coprocess_;        // stands for the input of the last one
  std::set<std::string> pipes_;  // named, that the line made
  std::vector<Active> active_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> invocation_index_;
  std::unordered_set<uint64_t> effect_index_;
  std::unordered_set<uint64_t> unknown_index_;
  std::unordered_set<uint64_t> flow_index_;
  std::map<uint64_t, Origin> origins_;
  std::map<std::string, Origin> held_;   // by arrays, by name; "@": parameters
  std::set<std::string> scripts_run_;    // files run whose text is not known
  std::set<std::string> paths_written_;  // by the line
  std::set<std::string> redirected_;     // …by the shell itself
  // What connects to a host so far: the line itself (empty), or the file of
  // the line that is run.
  std::set<std::string> fetchers_;
  std::string running_;                    // the file of the line that is run
  std::set<std::string> exports_;          // names that the line exported
  SharedMap<Variable> initial_variables_;  // what the line began with
  // Names, or beginnings of names, that programs may have written without
  // saying where: code of other languages, split's prefix, links.
  std::vector<std::string> maybe_written_paths_;
  bool certain_ = true;
  bool guessed_ = false;  // a tail is evaluated: Invocation::guessed
  int tail_depth_ = 0;
  Span tail_end_;  // of the last word of the call whose tail it is
  const Script* tail_script_ = nullptr;
  bool state_only_ = true;
  bool exhausted_ = false;
  bool in_trap_ = false;
  bool in_prompt_ = false;  // PS4 is being expanded
  bool uses_history_ = false;
  bool dead_ = false;      // what is evaluated cannot run
  bool keep_fds_ = false;  // `exec` without a command: redirections stay
  std::vector<EnvironmentSetting> settings_;  // of the next command
  int depth_ = 0;
  int text_depth_ = 0;
  // Commands that were met in the background, and those that are waited for.
  int async_depth_ = 0;
  uint32_t background_runs_ = 0, waited_runs_ = 0;
  int process_depth_ = 0;
  int next_stream_ = 0;
  int next_process_ = 0;
  uint32_t next_pipeline_ = 0;
  uint32_t pipeline_ = UINT32_MAX;
  uint32_t last_invocation_ = UINT32_MAX;
  size_t steps_ = 0;
  size_t substitutions_ = 0;      // commands substituted so far
  mutable int looked_ = 0;        // paths looked up in the file system
  mutable RealPaths real_paths_;  // and where they lead
  std::unordered_set<std::string> run_texts_;  // those of the analysis
  size_t run_text_bytes_ = 0;
};

// Sets something for the current scope.
template <typename T>
class Scoped {
 public:
  Scoped(T& place, T value) : place_(place), old_(std::move(place)) {
    place_ = std::move(value);
  }
  ~Scoped() { place_ = std::move(old_); }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

 private:
  T& place_;
  T old_;
};

class ScopedVia {
 public:
  ScopedVia(Evaluator& evaluator, Via via, Span span) : evaluator_(evaluator) {
    via.span = span;
    evaluator_.via_.push_back(std::move(via));
  }
  ~ScopedVia() { evaluator_.via_.pop_back(); }
  ScopedVia(const ScopedVia&) = delete;
  ScopedVia& operator=(const ScopedVia&) = delete;

 private:
  Evaluator& evaluator_;
};

// The text of `values` when there is one and it is known, else null.
const std::string* Single(const Values& values, std::string* storage);
std::optional<std::string> Known(const Values& values);
std::optional<std::string> Known(const Field& field);
// Every argument after the name, when all are known and fixed in number.
std::optional<std::vector<std::string>> KnownWords(const Fields& fields,
                                                   size_t from = 0);
bool AnyHole(const Values& values);
// The value that stands for what a pattern matches.
Value PatternValue(std::string_view pattern, Span span);
Field KnownField(std::string text, Span span);
Values StripNewlines(Values values);
// Path that stands for a process substitution inside the evaluation; never a
// real one, so that it is shown as partly unknown.
inline constexpr std::string_view kProcessPath = "/dev/fd/70000";
bool IsProcessPath(std::string_view path);
// Stands for a number that is not known in text that is run.
inline constexpr std::string_view kNumber = "907199254740993";
// True when one of these stands in a name that is to be run.
bool IsPlaceholder(std::string_view name);

// builtins.cc.
using Builtin = void (*)(Evaluator& evaluator, Shell& shell, Call& call);
Builtin FindBuiltin(std::string_view name);

// conditional.cc: test and [[.
std::optional<bool> EvaluateTest(Evaluator& evaluator, Shell& shell,
                                 const Call& call);

}  // namespace gate::parser
