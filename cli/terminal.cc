#include "cli/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/file.h"

namespace gate::cli {

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

std::optional<std::string> AskLine(const std::string& prompt) {
  constexpr size_t kMaxLine = 4096;
  const Fd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!terminal || !WriteAll(terminal.get(), prompt)) return std::nullopt;
  std::string line;
  char c = 0;
  while (line.size() < kMaxLine) {
    const ssize_t got = ::read(terminal.get(), &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    if (c == '\n' || c == '\r') break;
    line += c;
  }
  return line;
}

Reply AskPerson(const std::string& question, bool may_run_raw,
                bool may_preview) {
  const std::string preview = may_preview ? "[p]review first, " : "";
  const auto line = AskLine(
      question +
      (may_run_raw
           ? "Run it? [y]es once, yes in a [s]andbox, " + preview + "[N]o: "
           : "Run it in a sandbox? [y]es once, " + preview + "[N]o: "));
  if (!line) return Reply::kNo;
  if (*line == "s" || *line == "sandbox") return Reply::kInSandbox;
  if (may_preview && (*line == "p" || *line == "preview"))
    return Reply::kPreview;
  if (*line == "y" || *line == "yes")
    return may_run_raw ? Reply::kOnce : Reply::kInSandbox;
  return Reply::kNo;
}

bool ConfirmByPerson(const std::string& question) {
  const std::string line = AskLine(question + " [y]es, [N]o: ").value_or("");
  return line == "y" || line == "yes";
}

}  // namespace gate::cli
