#include "tests/support/agent_home.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "tests/support/files.h"

namespace gate::test {

AgentHome::AgentHome() {
  // Not below /tmp: that is private inside a sandbox.
  const char* base = std::getenv("GATE_TEST_DIR");
  std::string pattern = std::string(base != nullptr ? base : "/srv/gate-test");
  std::error_code error;
  std::filesystem::create_directories(pattern, error);
  if (error) pattern = std::filesystem::current_path().string();
  pattern += "/m.XXXXXX";
  root_ = ::mkdtemp(pattern.data());
  ::chmod(root_.c_str(), 0755);
  std::filesystem::create_directories(project());
}

AgentHome::~AgentHome() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

void AgentHome::Write(const std::string& path, const std::string& text,
                      unsigned mode) const {
  WriteText(path, text, mode);
}

std::string AgentHome::Read(const std::string& path) const {
  return ReadText(path);
}

bool AgentHome::Exists(const std::string& path) const {
  return test::Exists(path);
}

Done AgentHome::Run(const std::vector<std::string>& argv,
                    const std::string& input, const std::string& cwd) const {
  std::vector<std::string> variables = environment;
  const auto given = [&](const std::string& variable) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    return std::any_of(
        environment.begin(), environment.end(),
        [&](const std::string& one) { return one.starts_with(name); });
  };
  for (const std::string& variable :
       {"HOME=" + home(), std::string("USER=agent"),
        std::string("LOGNAME=agent"), std::string("LANG=C.UTF-8"),
        std::string("PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"),
        std::string("TERM=dumb")})
    if (!given(variable)) variables.push_back(variable);
  return RunProcess(argv, variables, cwd.empty() ? project() : cwd, input);
}

}  // namespace gate::test
