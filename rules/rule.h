// How compiled rules lie in an image (base/flat_file.h).
//
// A layer of rules is one image: records that refer to each other by index.
// Nothing is parsed or allocated to use it. The order of sections is fixed by
// `Section`; kRuleMagic changes with any change here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/flat_file.h"
#include "clients/clients.h"
#include "rules/match/prefilter.h"
#include "rules/profile.h"

namespace gate::rules {

inline constexpr char kRuleMagic[] = "gate.rules/14";

enum Section : uint32_t {
  kHeader,          // Header, one
  kRules,           // RuleRecord
  kNodes,           // Node
  kLinks,           // uint32_t: node indices
  kStrings,         // FlatText
  kPositions,       // Range into kStrings: one position of a prefix
  kPaths,           // PathRecord
  kClasses,         // ClassRecord
  kLists,           // ListRecord
  kRegexes,         // RegexRecord
  kPrograms,        // KeyRecord, sorted by key
  kBuckets,         // Range into kBucketRules, kBucketCount of them
  kBucketRules,     // uint32_t: rule indices
  kExamples,        // ExampleRecord
  kFileNotes,       // FileNote: disable, unlock, what lint will say
  kLinkPrefilters,  // Prefilter, one for each of kLinks
  kPrefilters,      // Prefilter, one for each of kRules
};

struct Range {
  uint32_t begin = 0;
  uint32_t count = 0;
};

// In `hosts`: what the line names for the command, and what its program needs
// (known::HostsOfProgram).
inline constexpr std::string_view kHostsNamed = "@named";
inline constexpr std::string_view kHostsOfProgram = "@program";

// Values shared by rules: 0 means "not said" (rules/names.h).
struct RuleRecord {
  FlatText id, reason, suggestion, file, pack, description;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t match = 0;  // root node
  uint32_t scope = 0;  // Scope bits
  Range except;        // strings
  Range tags;          // strings
  Range lint;          // strings: code, reason, code, reason
  Range suggestions;   // strings: words of a command, suggestion, …
  Range opens;         // strings: places that a yes makes writable
  Range hosts;         // strings: what it reaches with the network `domains`,
                       // or with `open` where that is narrowed to `domains`
  Range hosts_deny;    // strings: what no network reaches; both as net::Print
                       // writes host rules, and in `hosts` the two below
  Range examples;
  int64_t since_ms = 0;
  int64_t expires_ms = 0;  // 0: never
  uint8_t action = 3;      // rules::Action
  uint8_t when_unknown = kUnset;
  uint8_t severity = 0;
  ProfileKind profile = ProfileKind::kUnsaid;
  NetworkAccess network = NetworkAccess::kUnsaid;      // grants at least
  NetworkAccess network_max = NetworkAccess::kUnsaid;  // grants at most
  uint8_t locked = 0;
  uint8_t observe = 0;
  // For an allow rule: whether it says which command it means, and the kinds of
  // effects that it speaks of. One that speaks of effects only does not allow
  // the command that has them.
  uint8_t names_command = 0;
  // For an ask rule: what it takes to do what was asked (rules::YesNeeds).
  uint8_t yes = 0;
  uint16_t effects = 0;
  // For an allow rule: it names its commands so closely that it lifts what
  // shipped rules contain. It says which programs it means, and of those that
  // run whatever they are given what.
  uint8_t lifts = 0;
  // For an ask rule: what a yes holds for besides (rules/names.h).
  uint8_t binds = 0;
  // For a sandbox rule: what it takes to lift it (rules/names.h).
  uint8_t lift = 0;

  static constexpr uint8_t kUnset = 255;
};

// What a rule has to be tried on.
enum Scope : uint32_t {
  kPerInvocation = 1,  // every command of the line
  kPerLine = 2,        // the line as a whole
};

enum class NodeKind : uint8_t;  // rules/matchers/matcher.h

// One matcher of a rule. Each kind has a struct of its own, which lies in
// `payload` and is used in place.
struct Node {
  static constexpr size_t kPayloadBytes = 56;

  NodeKind kind{};  // kNever
  uint8_t unused[3] = {};
  alignas(uint32_t) std::byte payload[kPayloadBytes] = {};

  template <class T>
  static Node Make(NodeKind kind, const T& value) {
    Check<T>();
    Node node;
    node.kind = kind;
    std::memcpy(node.payload, &value, sizeof(T));
    return node;
  }
  // T is the struct of `kind`. Its integers may have any value in a damaged
  // image, so it has no other members than integers and ranges.
  template <class T>
  const T& As() const {
    Check<T>();
    return *std::launder(reinterpret_cast<const T*>(payload));
  }

 private:
  template <class T>
  static constexpr void Check() {
    static_assert(std::is_trivially_copyable_v<T> &&
                  sizeof(T) <= kPayloadBytes &&
                  alignof(T) <= alignof(uint32_t));
  }
};
static_assert(sizeof(Node) == 60);

// Where a path pattern starts.
enum class PathBase : uint8_t {
  kNone,
  kHome,
  kWorkspace,
  kGateConfig,
  kGateState,
  kGateCache,
  kGateBinary,
  kClient,  // the first of kMaxDirectories, as clients::Directories() has them
};
inline constexpr int kPathBases = static_cast<int>(PathBase::kClient) +
                                  static_cast<int>(clients::kMaxDirectories);
constexpr PathBase BaseOfClient(size_t directory) {
  return static_cast<PathBase>(static_cast<size_t>(PathBase::kClient) +
                               directory);
}
// Empty, these stand for no place at all; the others for one not known.
constexpr bool MayBeAbsent(PathBase base) { return base >= PathBase::kClient; }

enum class PathShape : uint8_t {
  kClass,    // `text` names a class
  kExact,    // base + text
  kSubtree,  // base + text, and all below
  kName,     // any path whose last component is `text` (from "**/text")
  kSuffix,   // … ends in `text` (from "**/*text")
  kGlob,     // base + a path glob
};

struct PathRecord {
  PathBase base = PathBase::kNone;
  PathShape shape = PathShape::kExact;
  uint16_t class_index = 0;  // kClass: in kClasses of the same image, or:
  // rules/match/path_filter.h: how many bytes of `head` and `tail` are set.
  uint8_t head_size = 0;
  uint8_t tail_size = 0;
  uint16_t unused = 0;
  FlatText text;
  FlatText literal;  // kGlob: `text` up to the directory before a wildcard
  FlatText needs;    // kGlob: stands in every path that matches
  uint32_t unused2 = 0;
  uint64_t head = 0;     // the first bytes behind the base
  uint64_t tail = 0;     // the last bytes, the very last one lowest
  uint64_t letters = 0;  // characters that every path has
};

// PathRecord::class_index of classes that are not in the same image.
inline constexpr uint16_t kClassPrivateTemp = 0xFFFC;
inline constexpr uint16_t kClassElsewhere = 0xFFFD;  // found by name
inline constexpr uint16_t kClassWorkspace = 0xFFFE;
inline constexpr uint16_t kClassOutside = 0xFFFF;

struct ClassRecord {
  FlatText name;
  Range paths;
};

struct ListRecord {
  FlatText name;
  Range strings;
};

struct RegexRecord {
  FlatText pattern;
  // Into kStrings, lower case: one of them is in any ASCII text that matches.
  // Empty: nothing is known.
  Range atoms;
};

struct KeyRecord {
  FlatText key;
  Range rules;  // into kBucketRules
};

struct ExampleRecord {
  FlatText command;
  uint32_t line = 0;
  uint32_t matches = 0;  // 1: must match, 0: must not
};

enum NoteKind : uint32_t {
  kNoteDisable = 0,
  kNoteUnlock = 1,
  // For lint: a list, macro or class that nothing refers to, text that a person
  // does not see, a `network` that the layer cannot give.
  kNoteUnusedList,
  kNoteUnusedMacro,
  kNoteUnusedClass,
  kNoteHiddenText,
  kNoteNoNetwork,
};

struct FileNote {
  FlatText id;
  uint32_t kind = kNoteDisable;
  uint32_t line = 0;
  uint32_t column = 0;
  FlatText file;
};

struct Header {
  uint8_t default_action = RuleRecord::kUnset;
  uint8_t asks_branch = 0;  // some rule has a `branch`
  uint8_t unused[6] = {};
  FlatText source_hash;  // hex
};

// Fixed buckets of rules, after those by program.
enum Bucket : uint32_t {
  kEffectBuckets = 0,                  // 12
  kFlowBuckets = kEffectBuckets + 12,  // 5
  kUnknownBuckets = kFlowBuckets + 5,  // 12
  kEnvBucket = kUnknownBuckets + 12,
  kViaBucket,
  kAlwaysBucket,
  kBucketCount,
};

// A layer of rules, ready for use.
struct RuleView {
  FlatFile image;
  std::span<const RuleRecord> rules;
  std::span<const Node> nodes;
  std::span<const uint32_t> links;
  std::span<const FlatText> strings;
  std::span<const Range> positions;
  std::span<const PathRecord> paths;
  std::span<const ClassRecord> classes;
  std::span<const ListRecord> lists;
  std::span<const RegexRecord> regexes;
  std::span<const KeyRecord> programs;
  std::span<const Range> buckets;
  std::span<const uint32_t> bucket_rules;
  std::span<const ExampleRecord> examples;
  std::span<const FileNote> notes;
  std::span<const Prefilter> link_prefilters;
  std::span<const Prefilter> prefilters;
  Header header;

  // kCorrupt when `bytes` is not such an image. `bytes` must outlive it.
  static Result<RuleView> Open(std::string_view bytes);

  std::string_view Text(FlatText text) const { return image.Text(text); }
  template <class T>
  std::span<const T> In(std::span<const T> items, Range range) const {
    return gate::Slice(items, range.begin, range.count);
  }
};

}  // namespace gate::rules
