// Git configuration as far as safety needs it: which entries make git run a
// program or read configuration from elsewhere.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gate::backends {

struct GitEntry {
  std::string key;  // section.subsection.name; section and name lower case
  std::string value;
  bool boolean = false;       // written without a value, which means true
  size_t begin = 0, end = 0;  // bytes of the assignment in the text
};

// What the place of a file adds to RunsProgram; may be empty.
using GitEntryTest = std::function<bool(const GitEntry&)>;

// Every entry of `text`. False when git itself would refuse the file; entries
// before the error are still listed.
bool ParseGitConfig(std::string_view text, std::vector<GitEntry>* entries);

// Whether git may run a program because of `entry`, or take configuration or
// hooks from another place because of it. Judges unknown keys by their last
// word (…command, …cmd, …helper, …program): a new kind of hook is rather
// refused than missed.
bool RunsProgram(const GitEntry& entry);

// Entries of `after` that run programs and are not in `before` with the same
// value. A file that cannot be parsed counts as one such entry.
std::vector<GitEntry> NewProgramEntries(std::string_view before,
                                        std::string_view after,
                                        const GitEntryTest& also = {});

// `text` without the entries that run programs; empty when it cannot be
// parsed.
std::string WithoutProgramEntries(std::string_view text,
                                  const GitEntryTest& also = {});

// The files that `text`, a configuration file in `directory`, includes whatever
// the conditions, as absolute paths. Those below a home directory (`~`) are
// left out.
std::vector<std::string> IncludedFiles(std::string_view text,
                                       std::string_view directory);

}  // namespace gate::backends
