// Are the programs of a line what their names say?
//
// `allow` runs raw, with whatever the shell finds. So it holds only if every
// program resolves, by the PATH the command will see, to a file outside every
// place a sandbox may write, and for git only if the repository's own
// configuration names no program to run.
#pragma once

#include <string>
#include <vector>

#include "cli/process_facts.h"
#include "engine/evaluate.h"
#include "parser/analysis.h"

namespace gate::cli {

// `writable`: roots that a sandbox may write (workspace, caches, temp).
// Looks at the file system; a few microseconds a program.
engine::Trust CheckNames(const ProcessFacts& facts,
                         const parser::Analysis& analysis,
                         const std::vector<std::string>& writable);

// Whether a sandboxed command, or any process of the machine, may write `path`.
bool IsWritablePlace(const std::string& path,
                     const std::vector<std::string>& writable);

// Why the line, run raw, would change what later lines of the same shell mean:
// it leaves behind functions, aliases, variables by which programs run code,
// or a PATH with a place that a sandbox may write. Empty if it does not.
std::string LeavesTrouble(const parser::Analysis& analysis,
                          const std::vector<std::string>& writable);

// Where `program` is found by `path` from `cwd`: the path by which the shell
// finds it and, symbolic links resolved, the file itself. Empty when nowhere.
struct ProgramFile {
  std::string found;
  std::string real;
};
ProgramFile ResolveProgram(const std::string& program, const std::string& path,
                           const std::string& cwd);

}  // namespace gate::cli
