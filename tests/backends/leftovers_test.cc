// What a run leaves behind takes nothing from the next one: neither its start,
// nor its programs, nor its isolation.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "backends/view/hidden_links.h"
#include "tests/support/sandbox_fixture.h"
#include "tests/support/temporary_directory.h"

namespace gate::backends {
namespace {

struct Leftover {
  const char* name;
  const char* line;  // run inside, in the workspace
};

// Runs of one user with one state directory, as gate sets them up.
class LeftoversTest : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (const char* part : {"/state", "/state/sessions", "/state/sessions/s",
                             "/state/sessions/s/tmp", "/state/quarantine",
                             "/state/runs", "/other"})
      MakeDirectory(base_ + part);
    MakeDirectory(w_ + "/cfg");
    MakeDirectory(w_ + "/sub");
    profile_.state_dir = base_ + "/state";
    profile_.private_tmp = base_ + "/state/sessions/s/tmp";
    profile_.quarantine_dir = base_ + "/state/quarantine";
    profile_.runs_dir = base_ + "/state/runs";
    profile_.deny_read.push_back(profile_.state_dir);
    // Named by a variable of the caller's; nothing is there yet.
    for (const char* name : {"/cfg/gh", "/cfg/hub", "/cfg/op"})
      profile_.deny_read.push_back(w_ + name);
    // A person's own link into a place that runs write.
    profile_.deny_read.push_back(h_ + "/.aws");
    ASSERT_EQ(symlink((w_ + "/aws").c_str(), (h_ + "/.aws").c_str()), 0);
    profile_.limits.wall_ms = 20000;
    profile_.protect_names = {".envrc", ".npmrc", ".mcp.json", ".vscode"};
    Outside("git init -q .");
  }

  void ExpectNextRunWorks(const Leftover& left) {
    for (const std::string& place : {w_, base_ + "/other"}) {
      Profile mine = profile_;
      profile_.workspace = place;
      profile_.write = {place};
      cwd_ = place;
      const std::string before = Manifest(x_);
      const Ran ran = Bash(
          "echo started; /usr/bin/env true && echo env; /bin/sh -c 'echo sh'; "
          ": > made && rm made && echo writes; ls /usr/bin/env > /tmp/out && "
          "echo tmp; cat \"$S\"; ls -A \"$H/.ssh\"; (: > \"$X/new\"); "
          "ls -A " +
          base_ + "/state");
      EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited)
          << left.name << " in " << place << ": " << ran.outcome.reason << '\n'
          << ran.output;
      EXPECT_TRUE(ran.output.starts_with("started\nenv\nsh\nwrites\ntmp\n"))
          << left.name << " in " << place << ": " << ran.output;
      EXPECT_EQ(ran.output.find("CANARY"), std::string::npos) << left.name;
      EXPECT_EQ(ran.output.find("sessions"), std::string::npos) << left.name;
      EXPECT_EQ(Manifest(x_), before) << left.name;
      profile_ = std::move(mine);
      cwd_ = w_;
    }
  }

  // As after a fresh start: what the run before left is removed.
  void Clean() {
    for (const std::string& place :
         {w_, profile_.private_tmp, profile_.quarantine_dir})
      (void)Outside("chmod -R u+rwx '" + place + "' 2>/dev/null; find '" +
                    place + "' -mindepth 1 -delete");
    MakeDirectory(w_ + "/cfg");
    MakeDirectory(w_ + "/sub");
    Outside("git init -q .");
  }
};
INSTANTIATE_TEST_SUITE_P(All, LeftoversTest, testing::ValuesIn(Everyone()),
                         WhoName);

constexpr Leftover kLinks[] = {
    {"a shell in /tmp", "ln -s /bin/bash /tmp/sh"},
    {"what python -m venv makes",
     "mkdir -p /tmp/v/bin; ln -s /usr/bin/env /tmp/v/bin/python"},
    {"in /var/tmp and /dev/shm",
     "ln -s /bin/sh /var/tmp/a; ln -s /bin/bash /dev/shm/b"},
    {"a file of the workspace", "ln -s \"$W/file\" /tmp/f"},
    {"the root", "ln -s / /tmp/r; ln -s / /tmp/s"},
    {"to itself", "ln -s a /tmp/a"},
    {"many", "ln -s /usr/bin/* /tmp/"},
    {"taken from the workspace",
     "ln -s /bin/bash .envrc; ln -s /usr/bin/env .npmrc"},
    {"a taken directory of links",
     "mkdir .vscode; ln -s /bin/bash .vscode/a; ln -s /bin/sh .vscode/b"},
    {"git's configuration is a process's memory",
     "rm -f .git/config; ln -s /proc/self/mem .git/config"},
    {"git's configuration is an environment",
     "rm -f .git/config; ln -s /proc/self/environ .git/config"},
    {"git's configuration is a shell",
     "rm -f .git/config; ln -s /bin/bash .git/config"},
    {"git's configuration is a device",
     "rm -f .git/config; ln -s /dev/zero .git/config"},
    {"git's info directory", "rm -rf .git/info; ln -s /usr/bin .git/info"},
    {"a hidden name becomes a program", "ln -s /bin/bash cfg/gh"},
    {"a hidden name becomes the system", "ln -s /usr cfg/gh"},
    {"a hidden name becomes the root", "ln -s / cfg/gh"},
    {"a hidden name becomes the workspace", "ln -s \"$W\" cfg/gh"},
    {"a hidden name leads to itself", "ln -s gh cfg/gh"},
    {"hidden names lead to each other", "ln -s op cfg/hub; ln -s hub cfg/op"},
    {"a hidden directory of links",
     "mkdir cfg/gh; ln -s /bin/bash cfg/gh/a; ln -s /bin/sh cfg/gh/b"},
    {"the end of a person's link becomes the system", "ln -s /usr aws"},
    {"the end of a person's link holds links",
     "mkdir aws; ln -s /bin/bash aws/credentials"},
    {"the end of a person's link leads to itself", "ln -s aws aws"},
    {"to the kernel's files",
     "ln -s /proc/1/root /tmp/a; ln -s /proc/self/exe /tmp/b; ln -s "
     "/sys/kernel /tmp/c; ln -s /dev/null /tmp/d"},
};

TEST_P(LeftoversTest, ALinkThatARunMadeHidesNothing) {
  for (const Leftover& left : kLinks) {
    (void)Bash(left.line);
    ExpectNextRunWorks(left);
    Clean();
  }
}

constexpr Leftover kThings[] = {
    {"FIFOs where git looks",
     "rm -f .git/config .git/HEAD; mkfifo .git/config "
     ".git/HEAD .git/index"},
    {"a directory as configuration", "rm .git/config; mkdir .git/config"},
    {"a closed configuration", "chmod 0 .git/config"},
    {"an endless configuration", "truncate -s 4G .git/config"},
    {".git is a FIFO", "mv .git g; mkfifo .git"},
    {".git is a file that names itself", "mv .git g; echo gitdir: .git > .git"},
    {".git leads to a process", "mv .git g; echo gitdir: /proc/self > .git"},
    {".git is a link to the root", "mv .git g; ln -s / .git"},
    {".git has a line break", "mv .git g; printf 'gitdir: a\\nb\\n' > .git"},
    {"includes of a FIFO, a device and a terminal",
     "mkfifo inc; for f in ../inc /dev/zero /dev/tty /proc/kmsg; do printf "
     "'[include]\\npath = %s\\n' $f >> .git/config; done"},
    {"configurations that include each other",
     "for i in 1 2 3; do printf '[include]\\npath = config%s\\n' $((i % 3 + "
     "1)) > .git/config$i; printf '[include]\\npath = config%s\\n' $i >> "
     ".git/config; done"},
    {"hooks in the system's programs", "git config core.hooksPath /usr/bin"},
    {"a work tree that is everything", "git config core.worktree /"},
    {"closed directories", "mkdir -p d/e; chmod 0 d"},
    {"names with line breaks and no UTF-8",
     "mkdir $'a\\nb' $'/tmp/c\\nd'; touch $'e\\nf' $'\\xff' /tmp/$'\\xfe'"},
    {"a large directory", "mkdir big; cd big; seq 5000 | xargs touch"},
    {"a large /tmp", "cd /tmp; seq 5000 | xargs touch"},
    {"a deep directory",
     "for i in {1..9}; do d=$(printf 'dddddddd/%.0s' {1..100}); mkdir -p $d; "
     "cd $d; done"},
    {"a deep /tmp",
     "cd /tmp; for i in {1..9}; do d=$(printf 'dddddddd/%.0s' {1..100}); mkdir "
     "-p $d; cd $d; done"},
    {"closed private places", "chmod 0 /tmp /var/tmp /dev/shm"},
    {"FIFOs with protected names", "mkfifo .envrc .npmrc .mcp.json"},
    {"FIFOs with gate's names",
     "mkfifo .gate; mkdir sub/.gate; mkfifo sub/.gate/rules.d"},
    {"FIFOs and closed things in /tmp",
     "mkfifo /tmp/p; mkdir -m 0 /tmp/m; touch /tmp/out; chmod 0 /tmp/p"},
    {"a hidden name becomes a FIFO", "mkfifo cfg/gh"},
    {"a hidden name is closed", "mkdir cfg/gh; touch cfg/gh/a; chmod 0 cfg/gh"},
};

TEST_P(LeftoversTest, NoKindOfFileKeepsTheNextRunFromStarting) {
  for (const Leftover& left : kThings) {
    (void)Bash(left.line);
    ExpectNextRunWorks(left);
    Clean();
  }
}

TEST_P(LeftoversTest, ListeningSocketsOfARunThatEndedAreNothing) {
  (void)Bash(
      "perl -e 'use IO::Socket::UNIX; for (1..50) { push @s, "
      "IO::Socket::UNIX->new(Local => \"s$_\", Listen => 1) } exit 0'");
  ExpectNextRunWorks({"sockets", ""});
}

TEST_P(LeftoversTest, NothingInThePrivateTmpKeepsAWorkspaceBelowTmpAway) {
  const TemporaryDirectory made("/tmp");
  const std::string& top = made.path();
  const std::string project = top + "/a/b/project";
  std::filesystem::create_directories(project);
  Outside("true");
  for (const std::string& each : {top, top + "/a", top + "/a/b", project}) {
    ASSERT_EQ(chown(each.c_str(), uid_, gid_), 0);
    ASSERT_EQ(chmod(each.c_str(), 0755), 0);
  }
  profile_.workspace = project;
  profile_.write = {project};
  cwd_ = project;
  for (const char* line :
       {"mv a/b a/c; ln -s /usr a/b", "mv a c; touch a", "mv a c; mkfifo a",
        "mv a c; ln -s nowhere a", "chmod 0 a/b", "chmod 0 a/b a",
        "mv a c; mkdir -m 0 a", "mv a c; mkdir -m 555 a", "chmod 0 /tmp",
        "mv \"$PWD\" /tmp/x; ln -s /tmp \"$PWD\""}) {
    (void)Bash("cd " + top + "; " + line);
    const Ran ran = Bash("pwd; echo text > made; cat made; rm made");
    EXPECT_EQ(ran.output, project + "\ntext\n")
        << line << ": " << ran.outcome.reason;
    (void)Outside("chmod -R u+rwx '" + profile_.private_tmp + "'; find '" +
                  profile_.private_tmp + "' -mindepth 1 -delete");
  }
}

TEST(HiddenLinks, APersonsOwnLinksCount) {
  const TemporaryDirectory made;
  const std::string base = std::filesystem::canonical(made.path());
  for (const char* part : {"/home", "/work", "/state", "/dot"})
    std::filesystem::create_directories(base + part);
  Profile profile;
  profile.write = {base + "/work"};
  profile.state_dir = base + "/state";
  struct Case {
    const char* link;
    const char* target;
    bool may;
  };
  constexpr Case kCases[] = {
      {"/home/a", "../dot/key", true},
      {"/home/b", "/etc/hostname", true},
      {"/home/c", "/usr/bin/env", false},
      {"/home/d", "/proc/self/environ", false},
      {"/home/e", "../work/l", false},  // by a link that runs may have made
      {"/home/f", "../work/file", true},
      {"/work/g", "../dot/key", false},
      {"/state/h", "../dot/key", false},
      {"/home/i", "/", false},
      {"/home/j", "/etc", false},
      {"/home/k", "../dot", true},
  };
  const auto touch = [&](const std::string& path) {
    std::filesystem::copy_file("/etc/hostname", path);
  };
  touch(base + "/dot/key");
  touch(base + "/work/file");
  std::filesystem::create_symlink("../dot/key", base + "/work/l");
  for (const Case& each : kCases) {
    const std::string link = base + each.link;
    std::filesystem::create_symlink(each.target, link);
    struct stat info = {};
    ASSERT_EQ(stat(link.c_str(), &info), 0) << each.target;
    HiddenLinks links(profile);
    EXPECT_EQ(links.MayHide(link, std::filesystem::canonical(link), info),
              each.may)
        << each.link << " -> " << each.target;
  }
}

}  // namespace
}  // namespace gate::backends
