// Hundreds of protected paths, which native clones while its plan is still
// being made.
#include <string>

#include "tests/backends/sandbox_fixture.h"

namespace gate::backends {
namespace {

constexpr int kPlaces = 12, kFiles = 30;

class GuardMany : public Sandbox {
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
INSTANTIATE_TEST_SUITE_P(All, GuardMany, testing::ValuesIn(Everyone()),
                         WhoName);

TEST_P(GuardMany, EachIsHeldInItsPlace) {
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

}  // namespace
}  // namespace gate::backends
