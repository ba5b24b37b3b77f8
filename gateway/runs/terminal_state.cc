#include "gateway/runs/terminal_state.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

namespace gate::app {
namespace {

// Flags of an open file that a process can change for all who share it.
constexpr int kSharedFlags = O_APPEND | O_ASYNC | O_NONBLOCK;

// The title, where the terminal has a stack of them (XTWINOPS).
constexpr std::string_view kPushTitle = "\x1b[22;0t";
constexpr std::string_view kPopTitle = "\x1b[23;0t";

// Whether the terminal says that it knows the sequences of ECMA-48. One that
// does not is named dumb, as by clients that only collect what is printed.
bool KnowsSequences() {
  const char* term = std::getenv("TERM");
  const std::string_view name = term == nullptr ? "" : term;
  return !name.empty() && name != "dumb" && name != "unknown";
}

// Only where it does not block: the other end may read no more.
void Print(int fd, std::string_view text) {
  pollfd ready = {fd, POLLOUT, 0};
  if (::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0)
    (void)!::write(fd, text.data(), text.size());
}

// From another group than the foreground's, changing a terminal stops the
// process, unless this signal is blocked.
class Unstoppable {
 public:
  Unstoppable() {
    sigset_t stop;
    ::sigemptyset(&stop);
    ::sigaddset(&stop, SIGTTOU);
    ::pthread_sigmask(SIG_BLOCK, &stop, &before_);
  }
  ~Unstoppable() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Unstoppable(const Unstoppable&) = delete;  // restores the mask once
  Unstoppable& operator=(const Unstoppable&) = delete;

 private:
  sigset_t before_ = {};
};

}  // namespace

std::string_view ScreenReset() {
  // Sources: xterm's ctlseqs and the reset strings (rs1, rs2) of terminfo.
  return
      // The main screen. 1049 restores the cursor that was saved, also on the
      // main screen, so that it is saved first.
      "\x1b\x37\x1b[?1049l\x1b[?1047l\x1b[?47l"
      // Soft reset (DECSTR), then the same one by one for terminals without:
      // the scroll region (which moves the cursor), margins, cursor, wrapping,
      // keys.
      "\x1b[!p\x1b[?69l\x1b\x37\x1b[r\x1b\x38\x1b[?25h\x1b[?7h\x1b[?1l\x1b>"
      // Reports of the mouse, focus and pasting.
      "\x1b[?9l\x1b[?1000l\x1b[?1001l\x1b[?1002l\x1b[?1003l\x1b[?1004l"
      "\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?2004l"
      // Updates that wait for their end, reverse video, insertion, line ends.
      "\x1b[?2026l\x1b[?5l\x1b[4l\x1b[20l"
      // Keys as sequences of their own.
      "\x1b[>4m\x1b[=0;1u"
      // Characters and their look.
      "\x1b(B\x1b)B\x0f\x1b[0m";
}

TerminalState::TerminalState() {
  for (int fd = 0; fd < 3; ++fd)
    flags_[static_cast<size_t>(fd)] = ::fcntl(fd, F_GETFL);
  for (int fd = 0; fd < 3 && terminal_ < 0; ++fd)
    if (::tcgetattr(fd, &settings_) == 0) terminal_ = fd;
  if (terminal_ < 0) return;
  group_ = ::tcgetpgrp(terminal_);
  if (group_ != ::getpgrp()) {
    terminal_ = -1;
    return;
  }
  if (::ioctl(terminal_, TIOCGEXCL, &exclusive_) != 0) exclusive_ = 1;
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    if (screen_ < 0 && ::isatty(fd) == 1) screen_ = fd;
  if (!KnowsSequences()) screen_ = -1;
  if (screen_ >= 0) Print(screen_, kPushTitle);
}

// A command that makes itself the foreground group, as an interactive shell
// does, and is killed leaves the terminal to nobody.
void TerminalState::TakeForeground() const {
  const pid_t now = ::tcgetpgrp(terminal_);
  if (now == group_) return;
  if (now > 1 && (::kill(-now, 0) == 0 || errno != ESRCH)) return;
  (void)::tcsetpgrp(terminal_, group_);
}

TerminalState::~TerminalState() {
  const Unstoppable unstoppable;
  for (int fd = 0; fd < 3; ++fd) {
    const int before = flags_[static_cast<size_t>(fd)];
    const int now = before < 0 ? -1 : ::fcntl(fd, F_GETFL);
    if (now >= 0 && ((now ^ before) & kSharedFlags) != 0)
      (void)::fcntl(fd, F_SETFL, before);
  }
  if (terminal_ < 0) return;
  TakeForeground();
  // Stopped meanwhile and gone on in the background.
  if (::tcgetpgrp(terminal_) != group_) return;
  (void)::tcflow(terminal_, TCOON);
  if (exclusive_ == 0) (void)::ioctl(terminal_, TIOCNXCL);
  (void)::tcsetattr(terminal_, TCSANOW, &settings_);
  if (screen_ < 0) return;
  std::string text(ScreenReset());
  text += kPopTitle;
  Print(screen_, text);
}

}  // namespace gate::app
