// Hundreds of protected paths, which native clones while its plan is still
// being made.
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/support/sandbox_fixture.h"

namespace gate::backends {
namespace {

constexpr int kPlaces = 12, kFiles = 30;

class ProtectedPathsMany : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (int place = 0; place < kPlaces; ++place) {
      const std::string directory = Directory(place);
      MakeDirectory(directory);
      // In an order that is not that of their depth.
      for (int file = 0; file < kFiles; ++file) {
        const std::string path = directory + "/p" + std::to_string(file);
        Write(path, "x");
        profile_.protect.push_back(path);
      }
    }
    profile_.protect.push_back(Directory(3));  // which holds some of them
    profile_.protect.push_back(w_ + "/absent");
  }

  std::string Directory(int place) const {
    std::string path = w_;
    for (int depth = 0; depth <= place % 4; ++depth)
      path += "/d" + std::to_string(place);
    return path;
  }
};
INSTANTIATE_TEST_SUITE_P(All, ProtectedPathsMany, testing::ValuesIn(Everyone()),
                         WhoName);

TEST_P(ProtectedPathsMany, EachIsHeldInItsPlace) {
  const std::string before = Manifest(Directory(3));
  const Ran ran = Bash(
      "for f in $(find . -name 'p*'); do echo y > $f; rm -f $f; "
      "mv $f $f.moved; ln -f /etc/hostname $f; done; "
      "for d in $(find . -mindepth 1 -type d); do mv $d $d.moved; done; "
      "echo y > d3/d3/d3/d3/new; echo y > absent; echo y > free");
  EXPECT_EQ(Read(w_ + "/free"), "y\n") << ran.output;
  EXPECT_FALSE(Exists(w_ + "/absent"));
  for (int place = 0; place < kPlaces; ++place)
    for (int file = 0; file < kFiles; ++file)
      EXPECT_EQ(Read(Directory(place) + "/p" + std::to_string(file)), "x")
          << place << " " << file;
  EXPECT_EQ(Manifest(Directory(3)), before);
}

// By an editor, say, at every moment of the start. Then it is tried again, a
// few times, under the one permit.
TEST_P(ProtectedPathsMany, AStartThatMeetsAnotherWriterNeedsNoSecondPermit) {
  const std::string asked = base_ + "/asked", other = base_ + "/other";
  permit_ = Permit([&] {
    std::ofstream(asked, std::ios::app) << "x";
    return Status();
  });
  const pid_t editor = fork();
  ASSERT_GE(editor, 0);
  if (editor == 0) {
    for (int i = 0;; ++i) {
      std::ofstream(other) << "z";
      const std::string path =
          Directory(i % kPlaces) + "/p" + std::to_string(i % kFiles);
      if (rename(other.c_str(), path.c_str()) != 0) _exit(1);
    }
  }
  for (int i = 0; i < 6; ++i) {
    Write(asked, "");
    const Outcome outcome = Bash("true").outcome;
    EXPECT_TRUE(outcome.status == OutcomeStatus::kExited ||
                outcome.status == OutcomeStatus::kSetupFailed);
    EXPECT_LE(Read(asked).size(), 1u);
    if (outcome.status == OutcomeStatus::kExited) {
      EXPECT_EQ(Read(asked), "x");
    }
  }
  EXPECT_EQ(kill(editor, SIGKILL), 0);
  int status = 0;
  EXPECT_EQ(waitpid(editor, &status, 0), editor);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it could not replace them";
}

}  // namespace
}  // namespace gate::backends
