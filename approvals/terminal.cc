#include "approvals/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/ascii.h"
#include "base/file.h"
#include "base/text.h"

namespace gate::app {

std::string Paint(Colour colour, std::string_view text, bool on) {
  static constexpr const char* kCodes[] = {"31", "33", "32", "34", "2", "1"};
  if (!on) return std::string(text);
  return std::string("\x1b[") + kCodes[static_cast<int>(colour)] + "m" +
         std::string(text) + "\x1b[0m";
}

bool WantsColour(int fd) {
  if (::isatty(fd) == 0) return false;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  return term != nullptr && std::strcmp(term, "dumb") != 0;
}

namespace {

volatile std::sig_atomic_t interrupted_by = 0;

// While a question stands, a signal that would end gate is an answer: no. What
// was asked is then recorded like any other refusal.
class Interruptible {
 public:
  Interruptible() {
    sigset_t held;
    ::sigemptyset(&held);
    for (size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction action = {};
      action.sa_handler = [](int number) { interrupted_by = number; };
      changed_[i] = ::sigaction(kSignals[i], nullptr, &before_[i]) == 0 &&
                    before_[i].sa_handler == SIG_DFL &&
                    ::sigaction(kSignals[i], &action, nullptr) == 0;
      if (changed_[i]) ::sigaddset(&held, kSignals[i]);
    }
    // Held back except while waiting, so that none comes just before that.
    ::pthread_sigmask(SIG_BLOCK, &held, &mask_);
  }
  ~Interruptible() {
    for (size_t i = 0; i < kSignals.size(); ++i)
      if (changed_[i]) ::sigaction(kSignals[i], &before_[i], nullptr);
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  Interruptible(const Interruptible&) = delete;

  // Until `fd` can be read; false when a signal came first.
  bool Wait(int fd) const {
    for (;;) {
      pollfd wait = {fd, POLLIN, 0};
      const int ready = ::ppoll(&wait, 1, nullptr, &mask_);
      if (interrupted_by != 0) return false;
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
  }

 private:
  static constexpr std::array<int, 4> kSignals = {SIGINT, SIGTERM, SIGHUP,
                                                  SIGQUIT};
  std::array<struct sigaction, kSignals.size()> before_ = {};
  std::array<bool, kSignals.size()> changed_ = {};
  sigset_t mask_ = {};
};

}  // namespace

std::optional<std::string> AskLine(const std::string& prompt) {
  constexpr size_t kMaxLine = 4096;
  const Fd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (interrupted_by != 0 || !terminal || !WriteAll(terminal.get(), prompt))
    return std::nullopt;
  const Interruptible interruptible;
  std::string line;
  char c = 0;
  while (line.size() < kMaxLine) {
    if (!interruptible.Wait(terminal.get())) {
      if (interrupted_by != 0) (void)WriteAll(terminal.get(), "\n");
      return std::nullopt;
    }
    const ssize_t got = ::read(terminal.get(), &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    if (c == '\n' || c == '\r') break;
    line += c;
  }
  return line;
}

void EndIfInterrupted() {
  if (interrupted_by == 0) return;
  std::fflush(nullptr);
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(interrupted_by, &action, nullptr);
  ::raise(interrupted_by);
}

ScreenSize PersonsScreen() {
  ScreenSize screen;
  const Fd terminal(::open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY));
  winsize size = {};
  if (!terminal || ::ioctl(terminal.get(), TIOCGWINSZ, &size) != 0)
    return screen;
  if (size.ws_row > 0) screen.rows = size.ws_row;
  if (size.ws_col > 0) screen.columns = size.ws_col;
  return screen;
}

namespace {

// Shows `text` but for its last page, which is returned; nothing when the
// person does not want to see all of it.
std::optional<std::string> ShowPages(std::string_view text) {
  constexpr size_t kFewest = 6, kForPrompt = 2;
  const size_t rows =
      std::max(PersonsScreen().rows, kFewest + kForPrompt) - kForPrompt;
  size_t row = 0, begin = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\n' || ++row < rows || at + 1 == text.size()) continue;
    const auto line = AskLine(std::string(text.substr(begin, at + 1 - begin)) +
                              "There is more. [Enter] shows it, [N]o: ");
    if (!line || line->find_first_not_of(' ') != std::string::npos)
      return std::nullopt;
    begin = at + 1;
    row = 0;
  }
  return std::string(text.substr(begin));
}

}  // namespace

std::optional<char> AskChoice(const std::string& prompt,
                              std::initializer_list<std::string_view> words) {
  const std::optional<std::string> line = AskLine(prompt);
  if (!line) return std::nullopt;
  const std::string typed = LowerAscii(*line);
  for (const std::string_view word : words)
    if (typed == word || typed == word.substr(0, 1)) return word[0];
  if (!typed.empty() && typed != "n" && typed != "no" && typed != "nothing")
    std::fprintf(stderr, "gate: `%s` was not offered: taken for no\n",
                 Visible(*line).c_str());
  return 'n';
}

Reply AskPerson(const std::string& question, bool may_run_raw) {
  const std::optional<std::string> last = ShowPages(question);
  if (!last) return Reply::kNo;
  const auto choice =
      may_run_raw ? AskChoice(*last +
                                  "Run it? [y]es once, yes in a [s]andbox, "
                                  "[p]review first, [N]o: ",
                              {"yes", "sandbox", "preview"})
                  : AskChoice(*last +
                                  "Run it in a sandbox? [y]es once, [p]review "
                                  "first, [N]o: ",
                              {"yes", "preview"});
  if (choice == 's') return Reply::kInSandbox;
  if (choice == 'p') return Reply::kPreview;
  if (choice == 'y') return may_run_raw ? Reply::kOnce : Reply::kInSandbox;
  return Reply::kNo;
}

bool AskYesOrNo(const std::string& question, const std::string& prompt) {
  const std::optional<std::string> last = ShowPages(question);
  return last && AskChoice(*last + prompt + " [y]es, [N]o: ", {"yes"}) == 'y';
}

bool ConfirmByPerson(const std::string& question) {
  return AskChoice(question + " [y]es, [N]o: ", {"yes"}) == 'y';
}

}  // namespace gate::app
