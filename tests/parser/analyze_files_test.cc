// Lines that would run here and now: what their paths lead to is looked at.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "parser/analysis.h"

namespace gate::parser {
namespace {

// W/link -> W/other/inner, W/other/key, W/work.
class AnalyzeFiles : public testing::Test {
 protected:
  AnalyzeFiles() {
    std::string name = testing::TempDir() + "gate-files-XXXXXX";
    place_ = std::filesystem::canonical(mkdtemp(name.data()));
    std::filesystem::create_directories(place_ + "/other/inner");
    std::filesystem::create_directory(place_ + "/work");
    std::filesystem::create_directory_symlink(place_ + "/other/inner",
                                              place_ + "/work/link");
    EXPECT_EQ(symlink("../other/key", (place_ + "/work/key-link").c_str()), 0);
    std::FILE* key = std::fopen((place_ + "/other/key").c_str(), "w");
    std::fclose(key);
  }
  ~AnalyzeFiles() override { std::filesystem::remove_all(place_); }

  Analysis Look(const std::string& line) const {
    Context context;
    context.cwd = place_ + "/work";
    context.home = "/home/u";
    context.look_at_files = true;
    return Analyze(line, context);
  }
  bool Reaches(const std::string& line, EffectKind kind) const {
    const Analysis analysis = Look(line);
    return std::any_of(analysis.effects.begin(), analysis.effects.end(),
                       [&](const Effect& effect) {
                         return effect.kind == kind && effect.path.known &&
                                effect.path.text == place_ + "/other/key";
                       });
  }
  std::string place_;
};

TEST_F(AnalyzeFiles, FollowsLinksAsTheKernelDoes) {
  for (const char* line : {
           "cat key-link",
           "cat ./key-link",
           "cat < key-link",
           "cat *-link",
           "head -n 1 *y-l*",
           // `..` behind a link is not the directory before the link.
           "cat link/../key",
           "cat ./link/./../key",
           "cat < link/../key",
           "cat link/../k*",
           "cd link; cat ../key",
           "cd link && cat ../key",
           "(cd link; cat ../key)",
           "cat link/../../work/key-link",
       })
    EXPECT_TRUE(Reaches(line, EffectKind::kRead)) << line;
  EXPECT_TRUE(Reaches("echo a > link/../key", EffectKind::kWrite));
  EXPECT_TRUE(Reaches("echo a >> key-link", EffectKind::kWrite));
  // The shell keeps its own idea of where it is: this is work/key.
  EXPECT_FALSE(Reaches("cd link/..; cat key", EffectKind::kRead));
}

// What a pattern finds is said by the pattern; what it does not, not at all.
TEST_F(AnalyzeFiles, OnlyDotglobFindsHiddenNames) {
  std::filesystem::create_directory(place_ + "/work/.git");
  std::filesystem::create_directory_symlink(place_ + "/other",
                                            place_ + "/work/.hidden");
  const auto deletes = [&](const std::string& line, const std::string& what) {
    const Analysis analysis = Look(line);
    return std::any_of(analysis.effects.begin(), analysis.effects.end(),
                       [&](const Effect& effect) {
                         return effect.kind == EffectKind::kDelete &&
                                effect.path.text == place_ + what;
                       });
  };
  for (const char* line :
       {"rm -rf *", "rm -rf ./*", "rm -rf .//./*", "rm -rf ../work/*"}) {
    EXPECT_FALSE(deletes(line, "/work/.git")) << line;
    EXPECT_TRUE(deletes(line, "/work/*")) << line;
    EXPECT_TRUE(deletes(line, "/other/key")) << line;  // by a link
    EXPECT_TRUE(deletes("shopt -s dotglob; " + std::string(line), "/work/.git"))
        << line;
  }
  EXPECT_TRUE(deletes("rm -rf ./.*", "/work/.*"));
  EXPECT_TRUE(deletes("rm -rf ./.h*", "/other"));
}

TEST_F(AnalyzeFiles, AShellThatWalksLikeTheKernelIsNotFollowed) {
  for (const char* line :
       {"cd -P link/..; cat key", "cd -LP link/..; cat key",
        "set -P; cd link/..; cat key", "set -o physical; cd link/..; cat key",
        "bash -P -c 'cd link/..; cat key'",
        "bash -o physical -c 'cd link/..; cat key'"}) {
    const Analysis analysis = Look(line);
    const bool unknown_place =
        std::any_of(analysis.effects.begin(), analysis.effects.end(),
                    [](const Effect& effect) { return !effect.path.known; });
    EXPECT_TRUE(unknown_place || !analysis.read_whole ||
                analysis.hides_commands)
        << line;
  }
}

}  // namespace
}  // namespace gate::parser
