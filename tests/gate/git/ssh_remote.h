// A person's project whose remote lies on another machine, for which a stand-in
// for ssh goes to a directory of this one.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/machine.h"

namespace gate::app {

// Each test runs once with each backend, which is its parameter.
class GitRunTest : public testing::TestWithParam<const char*> {
 protected:
  bool HasBackend() const {
    return GetParam() != std::string("bwrap") ||
           machine_.Run({"bwrap", "--version"}).exit_code == 0;
  }

  // As the person, without gate.
  test::Done Outside(const std::string& line) const {
    const test::Done done = machine_.Run({"/bin/sh", "-c", line});
    EXPECT_EQ(done.exit_code, 0) << line << "\n" << done.out << done.err;
    return done;
  }
  test::Done Inside(const std::string& line,
                    const std::string& cwd = "") const {
    return machine_.Gate({"run", "--backend", GetParam(), "-c", line}, "", cwd);
  }

  test::Machine machine_;
};

class SshRemoteTest : public GitRunTest {
 protected:
  std::string bin() const { return machine_.root() + "/bin"; }
  std::string log() const { return machine_.root() + "/ssh.log"; }
  std::string server() const { return machine_.root() + "/server/a.git"; }
  std::string url() const { return "git@host.example:" + server(); }

  // git's settings of the person, and ssh, which does `note`, a line of sh,
  // before it does what it is asked.
  void Prepare(const std::string& note) const {
    machine_.Write(machine_.home() + "/.gitconfig",
                   "[user]\nname = n\nemail = n@example.org\n"
                   "[init]\ndefaultBranch = main\n");
    machine_.Write(bin() + "/ssh",
                   "#!/bin/sh\n" + note +
                       "\nwhile [ \"$1\" != -- ]; do shift; done\n"
                       "exec sh -c \"$3\"\n",
                   0755);
  }
};

}  // namespace gate::app
