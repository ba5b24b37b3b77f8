#include "rules/glob.h"

#include <gtest/gtest.h>

namespace gate::rules {
namespace {

TEST(Glob, TextGlobsMatchTheWholeText) {
  EXPECT_EQ(TextGlob("git *", "git push"), Tri::kYes);
  EXPECT_EQ(TextGlob("git", "git push"), Tri::kNo);
  EXPECT_EQ(TextGlob("*push*", "git push x"), Tri::kYes);
  EXPECT_EQ(TextGlob("a?c", "abc"), Tri::kYes);
  EXPECT_EQ(TextGlob("a\\*", "a*"), Tri::kYes);
  EXPECT_EQ(TextGlob("a\\*", "ab"), Tri::kNo);
  EXPECT_EQ(TextGlob("*", ""), Tri::kYes);
  EXPECT_EQ(TextGlob("", ""), Tri::kYes);
}

TEST(Glob, PathGlobsKnowDirectories) {
  EXPECT_EQ(PathGlob("/home/*/.ssh/**", "/home/a/.ssh/id"), Tri::kYes);
  EXPECT_EQ(PathGlob("/home/*/.ssh/**", "/home/a/.ssh"), Tri::kYes);
  EXPECT_EQ(PathGlob("/home/*/.ssh/**", "/home/a/b/.ssh"), Tri::kNo);
  EXPECT_EQ(PathGlob("**/.git/hooks/**", "/w/.git/hooks/x"), Tri::kYes);
  EXPECT_EQ(PathGlob("/dev/sd*", "/dev/sda1"), Tri::kYes);
  EXPECT_EQ(PathGlob("/dev/sd*", "/dev/sd/x"), Tri::kNo);
}

TEST(Glob, ShellPatternsMeetPathPatterns) {
  EXPECT_EQ(MeetsShell("/etc/**", "/e*", false), Tri::kYes);
  EXPECT_EQ(MeetsShell("/etc/**", "/*/passwd", false), Tri::kYes);
  EXPECT_EQ(MeetsShell("/home/a/.ssh/**", "/home/a/*", false), Tri::kNo);
  EXPECT_EQ(MeetsShell("/home/a/.ssh/**", "/home/a/.*", false), Tri::kYes);
  EXPECT_EQ(MeetsShell("/w/.git", "/w/[.]git", false), Tri::kNo);
  EXPECT_EQ(MeetsShell("/w/x", "/w/?", false), Tri::kYes);
  EXPECT_EQ(MeetsShell("/a/b/c", "/a/*", true), Tri::kYes);
}

TEST(Glob, PartlyKnownPathsMeetPathPatterns) {
  EXPECT_EQ(MeetsUnknown("/etc/**", "/et", "", false), Tri::kYes);
  EXPECT_EQ(MeetsUnknown("/etc/**", "/tmp/", "", false), Tri::kNo);
  EXPECT_EQ(MeetsUnknown("**/id_rsa", "/x/", "id_rsa", false), Tri::kYes);
}

TEST(Glob, HostilePatternsEndInTime) {
  const std::string stars(10000, '*');
  EXPECT_EQ(TextGlob(stars + "b", std::string(10000, 'a')), Tri::kNo);
  std::string many;
  for (int i = 0; i < 500; ++i) many += "*a";
  EXPECT_NE(TextGlob(many + "b", std::string(20000, 'a')), Tri::kYes);
  EXPECT_NE(PathGlob(many + "b", "/" + std::string(4000, 'a')), Tri::kYes);
}

}  // namespace
}  // namespace gate::rules
