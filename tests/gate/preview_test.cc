// gate run --preview and gate pending, through the binary.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/machine.h"
#include "tests/support/must_work.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

class PreviewTest : public testing::Test {
 protected:
  void SetUp() override {
    machine_.Write(machine_.project() + "/package.json", "{}");
    const Done probe = machine_.Gate({"backends", "--json"});
    if (probe.out.find("\"overlay\"") == std::string::npos) {
      GATE_SKIP_WITHOUT("overlay")
          << "native makes no overlays here: " << probe.out;
    }
  }

  bool There(const std::string& name) const {
    return machine_.Exists(machine_.project() + "/" + name);
  }
  std::string Id() const {
    const std::string root = machine_.state() + "/previews";
    if (!machine_.Exists(root)) return "";
    for (const auto& entry : std::filesystem::directory_iterator(root))
      return entry.path().filename();
    return "";
  }

  std::pair<int, std::string> OnTerminal(
      const std::vector<std::string>& arguments, const std::string& answer) {
    return machine_.OnTerminal(arguments, answer);
  }
  static bool NoPerson(const std::string& shown) {
    return Machine::NoPerson(shown);
  }

  Machine machine_;
};

TEST_F(PreviewTest, WithoutATerminalItIsKeptAndNothingIsWritten) {
  const Done done =
      machine_.Gate({"run", "--preview", "-c", "echo a > a; exit 3"});
  EXPECT_EQ(done.exit_code, 3) << done.err;
  EXPECT_EQ(done.out, "");
  EXPECT_FALSE(There("a"));
  const std::string id = Id();
  ASSERT_FALSE(id.empty()) << done.err;
  EXPECT_NE(done.err.find("gate pending commit " + id), std::string::npos);
  const Done show = machine_.Gate({"pending", "show", id.substr(0, 20)});
  EXPECT_NE(show.out.find("/project/a"), std::string::npos) << show.out;
  const Done list = machine_.Gate({"pending", "--json"});
  EXPECT_NE(list.out.find("\"gate.preview/1\""), std::string::npos);
  EXPECT_NE(list.out.find("\"sha256\""), std::string::npos);
  // Nobody without a terminal of their own commits or discards it.
  EXPECT_EQ(machine_.Gate({"pending", "commit", id}).exit_code, 126);
  // An empty path is none, and not the directory this is called in.
  EXPECT_EQ(machine_.Gate({"pending", "commit", id, ""}).exit_code, 64);
  EXPECT_EQ(machine_.Gate({"pending", "commit", id, "a", ""}).exit_code, 64);
  EXPECT_EQ(machine_.Gate({"pending", "discard", id}).exit_code, 126);
  EXPECT_FALSE(There("a"));
  EXPECT_EQ(Id(), id);
}

TEST_F(PreviewTest, AutoCommitsOnlyWhatWouldHaveRunAnyway) {
  const Done done =
      machine_.Gate({"run", "--preview=auto", "-c", "echo a > a"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(machine_.Read(machine_.project() + "/a"), "a\n");
  EXPECT_EQ(Id(), "");
  const Done log = machine_.Gate({"audit", "list", "--json"});
  EXPECT_NE(log.out.find("the policy commits a preview"), std::string::npos);
  EXPECT_NE(log.out.find("\"manifest\""), std::string::npos);
  // An ask is refused as ever; nothing runs and nothing is kept.
  EXPECT_EQ(
      machine_
          .Gate({"run", "--preview=auto", "-c", "git push --force origin main"})
          .exit_code,
      126);
  EXPECT_EQ(Id(), "");
  // What is refused in it is a person's to see.
  machine_.Gate(
      {"run", "--preview=auto", "-c", "echo b > b; echo c > .bashrc"});
  EXPECT_FALSE(There("b"));
  EXPECT_FALSE(There(".bashrc"));
  EXPECT_NE(Id(), "");
}

TEST_F(PreviewTest, AModeThatIsNotOrdinaryIsInTheList) {
  const auto mode = [&](const char* name, unsigned bits) {
    const std::string path = machine_.project() + "/" + name;
    machine_.Write(path, "x\n", bits);
    std::filesystem::permissions(path, std::filesystem::perms(bits));
  };
  mode("key", 0600);
  mode("script", 0755);
  mode("only", 0644);
  const Done done = machine_.Gate(
      {"run", "--preview", "-c",
       "umask 022; echo more >> key; chmod 666 key; echo more >> script; "
       "chmod 600 only; echo 1 > plain; echo 2 > tool; chmod 755 tool; "
       "echo 3 > open; chmod 777 open; mkdir dir drop; chmod 1777 drop; "
       "ln -s key link; rm package.json; ln -s key package.json"});
  const Done show = machine_.Gate({"pending", "show", Id()});
  const std::string at = " " + machine_.project() + "/";
  for (const std::string& text : {done.err, show.out})
    for (const std::string& line :
         {"modified file" + at + "key (7 bytes) 0600 -> 0666",
          "modified file" + at + "script (7 bytes)",
          "mode file" + at + "only 0644 -> 0600",
          "added file" + at + "plain (2 bytes)",
          "added file" + at + "tool (2 bytes)",
          "added file" + at + "open (2 bytes) mode 0777",
          "added directory" + at + "dir",
          "added directory" + at + "drop mode 1777",
          "added link" + at + "link -> key",
          "modified link" + at + "package.json -> key"})
      EXPECT_NE(text.find("  " + line + "\n"), std::string::npos)
          << line << "\n"
          << text;
}

TEST_F(PreviewTest, AutoKeepsWhatDidNotEndByItself) {
  const std::string half = "echo half > f; ";
  const auto auto_run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "--preview=auto"});
    return machine_.Gate(arguments);
  };
  // Ended by a signal to gate, and what the command makes of it.
  const auto told = [&](const char* signal, const std::string& command) {
    return machine_.Run(
        {"bash", "-c",
         "coproc G { exec \"$1\" run --preview=auto -c \"$2\" 2>&1; }; "
         "p=$G_PID; "
         "exec {out}<&${G[0]}; read -r -u $out word; kill -$3 $p; "
         "cat <&$out; wait $p",
         "-", test::GateBinary(), command, signal});
  };
  const std::string wait = half + "echo ready; exec sleep 100";
  const std::string handles = half +
                              "trap 'exit 0' TERM; echo ready; while :; do "
                              "read -t 0.01 <> <(:); done";
  const struct {
    const char* name;
    Done done;
    int exit_code;
  } cases[] = {
      {"signal", auto_run({"-c", half + "kill -KILL $$"}), 137},
      {"wall clock", auto_run({"--timeout", "1", "-c", half + "sleep 100"}),
       124},
      {"limit",
       auto_run({"-c", half + "ulimit -f 1; exec head -c 99999 /dev/zero > g"}),
       153},
      {"SIGTERM", told("TERM", wait), 143},
      {"SIGINT", told("INT", wait), 130},
      {"SIGHUP", told("HUP", wait), 129},
      {"SIGTERM that is handled", told("TERM", handles), 0},
  };
  EXPECT_FALSE(There("f"));
  for (const auto& c : cases) {
    const std::string text = c.done.out + c.done.err;
    EXPECT_EQ(c.done.exit_code, c.exit_code) << c.name << "\n" << text;
    EXPECT_NE(text.find("did not end by itself"), std::string::npos)
        << c.name << "\n"
        << text;
    EXPECT_NE(text.find("gate pending commit "), std::string::npos)
        << c.name << "\n"
        << text;
  }
  // Its own end is whatever code it exits with.
  const Done done = auto_run({"-c", half + "exit 7"});
  EXPECT_EQ(done.exit_code, 7) << done.err;
  EXPECT_TRUE(There("f"));
}

TEST_F(PreviewTest, AllowedCommandsAreContainedToo) {
  machine_.Gate({"run", "--preview", "-c", "touch plain"});
  EXPECT_FALSE(There("plain"));
}

TEST_F(PreviewTest, APersonCommitsAPartAndTheRest) {
  machine_.Gate(
      {"run", "--preview", "-c", "mkdir d; echo 1 > d/a; echo 2 > b"});
  const std::string id = Id();
  auto [code, text] = OnTerminal({"pending", "commit", id, "d"}, "n");
  if (NoPerson(text))
    GATE_SKIP_WITHOUT("person") << "an agent runs this test: " << text;
  EXPECT_EQ(code, 126) << text;
  EXPECT_FALSE(There("d"));
  std::tie(code, text) = OnTerminal({"pending", "commit", id, "d"}, "y");
  EXPECT_EQ(code, 0) << text;
  EXPECT_TRUE(There("d/a"));
  EXPECT_FALSE(There("b"));
  std::tie(code, text) = OnTerminal({"pending", "commit", id}, "y");
  EXPECT_EQ(code, 0) << text;
  EXPECT_TRUE(There("b"));
  EXPECT_EQ(Id(), "");
}

TEST_F(PreviewTest, WhatIsCommittedAlreadyIsTold) {
  machine_.Gate({"run", "--preview", "-c",
                 "mkdir -p a/b/c; echo 1 > a/b/c/f; echo 2 > a/g; echo 3 > h; "
                 "echo 4 > .bashrc"});
  const std::string id = Id();
  auto [code, text] = OnTerminal({"pending", "commit", id, "a/b/c/f"}, "y");
  if (NoPerson(text))
    GATE_SKIP_WITHOUT("person") << "an agent runs this test: " << text;
  const std::string at = machine_.project() + "/";
  EXPECT_NE(text.find("only " + at + "a/b/c/f (and 3 new directories above)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("committed 4 of 7 changes"), std::string::npos) << text;
  EXPECT_EQ(code, 0) << text;
  const std::string show = machine_.Gate({"pending", "show", id}).out;
  EXPECT_NE(show.find(": 7 changes, 4 committed by"), std::string::npos);
  EXPECT_NE(show.find("added directory " + at + "a/b: committed already\n"),
            std::string::npos)
      << show;
  EXPECT_LT(show.find("added file " + at + "h (2 bytes)\n"),
            show.find("added file " + at + "a/b/c/f (2 bytes): committed"))
      << show;
  const std::string list = machine_.Gate({"pending"}).out;
  EXPECT_NE(list.find("7 changes, 4 committed, "), std::string::npos) << list;
  const std::string json = machine_.Gate({"pending", "--json"}).out;
  EXPECT_EQ(test::Count(json, "\"committed\":true"), 4u) << json;
  std::tie(code, text) = OnTerminal({"pending", "commit", id, "a/g"}, "y");
  EXPECT_NE(text.find("only " + at + "a/g"), std::string::npos) << text;
  EXPECT_EQ(text.find(" above)"), std::string::npos) << text;
  EXPECT_NE(text.find("committed 1 of 7 changes; 4 were before"),
            std::string::npos)
      << text;
  // What is left of it is refused, so it goes.
  std::tie(code, text) = OnTerminal({"pending", "commit", id, "h"}, "y");
  EXPECT_EQ(code, 0) << text;
  EXPECT_EQ(Id(), "");
}

TEST_F(PreviewTest, APathThatIsNotCommittedIsNoSuccess) {
  machine_.Gate(
      {"run", "--preview", "-c", "echo 1 > a; echo 2 > b; echo 3 > .bashrc"});
  const std::string id = Id();
  auto [code, text] = OnTerminal({"pending", "commit", id, "aa"}, "y");
  if (NoPerson(text))
    GATE_SKIP_WITHOUT("person") << "an agent runs this test: " << text;
  EXPECT_EQ(code, 64) << text;
  EXPECT_NE(text.find("/aa is not in the preview"), std::string::npos) << text;
  std::tie(code, text) = OnTerminal({"pending", "commit", id, "a", "aa"}, "y");
  EXPECT_EQ(code, 64) << text;
  EXPECT_FALSE(There("a"));
  std::tie(code, text) =
      OnTerminal({"pending", "commit", id, "a", ".bashrc"}, "y");
  EXPECT_EQ(code, 125) << text;
  EXPECT_NE(text.find(".bashrc is refused: a protected name"),
            std::string::npos)
      << text;
  EXPECT_FALSE(There("a"));
  std::tie(code, text) = OnTerminal({"pending", "commit", id, "a"}, "y");
  EXPECT_EQ(code, 0) << text;
  EXPECT_TRUE(There("a"));
  // It ended; nothing was interrupted.
  const Done list = machine_.Gate({"pending"});
  EXPECT_NE(list.out.find(id), std::string::npos) << list.out;
  EXPECT_EQ(list.out.find("interrupted"), std::string::npos) << list.out;
}

TEST_F(PreviewTest, TheQuestionShowsWhatAYesCommits) {
  machine_.Gate({"run", "--preview", "-c",
                 "mkdir -p d/e; echo 1 > d/e/zzz; echo 2 > d/other; for i in "
                 "$(seq 300); do echo > a$i; done"});
  const std::string id = Id();
  const auto [code, text] =
      OnTerminal({"pending", "commit", id, "d/e/zzz"}, "n");
  if (NoPerson(text))
    GATE_SKIP_WITHOUT("person") << "an agent runs this test: " << text;
  EXPECT_EQ(code, 126) << text;
  EXPECT_EQ(test::Count(text, "  added "), 3u) << text;
  EXPECT_NE(text.find("/d/e/zzz ("), std::string::npos) << text;
  EXPECT_NE(text.find("not chosen: 301 others"), std::string::npos) << text;
}

TEST_F(PreviewTest, OnATerminalItAsksAtOnce) {
  auto [code, text] = OnTerminal({"pending", "discard", "00000000"}, "");
  if (NoPerson(text))
    GATE_SKIP_WITHOUT("person") << "an agent runs this test: " << text;
  std::tie(code, text) =
      OnTerminal({"run", "--preview", "-c", "echo 1 > a; exit 4"}, "n");
  EXPECT_EQ(code, 4) << text;
  EXPECT_FALSE(There("a"));
  EXPECT_EQ(Id(), "");
  std::tie(code, text) =
      OnTerminal({"run", "--preview", "-c", "echo 1 > a; exit 4"}, "a");
  EXPECT_EQ(code, 4) << text;
  EXPECT_TRUE(There("a"));
  // As the answer to an ask.
  machine_.Write(machine_.project() + "/.gate/rules.d/t.json",
                 R"({"schema": 1, "pack": "t", "rules": [{"id": "t.ask",
                 "action": "ask", "match": {"prefix": ["touch"]},
                 "reason": "r"}]})");
  std::tie(code, text) = OnTerminal({"run", "-c", "touch asked"}, "pn");
  EXPECT_EQ(code, 0) << text;
  EXPECT_NE(text.find("Commit?"), std::string::npos) << text;
  EXPECT_FALSE(There("asked"));
  std::tie(code, text) = OnTerminal({"run", "-c", "touch asked"}, "pa");
  EXPECT_EQ(code, 0) << text;
  EXPECT_TRUE(There("asked"));
}

TEST_F(PreviewTest, AChangedManifestIsNotBelieved) {
  machine_.Gate({"run", "--preview", "-c", "echo a > a"});
  const std::string file = machine_.state() + "/previews/" + Id() + "/manifest";
  std::string text = machine_.Read(file);
  ASSERT_FALSE(text.empty());
  text[text.size() - 20] ^= 1;
  machine_.Write(file, text, 0600);
  EXPECT_EQ(machine_.Gate({"pending", "show", Id()}).exit_code, 1);
  EXPECT_EQ(machine_.Gate({"pending"}).out, "nothing waits\n");
}

TEST_F(PreviewTest, TheStoreIsClosedToOthers) {
  machine_.Gate({"run", "--preview", "-c", "echo a > a"});
  const std::string place = machine_.state() + "/previews/" + Id();
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(place).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(place + "/manifest").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  const Done inside =
      machine_.Gate({"sandbox", "-c", "ls ~/.local/state/gate/previews; true"});
  EXPECT_EQ(inside.out, "");
}

TEST_F(PreviewTest, ExpiredPreviewsGo) {
  machine_.Gate({"run", "--preview", "-c", "mkdir -p a/b; chmod 0 a/b"});
  const std::string old = Id();
  const std::string place = machine_.state() + "/previews/" + old;
  const Done set = machine_.Run({"touch", "-d", "2 days ago", place});
  ASSERT_EQ(set.exit_code, 0);
  machine_.Gate({"run", "--preview", "-c", "echo a > a"});
  EXPECT_NE(Id(), old);
  EXPECT_FALSE(machine_.Exists(place));
}

TEST_F(PreviewTest, OnlyABackendWithOverlaysRunsIt) {
  const Done done = machine_.Gate(
      {"run", "--preview", "--backend", "bwrap", "-c", "echo a > a"});
  EXPECT_TRUE(done.exit_code == 126 || done.exit_code == 125) << done.err;
  EXPECT_FALSE(There("a"));
  EXPECT_EQ(Id(), "");
  EXPECT_EQ(machine_.Gate({"sandbox", "--preview", "-c", "true"}).exit_code,
            64);
}

TEST_F(PreviewTest, AHookKeepsTheAgentsPreview) {
  const std::string event = "{\"command\":\"" + test::GateBinary() +
                            " run --preview -c 'echo a > a'\",\"cwd\":\"" +
                            machine_.project() + "\"}";
  const Done hook = machine_.Gate({"hook", "generic"}, event);
  EXPECT_EQ(hook.exit_code, 0) << hook.err;
  EXPECT_NE(hook.out.find(" run --preview --ticket "), std::string::npos)
      << hook.out;
}

}  // namespace
}  // namespace gate
