#include "backends/process/terminal_job.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "base/file.h"

namespace gate::backends {
namespace {

constexpr size_t kMaxStatBytes = 4096;

// Sets the foreground group from whatever group this process is in.
bool SetForeground(int terminal, pid_t group) {
  sigset_t stop, before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &stop, &before);
  const bool set = tcsetpgrp(terminal, group) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return set;
}

bool IsStopped(pid_t process) {
  const Result<std::string> text =
      ReadFile("/proc/" + std::to_string(process) + "/stat", kMaxStatBytes);
  if (!text) return false;
  // The name before it may hold anything.
  const size_t end = text->rfind(')');
  return end != std::string::npos && text->substr(end).starts_with(") T");
}

class TerminalJob {
 public:
  TerminalJob(int terminal, std::function<pid_t()> command)
      : terminal_(terminal), command_(std::move(command)), own_(getpgrp()) {}

  int Look() {
    const pid_t process = command_();
    const pid_t group = process <= 0 ? -1 : getpgid(process);
    if (group <= 1) return kTerminalLookMs;
    const pid_t now = tcgetpgrp(terminal_);
    if (!IsStopped(process)) {
      if (group == now) held_ = group;
      return kTerminalLookMs;
    }
    // In the background the terminal is somebody else's.
    if (now != own_ && now != group) return kTerminalLookMs;
    if (group == own_) {
      kill(0, SIGTSTP);
      kill(process, SIGCONT);
    } else if (group != held_) {
      held_ = group;
      if (SetForeground(terminal_, group)) kill(-group, SIGCONT);
    } else {
      SetForeground(terminal_, own_);
      kill(0, SIGTSTP);
      // Continued, in the foreground or not.
      if (tcgetpgrp(terminal_) == own_) SetForeground(terminal_, group);
      kill(-group, SIGCONT);
    }
    return kTerminalLookMs;
  }

 private:
  int terminal_;
  std::function<pid_t()> command_;
  pid_t own_;
  pid_t held_ = 0;  // the group that was seen to hold the terminal
};

}  // namespace

void FollowTerminalJob(int terminal, std::function<pid_t()> command,
                       Watch* watch) {
  if (!watch->terminal || tcgetpgrp(terminal) < 0) return;
  AddTick(watch, [job = TerminalJob(terminal, std::move(command))]() mutable {
    return job.Look();
  });
}

pid_t FirstChildOf(pid_t process) {
  constexpr size_t kMaxChildren = 1 << 16;
  const std::string number = std::to_string(process);
  const Result<std::string> text = ReadFile(
      "/proc/" + number + "/task/" + number + "/children", kMaxChildren);
  return text ? static_cast<pid_t>(strtol(text->c_str(), nullptr, 10)) : 0;
}

}  // namespace gate::backends
