// What the profile `tool` lends to one program: rules.d/lending/programs.json,
// compiled when gate is built (its comments say what the members mean).
//
// The image is text that is used in place: nothing is read of it before a line
// asks for the profile.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate::rules {

struct Lending {
  std::string_view program;  // the entry's first name
  // Below the home directory.
  std::vector<std::string_view> files;    // seen read-only; files, directories
  std::vector<std::string_view> copies;   // directories it writes: copied
  std::vector<std::string_view> sockets;  // absolute
  // Names of variables, of which one `*` stands for any part.
  std::vector<std::string_view> variables;  // of the caller's, handed in
  std::vector<std::string_view> places;     // …that name files, lent as well
  std::vector<std::string_view> engines;    // …as unix:///SOCKET, lent as well
  std::vector<std::string_view> line;     // the line may set; NAME=A|B: to one
  std::vector<std::string_view> refuses;  // of the caller's: nothing is lent
  // Options (by any of their beginnings) and sub-commands with which nothing is
  // lent: they say where it connects, what it loads or what it runs.
  std::vector<std::string_view> away;
  // Options that take the next word as their value, whatever it is.
  std::vector<std::string_view> values;
  // Options whose value becomes part of a host's name.
  std::vector<std::string_view> hosts;
  // Options with which it prints a list of numbers that it gave.
  std::vector<std::string_view> lists;
  // By name in the working directory, or above it in the workspace: where one
  // of these is, nothing is lent.
  std::vector<std::string_view> workspace;
  // `git`: it starts that in the working directory, where its configuration
  // must name no program. `containers`: what it starts is not of this machine.
  std::vector<std::string_view> runs;
  // PROGRAM=ENTRY: what the person's configuration may name, and what that gets
  // of another entry.
  std::vector<std::string_view> plugins;
};

// What is lent to `program` (a base name); nothing for a program that gets
// nothing. Pure; microseconds.
std::optional<Lending> FindLending(std::string_view program);
std::optional<Lending> FindLendingIn(std::string_view image,
                                     std::string_view program);
// The first names of all entries, in their order.
std::vector<std::string_view> LendingPrograms();

// A cache below a home directory, which a program makes on its first use.
struct ToolCache {
  std::string_view directory;
  bool shared = false;        // one that the home has is written as it is
  std::string_view programs;  // separated by blanks; may be none
};
// In the order of the data: a directory comes before what lies in it.
std::vector<ToolCache> ToolCaches();
// A file below a home directory that mixes settings and secrets, and the keys
// of it that are shown; of `public-keys` a directory, whose `.pub` are.
struct SettingsFile {
  std::string_view file;
  std::string_view format;    // a reader of `settings/`
  std::string_view programs;  // that read it, separated by blanks
  // Keys, of which one `*` stands for any name.
  std::vector<std::string_view> sources;  // URLs that nothing may stand in for
  std::vector<std::string_view> urls, paths, words, texts;
  std::vector<std::string_view> publics;  // public keys, or what names them
};
std::vector<SettingsFile> SettingsFiles();
// Commands (NAME, or NAME SUB-COMMAND) that start other programs unseen.
std::vector<std::string_view> CacheRunners();
// Whether `words`, separated by blanks, have `word` among them.
bool HasWord(std::string_view words, std::string_view word);

// Whether `pattern` (NAME, NA*ME or NAME=A|B) is of the variable `name`; what
// stands behind `=` is for AcceptsValue.
bool NamesVariable(std::string_view pattern, std::string_view name);

// Whether the line may set `name` to `value`, nothing when that is not known,
// by an entry of Lending::line.
bool AcceptsSetting(const std::vector<std::string_view>& line,
                    std::string_view name,
                    std::optional<std::string_view> value);

// Whether `word` of a command is, or begins as, one of Lending::away. An option
// counts with and without its value, with one dash or two, and in a bundle; a
// sub-command only where `operand` says that the word is one. ":" and "," stand
// for every operand that begins with, or holds, that.
bool LeadsAway(const std::vector<std::string_view>& away, std::string_view word,
               bool operand);

// The image of a lending.json. kInvalid with what is wrong: an unknown member,
// a path that is absolute or climbs, a name that is none, a program twice.
Result<std::string> CompileLending(std::string_view json);

}  // namespace gate::rules
