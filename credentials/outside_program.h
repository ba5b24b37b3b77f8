// Programs that work outside for one contained run: ssh, ssh-add, gpg.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"

namespace gate::credentials {

// Starts `words` with `environment` (NAME=VALUE) and these descriptors, in a
// session of its own: it has no terminal to ask on, and is one group to end.
// The kernel ends it with the process that started it. -1 where none can be
// made; a program that is not there exits with 127.
pid_t StartProgram(std::vector<std::string> words,
                   std::vector<std::string> environment, int in, int out,
                   int err);

// Ends it and what it started, and waits for it. Nothing for what is no id.
void EndProgram(pid_t pid);

// A pipe for one of its streams, closed in other programs. False where there is
// none.
bool MakePipe(Fd* reader, Fd* writer);
// Reads and writes of `fd` return at once.
void DoNotWait(const Fd& fd);

}  // namespace gate::credentials
