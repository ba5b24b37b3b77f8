// Process 1 of a sandbox, as gate holds it.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "backends/backend.h"
#include "backends/identity.h"
#include "backends/native/init.h"
#include "backends/native/plan.h"
#include "base/file.h"
#include "base/result.h"

namespace gate::backends {

// All that process 1 needs to know before there is a plan.
struct Beginning {
  RunUser user;
  bool new_network = true;
  Io io;
  bool probe = false;

  bool operator==(const Beginning& other) const;
};

class ProcessOne {
 public:
  // Starts it: it makes its namespaces and waits for the plan. The command will
  // start with the signal mask `mask`.
  static Result<ProcessOne> Start(const Beginning& beginning,
                                  const sigset_t& mask);
  ProcessOne(ProcessOne&&) = default;
  ProcessOne& operator=(ProcessOne&&) = delete;
  // Takes it along, if nobody has waited for it.
  ~ProcessOne();

  const Beginning& beginning() const { return beginning_; }
  NativePlan* plan() const { return space_.plan(); }
  int pidfd() const { return pidfd_.get(); }
  int report() const { return report_.get(); }

  // The plan is complete: process 1 may follow it.
  Status HandPlanOver();
  // One word of gate's (init.h). A dead process 1 is told nothing.
  void Tell(unsigned char word) const;
  void Kill() const;
  // Blocks until it, and with it its namespace, is gone.
  void Wait();
  // Somebody else has waited.
  void Forget() { pidfd_.reset(); }

 private:
  explicit ProcessOne(PlanSpace space) : space_(std::move(space)) {}

  Beginning beginning_;
  PlanSpace space_;
  pid_t pid_ = -1;
  Fd pidfd_, report_, control_;
  Fd control_read_;  // kept, so that writing to a dead child raises no SIGPIPE
};

}  // namespace gate::backends
