// Are the programs of a line what their names say?
//
// `allow` runs raw, with whatever the shell finds. So it holds only if every
// program resolves, by the PATH the command will see, to a file outside every
// place a sandbox may write, and for git only if neither the repository's own
// configuration nor the person's makes it run what lies in the workspace.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/evaluate.h"
#include "facts/process_facts.h"
#include "facts/program_files.h"
#include "parser/analysis.h"

namespace gate::app {

// What was seen for earlier lines of a batch. Nothing of a batch is run, so
// one look serves all of its lines; a line that would run is looked at anew.
struct VerificationCache {
  std::map<std::string, ProgramFile> programs;
  std::map<std::string, std::string> git_trouble;  // by directory
};

// What is made of a program that runs the version which a file of the project
// names (IsVersionManagerShim).
enum class Shims : uint8_t {
  kDoubted,  // it may be any program
  kSettled,  // it is what it says where no such file is there
};

// `writable`: roots that a sandbox may write (workspace, caches, temp).
// Looks at the file system, except for what `cache` has; a few microseconds a
// program.
engine::ProgramVerification VerifyPrograms(
    const ProcessFacts& facts, const parser::Analysis& analysis,
    const std::vector<std::string>& writable,
    VerificationCache* cache = nullptr, Shims shims = Shims::kDoubted);

// Why the line, run raw, would change what later lines of the same shell mean:
// it leaves behind functions, aliases, variables by which programs run code,
// or a PATH with a place that a sandbox may write. Empty if it does not.
std::string LeavesTrouble(const parser::Analysis& analysis,
                          const std::vector<std::string>& writable);

}  // namespace gate::app
