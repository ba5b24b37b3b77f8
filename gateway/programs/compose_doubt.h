// Whether the files of a compose project let a sub-command of `compose` that is
// not asked about reach this machine.
//
// `stop`, `down` and `restart` run what the file says there and then (a
// provider is a program of this machine, a hook may be privileged); `exec` and
// `start` have what the file gives a container. The engine cannot be asked by
// the name of a service, so the file is read. By words, since more than needed
// only asks.
#pragma once

#include <string>
#include <string_view>

#include "parser/analysis.h"

namespace gate::app {

// Larger files are not understood.
inline constexpr size_t kMaxComposeBytes = size_t{256} * 1024;

// Why the text of one compose file, or of an `.env` beside it, may reach this
// machine; empty if it does not. `enters`: a container is entered or started
// again, so that what it was given counts as well.
std::string ComposeTextDoubt(std::string_view text, bool enters);

// Why any of the files that `invocation` reads is in doubt: those that it
// names, else the ones of its directories or the nearest above. Empty also for
// what is no such sub-command, and where there is no file (compose does nothing
// then). A file that cannot be read, and a project or a directory that is
// named, are doubts. Reads at most some ten small files for each directory
// above.
std::string ComposeDoubt(const parser::Invocation& invocation);

}  // namespace gate::app
