#include "backends/process/supervise.h"

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace gate::backends {
namespace {

constexpr int kForwarded[] = {SIGINT,  SIGTERM, SIGHUP,
                              SIGQUIT, SIGUSR1, SIGUSR2};

int StatusOf(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return (info.si_status & 0xff) << 8;
  return info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0);
}

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : kForwarded) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 &&
        action.sa_handler != SIG_IGN)
      sigaddset(&held, signal);
  }
  pthread_sigmask(SIG_BLOCK, &held, &before_);
  fd_ = Fd(signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
}

HeldSignals::~HeldSignals() {
  // What came while the run ended was meant for it. Left pending, a Ctrl-C
  // would end this process before it has put the terminal back.
  signalfd_siginfo info = {};
  while (read(fd_.get(), &info, sizeof(info)) ==
         static_cast<ssize_t>(sizeof(info))) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool WatchUntilEnd(const HeldSignals& signals, const Watch& watch,
                   int* status) {
  const uint64_t start = MonotonicMs();
  uint64_t deadline = watch.wall_ms == 0
                          ? 0
                          : start + std::min(watch.wall_ms, UINT64_MAX - start);
  bool timed_out = false, killed = false;
  uint64_t end = 0;  // when to kill what was told to end; 0: it was not
  std::vector<pollfd> fds;
  while (true) {
    int timeout = -1;
    if (deadline != 0) {
      const uint64_t now = MonotonicMs();
      if (now >= deadline) {
        if (!timed_out) {
          timed_out = true;
          watch.expire();
          deadline = now + kGraceMs;
        } else if (!killed) {
          killed = true;
          watch.kill();
          deadline = 0;
        }
        continue;
      }
      timeout = static_cast<int>(std::min<uint64_t>(deadline - now, 1u << 30));
    }
    if (end != 0) {
      const uint64_t now = MonotonicMs();
      if (now >= end) {
        end = 0;
        watch.kill();
        continue;
      }
      const int left = static_cast<int>(end - now);
      if (timeout < 0 || left < timeout) timeout = left;
    }
    if (watch.tick) {
      const int wanted = watch.tick();
      if (wanted >= 0 && (timeout < 0 || wanted < timeout)) timeout = wanted;
    }
    fds.resize(2);
    fds[0] = {watch.pidfd, POLLIN, 0};
    fds[1] = {signals.fd(), POLLIN, 0};
    for (const Served& served : watch.served) fds.push_back(served.want());
    if (poll(fds.data(), fds.size(), timeout) < 0) {
      if (errno != EINTR) break;
      continue;
    }
    for (size_t i = 0; i < watch.served.size(); ++i)
      if (fds[2 + i].revents != 0) watch.served[i].ready(fds[2 + i].revents);
    if (watch.over != nullptr && *watch.over) return timed_out;
    if (fds[1].revents & POLLIN) {
      signalfd_siginfo info = {};
      while (read(signals.fd(), &info, sizeof(info)) ==
             static_cast<ssize_t>(sizeof(info))) {
        if (watch.signalled != nullptr &&
            !IsNotice(static_cast<int>(info.ssi_signo)))
          *watch.signalled = true;
        // A hang-up goes to the leader of the session, which gate may be, and
        // only when that ends to the others: it may come twice, but not never.
        if (watch.terminal && info.ssi_code == SI_KERNEL &&
            info.ssi_signo != SIGHUP)
          continue;
        if (watch.must_end && end == 0 &&
            (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP))
          end = MonotonicMs() + kEndMs;
        watch.forward(static_cast<int>(info.ssi_signo));
      }
    }
    if (fds[0].revents == 0) continue;
    siginfo_t info = {};
    if (waitid(P_PIDFD, static_cast<id_t>(watch.pidfd), &info, WEXITED) == 0) {
      *status = StatusOf(info);
      return timed_out;
    }
    if (errno != EINTR) break;
  }
  // Nothing can be learned any more: end it rather than leave it running.
  watch.kill();
  *status = SIGKILL;
  return timed_out;
}

void AddTick(Watch* watch, std::function<int()> tick) {
  watch->tick = [before = std::move(watch->tick), tick = std::move(tick)] {
    const int a = before ? before() : -1;
    const int b = tick();
    return a < 0 ? b : b < 0 ? a : std::min(a, b);
  };
}

}  // namespace gate::backends
