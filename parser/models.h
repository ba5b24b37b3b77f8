// What gate itself can do of what programs do: print what a filter prints,
// follow the files it leaves, read the language of its code. Descriptions name
// these (docs/programs.md); no program's name stands in the evaluator.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gate::parser {

// How what a program prints follows from its words and its input. Those up to
// kEndlessLine are filters (parser/filters), which need nothing else.
enum class OutputModel : uint8_t {
  kNone,
  kAwkScript,
  kBase32,
  kBase64,
  kCipher,  // openssl base64, openssl enc -base64
  kColumns,
  kCopy,  // cat
  kDistinctLines,
  kFirstLines,
  kFormat,  // printf
  kHexadecimal,
  kInput,  // tee
  kJoinedLines,
  kLastLines,
  kLinesReversed,  // their order
  kMatchingLines,
  kNumbers,  // seq
  kPacked,
  kReplacedCharacters,
  kReversedLines,  // the characters of each
  kSedScript,
  kSortedLines,
  kUnpacked,
  kWords,  // echo
  kWrappedLines,
  kEndlessLine,  // yes
  kLastPart,     // basename
  kDirectoryPart,
  kCount,     // one number, whatever the words
  kCounts,    // wc
  kIdentity,  // id
  kTime,
  kTemporaryName,
  kProgramPath,  // which
};
inline constexpr int kOutputKinds = 34;

// What a program leaves in the files that it writes, beyond "what it read".
enum class LeftFiles : uint8_t {
  kNone,
  kInput,           // its standard input (tee)
  kInputOrOperand,  // the same, unless it is told to read a file (dd)
  kLinks,           // what lies below may lie elsewhere (ln, mount)
  kPieces,          // several files whose names begin alike (split)
  kPipes,
};
inline constexpr int kLeftFileKinds = 6;

// Where a program that runs others has their words from, where that is not
// told by its own words alone.
enum class RunModel : uint8_t {
  kNone,
  kEnvironment,  // env: the variables are those that it is given
  kFoundFiles,   // find: it also prints names by itself
  kInputLines,   // parallel: a line of input in the place of a mark
  kInputWords,   // xargs
};
inline constexpr int kRunKinds = 5;

// Languages that gate reads, in whole (shells) or by the calls that it knows.
enum class Language : uint8_t {
  kNone,  // nothing is known of it
  kBash,
  kPosixShell,
  kOtherShell,  // plain words mean the same there, no more
  kAwk,
  kSed,
  kPython,
  kPerl,
  kRuby,
  kJavaScript,
  kPhp,
  kLua,
  kM4,
  kAnyCalls,  // calls that work on files are looked for by their usual names
};
inline constexpr int kLanguageKinds = 14;

// What a detail behind a role (`write:in`) says, where gate acts on it. Every
// other detail is the name of a language or a program.
enum class Modifier : uint8_t {
  kNone,
  kIn,           // files go into this directory by their own names
  kInto,         // the same, if it is a directory
  kAddresses,    // the file lists addresses,
  kCurlOptions,  // options of curl,
  kNames,        // or names
  kGlob,         // sets and ranges in the host are expanded
  kOnTerminal,   // written only when output goes to a terminal
  kTree,         // a directory that is filled with files
  kBuilt,        // made of what is read, no copy of it
  kHere,         // opened before the program goes to another directory
  kDirectory,    // the script is what lies in it
  kLine,         // bash reads the variable in the rest of the line
  kLater,        // bash reads it in later lines
  kUsedContainer,
  kContainerNetwork,
};
inline constexpr int kModifiers = 16;

constexpr bool IsFilter(OutputModel model) {
  return model != OutputModel::kNone && model <= OutputModel::kEndlessLine;
}
constexpr bool IsShell(Language language) {
  return language >= Language::kBash && language <= Language::kOtherShell;
}

// As descriptions spell them ("first-lines", "pipes", "posix-shell"); nullopt:
// there is none of this name.
std::optional<OutputModel> OutputModelOf(std::string_view name);
std::optional<LeftFiles> LeftFilesOf(std::string_view name);
std::optional<RunModel> RunModelOf(std::string_view name);
std::optional<Language> LanguageOf(std::string_view name);
// kNone for every other detail.
Modifier ModifierOf(std::string_view detail);

}  // namespace gate::parser
