// The layout of compiled program descriptions: plain records in a
// base/flat_file.h image, made by programs_compile.cc and read in place by
// programs_read.cc. Internal to the two.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/flat_file.h"
#include "parser/programs.h"

namespace gate::parser::programs {

inline constexpr std::string_view kMagic = "gate.programs/3";
inline constexpr uint32_t kNone = UINT32_MAX;
inline constexpr uint32_t kLastOperand = UINT32_MAX - 1;

enum Section : uint32_t {
  kNames,        // ProgramName, sorted by name
  kNodes,        // Node
  kOptionNames,  // OptionName, sorted by name within each node's range
  kOptions,      // Option
  kChildren,     // Child, sorted by name within each node's range
  kEffects,      // EffectRecord
  kTerms,        // Term
  kEnvironment,  // EnvironmentName, sorted by name
  kLanguages,    // LanguageName, sorted by name
};

// Alternatives of conjunctions over what was seen on the command line. Empty:
// always true.
struct Condition {
  uint32_t begin = 0;
  uint32_t count = 0;
};

struct Term {
  enum Kind : uint8_t {
    kOption,        // the option was given
    kOptionValue,   // …with a value that fits one of `values`
    kOperands,      // the number of operands is `op` `number`
    kOperandValue,  // operand `number` (0: any) fits one of `values`
    kNever,
  };
  uint8_t kind = kNever;
  uint8_t negated = 0;
  uint8_t begins = 0;  // begins a new alternative
  char op = '=';       // kOperands: '=', '<', '>'
  int32_t number = 0;
  uint32_t option = kNone;
  FlatText values;  // globs, separated by newlines
};

// How a program names the file that it makes of what a word names.
enum class Naming : uint32_t {
  kNone,
  kUrl,       // last part of the URL, without query, as it stands
  kUrlQuery,  // …decoded, with the query; `index.html` when there is none
  kDecoded,   // …decoded, without query; `index.html` when there is none
  kClone,     // the repository's name without `.git`
  kBase,      // last part of a path, also behind `host:`
  kUnpacked,  // the path without `.gz` and its like
  kPacked,    // the path with some ending
  kPrefix,    // the path with more behind it
};

struct EffectRecord {
  enum Flag : uint32_t {
    kRecursive = 1,
    kPossible = 2,
    kAppend = 4,         // further words are appended by the program
    kStdin = 8,          // …that come from its standard input
    kJoin = 16,          // the words are joined by blanks into one
    kNegative = 32,      // words that do NOT fit the pattern
    kRange = 64,         // words are operands from..to
    kAfterDashes = 128,  // words are those after `--`
    kIgnoreCase = 256,   // of the pattern
    kVerbatim = 512,     // only words without shell characters, when joined
    kCoded = 1024,       // only words with shell characters, when joined
    kLiteral = 2048,     // `literal` was given, perhaps empty
    kLast = 4096,        // of several values of an option, the last one
  };
  uint32_t role = 0;
  uint32_t flags = 0;
  int32_t from = 1;  // operands, 1-based; negative: from the end
  int32_t to = -1;
  FlatText detail;
  FlatText pattern;  // the word must fit; the capture replaces it
  FlatText literal;  // words put before (alone when there is no range)
  FlatText placeholder;
  uint32_t placeholder_option = kNone;  // its value is the placeholder
  uint32_t first_option = kNone;        // its value is put before the words
  uint32_t naming = 0;                  // Naming: the file named after the word
  uint32_t in_option = kNone;           // …in the directory that is its value
                                        // (kLastOperand: in the last operand)
  Condition when;
};

struct Option {
  enum Arity : uint8_t {
    kFlag,
    kRequired,        // attached or the next word
    kOptional,        // attached only
    kOptionalDigits,  // attached digits only
    kSeparate,        // always the next word, even inside a bundle
    kSeveral,         // the next `count` words
    kList,            // words up to `;` or `+`
  };
  FlatText spellings;  // the canonical name, then the others, by blanks
  uint8_t arity = kFlag;
  uint8_t count = 0;
  uint8_t stops = 0;    // everything after it is an operand
  uint8_t splices = 0;  // its value is split into words that stand in its place
  // What giving it makes of the acts; the values with which it does so, by
  // newlines. Without a value it does, unless it needs one.
  enum Special : uint8_t {
    kOrdinary,
    kHelp,       // the only act is kLocal
    kVersion,    // …before any sub-command
    kRehearse,   // kLook instead of kChange
    kUnrehearse  // takes kRehearse back
  };
  uint8_t special = kOrdinary;
  FlatText special_values;
  uint32_t effects = 0;
  uint32_t effects_count = 0;
};

struct OptionName {
  FlatText name;
  uint32_t option = 0;
};

struct Node {
  enum Flag : uint32_t {
    kPosix = 1,          // options end at the first operand
    kSingle = 2,         // long options have one dash (find, java)
    kNoBundle = 4,       // -ab is not -a -b
    kNoDashes = 8,       // `--` is an operand
    kPlus = 16,          // +x is an option
    kOldStyle = 32,      // first word without dash is a bundle (tar, ps)
    kAssignments = 64,   // leading NAME=VALUE words set variables
    kInterleaved = 128,  // …and options may follow them (sudo)
    kLoose = 256,        // undescribed options are flags
    kInherits = 512,     // options of the parents are accepted too
    kOpen = 1024,        // a first operand that is no sub-command is operand
    kVersions = 2048,    // python3.11 is python
    kWrapper = 4096,     // runs what its operands say (computed)
    kNoAbbreviation = 8192,
    kSpeaksOfActs = 16384,  // of a program: some act is described (computed)
  };
  FlatText name;
  uint32_t flags = 0;
  uint32_t option_names = 0, option_names_count = 0;
  // The sub-commands: those with exact names, sorted; behind them patterns, the
  // more specific first.
  uint32_t children = 0, children_count = 0, patterns_count = 0;
  uint32_t effects = 0, effects_count = 0;
  uint32_t number_option = kNone;  // -5 is -n 5
  Condition reads_stdin, prints_input, prints_network, decodes;
};

// A pattern has one `*`; what it stands for is the name of the sub-command.
struct Child {
  FlatText name;  // as written
  FlatText canonical;
  uint32_t node = 0;
};

struct ProgramName {
  FlatText name;
  uint32_t node = 0;
  uint32_t output = 0;  // OutputModel
  uint32_t leaves = 0;  // LeftFiles
  uint32_t runs = 0;    // RunModel
};

struct EnvironmentName {
  FlatText name;  // may end in `*`
  FlatText detail;
  uint32_t role = 0;
};

struct LanguageName {
  FlatText name;
  uint32_t language = 0;  // Language
};

// Opened sections of an image.
struct Tables {
  FlatFile image;
  std::span<const ProgramName> names;
  std::span<const Node> nodes;
  std::span<const OptionName> option_names;
  std::span<const Option> options;
  std::span<const Child> children;
  std::span<const EffectRecord> effects;
  std::span<const Term> terms;
  std::span<const EnvironmentName> environment;
  std::span<const LanguageName> languages;
};

// False when `bytes` is no such image. With `check` also when an index in it
// leaves its section; without, the image must be one that was checked before
// (the build reads what it embeds), so that opening touches no page of it.
bool OpenTables(std::string_view bytes, bool check, Tables* tables);

// The sub-command of `node` called `name`: an exact name, else the most
// specific pattern; nullptr when there is none.
const Child* FindChild(const Tables& tables, const Node& node,
                       std::string_view name);

// A program by its base name; nullptr when it is not described.
const ProgramName* FindProgram(const Tables& tables, std::string_view program);

// `path` without directories and ".exe".
std::string_view BaseName(std::string_view path);

// programs_naming.cc: `*word` becomes the file that the program makes of it;
// false when there is none. A name of which parts are not known is a pattern.
bool NameFile(Naming naming, Argument* word);
// kNone when `name` is no way of naming.
Naming ParseNaming(std::string_view name);

// ReadArguments by opened tables.
ArgumentAnalysis Read(const Tables& tables, std::span<const Argument> argv);

}  // namespace gate::parser::programs
