#include <gtest/gtest.h>

#include "backends/backend.h"
#include "tests/backends/hostile_environment.h"

namespace gate::backends {
namespace {

bool Enters(const std::string& entry, const Profile& profile = {}) {
  const std::vector<std::string> clean = CleanEnvironment({entry}, profile);
  return !clean.empty() && clean[0] == entry;
}

TEST(CleanEnvironment, LetsOrdinaryVariablesIn) {
  for (const char* entry :
       {"PATH=/usr/bin", "HOME=/home/u",  "LANG=C",
        "LC_ALL=C",      "TERM=xterm",    "TZ=UTC",
        "CC=clang",      "CFLAGS=-O2",    "VIRTUAL_ENV=/v",
        "CI=1",          "NO_COLOR=1",    "TOKENIZERS_PARALLELISM=false",
        "KEYBOARD=us",   "MONKEY=1",      "http_proxy=http://proxy:3128",
        "EMPTY=",        "GIT_PAGER=cat", "PAGER=less",
        "EDITOR=true",   "AUTHOR=me"})
    EXPECT_TRUE(Enters(entry)) << entry;
}

TEST(CleanEnvironment, KeepsOutWhatMakesProgramsRunOtherCode) {
  for (const char* entry : {"LD_PRELOAD=/x.so",
                            "LD_LIBRARY_PATH=/x",
                            "BASH_ENV=/x",
                            "ENV=/x",
                            "BASH_FUNC_ls%%=() { x; }",
                            "PROMPT_COMMAND=x",
                            "IFS=x",
                            "PYTHONSTARTUP=/x",
                            "PYTHONPATH=/x",
                            "NODE_OPTIONS=--require=x",
                            "PERL5OPT=-Mx",
                            "RUBYOPT=-rx",
                            "JAVA_TOOL_OPTIONS=-javaagent:x",
                            "GIT_SSH_COMMAND=x",
                            "GIT_EXTERNAL_DIFF=x",
                            "GIT_CONFIG_COUNT=1",
                            "GIT_CONFIG_KEY_0=core.pager",
                            "GIT_EXEC_PATH=/x",
                            "LESSOPEN=|x %s",
                            "PAGER=/tmp/x",
                            "EDITOR=sh -c x",
                            "DYLD_INSERT_LIBRARIES=x"})
    EXPECT_FALSE(Enters(entry)) << entry;
}

TEST(CleanEnvironment, KeepsEveryHostileVariableOut) {
  for (const std::string& entry : HostileEnvironment())
    EXPECT_FALSE(Enters(entry)) << entry;
}

TEST(CleanEnvironment, KeepsHarmlessFlagsOfMakeAndHarmlessUrls) {
  for (const char* entry :
       {"MAKEFLAGS=-j8", "MAKEFLAGS= -k -j4",
        "PIP_INDEX_URL=https://host/simple", "REPO=ssh://git@github.com/a/b",
        "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1", "NODE_ENV=test",
        "JAVA_HOME=/usr/lib/jvm", "GOPATH=/go", "RUBY_VERSION=3",
        "GIT_AUTHOR_NAME=me", "TASK=task-runner-with-a-long-name",
        "P=/home/me/sk-learn-project"})
    EXPECT_TRUE(Enters(entry)) << entry;
  EXPECT_FALSE(Enters("MAKEFLAGS=--eval=$(shell x)"));
}

TEST(CleanEnvironment, KeepsOutDoorsToTheHost) {
  for (const char* entry :
       {"SSH_AUTH_SOCK=/x", "DBUS_SESSION_BUS_ADDRESS=unix:x",
        "XDG_RUNTIME_DIR=/run/user/1", "DOCKER_HOST=unix:///x", "KUBECONFIG=/x",
        "DISPLAY=:0", "TMPDIR=/scratch", "TMUX=/x"})
    EXPECT_FALSE(Enters(entry)) << entry;
}

TEST(CleanEnvironment, KeepsOutWhatIsCalledASecret) {
  for (const char* entry :
       {"GITHUB_TOKEN=x", "OPENAI_API_KEY=x", "AWS_SECRET_ACCESS_KEY=x",
        "AWS_ACCESS_KEY_ID=x", "DB_PASSWORD=x", "PGPASSWORD=x", "MYSQL_PWD=x",
        "npm_config__auth=x", "STRIPE_KEY=x", "GH_PAT=x", "api_key=x",
        "SENTRY_DSN=x", "CLIENT_SECRET=x", "COOKIE=x"})
    EXPECT_FALSE(Enters(entry)) << entry;
}

TEST(CleanEnvironment, KeepsOutWhatLooksLikeASecret) {
  for (const char* entry :
       {"A=ghp_0123456789abcdefghij", "A=sk-0123456789abcdef012345",
        "A=AKIA0123456789ABCDEF", "A=-----BEGIN PRIVATE KEY-----",
        "A=postgres://user:pw@host/db", "A=https://u:p@registry/"})
    EXPECT_FALSE(Enters(entry)) << entry;
}

TEST(CleanEnvironment, ANamedListReplacesTheDefaultButNotTheNever) {
  Profile profile;
  profile.environment_keep = {"OPENAI_API_KEY", "LD_PRELOAD"};
  EXPECT_TRUE(Enters("OPENAI_API_KEY=x", profile));
  EXPECT_FALSE(Enters("LD_PRELOAD=x", profile));
  EXPECT_FALSE(Enters("LANG=C", profile));
}

TEST(CleanEnvironment, SetValuesReplaceThoseOfTheCaller) {
  Profile profile;
  profile.environment_set = {{"A", "new"}, {"LD_PRELOAD", "x"}, {"B=C", "x"}};
  EXPECT_EQ(CleanEnvironment({"A=old"}, profile),
            (std::vector<std::string>{"A=new", "LSAN_OPTIONS=detect_leaks=0"}));
}

// Looking for leaks needs ptrace, which no sandbox gives.
TEST(CleanEnvironment, KeepsSanitizersFromLookingForLeaks) {
  const auto clean = [](std::vector<std::string> environment,
                        const Profile& profile = {}) {
    return CleanEnvironment(environment, profile);
  };
  using Entries = std::vector<std::string>;
  EXPECT_EQ(clean({}), Entries{"LSAN_OPTIONS=detect_leaks=0"});
  EXPECT_EQ(clean({"LSAN_OPTIONS=exitcode=9"}),
            Entries{"LSAN_OPTIONS=exitcode=9:detect_leaks=0"});
  Profile named;
  named.environment_keep = {"LANG"};
  EXPECT_EQ(clean({"LANG=C", "LSAN_OPTIONS=x"}, named), Entries{"LANG=C"});
}

TEST(CleanEnvironment, DropsWhatIsNoVariable) {
  for (const char* entry : {"", "=x", "NOVALUE", "1A=x", "A-B=x", "A B=x"})
    EXPECT_FALSE(Enters(entry)) << entry;
}

}  // namespace
}  // namespace gate::backends
