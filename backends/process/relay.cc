#include "backends/process/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "backends/process/outcome.h"

namespace gate::backends {
namespace {

bool SameFile(int a, int b) {
  struct stat one = {}, two = {};
  return fstat(a, &one) == 0 && fstat(b, &two) == 0 &&
         one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

constexpr uint64_t kHoldMs = 5000;
// How docker's and podman's messages begin, and their log lines.
constexpr std::string_view kClientsBeginnings[] = {
    "docker: ", "Error: ", "Error response ", "time="};

bool MayBeAClients(std::string_view text) {
  return std::any_of(std::begin(kClientsBeginnings),
                     std::end(kClientsBeginnings), [&](std::string_view begin) {
                       const size_t size = std::min(text.size(), begin.size());
                       return text.substr(0, size) == begin.substr(0, size);
                     });
}

sigset_t PipeSignal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

}  // namespace

Result<std::unique_ptr<OutputRelay>> OutputRelay::Make(const Io& io,
                                                       uint64_t limit,
                                                       bool hold) {
  std::unique_ptr<OutputRelay> relay(new OutputRelay);
  relay->io_ = io;
  relay->limit_ = limit;
  if (limit == 0 && !hold) return relay;
  relay->between_ = true;
  relay->holding_ = hold;
  const auto open = [&](Channel* channel, int to) -> int {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    channel->from = Fd(ends[0]);
    channel->command_end = Fd(ends[1]);
    channel->to = to;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return ends[1];
  };
  if (limit == 0)
    relay->limit_ = UINT64_MAX;
  else
    relay->io_.out = open(&relay->channels_[0], io.out);
  relay->io_.err = !hold && SameFile(io.out, io.err)
                       ? relay->io_.out
                       : open(&relay->channels_[1], io.err);
  if (relay->io_.out < 0 || relay->io_.err < 0)
    return FailErrno("cannot make a pipe for the command's output");
  const sigset_t pipe = PipeSignal();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  relay->pipe_blocked_ = sigismember(&before, SIGPIPE) == 0;
  return relay;
}

OutputRelay::~OutputRelay() {
  if (holding_) {
    holding_ = false;
    Drain(kGraceMs);
  }
  if (!pipe_blocked_) return;
  const sigset_t pipe = PipeSignal();
  const timespec now = {};
  while (sigtimedwait(&pipe, nullptr, &now) == SIGPIPE) {
  }
  pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr);
}

void OutputRelay::Started() {
  for (Channel& channel : channels_) channel.command_end.reset();
}

pollfd OutputRelay::Want(const Channel& channel) const {
  if (Holds(channel)) return {-1, 0, 0};
  if (channel.begin < channel.end) return {channel.to, POLLOUT, 0};
  return {channel.from ? channel.from.get() : -1, POLLIN, 0};
}

void OutputRelay::Move(Channel* channel) {
  if (channel->begin == channel->end) {
    const ssize_t got = read(channel->from.get(), channel->buffer.data(),
                             channel->buffer.size());
    if (got <= 0) {
      if (got == 0 || (errno != EAGAIN && errno != EINTR))
        channel->from.reset();
      return;
    }
    channel->begin = 0;
    channel->end = static_cast<size_t>(got);
    if (channel == &channels_[1] && holding_) {
      holding_ = MayBeAClients({channel->buffer.data(), channel->end});
      held_until_ms_ = MonotonicMs() + kHoldMs;
    }
    if (limit_ - passed_ < channel->end) {
      channel->end = static_cast<size_t>(limit_ - passed_);
      if (!exceeded_ && kill_) kill_();
      exceeded_ = true;
    }
    passed_ += channel->end;
    return;
  }
  const ssize_t put =
      write(channel->to, channel->buffer.data() + channel->begin,
            channel->end - channel->begin);
  if (put > 0) {
    channel->begin += static_cast<size_t>(put);
  } else if (put < 0 && errno != EAGAIN && errno != EINTR) {
    // Nobody reads any more: the command gets its own SIGPIPE.
    channel->begin = channel->end = 0;
    channel->from.reset();
  }
}

bool OutputRelay::Holds(const Channel& channel) const {
  return holding_ && &channel == &channels_[1] && channel.begin < channel.end;
}

int OutputRelay::Tick() {
  if (!Holds(channels_[1])) return -1;
  const uint64_t now = MonotonicMs();
  if (now < held_until_ms_) return static_cast<int>(held_until_ms_ - now);
  holding_ = false;
  return -1;
}

void OutputRelay::DropHeld() {
  if (!holding_) return;
  holding_ = false;
  channels_[1].begin = channels_[1].end = 0;
  channels_[1].from.reset();
}

void OutputRelay::Join(Watch* watch) {
  if (!between_) return;
  if (holding_) AddTick(watch, [this] { return Tick(); });
  kill_ = watch->kill;
  for (Channel& channel : channels_)
    watch->served.push_back({[this, &channel] { return Want(channel); },
                             [this, &channel](short) { Move(&channel); }});
}

void OutputRelay::Drain(int budget_ms) {
  if (!between_) return;
  kill_ = nullptr;
  const uint64_t begin = MonotonicMs();
  while (true) {
    int left = -1;
    if (budget_ms >= 0) {
      left = budget_ms - static_cast<int>(MonotonicMs() - begin);
      if (left < 0) return;
    }
    pollfd fds[2];
    for (size_t i = 0; i < 2; ++i) fds[i] = Want(channels_[i]);
    if (fds[0].fd < 0 && fds[1].fd < 0) return;
    const int ready = poll(fds, 2, left);
    if (ready == 0 || (ready < 0 && errno != EINTR)) return;
    for (size_t i = 0; i < 2; ++i)
      if (fds[i].revents != 0) Move(&channels_[i]);
  }
}

void OutputRelay::Judge(Outcome* outcome) const {
  if (exceeded_)
    SetLimit("the output limit of " + std::to_string(limit_) + " bytes",
             outcome);
}

}  // namespace gate::backends
