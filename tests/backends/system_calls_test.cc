// What is seen before it happens: program starts that are judged, and writes
// and connections that the sandbox refuses.
#include <errno.h>
#include <sys/stat.h>

#include <filesystem>

#include "backends/native/calls/calls.h"
#include "tests/support/sandbox_fixture.h"

namespace gate::backends {
namespace {

class CallsTest : public Sandbox {
 protected:
  static std::string All(const Outcome& outcome) {
    std::string text = outcome.reason + "\n";
    for (const Violation& violation : outcome.violations)
      text += "blocked " + violation.detail + " (" +
              std::string(Name(violation.kind)) + ")\n";
    return text;
  }
  void ExpectBlocked(const Ran& ran, const std::string& line) {
    EXPECT_NE(All(ran.outcome).find("blocked " + line + "\n"),
              std::string::npos)
        << "wanted: " << line << "\n"
        << All(ran.outcome) << ran.output;
  }
};
std::vector<Who> OnlyNative() {
  std::vector<Who> some;
  for (const Who& who : Everyone())
    if (std::string(who.backend) == "native") some.push_back(who);
  return some;
}
INSTANTIATE_TEST_SUITE_P(Native, CallsTest, testing::ValuesIn(OnlyNative()),
                         WhoName);

TEST_P(CallsTest, ProcessesTraceEachOtherAndNothingMore) {
  std::filesystem::copy_file(GATE_PROBE, w_ + "/probe");
  ASSERT_EQ(chmod((w_ + "/probe").c_str(), 0755), 0);
  const std::string probe = "./probe ";
  EXPECT_EQ(Bash(probe + "trace").outcome.exit_code, 0);
  // Process 1, which is gate's.
  EXPECT_EQ(Bash(probe + "ptrace 1").outcome.exit_code, EPERM);
  // A tracer makes no call that the filter refuses.
  EXPECT_EQ(Bash(probe + "smuggle").outcome.exit_code, EPERM);
  // What has something for itself is not looked into.
  profile_.environment_lend = {"GATE_TEST_TOKEN"};
  EXPECT_EQ(Bash(probe + "trace").outcome.exit_code, EPERM);
}

TEST_P(CallsTest, EveryStartIsJudgedAndADeniedOneNeverHappens) {
  profile_.watch_execs = true;
  judge_ = [](const ExecEvent& event) {
    return ExecVerdict{event.path.find("touch") == std::string::npos,
                       "no touching"};
  };
  const Ran ran =
      Bash("a=to b=uch; $a$b made; echo status $?; /bin/echo through");
  EXPECT_FALSE(Exists(w_ + "/made"));
  EXPECT_NE(ran.output.find("status 126"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("through"), std::string::npos) << ran.output;
  ExpectBlocked(ran, "starting /usr/bin/touch: no touching (exec)");
  EXPECT_EQ(ran.outcome.starts, 2u);
  ASSERT_EQ(ran.outcome.programs.size(), 1u);
  EXPECT_TRUE(ran.outcome.programs[0].path.ends_with("/bin/echo"));
}

TEST_P(CallsTest, ArgumentsAndDirectoryAreThoseOfTheCall) {
  profile_.watch_execs = true;
  MakeDirectory(w_ + "/sub");
  judge_ = [this](const ExecEvent& event) {
    return ExecVerdict{
        event.argv == std::vector<std::string>{"env", "-i", "a b", ""} &&
            event.cwd == w_ + "/sub" && event.complete,
        "other arguments"};
  };
  const Ran ran = Bash("cd sub && env -i 'a b' ''");
  EXPECT_EQ(All(ran.outcome).find("other arguments"), std::string::npos)
      << All(ran.outcome);
}

TEST_P(CallsTest, WithoutAJudgeNothingStarts) {
  profile_.watch_execs = true;
  EXPECT_EQ(Bash("/bin/true").outcome.exit_code, 126);
  EXPECT_EQ(Bash("exit 4").outcome.exit_code, 4);
}

TEST_P(CallsTest, ScriptsInterpretersAndManyStartsGoThrough) {
  profile_.watch_execs = true;
  judge_ = [](const ExecEvent&) { return ExecVerdict{true, ""}; };
  Write(w_ + "/script", "#!/bin/sh\nexec /bin/echo from the script\n");
  Write(w_ + "/plain", "echo from the plain one\n");
  for (const char* name : {"/script", "/plain"})
    ASSERT_EQ(chmod((w_ + name).c_str(), 0755), 0);
  const Ran ran = Bash(
      "./script; ./plain; ./missing; no-such-program; "
      "for i in $(seq 40); do (/bin/true &) ; done; wait; exit 6");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited) << All(ran.outcome);
  EXPECT_EQ(ran.outcome.exit_code, 6);
  EXPECT_NE(ran.output.find("from the script"), std::string::npos);
  EXPECT_NE(ran.output.find("from the plain one"), std::string::npos);
  EXPECT_TRUE(ran.outcome.violations.empty()) << All(ran.outcome);
}

TEST_P(CallsTest, AnotherProgramThanTheJudgedOneEndsTheRun) {
  profile_.watch_execs = true;
  std::filesystem::copy_file("/bin/true", w_ + "/tool");
  std::filesystem::copy_file("/bin/sleep", w_ + "/other");
  judge_ = [this](const ExecEvent& event) {
    // Between the look and the start somebody exchanges the file.
    if (event.path == w_ + "/tool")
      std::filesystem::rename(w_ + "/other", w_ + "/tool");
    return ExecVerdict{true, ""};
  };
  const Ran ran = Bash("./tool 30; echo survived > proof");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kViolation) << All(ran.outcome);
  EXPECT_FALSE(Exists(w_ + "/proof"));
}

TEST_P(CallsTest, RefusedWritesAreReportedByNameAndKind) {
  profile_.report_blocked = true;
  profile_.protect_names = {".bashrc", ".claude/settings.json"};
  Write(w_ + "/.bashrc", "x\n");
  MakeDirectory(w_ + "/.claude");
  Write(w_ + "/.claude/settings.json", "{}\n");
  const Ran ran = Bash(
      "echo evil >> .bashrc; echo evil > \"$X/existing\"; : > \"$X/new\"; "
      "mkdir \"$X/dir\"; rm \"$X/existing\"; rm -f .claude/settings.json; "
      "mv .claude elsewhere; echo x > \"$H/.ssh/id\"; "
      "echo fine > fine; mkdir -p a/b; rm fine; mv a c; exit 0");
  ExpectBlocked(ran, "writing " + w_ + "/.bashrc (protected: shell-startup)");
  ExpectBlocked(ran, "writing " + x_ + "/existing (read-only)");
  ExpectBlocked(ran, "making " + x_ + "/new (read-only)");
  ExpectBlocked(ran, "making " + x_ + "/dir (read-only)");
  ExpectBlocked(ran, "deleting " + x_ + "/existing (read-only)");
  ExpectBlocked(ran, "deleting " + w_ +
                         "/.claude/settings.json (protected: agent-settings)");
  ExpectBlocked(ran, "moving " + w_ + "/.claude (holds protected paths)");
  ExpectBlocked(ran, "writing " + h_ + "/.ssh/id (hidden)");
  EXPECT_EQ(ran.outcome.violations.size(), 8u) << All(ran.outcome);
  EXPECT_EQ(ran.outcome.exit_code, 0);
}

TEST_P(CallsTest, WhatWouldHaveFailedAnywayIsNotReported) {
  profile_.report_blocked = true;
  const Ran ran = Bash(
      "cd \"$X\" && python3 -c '\n"
      "import os, socket, stat\n"
      "def attempt(call, *words):\n"
      "  try: call(*words)\n"
      "  except OSError: pass\n"
      "attempt(os.open, \".\", os.O_WRONLY)\n"
      "attempt(os.open, \"existing\", os.O_WRONLY | os.O_DIRECTORY)\n"
      "attempt(os.open, \"existing\", os.O_WRONLY | os.O_PATH)\n"
      "attempt(os.truncate, \"existing\", -1)\n"
      "attempt(os.truncate, \".\", 0)\n"
      "attempt(os.link, \"absent\", \"new\")\n"
      "attempt(os.link, \"existing\", \"existing\")\n"
      "attempt(os.rename, \"absent\", \"new\")\n"
      "attempt(os.rename, \"absent\", \"existing\")\n"
      "attempt(os.rmdir, \"existing\")\n"
      "attempt(os.rmdir, \"..\")\n"
      "attempt(os.rmdir, os.environ[\"X\"])\n"
      "attempt(os.unlink, \".\")\n"
      "attempt(os.mkfifo, \"existing\")\n"
      "attempt(socket.socket(socket.AF_UNIX).bind, \"existing\")\n"
      "'; exit 3");
  EXPECT_EQ(ran.outcome.exit_code, 3) << ran.output;
  EXPECT_EQ(ran.output, "");
  EXPECT_TRUE(ran.outcome.violations.empty()) << All(ran.outcome);
}

TEST_P(CallsTest, WhatAnotherUserOwnsIsNotReported) {
  if (uid_ == 0) GTEST_SKIP() << "root owns it";
  profile_.report_blocked = true;
  const Ran ran = Bash(
      "echo x > /proc/sys/kernel/hostname; echo x > /dev/newdev; "
      "mkdir /usr/new; echo x >> /etc/passwd; exit 3");
  EXPECT_EQ(ran.outcome.exit_code, 3) << ran.output;
  EXPECT_TRUE(ran.outcome.violations.empty()) << All(ran.outcome);
}

TEST_P(CallsTest, AFifoThatIsWrittenIsNotReported) {
  profile_.report_blocked = true;
  const Ran ran =
      Bash("mkfifo own /tmp/own; for f in own /tmp/own; do echo x 1<>$f; done");
  EXPECT_EQ(ran.outcome.exit_code, 0) << ran.output;
  EXPECT_TRUE(ran.outcome.violations.empty()) << All(ran.outcome);
}

TEST_P(CallsTest, EveryKindOfFileThatIsRefusedIsReported) {
  profile_.report_blocked = true;
  Outside("cd \"$X\"; echo x > over; mkdir empty; mkfifo pipe");
  const Ran ran = Bash(
      "mkfifo \"$X/fifo\"; cd \"$X\" && python3 -c '\n"
      "import os, socket, stat\n"
      "def attempt(call, *words):\n"
      "  try: call(*words)\n"
      "  except OSError: pass\n"
      "attempt(os.mknod, \"node\", stat.S_IFREG | 0o600)\n"
      "attempt(socket.socket(socket.AF_UNIX).bind, \"socket\")\n"
      "attempt(os.link, \"existing\", \"link\")\n"
      "attempt(os.symlink, \"existing\", \"symlink\")\n"
      "attempt(os.open, \".\", os.O_RDWR | os.O_TMPFILE)\n"
      "attempt(os.truncate, \"existing\", 0)\n"
      "attempt(os.rename, \"existing\", \"other\")\n"
      "attempt(os.rename, \"existing\", \"over\")\n"
      "attempt(os.rmdir, \"empty\")\n"
      "attempt(os.open, \"pipe\", os.O_WRONLY | os.O_NONBLOCK)\n"
      "'; exit 3");
  EXPECT_EQ(ran.outcome.exit_code, 3) << ran.output;
  for (const char* what :
       {"making ?/fifo", "making ?/node", "making ?/socket", "making ?/link",
        "making ?/symlink", "writing ?", "writing ?/existing",
        "moving ?/existing", "making ?/other", "replacing ?/over",
        "deleting ?/empty", "writing ?/pipe"}) {
    std::string line = std::string(what) + " (read-only)";
    line.replace(line.find('?'), 1, x_);
    ExpectBlocked(ran, line);
  }
  EXPECT_EQ(ran.outcome.violations.size(), 12u) << All(ran.outcome);
}

TEST_P(CallsTest, ARefusedChangeOfTheOwnerIsReportedWhereItWouldHaveWorked) {
  profile_.report_blocked = true;
  Outside("cd \"$X\"; touch c l at own f; ln -s /no/where loose");
  const Ran ran = Bash(
      "cd \"$X\" && python3 -c '\n"
      "import os\n"
      "def attempt(call, *words, **more):\n"
      "  try: call(*words, **more)\n"
      "  except OSError: pass\n"
      "me = os.geteuid()\n"
      "here = os.open(\".\", os.O_RDONLY)\n"
      "attempt(os.chown, \"c\", me, -1)\n"
      "attempt(os.lchown, \"loose\", -1, os.getegid())\n"
      "attempt(os.chown, \"at\", me, me, dir_fd=here)\n"
      "attempt(os.chown, \"l\", me, me, dir_fd=here, follow_symlinks=False)\n"
      "attempt(os.chown, \"own\", 12345, -1)\n"
      // Nothing is there, or it is another's.
      "attempt(os.chown, \"absent\", me, me)\n"
      "attempt(os.chown, \"loose\", me, me)\n"
      "if me: attempt(os.chown, \"/etc/passwd\", me, me)\n"
      "open(os.environ[\"W\"] + \"/new\", \"w\")\n"
      "os.chown(os.environ[\"W\"] + \"/new\", me, -1)\n"
      "'; exit 3");
  EXPECT_EQ(ran.outcome.exit_code, 3) << ran.output;
  EXPECT_EQ(ran.output, "");
  for (const char* name : {"/c", "/loose", "/at", "/l"})
    ExpectBlocked(ran, "changing the owner of " + x_ + name + " (read-only)");
  // Only root may give its files away.
  const std::string given = "changing the owner of " + x_ + "/own (read-only)";
  if (uid_ == 0) ExpectBlocked(ran, given);
  EXPECT_EQ(ran.outcome.violations.size(), uid_ == 0 ? 5u : 4u)
      << All(ran.outcome);
}

TEST_P(CallsTest, AttemptsToReadHiddenPathsAreReported) {
  profile_.report_reads = true;
  MakeDirectory(h_ + "/.ssh/keys");
  Write(h_ + "/.netrc", "password\n");
  profile_.deny_read.push_back(h_ + "/.netrc");
  profile_.deny_read.push_back(h_ + "/.absent");
  const Ran ran = Bash(
      "ln -s \"$H/.ssh\" by-link; cat \"$H/.ssh/id_rsa\" by-link/other "
      "\"$H/.ssh/keys/deep/one\" \"$H/.netrc\"; ls \"$H/.ssh\"; "
      "cat \"$H/.absent\" no-such-file \"$X/existing\" > copy; cd \"$H\" && "
      "cat .ssh/relative; exit 3");
  ExpectBlocked(ran, "reading " + h_ + "/.ssh/id_rsa (hidden)");
  ExpectBlocked(ran, "reading " + w_ + "/by-link/other (hidden)");
  ExpectBlocked(ran, "reading " + h_ + "/.ssh/keys/deep/one (hidden)");
  ExpectBlocked(ran, "reading " + h_ + "/.netrc (hidden)");
  ExpectBlocked(ran, "reading " + h_ + "/.ssh (hidden)");
  ExpectBlocked(ran, "reading " + h_ + "/.ssh/relative (hidden)");
  EXPECT_EQ(ran.outcome.violations.size(), 6u) << All(ran.outcome);
  EXPECT_EQ(ran.outcome.exit_code, 3);
  // A name that a file in the workspace only looks like.
  EXPECT_TRUE(Bash("mkdir .ssh; echo x > .ssh/id_rsa; cat .ssh/id_rsa")
                  .outcome.violations.empty());
}

TEST_P(CallsTest, RefusedConnectionsAreReported) {
  profile_.report_blocked = true;
  for (const Network network : {Network::kNone, Network::kLoopback}) {
    profile_.network = network;
    const Ran ran =
        Bash(": < /dev/tcp/127.0.0.1/9; : < /dev/tcp/192.0.2.1/443");
    ExpectBlocked(ran, std::string("connecting to 192.0.2.1 port 443 "
                                   "(network: ") +
                           Name(network) + ")");
    EXPECT_EQ(ran.outcome.violations.size(), 1u) << All(ran.outcome);
  }
}

TEST_P(CallsTest, RefusedListeningIsReportedAndWhatWorksIsNot) {
  profile_.report_blocked = true;
  constexpr char kListen[] =
      "python3 -c '\nimport socket as s\nfor family, kind, host in ("
      "(2, 1, \"127.0.0.1\"), (2, 1, \"0.0.0.0\"), (2, 2, \"0.0.0.0\"), "
      "(2, 2, \"127.0.0.1\"), (2, 2, \"224.0.0.251\"), (10, 1, "
      "\"::ffff:127.0.0.1\"), (2, 1, \"192.0.2.1\"), (10, 2, "
      "\"2001:db8::1\")):\n  try: "
      "s.socket(family, kind).bind((host, 8123)); print(\"ok\")\n  except "
      "OSError: print(\"no\")'";
  for (const Network network : {Network::kNone, Network::kLoopback}) {
    profile_.network = network;
    const std::string name = Name(network);
    const Ran ran = Bash(kListen);
    EXPECT_EQ(ran.output, "ok\nok\nok\nok\nok\nok\nno\nno\n");
    ExpectBlocked(ran,
                  "listening on 192.0.2.1 port 8123 (network: " + name + ")");
    ExpectBlocked(ran,
                  "listening on 2001:db8::1 port 8123 (network: " + name + ")");
    EXPECT_EQ(ran.outcome.violations.size(), 2u) << All(ran.outcome);
  }
}

TEST_P(CallsTest, OrdinaryWorkIsNotReported) {
  profile_.report_blocked = true;
  profile_.watch_execs = true;
  judge_ = [](const ExecEvent&) { return ExecVerdict{true, ""}; };
  const Ran ran = Bash(
      "git init -q r && cd r && echo a > a && git add a && git commit -qm a && "
      "git checkout -q -b b && mkdir -p d/e && mv a d/e/f && cp d/e/f g && "
      "sed -i s/a/b/ g && echo x > /dev/null && echo y > /tmp/y && "
      "cat g > /dev/stdout");
  EXPECT_EQ(ran.outcome.exit_code, 0) << ran.output;
  EXPECT_TRUE(ran.outcome.violations.empty()) << All(ran.outcome);
}

TEST(ProtectedKindTest, FollowsFromTheName) {
  EXPECT_EQ(ProtectedKind("/w/.bashrc"), ViolationKind::kShellStartup);
  EXPECT_EQ(ProtectedKind("/w/.git/hooks/post-commit"), ViolationKind::kGit);
  EXPECT_EQ(ProtectedKind("/w/.claude/settings.json"),
            ViolationKind::kAgentSettings);
  EXPECT_EQ(ProtectedKind("/w/.vscode/tasks.json"), ViolationKind::kEditor);
  EXPECT_EQ(ProtectedKind("/w/.npmrc"), ViolationKind::kToolSettings);
  EXPECT_EQ(ProtectedKind("/etc/passwd"), ViolationKind::kOtherProtected);
}

// The record has the names; what outlives its line reads them back.
TEST(ViolationKindTest, HasANameThatIsItsOwn) {
  for (int i = 0; i < kViolationKinds; ++i) {
    const auto kind = static_cast<ViolationKind>(i);
    EXPECT_EQ(ParseViolationKind(Name(kind)), kind) << Name(kind);
  }
  EXPECT_FALSE(ParseViolationKind(""));
  EXPECT_STREQ(Name(ViolationKind::kProtectedPath), "protected-path");
  EXPECT_STREQ(Name(ViolationKind::kNoNetwork), "network: none");
  EXPECT_STREQ(Name(ViolationKind::kGit), "protected: git");
}

}  // namespace
}  // namespace gate::backends
