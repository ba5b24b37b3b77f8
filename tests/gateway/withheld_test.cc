// What a contained line that failed says it was kept from.
#include "gateway/withheld.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <nlohmann/json.hpp>

#include "base/file.h"

namespace gate::app {
namespace {

// A authorization as it is when a ticket's plan was run: the line is read
// again.
struct Case {
  ProcessFacts facts;
  Authorization authorization;
  backends::Outcome outcome;
};

Case Make(const std::string& command) {
  Case made;
  made.facts.home = "/home/dev";
  made.facts.environment = {"PATH=/usr/bin:/bin", "HOME=/home/dev",
                            "DEPLOY_TOKEN=ghp_0123456789abcdefghij",
                            "EDITOR=vi"};
  made.authorization.request.command = command;
  made.authorization.request.cwd = "/home/dev/p";
  made.authorization.plan.mode = router::Mode::kSandbox;
  made.authorization.plan.backend = "native";
  backends::Profile& profile = made.authorization.plan.profile;
  profile.workspace = "/home/dev/p";
  profile.write = {"/home/dev/p"};
  profile.deny_read = {"/etc"};  // something that is there on every machine
  profile.protect = {"/home/dev/p/.git/hooks"};
  profile.protect_names = {".bashrc"};
  profile.private_tmp = "/state/tmp";
  made.outcome.status = backends::OutcomeStatus::kExited;
  made.outcome.exit_code = 1;
  return made;
}

std::string Said(Case made) {
  FillWithheld(made.facts, made.authorization, &made.outcome);
  std::string said;
  for (const std::string& line : WithheldLines(made.outcome))
    said += line + "\n";
  return said;
}

TEST(WithheldTest, NamesWhatTheLineTouchedAndOneWayOn) {
  const std::pair<const char*, const char*> kRows[] = {
      {"cat /etc/passwd", "withheld /etc/passwd (credentials)"},
      {"grep -r x /etc/passwd src", "withheld /etc/passwd"},
      {"make < /etc/passwd", "withheld /etc/passwd"},
      {"touch ../q", "withheld writing ~/q; instead: write below ~/p"},
      {"git config --global alias.st status",
       "withheld writing ~/.gitconfig; instead: "},
      {"rm -rf /srv/old", "withheld writing /srv/old"},
      {"cp a /opt/a", "withheld writing /opt/a"},
      {"mv a ~/b", "withheld writing ~/b"},
      {"chmod 600 ~/c", "withheld writing ~/c"},
      {"echo x > ~/d", "withheld writing ~/d"},
      {"echo x >> .git/hooks/pre-commit",
       "withheld changing ~/p/.git/hooks/pre-commit"},
      {"echo x > sub/.bashrc", "withheld changing ~/p/sub/.bashrc"},
      {"curl https://example.org/x", "withheld the network (example.org"},
      {"wget http://example.org:8080/x",
       "withheld the network (example.org:8080)"},
      {"python3 -c 'import socket; "
       "socket.create_connection((\"192.0.2.1\", 80))'",
       "withheld the network (192.0.2.1:80)"},
      {"sudo ls", "withheld the rights of root"},
      {"sudo ls", "instead: ask the person to run it: sudo ls"},
      {"./deploy \"$DEPLOY_TOKEN\"", "withheld the variable DEPLOY_TOKEN"},
      {"./deploy ${DEPLOY_TOKEN:?}", "withheld the variable DEPLOY_TOKEN"},
      {"cat /etc/passwd > ~/e", "writing ~/e, /etc/passwd (credentials)"},
      {"curl http://localhost:3000/",
       "withheld this machine's localhost:3000 and what an earlier line"},
      {"curl -sf http://127.0.0.1:8080/ || exit 3", "127.0.0.1:8080"},
      {"psql -h localhost -p 5433 -c 'select 1'", "this machine's localhost"},
      {"curl http://[::1]:3000/", "instead: start the server and ask it in"},
  };
  for (const auto& [line, part] : kRows) {
    const std::string said = Said(Make(line));
    EXPECT_NE(said.find(part), std::string::npos) << line << ": " << said;
    EXPECT_NE(said.find("; instead: "), std::string::npos) << line;
  }
}

TEST(WithheldTest, SaysNothingWhereNothingOfTheLineIsWithheld) {
  for (const char* line :
       {"false", "grep -q x src/a.c", "make test", "cat missing", "touch a/b",
        "echo x > build/out", "echo x > /dev/null", "cat /usr/share/missing",
        "python3 -m http.server 3000 & curl http://localhost:3000/",
        "curl http://127.0.0.1:8080/ & wait", "cat /tmp/not-there",
        "echo $DEPLOY_TOKENS", "echo $EDITOR; false"})
    EXPECT_EQ(Said(Make(line)), "") << line;
  Case made = Make("touch ../q");
  made.outcome.exit_code = 0;
  EXPECT_EQ(Said(made), "");
  made = Make("touch ../q");
  made.authorization.plan.mode = router::Mode::kDirect;
  EXPECT_EQ(Said(made), "");
  made = Make("curl https://example.org/");
  made.authorization.plan.profile.network = backends::Network::kOpen;
  EXPECT_EQ(Said(made), "");
}

TEST(WithheldTest, WhatIsGuessedSaysSo) {
  for (const auto& [line, code] : {std::pair("git fetch origin", 128),
                                   std::pair("git clone git@h:a/b", 128)}) {
    Case made = Make(line);
    made.outcome.exit_code = code;
    FillWithheld(made.facts, made.authorization, &made.outcome);
    ASSERT_EQ(made.outcome.hints.size(), 1u) << line;
    EXPECT_TRUE(made.outcome.hints[0].starts_with("probably ")) << line;
    EXPECT_TRUE(made.outcome.violations.empty());
    EXPECT_EQ(made.outcome.exit_code, code);
  }
  Case open = Make("git push origin nothing");
  open.authorization.plan.profile.network = backends::Network::kOpen;
  EXPECT_EQ(Said(open), "") << "it did not end as git does without a login";
}

TEST(WithheldTest, WhatACommandStartedIsToldFromTheKernelsCounters) {
  Case made = Make("make test");
  made.outcome.tried_to_leave = true;
  EXPECT_NE(Said(made).find("withheld the network, which something of it"),
            std::string::npos);
  // Named once where the line names the host.
  made = Make("curl https://example.org/");
  made.outcome.tried_to_leave = true;
  EXPECT_EQ(Said(made).find("something of it"), std::string::npos);
}

// A server of an earlier line, on the host's network: it ended with that line.
TEST(WithheldTest, AServerThatIsNotThereAnyMoreIsAGuess) {
  const Fd held(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* name = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(held.get(), name, size), 0);
  ASSERT_EQ(getsockname(held.get(), name, &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const auto said = [&](const std::string& line) {
    Case made = Make(line);
    made.authorization.plan.profile.network = backends::Network::kOpen;
    return Said(std::move(made));
  };
  const std::string ask = "curl -sS http://localhost:" + port + "/";
  EXPECT_EQ(
      said(ask),
      "probably a server of an earlier line is meant: nothing listens on "
      "port " +
          port +
          ", and a server that a contained line leaves behind is in another "
          "network; instead: start the server and ask it in one line, or tell "
          "the "
          "person\n");
  EXPECT_EQ(said("python3 -m http.server " + port + " & " + ask), "");
  // Where something listens, the line failed of something else.
  ASSERT_EQ(listen(held.get(), 1), 0);
  EXPECT_EQ(said(ask), "");
}

// What is left in the background is missed by a later line only, so the line
// that left it is told, whatever its exit code.
TEST(WithheldTest, WhatALineLeavesInTheBackgroundIsTold) {
  const auto said = [](const std::string& line, const char* backend,
                       uint64_t left, uint16_t port = 0, int code = 0) {
    Case made = Make(line);
    made.authorization.plan.backend = backend;
    made.outcome.exit_code = code;
    made.outcome.left_running = left;
    made.outcome.left_listening = port;
    return Said(std::move(made));
  };
  constexpr const char* kStep =
      "; instead: run what needs it in the same line, or let the person start "
      "it in a terminal of their own\n";
  const std::string one =
      std::string(
          "withheld running on in the background: 1 process that the line left "
          "was ended with it") +
      kStep;
  for (const char* line :
       {"python3 -m http.server 8000 &", "npm run dev & sleep 2",
        "nohup node a.js > log 2>&1 &", "(sleep 30 &); echo ok",
        "cd sub && ./serve & disown", "setsid ./serve", "setsid -f ./serve",
        "nohup ./serve", "tmux new -d ./serve", "screen -dm ./serve",
        "if true; then ./serve & fi", "f() { ./serve & }; f",
        "pkill -f vite; npm run dev &", "bash -c './serve & true'",
        "sh -c \"npm start &\"", "eval './serve &'",
        "pkill -f vite; npm run dev & sleep 3", "./a & kill -0 $!"}) {
    EXPECT_EQ(said(line, "native", 1), one) << line;
    EXPECT_EQ(said(line, "native", 0), "") << line;
  }
  const std::string two = said("./a & ./b &", "native", 2);
  EXPECT_NE(two.find(": 2 processes that the line left were ended"),
            std::string::npos)
      << two;
  EXPECT_EQ(said("./a & exit 3", "native", 1, 0, 3), one);
  // Of a port it says which one, elsewhere; not of a line that failed.
  EXPECT_EQ(said("./serve & sleep 1", "native", 1, 8000), "");
  EXPECT_EQ(said("./serve & exit 3", "native", 1, 8000, 3), one);
  // A program's own helpers and daemons.
  for (const char* line : {"./gradlew build", "make -j2 && ./test", "ls 2>&1",
                           "bash -c 'make && ls'", "echo 'a & b'",
                           // What was told to end may still be there.
                           "./a & sleep 2; curl localhost:3000; kill %1",
                           "./a & pid=$!; make && kill $pid",
                           "./a & ./b & wait", "./a & sleep 1 && pkill -f a"})
    EXPECT_EQ(said(line, "native", 1), "") << line;
  // Of backends that do not count it is a guess.
  const std::string guess =
      std::string(
          "probably what the line left in the background ended with it") +
      kStep;
  for (const char* line : {"python3 -m http.server 8000 &", "./a & sleep 2",
                           "(./a &); echo ok", "pkill -f a; ./a &"})
    EXPECT_EQ(said(line, "bwrap", 0), guess) << line;
  for (const char* line : {"./a & sleep 2; curl localhost:3000; kill %1",
                           "./a & ./b & wait", "make", "ls && ls", "ls 2>&1"})
    EXPECT_EQ(said(line, "bwrap", 0), "") << line;
}

TEST(WithheldTest, IsAtMostThreeLinesOfPlainText) {
  std::string line = "cat";
  for (int i = 0; i < 50; ++i) line += " > ~/f" + std::to_string(i);
  const std::string many = Said(Make(line));
  EXPECT_LT(many.size(), 400u) << many;
  const std::string odd = Said(Make("touch $'../a\\n\\e[31mb'"));
  EXPECT_EQ(odd.find('\x1b'), std::string::npos) << odd;
  EXPECT_EQ(std::ranges::count(odd, '\n'), 1) << odd;
}

}  // namespace
}  // namespace gate::app
