// Whether a contained program is there, asked outside: several sandboxes fail
// without saying why. What is found outside is what is found inside.
#pragma once

#include <string>
#include <vector>

namespace gate::backends {

// Why a shell's search in `cwd` with `environment` would not find `program`:
// ENOENT, EACCES, or 0 when it would.
int MissingProgram(const std::string& program, const std::string& cwd,
                   const std::vector<std::string>& environment);

}  // namespace gate::backends
