// Files of a repository are written by whoever writes the workspace. What git
// would read in them, `git status` does not run raw.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/git/hostile_index.h"
#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Machine;

constexpr int kAllow = 0;
constexpr int kSandbox = 4;

class GitFormats : public testing::Test {
 protected:
  void SetUp() override {
    const std::string git = machine_.project() + "/.git";
    for (const char* name : {"/objects/info", "/refs/heads"})
      std::filesystem::create_directories(git + name);
    Write("HEAD", "ref: refs/heads/main\n");
    Write("config", "[core]\n\trepositoryformatversion = 0\n");
  }
  void Write(const std::string& name, const std::string& text) {
    machine_.Write(machine_.project() + "/.git/" + name, text);
  }
  int Check(const std::string& line = "git status") {
    return machine_.Gate({"check", "-c", line}).exit_code;
  }
  Machine machine_;
};

TEST_F(GitFormats, AnIndexThatMayHideARepositoryIsContained) {
  if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox works here";
  ASSERT_EQ(Check(), kAllow);
  const std::string shared = "sharedindex." + std::string(40, '1');
  for (const test::HostileIndex& each : test::HostileIndexes()) {
    Write("index", each.bytes);
    Write("config", "[core]\nrepositoryformatversion = 1\n" + each.config);
    if (!each.shared.empty()) Write(shared, each.shared);
    EXPECT_EQ(Check(), kSandbox) << each.name;
  }
  for (const char* line : {"git diff", "git -C . status", "git log"})
    EXPECT_EQ(Check(line), kSandbox) << line;
}

TEST_F(GitFormats, AnIndexWithoutOneIsNotInTheWay) {
  using test::Bytes;
  using test::IndexOf;
  const std::string shared = "sharedindex." + std::string(40, '1');
  for (const int version : {2, 3, 4})
    for (const size_t hash : {size_t{20}, size_t{32}}) {
      const std::string files =
          Bytes({.name = "a"}, version, hash) +
          Bytes({.name = "b", .mode = 0120000, .cut = std::string(1, '\1')},
                version, hash);
      Write("config", hash == 20 ? "[core]\nrepositoryformatversion = 0\n"
                                 : "[core]\nrepositoryformatversion = 1\n"
                                   "[extensions]\nobjectFormat = sha256\n");
      for (const std::string& extensions :
           {std::string(), test::Extension("TREE", "x"),
            test::Extension("UNTR", "") + test::Extension("ZZZZ", "y")}) {
        Write("index", IndexOf(version, 2, files + extensions, hash));
        EXPECT_EQ(Check(), kAllow) << version << " " << hash;
      }
    }
}

TEST_F(GitFormats, AlternatesThatQuoteAFileAreContained) {
  const std::string& project = machine_.project();
  const std::string list = "objects/info/alternates";
  std::filesystem::create_directories(project + "/plain/info");
  std::filesystem::create_directories(project + "/linked/info");
  machine_.Write(machine_.home() + "/.netrc", "password x\n");
  std::filesystem::create_symlink(machine_.home() + "/.netrc",
                                  project + "/linked/info/alternates");
  machine_.Write(project + "/plain/info/packs", "");
  machine_.Write(project + "/near/info/alternates", "../linked\n");
  machine_.Write(project + "/far/info/alternates", project + "/near/.\n");
  machine_.Write(project + "/itself/info/alternates", "../itself\n");
  std::filesystem::create_directory_symlink("linked", project + "/other");
  for (const std::string& text :
       {std::string(), std::string("# none\n\n"), project + "/plain\n",
        project + "/plain", std::string("../../plain\n/nowhere/objects\n"),
        project + "/itself\n", "#" + project + "/linked\n"}) {
    Write(list, text);
    EXPECT_EQ(Check(), kAllow) << text;
    EXPECT_EQ(Check("git log"), kAllow) << text;
  }
  for (const std::string& text :
       {project + "/linked\n", project + "/linked",
        project + "/plain\n" + project + "/linked\n",
        std::string("../../linked\n"), project + "/other\n",
        project + "/plain/../linked//\n", project + "/near\n",
        project + "/far\n", project + "/itself\n" + project + "/far\n",
        "\"" + project + "/linked\"\n", "# x\n\n" + project + "/linked\n",
        std::string("a\0b\n", 4), std::string(size_t{1} << 20, '\n')}) {
    Write(list, text);
    EXPECT_NE(Check(), kAllow) << text.substr(0, 200);
    EXPECT_NE(Check("git log"), kAllow) << text.substr(0, 200);
  }
}

TEST_F(GitFormats, APathThatVersionsOfGitReadOtherwiseIsContained) {
  for (const char* config :
       {"[core]\nexcludes = a\tb\n", "[alias]\nst = status\t-sb\n",
        "[core]\nx = \"a\tb\"\n", "[core]\nworktreeX = a b\n"}) {
    Write("config", config);
    EXPECT_EQ(Check(), kAllow) << config;
  }
  for (const char* config :
       {"[submodule \"s\"]\npath = a\tb\n",
        "[submodule \"s\"]\npath = a\\\n\tb", "[x]\ndir = a \t b\n",
        "[x]\nsomeDirectory = a\rb\n"}) {
    Write("config", config);
    EXPECT_NE(Check(), kAllow) << config;
  }
}

// extensions.worktreeConfig is what `git sparse-checkout` itself writes.
TEST_F(GitFormats, ASparseCheckoutIsAllowedWhereNothingIsHidden) {
  const std::string config =
      "[core]\nrepositoryformatversion = 1\n[extensions]\nworktreeConfig = "
      "true\n";
  Write("config", config);
  Write("config.worktree",
        "[core]\nsparseCheckout = true\nsparseCheckoutCone = true\n[index]\n"
        "sparse = true\n");
  const std::string& project = machine_.project();
  for (const int version : {3, 4}) {
    std::string entries = test::Bytes({.name = "a"}, version, 20);
    for (const char* name : {"d/", "e/f/", "g h/"})
      entries += test::Bytes(
          {.name = name,
           .mode = 040000,
           .flags = 0x4000,
           .more = 0x4000,
           .cut = std::string(1, static_cast<char>(name[0] == 'd'   ? 1
                                                   : name[0] == 'e' ? 2
                                                                    : 4))},
          version, 20);
    Write("index",
          test::IndexOf(version, 4, entries + test::Extension("sdir", "")));
    for (const char* line : {"git status", "git log", "git diff", "git branch"})
      EXPECT_EQ(Check(line), kAllow) << version << " " << line;
    std::filesystem::create_directory(project + "/e");
    EXPECT_EQ(Check(), kAllow) << "beside the directory";
    std::filesystem::create_directory(project + "/e/f");
    for (const char* line : {"git status", "git log", "git diff", "git branch"})
      EXPECT_NE(Check(line), kAllow) << version << " " << line;
    std::filesystem::remove_all(project + "/e");
    // Without the extension git takes it for something else.
    Write("index", test::IndexOf(version, 4, entries));
    EXPECT_NE(Check(), kAllow) << version;
  }
  Write("index", test::IndexOf(2, 1, test::Bytes({.name = "a"}, 2, 20)));
  EXPECT_EQ(Check(), kAllow);
  Write("config.worktree", "[core]\nfsmonitor = ./x\n");
  EXPECT_NE(Check(), kAllow);
  Write("config", config + "worktreeConfig = false\n");
  EXPECT_NE(Check(), kAllow);
}

TEST_F(GitFormats, ARepositoryThatSaysAnythingIsContained) {
  const std::string sub = machine_.project() + "/sub";
  const auto reset = [&](const std::string& git) {
    std::filesystem::remove_all(sub);
    for (const char* name : {"/objects/info", "/refs"})
      std::filesystem::create_directories(git + name);
    machine_.Write(git + "/HEAD", "ref: refs/heads/main\n");
  };
  for (const std::string& git : {sub + "/.git", sub})
    for (const char* name :
         {"HEAD", "commondir", "index", "config", "config.worktree", "shallow",
          "packed-refs", "info/grafts", "objects/info/alternates"}) {
      reset(git);
      std::filesystem::create_directories(git + "/info");
      EXPECT_EQ(Check("git -C sub status"), kAllow) << git;
      // A pipe: whoever runs beside git says what it holds.
      std::filesystem::remove(git + "/" + name);
      ASSERT_EQ(::mkfifo((git + "/" + name).c_str(), 0600), 0);
      for (const char* line : {"git -C sub status", "cd sub && git log"})
        EXPECT_NE(Check(line), kAllow) << git << " " << name << " " << line;
    }
}

}  // namespace
}  // namespace gate
