// Runs a program of a test to its end.
#pragma once

#include <string>
#include <vector>

namespace gate::test {

struct Done {
  int exit_code = -1;  // 128+n for a signal
  std::string out;
  std::string err;
};

// `argv` with `environment` alone, in `cwd`, as the leader of a session without
// a terminal: nobody can be asked. Exit code 99: the directory is not there,
// 98: the program cannot be started.
Done RunProcess(std::vector<std::string> argv,
                std::vector<std::string> environment, const std::string& cwd,
                const std::string& input = "");

}  // namespace gate::test
