#include "base/real_paths.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/file.h"
#include "tests/support/temporary_directory.h"

namespace gate {
namespace {

TEST(RealPathsTest, SayWhatRealPathSays) {
  const TemporaryDirectory directory;
  const std::string top = directory.path();
  ASSERT_EQ(mkdir((top + "/a").c_str(), 0700), 0);
  ASSERT_EQ(mkdir((top + "/a/b").c_str(), 0700), 0);
  ASSERT_TRUE(WriteFileAtomically(top + "/a/b/file", "x", 0600));
  ASSERT_EQ(symlink("a", (top + "/link").c_str()), 0);
  ASSERT_EQ(symlink("../../link/b", (top + "/a/b/round").c_str()), 0);
  ASSERT_EQ(symlink("nowhere", (top + "/a/dangling").c_str()), 0);
  ASSERT_EQ(symlink("self", (top + "/self").c_str()), 0);
  RealPaths paths;
  for (const char* name : {"",
                           "/a",
                           "/a/b",
                           "/a/b/file",
                           "/link",
                           "/link/b/file",
                           "/a/b/round/round/file",
                           "/a/dangling",
                           "/a/dangling/x",
                           "/self",
                           "/self/x",
                           "/a/b/file/x",
                           "/none",
                           "/none/x",
                           "/a/",
                           "//a",
                           "/a/./b",
                           "/a/../a",
                           "/link/../a",
                           "/a/b/file/..",
                           "/link/b/"}) {
    EXPECT_EQ(paths.Of(top + name), RealPath(top + name)) << name;
    // And once more, from what it knows.
    EXPECT_EQ(paths.Of(top + name), RealPath(top + name)) << name;
  }
  const std::string with_end = top + "/a" + std::string(1, '\0') + "x";
  EXPECT_EQ(paths.Of(with_end), RealPath(with_end));
  std::string deep = top;
  for (int i = 0; i < 1'000'000; ++i) deep += "/a";
  EXPECT_EQ(paths.Of(deep), "");
  EXPECT_EQ(paths.Of("/"), "/");
  EXPECT_EQ(paths.Of(""), "");
}

}  // namespace
}  // namespace gate
