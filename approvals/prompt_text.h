// Text of others as a person who answers for it is shown it: whole.
//
// An agent writes the command lines, names and reasons that a person reads
// before a yes. So nothing of them is cut off, pushed out of sight by blanks,
// or able to stand where gate's own words stand: they are broken before the
// terminal would break them, and every line begins with a mark. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gate::app {

// Bytes of a command that are answered with a plain yes where they are run. A
// longer one is answered page by page (`gate approve`).
inline constexpr size_t kMaxAnsweredBytes = 4096;

// `command` with "  | " before each of its lines and "  + " before what goes on
// with one; each ends with a newline. Controls and invisible characters stand
// as escapes, long runs of blanks as ‹400 spaces›, of empty lines as ‹80 empty
// lines›. Below it a note when it holds hidden characters.
std::string ShownCommand(std::string_view command, size_t columns);

// As ShownCommand, for what has a line of its own: a reason, a directory.
// `used`: columns that stand before it.
std::string ShownField(std::string_view text, size_t used, size_t columns);

}  // namespace gate::app
