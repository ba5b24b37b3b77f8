// Lines that mean the same in any shell that a client may use.
//
// gate reads a line as bash does. A client runs what silence allows in its
// person's shell, which reads some lines otherwise: in zsh `path=x` changes
// where programs are found, and `< file` runs the program in READNULLCMD.
#pragma once

#include <string_view>

namespace gate::hooks {

// True only for plain lines, which bash, zsh, fish and the shells like them
// read alike: programs by their names, and the builtins cd, echo, pwd, true,
// false and `:` in forms that all share; words of safe characters and quotes
// without expansions;
// `&&`, `||`, `|`, `;` between them; `<`, `>`, `>>`, `2>`, `2>>` with a literal
// name, `2>&1`, `>&2`. False for whatever else there is. Aliases and functions
// of the person are not looked at. Pure, linear.
bool MeansTheSameInEveryShell(std::string_view line);

}  // namespace gate::hooks
