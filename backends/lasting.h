// What goes on of a run after its command has ended.
//
// A server that a line starts in the background is wanted by the next line. So
// the run goes on, with its mounts, its limits and its note (run_journal.h),
// until its last process ends, and one process of gate's stays with it: its
// supervisor, which the caller of Backend::Run forks. When the supervisor dies,
// of whatever, everything of the run dies, and whoever comes next sweeps by the
// note.
//
//   std::unique_ptr<LastingRun> left;
//   command.lasting = &left;
//   Outcome outcome = backend->Run(profile, command, io);
//   if (outcome.lasts) … fork: the child calls Keep, the parent Leave …
#pragma once

#include <sys/types.h>

#include <string>

#include "backends/backend.h"

namespace gate::backends {

class LastingRun {
 public:
  virtual ~LastingRun() = default;  // as End, where none of these was called

  // The supervisor's: blocks until the last process has ended, by itself, at a
  // limit of the run, or by SIGTERM or SIGHUP to the caller; looks at what the
  // run left, and adds what that says to the `outcome` that Run returned. Needs
  // no stream of the caller's.
  virtual void Keep(Outcome* outcome) = 0;
  // For the process that forked the supervisor: forgets the run, whose
  // descriptors it closes. Nothing ends and nothing is removed.
  virtual void Leave() = 0;
  // Without a supervisor: ends everything at once, and the outcome is as if the
  // run could not have lasted.
  virtual void End(Outcome* outcome) = 0;
  // The process with number 1 of the run, as this process numbers it.
  virtual pid_t process_one() const = 0;
  // The note by which others sweep for this run while it goes on; empty: there
  // is nothing to sweep.
  virtual const std::string& note() const = 0;
};

}  // namespace gate::backends
