// What programs need that no line names.
#include "gateway/runs/withheld_programs.h"

#include <gtest/gtest.h>

#include "gateway/withheld.h"
#include "parser/analysis.h"
#include "tests/support/agent_home.h"

namespace gate::app {
namespace {

using test::AgentHome;

parser::Context In(const std::string& cwd) {
  parser::Context context;
  context.cwd = cwd;
  context.home = "/home/dev";
  return context;
}

std::string Said(const std::string& command, int exit_code,
                 const std::string& cwd,
                 const std::string& backend = "native") {
  ProcessFacts facts;
  facts.home = "/home/dev";
  Authorization authorization;
  authorization.request.command = command;
  authorization.request.cwd = cwd;
  authorization.plan.mode = router::Mode::kSandbox;
  authorization.plan.backend = backend;
  authorization.plan.profile.workspace = cwd;
  authorization.plan.profile.write = {cwd};
  backends::Outcome outcome;
  outcome.status = backends::OutcomeStatus::kExited;
  outcome.exit_code = exit_code;
  FillWithheld(facts, authorization, &outcome);
  std::string said;
  for (const std::string& line : WithheldLines(outcome)) said += line + "\n";
  return said;
}

TEST(WithheldProgramsTest, AGuessNamesTheProgramAndSendsToThePerson) {
  const std::pair<const char*, const char*> kRows[] = {
      {"rr record ./prog", "perf_event_open"},
      {"podman images", "user namespaces"},
      {"buildah bud .", "user namespaces"},
      {"bwrap --bind / / true", "user namespaces"},
      {"firejail make", "user namespaces"},
      {"systemctl --user status", "sockets in /run"},
      {"systemd-run --user --scope make", "sockets in /run"},
      {"busctl list", "sockets in /run"},
      {"notify-send done", "sockets in /run"},
      {"xclip -o", "desktop"},
      {"echo x | wl-copy", "desktop"},
      {"crontab -l", "planned to run later"},
      {"ssh-add -l", "ssh agent"},
      {"gpg --detach-sign a", "keyring of gpg"},
      {"pass show x", "keyring of gpg"},
      {"cd sub && rr record make", "perf_event_open"},
  };
  for (const auto& [line, part] : kRows) {
    const std::string said = Said(line, 1, "/srv/p");
    EXPECT_TRUE(said.starts_with("probably ")) << line << ": " << said;
    EXPECT_NE(said.find(part), std::string::npos) << line << ": " << said;
    EXPECT_NE(said.find("; instead: tell the person"), std::string::npos)
        << line << ": " << said;
    EXPECT_EQ(Said(line, 0, "/srv/p"), "") << line;
  }
  for (const char* line : {"make test", "grep strace notes", "npm test",
                           "echo gdb; false", "valgrind ./prog"})
    EXPECT_EQ(Said(line, 1, "/srv/p"), "") << line;
}

TEST(WithheldProgramsTest, TracingIsMissedWhereABackendRefusesIt) {
  for (const char* line :
       {"strace -o trace.txt true; grep -c exit trace.txt", "ltrace ./prog",
        "gdb -q -batch -ex run ./prog | grep -c 3", "lldb -b -o run ./prog",
        "cd sub && strace -f make"}) {
    EXPECT_NE(Said(line, 1, "/srv/p", "bwrap").find("ptrace"),
              std::string::npos)
        << line;
    EXPECT_EQ(Said(line, 1, "/srv/p"), "") << line;
  }
}

TEST(WithheldProgramsTest, SshCarriesWhatNamesAnotherMachine) {
  const std::pair<const char*, bool> kRows[] = {
      {"ssh h true", true},
      {"scp a h:b", true},
      {"rsync -a web/ h:/srv/web/", true},
      {"rsync -a me@h:web/ web/", true},
      {"rsync -a -e 'ssh -p 22' web/ h:web", true},
      {"rsync -a web/ dist/", false},
      {"rsync -a web/ h::module", false},
      {"rsync -a rsync://h/module web/", false},
      {"rsync -a ./a:b dist/", false},
      {"rsync --out-format=%n:%l web/ dist/", false},
      {"curl h:80", false},
  };
  for (const auto& [line, by_ssh] : kRows) {
    const parser::Analysis analysis = parser::Analyze(line, In("/srv/p"));
    ASSERT_FALSE(analysis.invocations.empty()) << line;
    EXPECT_EQ(GoesBySsh(analysis.invocations.front()), by_ssh) << line;
  }
}

TEST(WithheldProgramsTest, APushNamesTheRepositoriesOfThisMachine) {
  AgentHome agent;
  const std::string at = agent.project();
  agent.Write(at + "/.git/HEAD", "ref: refs/heads/main\n");
  agent.Write(at + "/.git/objects/info/x", "");
  agent.Write(at + "/.git/refs/heads/x", "");
  agent.Write(at + "/.git/config",
              "[core]\n\trepositoryformatversion = 0\n"
              "[remote \"far\"]\n\turl = h:app.git\n"
              "[remote \"near\"]\n\turl = /srv/git/near.git\n"
              "[remote \"up\"]\n\turl = ../up.git\n"
              "[remote \"both\"]\n\turl = /srv/git/read.git\n"
              "\tpushurl = file:///srv/git/write.git\n");
  const std::string up = at.substr(0, at.rfind('/')) + "/up.git";
  const std::pair<const char*, std::vector<std::string>> kRows[] = {
      {"git push near main", {"/srv/git/near.git"}},
      {"git push -q --force near main", {"/srv/git/near.git"}},
      {"git push up", {up}},
      {"git push both HEAD", {"/srv/git/write.git"}},
      {"git push /srv/git/other.git main", {"/srv/git/other.git"}},
      {"git push file:///srv/git/other.git", {"/srv/git/other.git"}},
      {"git push ../up.git", {up}},
      {"git push", {"/srv/git/near.git", up, "/srv/git/write.git"}},
      {"git push far main", {}},
      {"git push h:other.git", {}},
      {"git push https://example.org/a/b", {}},
      {"git push nobody", {}},
      {"git pull near", {}},
      {"git stash push -m near", {}},
  };
  for (const auto& [line, places] : kRows) {
    const parser::Analysis analysis = parser::Analyze(line, In(at));
    ASSERT_FALSE(analysis.invocations.empty()) << line;
    EXPECT_EQ(PushedPlaces(analysis.invocations.front()), places) << line;
  }
  EXPECT_NE(
      Said("git push -q near main", 1, at).find("writing /srv/git/near.git"),
      std::string::npos);
}

}  // namespace
}  // namespace gate::app
