// A command with more words than bwrap takes.
//
// bubblewrap refuses more than 9,000 words in all (MAX_ARGS of its
// bubblewrap.c), those of its --args and of the command together. So it starts
// gate's own file instead, by a descriptor, and that starts the command with
// the words of another one.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace gate::backends {

// With some room below bwrap's own limit.
inline constexpr size_t kMaxBwrapWords = 8900;

// gate's first argument then; two descriptors follow.
inline constexpr const char* kExecWords = "--exec-words";

struct ExecWords {
  Fd words, program;              // must stay open in the child
  std::vector<std::string> argv;  // what starts in the command's place
};
// Fails where no descriptor can be made.
Result<ExecWords> MakeExecWords(const std::vector<std::string>& command);

// What gate does then: takes the place of the command. Returns an exit code as
// of a shell (127: not there, 126: not executable), or -1 where `words` was not
// made by MakeExecWords: only a sealed file in memory counts, which no line can
// hand over by a redirection.
int RunExecWords(const char* words, const char* program);

}  // namespace gate::backends
