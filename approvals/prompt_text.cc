#include "approvals/prompt_text.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/text.h"

namespace gate::app {
namespace {

constexpr std::string_view kLine = "  | ", kMore = "  + ";
constexpr size_t kMark = 4;
// Of neighbouring blanks and empty lines, as many as indented code has.
constexpr size_t kMaxBlanks = 16;
constexpr size_t kMaxEmptyLines = 2;
constexpr size_t kFewestColumns = 20;

// Blanks that are none to a shell.
struct OtherBlank {
  std::string_view bytes, escape;
};
constexpr auto kOtherBlanks = std::to_array<OtherBlank>({
    {"\xc2\xa0", "\\u00a0"},
    {"\xe1\x9a\x80", "\\u1680"},
    {"\xe2\x80\x80", "\\u2000"},
    {"\xe2\x80\x81", "\\u2001"},
    {"\xe2\x80\x82", "\\u2002"},
    {"\xe2\x80\x83", "\\u2003"},
    {"\xe2\x80\x84", "\\u2004"},
    {"\xe2\x80\x85", "\\u2005"},
    {"\xe2\x80\x86", "\\u2006"},
    {"\xe2\x80\x87", "\\u2007"},
    {"\xe2\x80\x88", "\\u2008"},
    {"\xe2\x80\x89", "\\u2009"},
    {"\xe2\x80\x8a", "\\u200a"},
    {"\xe2\x80\xaf", "\\u202f"},
    {"\xe2\x81\x9f", "\\u205f"},
    {"\xe3\x80\x80", "\\u3000"},
});

// The escape of the blank that `character` is; empty for anything else.
std::string_view BlankEscape(std::string_view character) {
  const auto* const found =
      std::find_if(kOtherBlanks.begin(), kOtherBlanks.end(),
                   [&](const OtherBlank& b) { return b.bytes == character; });
  return found == kOtherBlanks.end() ? std::string_view() : found->escape;
}

size_t SizeOfCharacter(std::string_view text, size_t at) {
  size_t size = 1;
  while (at + size < text.size() &&
         (static_cast<unsigned char>(text[at + size]) & 0xC0) == 0x80)
    ++size;
  return size;
}

// `text` broken into lines of `width`, with "\n" and `more` between them; with
// `at_blanks` behind a blank where there is one near the end. Whatever is not
// ASCII may be two columns wide.
std::string Broken(std::string_view text, size_t first, size_t width,
                   std::string_view more, bool at_blanks = false) {
  constexpr size_t kNear = 20;
  std::string out;
  size_t left = first, line = 0;  // where the line begins in `out`
  for (size_t at = 0; at < text.size();) {
    const size_t size = SizeOfCharacter(text, at);
    const size_t columns = static_cast<unsigned char>(text[at]) < 0x80 ? 1 : 2;
    if (columns > left) {
      // How much of a word goes to the next line with what follows.
      const size_t most = std::min(kNear, out.size() - line);
      size_t carried = 0;
      while (at_blanks && carried < most &&
             out[out.size() - carried - 1] != ' ')
        ++carried;
      // Too long a word, or one whose columns are not its bytes.
      if (carried == most || carried + columns > width ||
          !IsAscii(std::string_view(out).substr(out.size() - carried)))
        carried = 0;
      out.insert(out.size() - carried, "\n" + std::string(more));
      line = out.size() - carried;
      left = width - carried;
    }
    out.append(text.substr(at, size));
    left -= std::min(left, columns);
    at += size;
  }
  return out;
}

// One line, with everything in it to be seen. `*escaped`: set when a blank
// stands as an escape.
std::string Plain(std::string_view line, bool* escaped = nullptr) {
  const std::string seen = Visible(line);
  std::string out;
  out.reserve(seen.size());
  for (size_t at = 0; at < seen.size();) {
    if (seen[at] == ' ') {
      const size_t end = std::min(seen.find_first_not_of(' ', at), seen.size());
      if (end - at > kMaxBlanks)
        out += "‹" + std::to_string(end - at) + " spaces›";
      else
        out.append(end - at, ' ');
      at = end;
      continue;
    }
    const size_t size = SizeOfCharacter(seen, at);
    const std::string_view one = std::string_view(seen).substr(at, size);
    const std::string_view blank =
        size > 1 ? BlankEscape(one) : std::string_view();
    if (escaped != nullptr && !blank.empty()) *escaped = true;
    out += blank.empty() ? one : blank;
    at += size;
  }
  return out;
}

size_t Width(size_t columns, size_t used) {
  // One column stays free: some terminals break a line that just fits.
  columns = std::max(columns, kFewestColumns);
  return columns > used + kFewestColumns / 2 ? columns - used - 1
                                             : kFewestColumns / 2;
}

}  // namespace

std::string ShownCommand(std::string_view command, size_t columns) {
  const size_t width = Width(columns, kMark);
  std::string out;
  size_t empty = 0;
  bool escaped = !FindHidden(command).empty();
  const auto show_empty = [&] {
    if (empty > kMaxEmptyLines)
      out.append(kLine).append("‹" + std::to_string(empty) + " empty lines›\n");
    else
      for (size_t i = 0; i < empty; ++i) out.append(kLine).append("\n");
    empty = 0;
  };
  for (size_t at = 0; at <= command.size();) {
    const size_t end = std::min(command.find('\n', at), command.size());
    const std::string_view line = command.substr(at, end - at);
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      ++empty;
      continue;
    }
    show_empty();
    out.append(kLine).append(
        Broken(Plain(line, &escaped), width, width, kMore));
    out += "\n";
  }
  show_empty();
  if (escaped)
    out +=
        "  note: it holds invisible or control characters, shown as escapes\n";
  return out;
}

std::string ShownField(std::string_view text, size_t used, size_t columns) {
  return Broken(Plain(text), Width(columns, used), Width(columns, kMark), kMore,
                /*at_blanks=*/true);
}

}  // namespace gate::app
