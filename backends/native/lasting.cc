#include "backends/native/lasting.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "backends/process/limits.h"
#include "backends/process/supervise.h"

namespace gate::backends {
namespace {

class NativeLasting : public LastingRun {
 public:
  explicit NativeLasting(NativeRest rest) : rest_(std::move(rest)) {}
  ~NativeLasting() override {
    Outcome untold;
    if (!over_) End(&untold);
  }

  void Keep(Outcome* outcome) override;
  void Leave() override;
  void End(Outcome* outcome) override;
  pid_t process_one() const override { return rest_.one.pid(); }
  const std::string& note() const override {
    return rest_.protected_paths.note_path();
  }

 private:
  // Until process 1, and with it everything, is gone; whoever's child it is.
  void AwaitEnd() const;
  void SweepAll(Outcome* outcome);

  NativeRest rest_;
  bool over_ = false;
};

void NativeLasting::AwaitEnd() const {
  pollfd end = {rest_.one.pidfd(), POLLIN, 0};
  while (poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
}

void NativeLasting::SweepAll(Outcome* outcome) {
  rest_.places->Remove();
  rest_.protected_paths.VerifyAndRestore(outcome);
  outcome->duration_ms = MonotonicMs() - rest_.begin_ms;
  over_ = true;
}

void NativeLasting::Keep(Outcome* outcome) {
  const HeldSignals signals;
  ProcessOne& one = rest_.one;
  InitReport report;
  bool over = false, interrupted = false;
  Watch watch;
  watch.pidfd = one.pidfd();
  if (rest_.wall_ms != 0) {
    const uint64_t used = MonotonicMs() - rest_.begin_ms;
    watch.wall_ms = rest_.wall_ms - std::min(rest_.wall_ms - 1, used);
  }
  watch.forward = [&](int signal) {
    one.Tell(static_cast<unsigned char>(signal));
  };
  watch.expire = [&] { one.Tell(kExpired); };
  watch.kill = [&] { one.Kill(); };
  watch.over = &over;
  watch.signalled = &interrupted;
  one.group().Join(&watch);
  bool reported = false;
  watch.served.push_back(
      {[&] { return pollfd{reported ? -1 : one.report(), POLLIN, 0}; },
       [&](short) {
         const ssize_t got = read(one.report(), &report, sizeof(report));
         if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
         if (got != static_cast<ssize_t>(sizeof(report))) report = InitReport();
         reported = true;
         over = report.alone;
       }});
  rest_.files->Join(&watch);
  // Process 1 is no child of the supervisor's, so that its status is not to be
  // had.
  int unknown = 0;
  const bool timed_out = WatchUntilEnd(signals, watch, &unknown);
  if (!over) {
    one.Kill();
    AwaitEnd();
  }
  TreeLimits bounds = one.beginning().limits;
  const TreeLimit met = one.group().Exceeded();
  if (met != TreeLimit::kNone) bounds.processes = one.group().held().processes;
  Outcome counted;
  counted.status = OutcomeStatus::kExited;
  rest_.files->Judge(&counted);
  if (timed_out)
    outcome->left_end = "ended: the wall clock limit of " +
                        std::to_string(rest_.wall_ms) + " ms";
  else if (counted.status == OutcomeStatus::kLimit)
    outcome->left_end = "ended: " + counted.reason;
  else if (met != TreeLimit::kNone)
    outcome->left_end = "ended: " + LimitText(met, bounds);
  else if (report.kind == InitReport::kLimit)
    outcome->left_end = "ended: " + LimitText(report.limit, bounds);
  else if (interrupted)
    outcome->left_end = "ended: gate was told to end it";
  else if (over)
    outcome->left_end = "ended by itself";
  else
    outcome->left_end = "ended: the sandbox was killed";
  SweepAll(outcome);
  outcome->lasts = false;
  if (over) {
    one.LetGo();
    AwaitEnd();
  }
  one.Forget();
}

void NativeLasting::Leave() {
  rest_.one.Forget();
  rest_.one.group().Leave();
  rest_.places->Leave();
  rest_.protected_paths.Leave();
  over_ = true;
}

void NativeLasting::End(Outcome* outcome) {
  rest_.one.Kill();
  rest_.one.Wait();
  SweepAll(outcome);
  outcome->lasts = false;
  // How many there were only process 1 could have said.
  outcome->left_running = std::max<uint64_t>(1, outcome->left_running);
}

}  // namespace

std::unique_ptr<LastingRun> MakeNativeLasting(NativeRest rest) {
  return std::make_unique<NativeLasting>(std::move(rest));
}

}  // namespace gate::backends
