// What tries to get past the watch over program starts: a start that was
// denied never happens, by whatever way it is asked for, and one that was let
// through is what was judged or the run ends before it does anything.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "tests/support/sandbox_fixture.h"
#include "tests/support/wait.h"

namespace gate::backends {
namespace {

class ExecTest : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped()) return;
    profile_.watch_execs = true;
    profile_.limits.wall_ms = 60000;
    std::filesystem::copy_file(EXEC_PROBE, w_ + "/probe");
    ASSERT_EQ(chmod((w_ + "/probe").c_str(), 0755), 0);
  }
  static bool IsProbe(const ExecEvent& event) {
    return event.path.ends_with("/probe");
  }
  // What the judge was asked, which is in a process of its own.
  void Note(const std::string& text) {
    std::ofstream(w_ + "/seen", std::ios::app) << text << "\n";
  }
  std::string Noted() {
    const std::string text = Exists(w_ + "/seen") ? Read(w_ + "/seen") : "";
    std::filesystem::remove(w_ + "/seen");
    return text;
  }
  // After the look at anything but the probe, waits for what is exchanged.
  void JudgeAndAwaitExchange() {
    judge_ = [this](const ExecEvent& event) {
      if (!IsProbe(event)) {
        std::ofstream(w_ + "/judged") << "";
        test::WaitUntil([this] { return Exists(w_ + "/exchanged"); });
      }
      return ExecVerdict{true, ""};
    };
  }
  void ExpectEnded(const Ran& ran) {
    EXPECT_EQ(ran.outcome.status, OutcomeStatus::kViolation)
        << ran.outcome.reason << ran.output;
    EXPECT_NE(ran.outcome.reason.find("another program was started"),
              std::string::npos)
        << ran.outcome.reason;
    ASSERT_FALSE(ran.outcome.violations.empty());
    EXPECT_EQ(ran.outcome.violations.front().kind, ViolationKind::kExec);
    EXPECT_FALSE(Exists(w_ + "/evil"));
    EXPECT_FALSE(Exists(w_ + "/survived"));
  }
};
std::vector<Who> OnlyNative() {
  std::vector<Who> some;
  for (const Who& who : Everyone())
    if (std::string(who.backend) == "native") some.push_back(who);
  return some;
}
INSTANTIATE_TEST_SUITE_P(Native, ExecTest, testing::ValuesIn(OnlyNative()),
                         WhoName);

struct SymlinkTrace {
  const char* how;
  bool runs;  // when it is let through
};
constexpr SymlinkTrace kWays[] = {
    {"plain", true},      {"thread", true}, {"headless", true}, {"vfork", true},
    {"descriptor", true}, {"devfd", true},  {"fexecve", true},  {"memfd", true},
    {"at", true},         {"link", false},
#ifdef __x86_64__
    {"old", false},       {"x32", false},
#endif
};

TEST_P(ExecTest, ADeniedStartNeverHappensByAnyWay) {
  judge_ = [](const ExecEvent& event) {
    return ExecVerdict{IsProbe(event), "not this"};
  };
  for (const SymlinkTrace& way : kWays) {
    const Ran ran = Bash(std::string("./probe ") + way.how +
                         " /usr/bin/touch evil; rm -f harmless; exit 0");
    EXPECT_FALSE(Exists(w_ + "/evil")) << way.how;
  }
}

TEST_P(ExecTest, TheFileThatIsMeantIsTheOneThatIsJudged) {
  judge_ = [this](const ExecEvent& event) {
    if (!IsProbe(event)) Note(event.path);
    return ExecVerdict{true, ""};
  };
  for (const SymlinkTrace& way : kWays) {
    const Ran ran = Bash(std::string("./probe ") + way.how +
                         " /usr/bin/touch made; [ -e made ] && echo runs");
    EXPECT_EQ(ran.output.find("runs") != std::string::npos, way.runs)
        << way.how << ran.output << ran.outcome.reason;
    EXPECT_NE(ran.outcome.status, OutcomeStatus::kViolation)
        << way.how << ran.outcome.reason;
    std::filesystem::remove(w_ + "/made");
    std::filesystem::remove(w_ + "/harmless");
    const std::string seen = Noted();
    if (!way.runs)
      EXPECT_EQ(seen, "") << way.how;
    else if (std::string(way.how) == "memfd")
      EXPECT_TRUE(seen.starts_with("/memfd:copy")) << seen;
    else
      EXPECT_TRUE(seen == "/usr/bin/touch\n" || seen == "/bin/touch\n")
          << way.how << seen;
  }
}

TEST_P(ExecTest, ArgumentsThatAreExchangedAfterTheLookEndTheRun) {
  JudgeAndAwaitExchange();
  ExpectEnded(Bash("./probe argument /usr/bin/touch good; : > survived"));
}

TEST_P(ExecTest, APathThatIsExchangedAfterTheLookEndsTheRun) {
  JudgeAndAwaitExchange();
  ExpectEnded(
      Bash("./probe path /usr/bin/true evil /usr/bin/touch; : > survived"));
}

TEST_P(ExecTest, CallsOfAnotherThreadDoNotEndTheWatch) {
  JudgeAndAwaitExchange();
  ExpectEnded(
      Bash("./probe noise /usr/bin/true evil /usr/bin/touch; : > survived"));
}

// Its number stands for no memory: only the other threads show what it runs.
TEST_P(ExecTest, AProcessWhoseFirstThreadHasEndedIsWatchedAsWell) {
  JudgeAndAwaitExchange();
  ExpectEnded(
      Bash("./probe headless-path /usr/bin/true evil /usr/bin/touch; "
           "sleep 60; : > survived"));
}

TEST_P(ExecTest, WhatASecondThreadStartsIsNeverTakenForAnother) {
  judge_ = [](const ExecEvent&) { return ExecVerdict{true, ""}; };
  const Ran ran = Bash(
      "for i in $(seq 30); do ./probe thread /usr/bin/true x & "
      "./probe headless /bin/true x & done; wait; echo done");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited) << ran.outcome.reason;
  EXPECT_NE(ran.output.find("done"), std::string::npos) << ran.output;
  EXPECT_TRUE(ran.outcome.violations.empty());
}

// Nothing but its own words tells the next program from the one that is there.
TEST_P(ExecTest, AProgramCannotTellThePlacesOfItsArgumentsAnew) {
  judge_ = [](const ExecEvent&) { return ExecVerdict{true, ""}; };
  EXPECT_EQ(Bash("./probe places x x").outcome.exit_code, 1);
}

TEST_P(ExecTest, AFileOfNoKnownFormatCannotBecomeAProgram) {
  Write(w_ + "/plain", "echo only a shell reads this\n");
  ASSERT_EQ(chmod((w_ + "/plain").c_str(), 0755), 0);
  JudgeAndAwaitExchange();
  ExpectEnded(
      Bash("./probe path \"$PWD/plain\" evil /usr/bin/touch; "
           ": > survived"));
}

#ifdef __x86_64__
// An i386 program (ELF-32 of one page) that takes part of a second, so that it
// is looked at while it runs, before it makes its only call.
std::string SlowProgramOfOtherWidth() {
  constexpr unsigned kBase = 0x08048000, kHeaders = 52 + 32;
  const std::string code(
      "\xb9\x00\x00\x00\x10"  // mov $0x10000000, %ecx
      "\x49\x75\xfd"          // dec %ecx; jne to it
      "\xb8\x01\x00\x00\x00"  // mov $SYS_exit, %eax
      "\xcd\x80",             // int $0x80
      15);
  const auto size = static_cast<unsigned>(kHeaders + code.size());
  std::string file(
      "\x7f"
      "ELF\x01\x01\x01",
      7);
  file.resize(16);
  const auto put = [&](uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) file += static_cast<char>(value >> (8 * i));
  };
  // A program, for the i386, of version 1; where it starts, its headers.
  put(2, 2), put(3, 2), put(1, 4), put(kBase + kHeaders, 4), put(52, 4);
  put(0, 4), put(0, 4), put(52, 2), put(32, 2), put(1, 2), put(0, 6);
  // What is loaded: all of it, to read and run.
  put(1, 4), put(0, 4), put(kBase, 4), put(kBase, 4), put(size, 4);
  put(size, 4), put(5, 4), put(0x1000, 4);
  return file + code;
}

TEST_P(ExecTest, AProgramOfTheOtherWidthIsWhatWasLetThrough) {
  judge_ = [](const ExecEvent&) { return ExecVerdict{true, ""}; };
  Write(w_ + "/narrow", SlowProgramOfOtherWidth());
  ASSERT_EQ(chmod((w_ + "/narrow").c_str(), 0755), 0);
  // The filter ends it at its first call; a kernel without such programs does
  // not start it.
  const Ran ran = Bash("./narrow x; echo \"ended with $?\"; true");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited) << ran.outcome.reason;
  EXPECT_TRUE(ran.outcome.violations.empty());
  EXPECT_TRUE(ran.output.find("ended with 159") != std::string::npos ||
              ran.output.find("ended with 126") != std::string::npos)
      << ran.output;
}

TEST_P(ExecTest, AProgramOfTheOtherWidthCannotBecomeAnother) {
  for (const char* name : {"/narrow", "/other"}) {
    Write(w_ + name, SlowProgramOfOtherWidth());
    ASSERT_EQ(chmod((w_ + name).c_str(), 0755), 0);
  }
  if (Bash("./narrow").output.find("xec format error") != std::string::npos)
    GTEST_SKIP() << "this kernel starts no such program";
  judge_ = [this](const ExecEvent& event) {
    if (event.path == w_ + "/narrow")
      std::filesystem::rename(w_ + "/other", w_ + "/narrow");
    return ExecVerdict{true, ""};
  };
  ExpectEnded(Bash("./narrow; : > survived"));
  JudgeAndAwaitExchange();
  ExpectEnded(
      Bash("./probe path \"$PWD/narrow\" evil /usr/bin/touch; "
           ": > survived"));
}
#endif

TEST_P(ExecTest, AScriptThatIsExchangedAfterTheLookEndsTheRun) {
  Write(w_ + "/script", "#!/bin/sh\nexit 0\n");
  Write(w_ + "/other", "#!/bin/sh\n: > evil\n");
  for (const char* name : {"/script", "/other"})
    ASSERT_EQ(chmod((w_ + name).c_str(), 0755), 0);
  judge_ = [this](const ExecEvent& event) {
    if (event.path == w_ + "/script")
      std::filesystem::rename(w_ + "/other", w_ + "/script");
    return ExecVerdict{true, ""};
  };
  ExpectEnded(Bash("./script; : > survived"));
}

TEST_P(ExecTest, AProgramThatIsOverwrittenAfterTheLookEndsTheRun) {
  Outside("cp /usr/bin/true '" + w_ + "/tool'");
  judge_ = [this](const ExecEvent& event) {
    // Into the same file.
    if (event.path == w_ + "/tool") {
      std::ifstream from("/usr/bin/touch", std::ios::binary);
      std::ofstream(w_ + "/tool", std::ios::binary) << from.rdbuf();
    }
    return ExecVerdict{true, ""};
  };
  ExpectEnded(Bash("./tool evil; : > survived"));
}

TEST_P(ExecTest, APathThroughTheOwnDirectoriesIsTheFileBehindIt) {
  judge_ = [this](const ExecEvent& event) {
    Note(event.path + ">" + event.file);
    return ExecVerdict{event.argv.size() < 2 || event.argv[1] != "no", "no"};
  };
  MakeDirectory(w_ + "/d");
  for (const char* name : {"/hello", "/d/hello"}) {
    Write(w_ + name, "#!/bin/sh\necho \"hello from $0 $1\"\n");
    ASSERT_EQ(chmod((w_ + name).c_str(), 0755), 0);
  }
  Outside("ln -s ../hello d/link");
  const struct {
    const char* name;
    std::string path, file;  // below the workspace
  } kCases[] = {
      {"/proc/self/cwd/d/hello", "/d/hello", "/d/hello"},
      {"/proc/thread-self/cwd/hello", "/hello", "/hello"},
      {"/proc/self/cwd/d/../hello", "/d/../hello", "/hello"},
      {"/proc/self/cwd/d/link", "/d/link", "/hello"},
      {"/proc/self/root/proc/self/cwd/hello", "/hello", "/hello"},
  };
  for (const auto& c : kCases) {
    const std::string name = c.name;
    EXPECT_EQ(Bash(name + " x").output, "hello from " + name + " x\n");
    EXPECT_EQ(Noted(), w_ + c.path + ">" + w_ + c.file + "\n");
    const Ran denied = Bash(name + " no; exit 0");
    EXPECT_EQ(denied.output.find("hello from"), std::string::npos);
    EXPECT_TRUE(HasViolation(denied.outcome, ViolationKind::kExec));
    Noted();
  }
  EXPECT_EQ(Bash("/proc/self/root\"$W\"/hello x").output,
            "hello from /proc/self/root" + w_ + "/hello x\n");
  EXPECT_EQ(Noted(), w_ + "/hello>" + w_ + "/hello\n");
  EXPECT_EQ(Bash("cd d; (exec /proc/self/cwd/none); (exec "
                 "/proc/self/root/none); (exec /proc/self/cwd); exit 7")
                .outcome.exit_code,
            7);
}

struct ManyCase {
  const char* name;
  const char* words;  // what makes them, for bash
  size_t count, bytes;
};

TEST_P(ExecTest, AllArgumentsThatTheKernelTakesAreReadAndMoreAreRefused) {
  judge_ = [this](const ExecEvent& event) {
    if (!event.complete || event.argv.front() != "/bin/true")
      return ExecVerdict{true, ""};
    size_t all = 0;
    for (const std::string& word : event.argv) all += word.size();
    Note(std::to_string(event.argv.size()) + " " + std::to_string(all) + " " +
         event.argv.back());
    return ExecVerdict{true, ""};
  };
  const std::string long_word = "x=$(head -c 100000 /dev/zero | tr '\\0' x); ";
  const ManyCase kMany[] = {
      {"many", "$(seq 60000)", 60001, 288894 + 9},
      {"few", "a b", 3, 11},
      {"long", "$x $x $x $x $x $x $x $x $x $x end", 12, 1000000 + 3 + 9},
  };
  for (const ManyCase& row : kMany) {
    const Ran ran =
        Bash(long_word + "/bin/true " + row.words + " && echo through");
    EXPECT_EQ(ran.output, "through\n") << row.name << ran.outcome.reason;
    EXPECT_TRUE(ran.outcome.violations.empty()) << row.name;
    const std::string seen = Noted();
    EXPECT_TRUE(seen.starts_with(std::to_string(row.count) + " " +
                                 std::to_string(row.bytes) + " "))
        << row.name << seen;
  }
  // For the kernel too.
  const Ran ran = Bash("/bin/true $(seq 1000000); echo $?");
  EXPECT_NE(ran.output.find("too long\n126\n"), std::string::npos)
      << ran.output;
  EXPECT_EQ(Noted(), "");
}

TEST_P(ExecTest, WhatAnInterpreterStartsIsJudgedAsWell) {
  Write(w_ + "/script", "#!/usr/bin/env -S touch evil\n");
  ASSERT_EQ(chmod((w_ + "/script").c_str(), 0755), 0);
  judge_ = [this](const ExecEvent& event) {
    if (!event.path.ends_with("/touch")) return ExecVerdict{true, ""};
    Note(event.argv.size() > 1 ? event.argv[1] : "");
    return ExecVerdict{false, "no touching"};
  };
  Bash("./script");
  EXPECT_FALSE(Exists(w_ + "/evil"));
  EXPECT_TRUE(Noted().starts_with("evil\n"));  // for each place of PATH
}

TEST_P(ExecTest, WhatTheKernelStartsInsteadIsTold) {
  Write(w_ + "/one", "#!./two  -x and more\n");
  Write(w_ + "/two", "#!/usr/bin/truncate -s0\n");
  for (const char* name : {"/one", "/two"})
    ASSERT_EQ(chmod((w_ + name).c_str(), 0755), 0);
  judge_ = [this](const ExecEvent& event) {
    std::string text = event.path + ">" + event.file;
    for (const ExecInterpreter& next : event.interpreters) {
      text += "\n" + next.path + ">" + next.file;
      for (const std::string& word : next.argv) text += " [" + word + "]";
    }
    Note(text);
    return ExecVerdict{false, "not this"};
  };
  const Fd program(open("/usr/bin/truncate", O_PATH | O_CLOEXEC));
  char real[4096] = {};
  ASSERT_GT(readlink(("/proc/self/fd/" + std::to_string(program.get())).c_str(),
                     real, sizeof(real) - 1),
            0);
  Bash("./one a; exit 0");
  EXPECT_EQ(Noted(), w_ + "/one>" + w_ + "/one\n" + w_ + "/two>" + w_ +
                         "/two [./two] [-x and more] [./one] [a]\n" +
                         "/usr/bin/truncate>" + real +
                         " [/usr/bin/truncate] [-s0] [./two] [-x and more] "
                         "[./one] [a]\n");
  Outside("ln -s /usr/bin/truncate tr; ln -s tr again");
  Bash("./again -s0 file; exit 0");
  EXPECT_EQ(Noted(), w_ + "/again>" + real + "\n");
  EXPECT_EQ(Read(w_ + "/file"), "in the workspace\n");
}

TEST_P(ExecTest, TheLoadersArgumentsAreSeen) {
  judge_ = [this](const ExecEvent& event) {
    Note(event.argv.size() == 3 ? event.argv[1] : event.path);
    return ExecVerdict{event.path.find("ld-linux") == std::string::npos, "ld"};
  };
  Bash(
      "for l in /lib64/ld-linux-*.so* /lib/ld-linux-*.so*; do "
      "[ -e $l ] && $l /usr/bin/touch evil; done");
  EXPECT_FALSE(Exists(w_ + "/evil"));
  EXPECT_NE(Noted().find("/usr/bin/touch\n"), std::string::npos);
}

TEST_P(ExecTest, HonestStartsOfEveryKindAreLeftAlone) {
  judge_ = [](const ExecEvent&) { return ExecVerdict{true, ""}; };
  Write(w_ + "/one", "#!/bin/sh -e\nexec ./two \"$@\"\n");
  Write(w_ + "/two", "#! ./one-more  -x and more \t\n");
  Write(w_ + "/one-more", "#!/usr/bin/env bash\nprintf '%s|' \"$@\"\n");
  Write(w_ + "/plain", "echo plain \"$@\"\n");
  Write(w_ + "/gone", "#!/bin/sh\nrm \"$0\"; echo gone\n");
  for (const char* name : {"/one", "/two", "/one-more", "/plain", "/gone"})
    ASSERT_EQ(chmod((w_ + name).c_str(), 0755), 0);
  const Ran ran = Bash(
      "./one a 'b c' ''; ./plain x; ./gone; exec -a '' bash -c 'echo empty'; ");
  EXPECT_EQ(ran.outcome.status, OutcomeStatus::kExited) << ran.outcome.reason;
  EXPECT_NE(ran.output.find("-x and more|./two|a|b c||"), std::string::npos)
      << ran.output;
  EXPECT_NE(ran.output.find("plain x\ngone\nempty\n"), std::string::npos)
      << ran.output;
  const Ran many = Bash(
      "perl -e '$0 = \"renamed\"; system(\"true\") for 1 .. 20'; "
      "python3 -c 'import subprocess; [subprocess.run([\"true\"]) for i in "
      "range(20)]'; for i in $(seq 30); do bash -c : & done; wait; echo done");
  EXPECT_EQ(many.outcome.status, OutcomeStatus::kExited) << many.outcome.reason;
  EXPECT_NE(many.output.find("done"), std::string::npos) << many.output;
  EXPECT_TRUE(many.outcome.violations.empty());
}

}  // namespace
}  // namespace gate::backends
