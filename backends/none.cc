#include "backends/none.h"

#include <string.h>
#include <unistd.h>

#include <optional>

#include "backends/process/descendants.h"
#include "backends/process/outcome.h"
#include "backends/process/relay.h"
#include "backends/process/spawn.h"
#include "backends/process/supervise.h"
#include "backends/process/sys.h"

namespace gate::backends {
namespace {

constexpr int kAfterEndMs = 50;
constexpr int kReapMs = 1000;

class None : public Backend {
 public:
  const char* Name() const override { return "none"; }
  Strength GetStrength() const override { return Strength::kNone; }
  int Priority() const override { return 1000; }

  Availability Probe() override {
    Availability availability;
    availability.available = true;
    availability.why = "no containment at all";
    availability.lost = {"everything"};
    return availability;
  }

 private:
  Result<Outcome> TryRun(const Profile& profile, const Command& command,
                         const Io& io) override {
    if (const auto missing = profile.required.Without(FeatureSet());
        !missing.empty())
      return NotRun(std::string("the profile requires ") +
                    backends::Name(missing.front()));
    const HeldSignals signals;
    SpawnRequest request;
    request.argv = command.argv;
    request.environment = command.environment;
    request.cwd = command.cwd;
    request.directory = command.directory;
    GATE_TRY(std::unique_ptr<OutputRelay> relay,
             OutputRelay::Make(io, profile.limits.output_bytes));
    request.io = relay->io();
    request.mask = signals.before();
    // On a terminal the command stays in the foreground group.
    request.own_group = isatty(io.in) != 1;
    GATE_CHECK(command.permit.Ask());
    // Only a run that may be ended needs to know what belongs to it.
    std::optional<Descendants> all;
    if (profile.limits.wall_ms != 0 || profile.limits.output_bytes != 0)
      all.emplace();
    const Spawned child = Spawn(request);
    Outcome outcome;
    if (child.error != 0) {
      outcome.reason = command.argv.empty() ? "there is no program to run"
                       : child.stage == SpawnStage::kDirectory
                           ? command.cwd + ": " + strerror(child.error)
                           : command.argv[0] + ": " + strerror(child.error);
      if (child.stage == SpawnStage::kExec && !command.argv.empty())
        SetNotExecuted(command.argv[0], command.cwd, child.error, &outcome);
      return outcome;
    }
    const pid_t target = request.own_group ? -child.pid : child.pid;
    Watch watch;
    watch.pidfd = child.pidfd.get();
    watch.wall_ms = profile.limits.wall_ms;
    watch.terminal = !request.own_group;
    watch.must_end = false;  // as it would run without gate
    watch.forward = [&](int signal) {
      kill(IsNotice(signal) ? child.pid : target, signal);
      if (IsEnding(signal)) kill(target, SIGCONT);
    };
    watch.expire = [&] {
      if (!all) return;
      all->Signal(SIGTERM);
      all->Signal(SIGCONT);
    };
    watch.kill = [&] {
      kill(target, SIGKILL);
      if (all) all->End();
    };
    if (all)
      AddTick(&watch, [&] {
        all->Reap(child.pid);
        return kReapMs;
      });
    relay->Started();
    relay->Join(&watch);
    int status = 0;
    const bool timed_out = WatchUntilEnd(signals, watch, &status);
    // What it left running may write on: that is not waited for long.
    relay->Drain(kAfterEndMs);
    if (timed_out) {
      if (all) all->End();
      SetTimedOut(profile.limits, &outcome);
    } else {
      SetPlainEnd(status, &outcome);
    }
    relay->Judge(&outcome);
    return outcome;
  }
};

}  // namespace

std::unique_ptr<Backend> MakeNone(unsafe::NoSandbox) {
  return std::make_unique<None>();
}

}  // namespace gate::backends
