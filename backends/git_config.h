// What a run changed in git configuration, as far as it makes git run a program
// or read configuration from elsewhere (git/config.h), gives others what
// it sends, or lets it write elsewhere.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "git/config.h"

namespace gate::backends {

// What the place of a file adds to RunsProgram; may be empty.
using GitEntryTest = std::function<bool(const GitEntry&)>;

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
// the conditions, as absolute paths, which need not be normal. Those below `~`
// are left out when `home` is empty.
std::vector<std::string> IncludedFiles(std::string_view text,
                                       std::string_view directory,
                                       std::string_view home = {});

// A value that git takes for a path, without what git replaces at its
// beginning: `~` (`home`), `~user`, and the `:(optional)` of newer ones.
std::string ExpandHome(std::string_view value, std::string_view home);

}  // namespace gate::backends
