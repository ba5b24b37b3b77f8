// What is known of the world that more than one part of gate goes by: paths of
// a home, variables of the environment, names and looks of secrets, keys of
// git. The data are rules.d/known, each name once with the lists that it is in,
// a reason and a source; the build makes constants of them.
//
// Values only; nothing is read or computed at run time. Thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "known/secret_prefixes.h"

namespace gate::known {

// The lists that C++ goes by. What each means stands in its file, under
// `lists`; a file may have more, which rules alone name.
enum class List : uint8_t {
  // home.json: paths below a home, without the `/` that says directory.
  kHidden,
  kProtected,
  kProtectedHome,
  kAutoExecuted,
  kReadElsewhere,
  kJudged,
  kOnlyAdds,
  kAgentProject,
  kReportShell,
  kReportAgent,
  kReportGit,
  kReportEditor,
  kReportTool,
  // system.json: absolute paths.
  kSystemHidden,
  // files.json: names in any directory.
  kSettings,
  kToolVersion,
  // environment.json: names of variables, or how they begin.
  kShellVariables,
  kCodeVariables,
  kCodePrefixes,
  kLoadVariables,
  kDoors,
  kDoorPrefixes,
  kTemporary,
  kProgramVariables,
  kWrappers,
  kMakeFlags,
  kJavaOptions,
  kGitElsewhere,
  kDockerElsewhere,
  kPodmanElsewhere,
  // secrets.json: parts of names, and of values.
  kVariableWords,
  kVariableHints,
  kVariableLastHints,
  kVariableParts,
  kVariableEndings,
  kVariableNames,
  kVariableWordEndings,
  kNoVariableWords,
  kForms,
  kRecordParts,
  kRecordEndings,
  kRecordNames,
  kRecordValueEndings,
  kHarmlessKeys,
  kHarmlessEndings,
  kHarmlessStarts,
  kPrintedParts,
  kValueStarts,
  kValueFields,
  // git.json: keys, sections and endings of keys, in lower case and without the
  // `*` and dots beside it.
  kGitKeys,
  kGitSections,
  kGitEndings,
  kGitElsewhereSections,
  kCount,
};

// "home/hidden": the file and the list in it, in the order of List.
inline constexpr auto kListNames = std::to_array<std::string_view>({
    "home/hidden",
    "home/protected",
    "home/protected-home",
    "home/auto-executed",
    "home/read-elsewhere",
    "home/judged",
    "home/only-adds",
    "home/agent-project",
    "home/report-shell",
    "home/report-agent",
    "home/report-git",
    "home/report-editor",
    "home/report-tool",
    "system/hidden",
    "files/settings",
    "files/tool-version",
    "environment/shell",
    "environment/code",
    "environment/code-prefix",
    "environment/loads",
    "environment/door",
    "environment/door-prefix",
    "environment/temporary",
    "environment/program",
    "environment/wrapper",
    "environment/make-flags",
    "environment/java-options",
    "environment/git-elsewhere",
    "environment/docker-elsewhere",
    "environment/podman-elsewhere",
    "secrets/variable-word",
    "secrets/variable-hint",
    "secrets/variable-last-hint",
    "secrets/variable-part",
    "secrets/variable-ending",
    "secrets/variable-name",
    "secrets/variable-word-ending",
    "secrets/no-variable-word",
    "secrets/form",
    "secrets/record-part",
    "secrets/record-ending",
    "secrets/record-name",
    "secrets/record-value-ending",
    "secrets/harmless-key",
    "secrets/harmless-ending",
    "secrets/harmless-start",
    "secrets/printed-part",
    "secrets/value-start",
    "secrets/value-field",
    "git/runs-key",
    "git/runs-section",
    "git/runs-ending",
    "git/elsewhere",
});
static_assert(kListNames.size() == static_cast<size_t>(List::kCount));

// The names of a list, ordered by the directory that they lie in, so that what
// looks for them lists a directory once (backends/listing.h), then by bytes.
std::span<const std::string_view> Names(List list);

// By binary search; for lists of names without directories.
inline bool Contains(List list, std::string_view name) {
  return std::ranges::binary_search(Names(list), name);
}
// By what a text begins with, ends with or holds. Linear; a character decides
// nearly always, for less than a call.
inline bool BeginsWithAny(List list, std::string_view text) {
  if (text.empty()) return false;
  for (const std::string_view name : Names(list))
    if (name.front() == text.front() && text.starts_with(name)) return true;
  return false;
}
inline bool EndsWithAny(List list, std::string_view text) {
  if (text.empty()) return false;
  for (const std::string_view name : Names(list))
    if (name.back() == text.back() && text.ends_with(name)) return true;
  return false;
}
inline bool HoldsAny(List list, std::string_view text) {
  // Bits of the characters that there are; each stands for a few.
  uint64_t there = 0;
  for (const char c : text) there |= uint64_t{1} << (c & 63);
  for (const std::string_view name : Names(list))
    if ((there >> (name.front() & 63) & 1) != 0 &&
        (there >> (name.back() & 63) & 1) != 0 &&
        text.find(name) != std::string_view::npos)
      return true;
  return false;
}

// What rules name by "@known/LIST", LIST as in kListNames or any other of the
// files: as it stands there, a directory with its `/`; keys of git in lower
// case as well. Empty when there is no such list. Linear; for the compiler of
// rules.
std::vector<std::string_view> Members(std::string_view list);

// The hosts that `program` (a base name) needs for its ordinary work, sorted:
// those of the lists of hosts.json that name it. One search of a short text.
std::vector<std::string_view> HostsOfProgram(std::string_view program);

// A variable that puts elsewhere what lies in a home.
struct Relocation {
  enum class Kind : uint8_t { kDirectory, kFile, kFiles };  // kFiles: a list
  std::string_view variable, name;                          // below the home
  Kind kind = Kind::kDirectory;
};
// Sorted by the variable.
std::span<const Relocation> Relocations();

// How secrets begin that are known by their look. One list for what is taken
// out of the record and for what does not enter a sandbox.
std::span<const SecretPrefix> SecretPrefixes();
// The first characters of these and of the list kValueStarts.
const std::array<bool, 256>& SecretStarts();

}  // namespace gate::known
