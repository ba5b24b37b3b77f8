// A temporary directory in which an agent works: a home with a project, and
// where gate would keep its state.
#pragma once

#include <string>
#include <vector>

#include "tests/support/process.h"

namespace gate::test {

class AgentHome {
 public:
  AgentHome();
  ~AgentHome();
  AgentHome(const AgentHome&) = delete;  // owns a directory on disk
  AgentHome& operator=(const AgentHome&) = delete;

  const std::string& root() const { return root_; }
  std::string home() const { return root_ + "/home/agent"; }
  std::string project() const { return root_ + "/home/agent/project"; }
  std::string state() const { return home() + "/.local/state/gate"; }

  // As those of tests/support/files.h, with paths from the top.
  void Write(const std::string& path, const std::string& text,
             unsigned mode = 0644) const;
  std::string Read(const std::string& path) const;
  bool Exists(const std::string& path) const;

  // Extra NAME=VALUE for all runs.
  std::vector<std::string> environment;

  // Runs any program in `cwd` (the project when empty).
  Done Run(const std::vector<std::string>& argv, const std::string& input = "",
           const std::string& cwd = "") const;

 private:
  std::string root_;
};

}  // namespace gate::test
