// A place on the host to attack from inside, and a way to run there.
//
// Every case runs as the caller and, when the caller is root, again as uid
// 65534 in a copy of the place that belongs to it. Cases judge by what is
// outside afterwards, never by what the contained command says.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace gate::backends {

struct Who {
  const char* backend;
  bool ordinary;  // as uid 65534; else as the caller
};
std::vector<Who> Everyone();
// The engines that tests/tools/with-engines has set up.
std::vector<Who> Engines();
std::string WhoName(const testing::TestParamInfo<Who>& info);

struct Ran {
  Outcome outcome;
  std::string output;  // both streams
};

class Sandbox : public testing::TestWithParam<Who> {
 protected:
  void SetUp() override;
  void TearDown() override;

  static bool Is(const std::string& backend) {
    return backend == GetParam().backend;
  }
  static bool IsEngine() {
    return Is("docker") || Is("podman") || Is("gvisor");
  }
  // A bash line in the workspace, with W, X, H and S set.
  Ran Bash(const std::string& line);
  Ran Run(const std::vector<std::string>& argv);
  // What the backend says of this machine, or of the one that machine_ makes.
  Availability Probe();
  // Calls `body` as the user of the sandbox, in a process of its own, and gives
  // back what it returns.
  std::string AsUser(const std::function<std::string()>& body) const;
  // What Run does, in a process of its own that is not waited for.
  pid_t Start(const std::vector<std::string>& argv, int out);
  // A run in two parts that has done the first and waits with the second, both
  // of them bash, until End; in a workspace of its own.
  class PausedRun {
   public:
    PausedRun(Sandbox* test, const std::string& workspace,
              const std::string& first, const std::string& second = "");
    PausedRun(const PausedRun&) = delete;  // holds a process
    PausedRun& operator=(const PausedRun&) = delete;
    ~PausedRun() { End(); }
    void End();
    // Its gate, with nobody to finish what it leaves.
    void Kill();

   private:
    std::string go_;
    pid_t pid_ = 0;
  };
  // Something outside, as the same user as the sandbox.
  std::string Outside(const std::string& line);

  std::string Read(const std::string& path) const;
  bool Exists(const std::string& path) const;  // lstat
  void Write(const std::string& path, const std::string& content);
  void MakeDirectory(const std::string& path);
  // Every path, type, mode, size, time and content hash below `path`.
  std::string Manifest(const std::string& path) const;
  // The canary of the home is not read by the names of a second mount
  // either. As root; the process has mounts of its own afterwards.
  void ExpectHiddenAtASecondMount();
  static bool HasViolation(const Outcome& outcome, ViolationKind kind);

  std::string base_;  // below no private place
  std::string w_, x_, h_, s_, quarantine_;
  Profile profile_;
  std::function<ExecVerdict(const ExecEvent&)> judge_;
  std::function<void(FilterSocket, Fd)> filter_;  // in the backend's process
  Permit permit_ = Permit::Given();
  std::function<void()> machine_;  // called where the backend is, before it
  std::function<void(pid_t)> held_by_;  // told the process that the backend is
  std::vector<std::string> environment_;
  std::string cwd_;
  dev_t cwd_device_ = 0;  // of the caller's directory, where it is known
  ino_t cwd_inode_ = 0;
  int in_ = -1;  // -1: /dev/null
  int paused_runs_ = 0;
  uid_t uid_ = 0;
  gid_t gid_ = 0;
};

// What is made from here on is newer, by the clock that stamps files.
void AwaitTick();

// A backend by name; fails the test, or skips it, when it does not work here:
// it fails when the environment variable GATE_MUST_WORK names it.
std::unique_ptr<Backend> Find(const std::string& name);

}  // namespace gate::backends
