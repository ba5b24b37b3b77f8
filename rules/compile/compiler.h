// Inside rules/: the state of one compilation. See rules/compile/compile.h.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/flat_file.h"
#include "rules/compile/compile.h"
#include "rules/files/tree.h"
#include "rules/match/prefilter.h"
#include "rules/rule.h"

namespace gate::rules {

// How many matches, and members of lists, the files of a layer may come to once
// every macro and list is written out, beyond what their size accounts for.
inline constexpr size_t kSpareMatches = 20'000;
inline constexpr size_t kSpareMembers = 250'000;

// What must hold of a command line for a node to match: one of `keys`, or
// nothing is known when `always`.
struct KeySet {
  bool always = true;
  std::vector<uint32_t> buckets;      // of rule.h
  std::vector<std::string> programs;  // "git" or "git push"
  int Rank() const {
    if (always) return 0;
    return buckets.empty() ? 3 : 2;
  }
};

// Bytes of a reason, a suggestion or a description.
inline constexpr size_t kMaxReasonBytes = 2000;
// Host rules of one rule; a list of all that a line reaches holds
// net::kMaxHostRules.
inline constexpr size_t kMaxHostsOfRule = 256;

// How closely a matcher says which commands it means.
enum class CommandNames : uint8_t {
  kAny,       // not by their programs
  kRunners,   // programs, some of which run whatever they are given
  kCommands,  // programs, and what runs in those
};

// How closely `program` names commands; `fixed`: with what it runs.
CommandNames NamesOf(std::string_view program, bool fixed);

// The name under which a word that stands for a program is indexed.
std::string_view ProgramOf(std::string_view word);

// A compiled matcher.
struct CompiledMatch {
  uint32_t node = 0;
  uint32_t scope = 0;
  bool command = false;     // it says which command is meant
  bool subcommand = false;  // it says which sub-command
  CommandNames names = CommandNames::kAny;
  uint16_t effects = 0;  // kinds of effects that it speaks of
  KeySet keys;
};

// A rule file that is being compiled.
struct CompilingFile {
  const SourceFile* source = nullptr;
  Tree tree;
  bool parsed = false;
  bool broken = false;
  std::vector<uint32_t> lines;  // offsets where lines start, made on demand
};

class Compiler {
 public:
  using Type = TreeNode::Type;
  using File = CompilingFile;

  explicit Compiler(const CompileOptions& options) : options_(options) {}

  CompiledRules Run(std::span<const SourceFile> files);

  // What the readers of matchers (rules/matchers) use.

  // A node that matches nothing: what stands for one that cannot be read.
  CompiledMatch Never();
  // An object of matchers, all of which must hold.
  CompiledMatch MatchObject(File& file, const TreeNode& node);
  // The members of an array of at least one such object; empty, with a
  // diagnostic, when it is something else.
  std::vector<CompiledMatch> MatchObjects(File& file, const TreeNode& node,
                                          const char* what);
  // `unless`: one such object or several, below which what loosens tightens.
  std::vector<CompiledMatch> InvertedMatches(File& file, const TreeNode& node);
  template <class T>
  uint32_t AddNode(NodeKind kind, const T& value) {
    nodes_.push_back(Node::Make(kind, value));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  Range AddLinks(const std::vector<CompiledMatch>& parts);
  Range AddPositions(
      const std::vector<std::vector<std::string_view>>& positions);
  // The number of a compiled pattern, or UINT32_MAX with a diagnostic.
  uint32_t AddRegex(File& file, const TreeNode& node);
  Range AddStrings(const std::vector<std::string_view>& strings);
  // Hosts written out in their normal form, globs in lower case.
  Range AddHosts(const std::vector<std::string_view>& hosts);
  // Host rules (net/host_list.h), each once and in normal form.
  Range AddHostRules(File& file, const TreeNode& node, const char* what);
  Range AddPaths(File& file, const TreeNode& node, const char* what);
  void AskBranch() { header_.asks_branch = 1; }

  // Values, with diagnostics when they are not what they should be.
  void Problem(File& file, uint32_t offset, const char* code,
               std::string message, std::string help = {},
               Severity severity = Severity::kError);
  bool Is(File& file, const TreeNode& node, Type type, const char* what);
  bool Flag(File& file, const TreeNode& node);
  std::string_view String(File& file, const TreeNode& node, const char* what,
                          size_t limit = 4096);
  // A string or an array of strings; "@name" stands for a list's members.
  std::vector<std::string_view> StringList(File& file, const TreeNode& node,
                                           const char* what);
  void UnknownKey(File& file, const TreeNode& node, const char* where,
                  std::string_view known);

  // What the rule that is being read says.
  bool loosens() const { return loosens_; }
  bool inverted() const { return inverted_; }
  bool unknown_is_mark() const { return unknown_is_mark_; }
  // The kOptions node with an accept-list of the same object, or UINT32_MAX.
  uint32_t accept_list() const { return accept_list_; }

  // What the prefilters of matchers use: of nodes that are written.
  std::vector<std::string_view> Texts(Range strings) const;
  std::vector<std::string_view> Position(Range positions, uint32_t at) const;
  std::vector<Prefilter> LinkPrefilters(Range links) const;

 private:
  using Match = CompiledMatch;

  // compile.cc
  void ReadHeader(File& file);
  void ReadLists(File& file, const TreeNode& node);
  void ReadClasses(File& file, const TreeNode& node);
  void ReadMacros(File& file, const TreeNode& node);
  void ReadUnusedMacros();
  void ReadNotes(File& file, const TreeNode& node, uint32_t kind);
  void ReadRules(File& file, const TreeNode& node);
  void ReadRule(File& file, const TreeNode& node);
  void ReadExamples(File& file, const TreeNode& node, RuleRecord* rule);
  void ReadLint(File& file, const TreeNode& node, RuleRecord* rule);
  void ReadSuggestions(File& file, const TreeNode& node, RuleRecord* rule);
  void ReadOpens(File& file, const TreeNode& node, RuleRecord* rule);
  void AddToIndex(uint32_t rule, const KeySet& keys);
  std::string Finish(std::span<const SourceFile> files);

  // notes.cc: what lint will say of the files themselves.
  enum class Kind : uint8_t { kList, kMacro, kClass };
  void Define(File& file, const TreeNode& node, Kind kind);
  void Use(Kind kind, std::string_view name);
  // Whether `file` is of a project and nobody trusted it.
  bool Untrusted(const File& file) const;
  // Marks a definition that refers to one of an untrusted file.
  void Distrust(Kind kind, std::string_view name);
  void AddNote(File& file, uint32_t offset, uint32_t kind, std::string_view id);
  void NoteHiddenText(File& file);
  void NoteUnused();

  // match.cc
  Match MatchMember(File& file, const TreeNode& node);
  Match Macro(File& file, const TreeNode& node);

  // prefilters.cc
  void WritePrefilters();

  // Appends a list's members; false, with a diagnostic, when they are too many.
  bool AddMembers(File& file, uint32_t offset,
                  const std::vector<std::string_view>& members,
                  std::vector<std::string_view>* values);
  // Whether `item` is "PREFIX@known/LIST[/DIRECTORY]". Appends what it stands
  // for: PREFIX before each member of a list of known/known.h.
  bool AddKnown(File& file, const TreeNode& item,
                std::vector<std::string_view>* values);
  uint8_t Choice(File& file, const TreeNode& node,
                 std::span<const std::string_view> names, const char* what);
  bool ReadPath(File& file, const TreeNode& node, std::string_view text,
                PathRecord* out);
  std::pair<uint32_t, uint32_t> Place(File& file, uint32_t offset);
  bool ReadTime(File& file, const TreeNode& node, int64_t* out);

  CompileOptions options_;
  CompiledRules result_;
  FlatWriter writer_;
  Header header_;

  std::vector<RuleRecord> rules_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> links_;
  std::vector<FlatText> strings_;
  std::vector<Range> positions_;
  std::vector<PathRecord> paths_;
  std::vector<ClassRecord> classes_;
  std::vector<ListRecord> lists_;
  std::vector<RegexRecord> regexes_;
  std::vector<ExampleRecord> examples_;
  std::vector<FileNote> notes_;
  std::vector<Prefilter> node_prefilters_;  // of `nodes_`, made at the end

  std::vector<std::pair<std::string, uint32_t>> program_keys_;
  std::vector<std::vector<uint32_t>> buckets_{kBucketCount};
  std::unordered_map<std::string, std::vector<std::string_view>> list_values_;
  std::deque<std::string> written_out_;  // members with what stands before
  std::unordered_map<std::string, std::pair<File*, const TreeNode*>> macros_;
  std::unordered_map<std::string, uint32_t> class_names_;
  std::unordered_map<std::string_view, uint32_t> ids_;
  struct Defined {
    File* file = nullptr;
    uint32_t offset = 0;
    bool used = false;
    bool untrusted = false;
  };
  std::map<std::pair<Kind, std::string>, Defined, std::less<>> defined_;

  // The state of the rule being read.
  bool loosens_ = false;
  bool inverted_ = false;         // below an odd number of `unless`
  bool unknown_is_mark_ = false;  // see GlobNode
  uint32_t accept_list_ = UINT32_MAX;
  // The rule or definition being read uses a macro, list or class of an
  // untrusted file.
  bool stands_on_untrusted_ = false;
  // Sums over all files, against macros and lists that stand for each other
  // many times over.
  size_t matches_ = 0, most_matches_ = kSpareMatches;
  size_t members_ = 0, most_members_ = kSpareMembers;
  int macro_depth_ = 0;
  int match_depth_ = 0;
};

}  // namespace gate::rules
