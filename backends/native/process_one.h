// Process 1 of a sandbox, as gate holds it.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <memory>

#include "backends/backend.h"
#include "backends/identity.h"
#include "backends/native/cgroup.h"
#include "backends/native/init.h"
#include "backends/native/plan.h"
#include "backends/protected_paths.h"
#include "backends/session_network.h"
#include "base/file.h"
#include "base/result.h"

namespace gate::backends {

// All that process 1 needs to know before there is a plan.
struct Beginning {
  RunUser user;
  bool new_network = true;
  SessionNetwork session;    // whose network that is, if it can be
  std::string networks_dir;  // of session_network.h
  TreeLimits limits;         // those that a control group may hold
  Io io;
  bool probe = false;

  // All but the limits are for good once process 1 has started.
  bool StartsAs(const Beginning& other) const;
  bool operator==(const Beginning& other) const {
    return StartsAs(other) && limits == other.limits;
  }
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

  // Takes the limits of `wanted` too; false when another must be started for
  // it.
  bool Become(const Beginning& wanted);
  const Beginning& beginning() const { return beginning_; }
  // Why it has a network of its own, though a session was given; else empty.
  const std::string& not_joined() const { return not_joined_; }
  NativePlan* plan() const { return space_.plan(); }
  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  int report() const { return report_.get(); }
  Cgroup& group() { return *group_; }

  // What the plan will show read-only in its own place: process 1 may clone it
  // already. Before HandPlanOver.
  void CloneEarly(const Bind& bind);
  // The plan is complete: process 1 may follow it.
  Status HandPlanOver();
  // Before kMayStart, when the caller is about to wait: where process 1 has not
  // begun to follow the plan, because its other thread (network.h) has the
  // processor that gate left it, it goes on on this one.
  void GiveProcessor() const;
  // One word of gate's (init.h). A dead process 1 is told nothing.
  void Tell(unsigned char word) const;
  void Kill() const;
  // Before waiting for its end, when nobody asks for the plan, the report or
  // the group any more.
  void LetGo();
  // Blocks until it, and with it its namespace, is gone.
  void Wait();
  // Somebody else has waited.
  void Forget() { pidfd_.reset(); }

 private:
  Status SendDoors();
  ProcessOne(PlanSpace space, std::unique_ptr<Cgroup> group)
      : space_(std::move(space)), group_(std::move(group)) {}

  // Starts it in the network of its session; false with not_joined().
  bool StartJoined(InitContext* context);

  Beginning beginning_;
  std::string not_joined_;
  Fd session_;  // while it is open, gate-session counts this line
  PlanSpace space_;
  std::unique_ptr<Cgroup> group_;  // stays where it is: a watch knows it
  pid_t pid_ = -1;
  bool confined_ = false;  // InitContext's
  Fd pidfd_, report_, control_;
  Fd control_read_;  // kept, so that writing to a dead child raises no SIGPIPE
};

}  // namespace gate::backends
