// Caches that the home does not have, with stand-ins for the programs that make
// them on their first use.
#include "gateway/grants/tool_caches.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

// Makes its cache, leaves its working directory's name in it and prints all
// that it finds.
std::string StandIn(const std::string& directory) {
  return "#!/bin/sh\nmkdir -p \"$HOME/" + directory +
         "/x\" && pwd >> \"$HOME/" + directory + "/x/mark\" && cat \"$HOME/" +
         directory + "/x/mark\"\n";
}

struct Row {
  const char *program, *line, *directory;
};
constexpr Row kRows[] = {
    {"npm", "npm ci", ".npm"},
    {"npx", "npx eslint .", ".npm"},
    {"pip", "pip install requests", ".cache/pip"},
    {"pip3", "cd . && pip3 install requests 2>&1", ".cache/pip"},
    {"uv", "uv sync", ".cache/uv"},
    {"uv", "uv sync", ".local/share/uv"},
    {"cargo", "cargo build", ".cargo/registry"},
    {"cargo", "cargo build --release", ".cargo/git"},
    {"go", "go build ./...", "go/pkg/mod"},
    {"go", "go test ./...", ".cache/go-build"},
    {"go", "go mod download", "go/pkg/sumdb"},
    {"mvn", "mvn package", ".m2/repository"},
    {"gradle", "gradle build", ".gradle/caches"},
    {"gradle", "gradle build", ".gradle/wrapper"},
    {"dotnet", "dotnet restore", ".nuget/packages"},
    {"composer", "composer install", ".cache/composer"},
    {"bundle", "bundle install", ".bundle/cache"},
    {"playwright", "playwright install", ".cache/ms-playwright"},
    {"npx", "npx playwright install chromium", ".cache/ms-playwright"},
    {"python3", "python3 train.py", ".cache/huggingface"},
    {"python3", "python3 train.py", ".cache/torch"},
    {"hf", "hf download gpt2", ".cache/huggingface"},
    {"pre-commit", "pre-commit run --all-files", ".cache/pre-commit"},
    {"deno", "deno test", ".cache/deno"},
    {"bun", "bun install", ".bun/install/cache"},
    {"zig", "zig build", ".cache/zig"},
    {"ccache", "ccache gcc -c a.c", ".cache/ccache"},
    {"yarn", "yarn install", ".cache/yarn"},
    {"pnpm", "pnpm install", ".local/share/pnpm/store"},
};

class ToolCachesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::HasSandbox(machine_)) GTEST_SKIP() << "no sandbox works here";
    other_ = machine_.home() + "/other";
    machine_.Write(machine_.project() + "/package.json", "{}");
    machine_.Write(other_ + "/package.json", "{}");
    machine_.environment = {"PATH=" + machine_.root() +
                            "/bin:/usr/local/bin:/usr/bin:/bin"};
  }

  void Install(const std::string& program, const std::string& script) const {
    machine_.Write(machine_.root() + "/bin/" + program, script, 0755);
  }
  std::string AtHome(const std::string& name) const {
    return machine_.home() + "/" + name;
  }

  // The files of the home outside the projects and gate's own directories.
  std::string Files() const {
    std::string files;
    for (auto at =
             std::filesystem::recursive_directory_iterator(machine_.home());
         at != std::filesystem::recursive_directory_iterator(); ++at) {
      const std::string path = at->path();
      if (path == machine_.project() || path == other_ ||
          path.ends_with("/gate"))
        at.disable_recursion_pending();
      else if (!at->is_directory() || at->is_symlink())
        files += path + "=" + machine_.Read(path) + "\n";
    }
    return files;
  }

  Done Line(const char* backend, const std::string& line,
            const std::string& cwd = "") const {
    return machine_.Gate({"run", "--backend", backend, "-c", line}, "", cwd);
  }
  static bool Works(const char* backend, const Machine& machine) {
    return machine.Gate({"sandbox", "--backend", backend, "--", "true"})
                   .exit_code == 0 ||
           test::MustWork(backend);
  }

  Machine machine_;
  std::string other_;
};

TEST_F(ToolCachesTest, AToolFindsTheCacheThatTheHomeDoesNotHave) {
  for (const char* backend : {"native", "bwrap"}) {
    if (!Works(backend, machine_)) continue;
    for (const Row& row : kRows) {
      Machine machine;
      machine.Write(machine.root() + "/bin/" + row.program,
                    StandIn(row.directory), 0755);
      machine.Write(machine.project() + "/package.json", "{}");
      machine.Write(machine.home() + "/other/package.json", "{}");
      machine.environment = {"PATH=" + machine.root() +
                             "/bin:/usr/local/bin:/usr/bin:/bin"};
      const auto run = [&](const std::string& cwd) {
        return machine.Gate({"run", "--backend", backend, "-c", row.line}, "",
                            cwd);
      };
      const std::string mark = machine.project() + "\n";
      const Done first = run("");
      EXPECT_EQ(first.exit_code, 0) << backend << row.line << first.err;
      EXPECT_EQ(first.out, mark) << backend << row.line << first.err;
      // The next line of the workspace finds what this one left, and nobody
      // else does.
      EXPECT_EQ(run("").out, mark + mark) << backend << row.line;
      EXPECT_EQ(run(machine.home() + "/other").out, machine.home() + "/other\n")
          << backend << row.line;
      EXPECT_FALSE(
          machine.Exists(machine.home() + "/" + row.directory + "/x/mark"))
          << backend << row.line;
    }
  }
}

TEST_F(ToolCachesTest, WhatIsMadeOutsideIsEmptyAndTheUsersOwn) {
  Install("npm", StandIn(".npm"));
  for (const char* verb : {"check", "explain"}) {
    machine_.Gate({verb, "npm ci"});
    EXPECT_FALSE(machine_.Exists(AtHome(".npm"))) << verb;
  }
  EXPECT_EQ(Line("native", "ls").exit_code, 0);
  EXPECT_FALSE(machine_.Exists(AtHome(".npm")));
  const std::string before = Files();
  EXPECT_EQ(Line("native", "npm ci").exit_code, 0);
  struct stat info{};
  ASSERT_EQ(::lstat(AtHome(".npm").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700U);
  EXPECT_EQ(info.st_uid, ::geteuid());
  EXPECT_TRUE(app::IsEmpty(AtHome(".npm")));
  EXPECT_EQ(Files(), before);
  // What another program needs is not made.
  for (const char* name : {".m2", ".gradle", "go", ".cargo", ".nuget"})
    EXPECT_FALSE(machine_.Exists(AtHome(name))) << name;
}

TEST_F(ToolCachesTest, ACacheInUseStaysWhatItWas) {
  machine_.Write(AtHome(".npm/old"), "1");
  machine_.Write(AtHome(".cache/pre-commit/old"), "1");
  Install("npm", StandIn(".npm"));
  Install("pre-commit", StandIn(".cache/pre-commit"));
  EXPECT_EQ(Line("native", "npm ci").exit_code, 0);
  EXPECT_EQ(machine_.Read(AtHome(".npm/x/mark")), machine_.project() + "\n");
  EXPECT_NE(Line("native", "pre-commit run").exit_code, 0);
  EXPECT_FALSE(machine_.Exists(AtHome(".cache/pre-commit/x")));
}

TEST_F(ToolCachesTest, WhatIsInTheWayOfACacheIsLeftAsItIs) {
  Install("npm", StandIn(".npm"));
  Install("pip", StandIn(".cache/pip"));
  Install("go", StandIn("go/pkg/mod"));
  Install("mvn", StandIn(".m2/repository"));
  std::filesystem::create_directories(AtHome("elsewhere"));
  std::filesystem::create_directory_symlink(AtHome("elsewhere"),
                                            AtHome(".npm"));
  std::filesystem::create_directory_symlink(AtHome("elsewhere"),
                                            AtHome(".cache"));
  std::filesystem::create_directory_symlink(AtHome("nowhere"), AtHome("go"));
  machine_.Write(AtHome(".m2"), "a file");
  const std::string before = Files();
  for (const char* line :
       {"npm ci", "pip install x", "go build ./...", "mvn package"}) {
    EXPECT_NE(Line("native", line).exit_code, 0) << line;
    EXPECT_EQ(Files(), before) << line;
  }
  EXPECT_TRUE(app::IsEmpty(AtHome("elsewhere")));
  EXPECT_FALSE(machine_.Exists(AtHome("nowhere")));
}

TEST_F(ToolCachesTest, AProjectsOwnProgramsFindTheCachesOfInstalledTools) {
  Install("npm", StandIn(".npm"));
  machine_.Write(machine_.project() + "/build.sh", "#!/bin/sh\nexec npm ci\n",
                 0755);
  machine_.Write(machine_.project() + "/Makefile", "all:\n\t@npm ci\n");
  EXPECT_EQ(Line("native", "./build.sh").out, machine_.project() + "\n");
  if (::access("/usr/bin/make", X_OK) == 0) {
    const Done made = Line("native", "make");
    EXPECT_NE(made.out.find(machine_.project()), std::string::npos) << made.err;
  }
  if (::access("/usr/bin/zig", X_OK) != 0)
    EXPECT_FALSE(machine_.Exists(AtHome(".cache/zig")));
}

TEST_F(ToolCachesTest, CachesGoWithTheirWorkspace) {
  Install("npm", StandIn(".npm"));
  EXPECT_EQ(Line("native", "npm ci", other_).exit_code, 0);
  const auto kept = [&] {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(
             machine_.state() + app::kOwnCaches))
      count += entry.is_directory() ? 1 : 0;
    return count;
  };
  EXPECT_EQ(kept(), 1U);
  // What is there later by the same name is another workspace.
  std::filesystem::rename(other_, other_ + ".old");
  std::filesystem::copy(other_ + ".old", other_,
                        std::filesystem::copy_options::recursive);
  EXPECT_EQ(Line("native", "npm ci", other_).exit_code, 0);
  EXPECT_EQ(kept(), 2U);
  std::filesystem::remove_all(other_);
  EXPECT_EQ(Line("native", "npm ci").exit_code, 0);
  EXPECT_EQ(kept(), 1U);
}

}  // namespace
}  // namespace gate
