// Colour, and the person at the terminal.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace gate::app {

enum class Colour : unsigned char { kRed, kYellow, kGreen, kBlue, kDim, kBold };

// `text` in `colour` when `on`; the text itself otherwise.
std::string Paint(Colour colour, std::string_view text, bool on);

// Whether `fd` is a terminal that wants colour: NO_COLOR (no-color.org) and
// TERM=dumb are honoured, CLICOLOR_FORCE is not (an agent sets variables).
bool WantsColour(int fd);

enum class Reply : unsigned char { kNo, kOnce, kInSandbox, kPreview };

// Rows and columns of /dev/tty; 24 and 80 when there is none or it does not
// know.
struct ScreenSize {
  size_t rows = 24;
  size_t columns = 80;
};
ScreenSize PersonsScreen();

// Asks on /dev/tty and reads one line from it. What is longer than the screen
// is shown page by page, and an end before the last is a no. kNo for anything
// but a clear yes, end of file, or no terminal. The caller made sure that the
// terminal is a person's. `may_run_raw`: offer running without a sandbox.
// Running on a copy whose changes are shown first is offered, too.
Reply AskPerson(const std::string& question, bool may_run_raw);

// Asks a question that is only yes or no, in the same way; `prompt` ends it.
bool AskYesOrNo(const std::string& question, const std::string& prompt);

// Asks `prompt` and reads which of `words` is typed, in any case: a whole word
// or its first letter, which is returned. Everything else is 'n', and said to
// be so unless it is that itself. Nothing where AskLine has nothing.
std::optional<char> AskChoice(const std::string& prompt,
                              std::initializer_list<std::string_view> words);

// One line of the person's, without its end; nothing at the end of file,
// without a terminal, or when a signal that ends programs (Ctrl-C) came; as
// above. After such a signal nothing is asked any more.
std::optional<std::string> AskLine(const std::string& prompt);

// Ends the process by the signal that came while a question stood, if one did.
// For main, once what was refused is recorded.
void EndIfInterrupted();

// A plain yes or no, in one line.
bool ConfirmByPerson(const std::string& question);

}  // namespace gate::app
