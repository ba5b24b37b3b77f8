// Where programs are found, and whose word is what is found there.
#pragma once

#include <string>
#include <vector>

namespace gate::app {

// Where a program is found: the path by which the shell finds it and, symbolic
// links resolved, the file itself. Empty when nowhere.
struct ProgramFile {
  std::string found;
  std::string real;
};

// Whether a sandboxed command, or any process of the machine, may write `path`.
bool IsWritablePlace(const std::string& path,
                     const std::vector<std::string>& writable);

// Whether `file` is a stand-in that runs the version which a file of the
// project names (.python-version, .tool-versions, package.json, …), or a
// script of it.
bool IsVersionManagerShim(const ProgramFile& file);

// Where `program` is found by `path` from `cwd`.
ProgramFile ResolveProgram(const std::string& program, const std::string& path,
                           const std::string& cwd);

}  // namespace gate::app
