// What the kernel keeps for processes that are gone (shared memory, semaphores,
// message queues) goes with the run that made it.
#include <fcntl.h>
#include <mqueue.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "tests/support/sandbox_fixture.h"

namespace gate::backends {
namespace {

class IpcTest : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    std::filesystem::copy_file(GATE_PROBE, w_ + "/probe");
    ASSERT_EQ(chmod((w_ + "/probe").c_str(), 0755), 0);
    key_ = 0x67000000 | (getpid() & 0xffffff);
    name_ = "/gate-test-" + std::to_string(getpid());
  }

  // Which of them the host has by now.
  std::string OfTheHost() const {
    std::string found;
    if (shmget(key_, 0, 0) >= 0) found += "shm ";
    if (semget(key_, 0, 0) >= 0) found += "sem ";
    if (msgget(key_, 0) >= 0) found += "msg ";
    const mqd_t queue = mq_open(name_.c_str(), O_RDONLY);
    if (queue >= 0) {
      mq_close(queue);
      found += "mq ";
    }
    for (const char* list : {"shm", "sem", "msg"})
      if (Read(std::string("/proc/sysvipc/") + list)
              .find(std::to_string(key_)) != std::string::npos)
        found += std::string("/proc/sysvipc/") + list + " ";
    return found;
  }

  // One line for each kind: its name and 0, or the errno that it got.
  std::string MakeAll() {
    const std::string key = std::to_string(key_);
    return Bash("for kind in shm sem msg; do ./probe $kind " + key +
                "; echo $kind $?; done; ./probe mq " + name_ + "; echo mq $?")
        .output;
  }

  int key_ = 0;
  std::string name_;
};

std::vector<Who> WithLandlock() {
  std::vector<Who> all = Everyone();
  all.push_back({"landlock", false});
  if (geteuid() == 0) all.push_back({"landlock", true});
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, IpcTest, testing::ValuesIn(WithLandlock()),
                         WhoName);

TEST_P(IpcTest, NothingThatIsLeftInTheKernelOutlivesTheRun) {
  ASSERT_EQ(OfTheHost(), "");
  // The second run finds nothing of the first one's either.
  for (int run = 0; run < 2; ++run) {
    const std::string made = MakeAll();
    if (Is("landlock")) {
      for (const char* kind : {"shm 0", "sem 0", "msg 0", "mq 0"})
        EXPECT_EQ(made.find(kind), std::string::npos) << made;
    } else {
      EXPECT_EQ(made.substr(0, made.find("mq")), "shm 0\nsem 0\nmsg 0\n");
      // A queue with a name is a file, which native's second isolation layer
      // refuses.
      EXPECT_TRUE(made.ends_with("mq 0\n") ||
                  (Is("native") &&
                   made.ends_with("mq " + std::to_string(EACCES) + "\n")))
          << made;
    }
    EXPECT_EQ(OfTheHost(), "");
  }
}

TEST_P(IpcTest, WhatTheHostHasIsNotFoundInside) {
  const int shared = shmget(key_, 4096, IPC_CREAT | IPC_EXCL | 0666);
  const int set = semget(key_, 1, IPC_CREAT | IPC_EXCL | 0666);
  const int queue = msgget(key_, IPC_CREAT | IPC_EXCL | 0666);
  EXPECT_TRUE(shared >= 0 && set >= 0 && queue >= 0);
  // EEXIST would say that it was.
  const std::string made = MakeAll();
  for (const char* kind : {"shm", "sem", "msg"})
    EXPECT_EQ(made.find(std::string(kind) + " " + std::to_string(EEXIST)),
              std::string::npos)
        << made;
  EXPECT_EQ(OfTheHost().find("mq"), std::string::npos);
  shmctl(shared, IPC_RMID, nullptr);
  semctl(set, 0, IPC_RMID);
  msgctl(queue, IPC_RMID, nullptr);
}

}  // namespace
}  // namespace gate::backends
