#include <gtest/gtest.h>

#include "backends/backend.h"
#include "backends/environment.h"
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
                            "GIT_TEST_FSMONITOR=./x",
                            "GREP=./x",
                            "MAGIC=./x",
                            "APT_CONFIG=./x",
                            "RPM_CONFIGDIR=./x",
                            "DPKG_PAGER=./x",
                            "NODE_COMPILE_CACHE=./x",
                            "GIT_TEXTDOMAINDIR=./x",
                            "LESS=+!x",
                            "LESS=-ox",
                            "LESSECHO=./x",
                            "GROFF_BIN_PATH=./x",
                            "SCREENRC=./x",
                            "LESSHISTFILE=/x",
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

// What builds need has a harmless form, and only that one enters.
TEST(CleanEnvironment, LetsToolsOfBuildsInByTheirHarmlessForms) {
  struct Case {
    const char* name;
    std::vector<const char*> enter, stay;
  };
  const std::vector<const char*> java = {
      "",
      "-Xmx2g",
      "-Xms512m -Xmx4G -XX:+UseG1GC -XX:MaxMetaspaceSize=1g",
      "-Dfile.encoding=UTF-8 -Dorg.gradle.daemon=false",
      "--add-opens=java.base/java.lang=ALL-UNNAMED",
      "-Dhttp.proxyHost=proxy.local -Dhttp.proxyPort=3128"};
  const std::vector<const char*> evil_java = {"-javaagent:/x.jar",
                                              "-Xmx2g -cp x",
                                              "@file",
                                              "-XX:OnError=sh",
                                              "-XX:Flags=/x",
                                              "-Dmaven.ext.class.path=x.jar",
                                              "-Dmaven.repo.local=/x",
                                              "-Dfile.encoding=$(x)",
                                              "-Xbootclasspath/a:x",
                                              "-Xmx2g\n-javaagent:x"};
  const std::vector<const char*> wrappers = {"", "sccache", "ccache",
                                             "/home/u/.cargo/bin/sccache"};
  const std::vector<const char*> evil_wrappers = {
      "./sccache", "x", "sh -c x", "/x/../sccache/x", "sccache x"};
  for (const Case& c : std::vector<Case>{
           {"MAVEN_OPTS", java, evil_java},
           {"GRADLE_OPTS", java, evil_java},
           {"SBT_OPTS", java, evil_java},
           {"RUSTC_WRAPPER", wrappers, evil_wrappers},
           {"CCACHE_PREFIX", wrappers, evil_wrappers},
           {"CMAKE_C_COMPILER_LAUNCHER", wrappers, evil_wrappers},
           {"CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER",
            {"aarch64-linux-gnu-gcc", "clang-17", "lld", "gcc-12"},
            {"./gcc", "/x/gcc", "x", "gcc x", "egcc", "-17"}},
           {"CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
            {"qemu-aarch64 -L /usr/aarch64-linux-gnu", "wine"},
            {"sh -c x", "./qemu-x", "wine x.exe; y", "node x.js", "/x"}},
           {"PIP_CONFIG_FILE", {"/dev/null"}, {"/x", "pip.conf"}},
           {"BAT_PAGER", {"", "cat"}, {"less -R; x", "/x"}}}) {
    for (const std::string value : c.enter)
      EXPECT_TRUE(Enters(c.name + ("=" + value))) << c.name << "=" << value;
    for (const std::string value : c.stay)
      EXPECT_FALSE(Enters(c.name + ("=" + value))) << c.name << "=" << value;
  }
}

// Programs that were never heard of call theirs by one of these words.
TEST(CleanEnvironment, KeepsSecretsOutByAnyUsualWord) {
  for (const char* entry : {"DB_PSWD=x",
                            "PSWD=x",
                            "ADMINPSWD=x",
                            "APP_PASSWRD=x",
                            "PSW=x",
                            "COOKIE_SIGNING=x",
                            "SIGNING=x",
                            "JWT_SIGNING_V2=x",
                            "WEBHOOK_HMAC=x",
                            "HMAC=x",
                            "HMAC_SHA256=x",
                            "APP_SALT=x",
                            "PEPPER=x",
                            "PASSKEY=x",
                            "PASSPHRASE=x",
                            "WIFI_PSK=x",
                            "CREDENTIAL=x",
                            "SERVICE_CREDENTIALS_JSON=x",
                            "RSA_PRIVATE=x",
                            "ED25519_PRIV=x",
                            "PRIVKEY=x",
                            "OTP=123456",
                            "TOTP_SEED=x",
                            "HOTP=x",
                            "JWT=x",
                            "BEARER=x",
                            "SESSION_COOKIE=x",
                            "SESSION_KEY=x",
                            "SESSIONID=x",
                            "SENTRY_DSN=https://k@s/1",
                            "DB_CONNECTION_STRING=x",
                            "STORAGE_ACCOUNTKEY_1=x",
                            "CONNECTIONSTRING=x",
                            "ConnectionStrings__Main=Server=s;Password=x",
                            "SQL_CONNSTR=x",
                            "SQL_CONN_STR=x",
                            "DATABASE_URL=postgres://u:p@host/db",
                            "REDIS_URL=redis://:p@host:6379",
                            "API_TOKEN_2=x",
                            "TOKEN1=x",
                            "SIGNING_KEY_BASE64=x",
                            "ENCRYPTION_KEY_V2=x",
                            "DEPLOY_KEY_PEM=x",
                            "PASS1=x",
                            "db_pswd=x"})
    EXPECT_FALSE(Enters(entry)) << entry;
}

TEST(CleanEnvironment, LetsInWhatOnlyResemblesASecret) {
  for (const char* entry :
       {"CODE_SIGNING_ALLOWED=NO",
        "COMMIT_SIGNING=false",
        "SIGNING=0",
        "HMAC=on",
        "PRIVATE=true",
        "IS_PRIVATE=yes",
        "GOPRIVATE=example.org/team",
        "PRIVATE_REGISTRY_HOST=registry.local",
        "AUTH0_DOMAIN=example.eu.auth0.com",
        "RANDOM_SEED=42",
        "PYTHONHASHSEED=0",
        "DESALT=yes",
        "SALTED=x",
        "LANGUAGE_V2=en",
        "DATABASE_URL=postgres://host/db",
        "KEYMAP_JSON=x",
        "HASH=sha256",
        "BYPASS_CACHE=1",
        "COMPASS=north",
        "MAIL=mailto:me@example.org",
        "IMAGE=alpine:3.19@sha256:0123456789abcdef0123456789abcdef",
        "REMOTE=git@github.com:owner/repository.git",
        "ALIAS=npm:lodash@4.17.21",
        "DAPI=dapi-service-of-the-team",
        "URL=https://host:8443/a@b",
        "TIMES=12:30 45:10",
        "ANSIBLE_FORCE_COLOR=1",
        "SESSION_NAME=x",
        "R=r8_format_of_the_file",
        "LIST=/a/b:/c/d@2/bin",
        "XDG_SESSION_TYPE=tty",
        "XAI=xai-explains",
        "A=cion",
        "A=patches.0a1b",
        "A=ico-converter-tool",
        "A=glc_test",
        "A=NOTES.txt.gz",
        "A=csk-x vcp_x"})
    EXPECT_TRUE(Enters(entry)) << entry;
}

// Linear: an agent chooses the values.
TEST(CleanEnvironment, ReadsLongValuesOnce) {
  for (const char c : {'@', ':', 'a', ' ', '1'})
    CleanEnvironment({"A=" + std::string(1 << 20, c)}, {});
}

TEST(RawEnvironment, ChangesNothingThatTheLineMeans) {
  const std::vector<std::string> ordinary = {
      "PATH=/usr/bin", "HOME=/h",       "GITHUB_TOKEN=x", "SSH_AUTH_SOCK=/x",
      "TMPDIR=/t",     "PWD=/x",        "DISPLAY=:0",     "A=user:pw@host",
      "PAGER=less",    "DIRENV_DIFF=x", "KUBECONFIG=/k",  "LESS=-FRX",
      "LESS=FRX",      "LESSHISTFILE=-"};
  EXPECT_EQ(RawEnvironment(ordinary, /*approved=*/false), ordinary);
  for (const char* entry :
       {"BASH_ENV=/x", "ENV=/x", "BASH_FUNC_ls%%=() { x; }", "SHELLOPTS=xtrace",
        "BASHOPTS=extglob", "PS4=$(x)", "BASH_XTRACEFD=1", "CDPATH=/x",
        "GLOBIGNORE=*", "EXECIGNORE=*", "IFS=x", "BASH_LOADABLES_PATH=/x",
        "BASH_COMPAT=31", "POSIXLY_CORRECT=1", "PROMPT_COMMAND=x"}) {
    EXPECT_TRUE(RawEnvironment({entry}, false).empty()) << entry;
    EXPECT_TRUE(RawEnvironment({entry}, true).empty()) << entry;
  }
  for (const char* entry :
       {"LD_PRELOAD=/x.so", "GIT_EXTERNAL_DIFF=x", "GIT_CONFIG_COUNT=1",
        "GIT_DIR=/x", "RIPGREP_CONFIG_PATH=/x", "GIT_PAGER=/tmp/x",
        "LESSOPEN=|x", "GIT_TEST_FSMONITOR=./x", "GREP=./x", "MAGIC=./x",
        "APT_CONFIG=./x", "DPKG_PAGER=x", "LESS=+!x\n"}) {
    EXPECT_TRUE(RawEnvironment({entry}, false).empty()) << entry;
    EXPECT_EQ(RawEnvironment({entry}, true).size(), 1u)
        << entry << " is the person's, who was asked";
  }
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
  profile.network = Network::kOpen;
  EXPECT_EQ(CleanEnvironment({"A=old"}, profile),
            (std::vector<std::string>{"A=new", "LSAN_OPTIONS=detect_leaks=0"}));
}

// What cannot be reached is not tried for a minute.
TEST(CleanEnvironment, TemporaryFilesGoWhereCommandsWrite) {
  Profile profile;
  profile.write = {"/home/me/project"};
  const struct {
    const char *set, *inside;
  } cases[] = {
      {"TMPDIR=/home/me/project/tmp", "TMPDIR=/home/me/project/tmp"},
      {"TMPDIR=/run/user/1000", "TMPDIR=/tmp"},
      {"TMP=/home/me/project/../secret", "TMP=/tmp"},
      {"TEMP=tmp", "TEMP=/tmp"},
      {"TEMPDIR=", "TEMPDIR=/tmp"},
  };
  for (const auto& c : cases) {
    const auto clean = CleanEnvironment({c.set}, profile);
    EXPECT_EQ(std::count(clean.begin(), clean.end(), c.inside), 1) << c.set;
  }
  for (const std::string& entry : CleanEnvironment({"HOME=/home/me"}, profile))
    EXPECT_FALSE(entry.starts_with("TMP")) << entry;
}

TEST(CleanEnvironment, PackageManagersTryOnceWhereThereIsNoNetwork) {
  const auto with = [](const std::vector<std::string>& environment,
                       Network network, const std::string& entry) {
    Profile profile;
    profile.network = network;
    const std::vector<std::string> clean =
        CleanEnvironment(environment, profile);
    return std::count(clean.begin(), clean.end(), entry);
  };
  for (const std::string entry :
       {"npm_config_fetch_retries=0", "PIP_RETRIES=0", "CARGO_NET_RETRY=0"}) {
    const std::string name = entry.substr(0, entry.find('='));
    for (const Network network : {Network::kNone, Network::kLoopback}) {
      EXPECT_EQ(with({}, network, entry), 1) << entry;
      EXPECT_EQ(with({name + "=5"}, network, entry), 0) << entry;
      EXPECT_EQ(with({name + "=5"}, network, name + "=5"), 1) << entry;
    }
    for (const Network network : {Network::kDomains, Network::kOpen})
      EXPECT_EQ(with({}, network, entry), 0) << entry;
  }
  EXPECT_EQ(with({"NPM_CONFIG_FETCH_RETRIES=2"}, Network::kNone,
                 "npm_config_fetch_retries=0"),
            0);
}

TEST(CleanEnvironment, KeepsSanitizersFromLookingForLeaksWithoutPtrace) {
  const auto clean = [](const std::vector<std::string>& environment,
                        Profile profile = {}) {
    profile.network = Network::kOpen;
    return CleanEnvironment(environment, profile);
  };
  using Entries = std::vector<std::string>;
  EXPECT_EQ(clean({}), Entries{"LSAN_OPTIONS=detect_leaks=0"});
  EXPECT_EQ(clean({"LSAN_OPTIONS=exitcode=9"}),
            Entries{"LSAN_OPTIONS=exitcode=9:detect_leaks=0"});
  Profile named;
  named.environment_keep = {"LANG"};
  EXPECT_EQ(clean({"LANG=C", "LSAN_OPTIONS=x"}, named), Entries{"LANG=C"});
  Profile open;
  open.network = Network::kOpen;
  EXPECT_EQ(
      CleanEnvironment({"LSAN_OPTIONS=exitcode=9"}, open, Tracing::kEachOther),
      Entries{"LSAN_OPTIONS=exitcode=9"});
}

TEST(CleanEnvironment, DropsWhatIsNoVariable) {
  for (const char* entry : {"", "=x", "NOVALUE", "1A=x", "A-B=x", "A B=x"})
    EXPECT_FALSE(Enters(entry)) << entry;
}

// A secret enters for the program it belongs to; what runs other code for none.
TEST(CleanEnvironment, LentVariablesEnterUnlessTheyRunCode) {
  Profile profile;
  profile.environment_lend = {"AWS_SECRET_ACCESS_KEY",
                              "KUBECONFIG",
                              "LD_PRELOAD",
                              "BASH_ENV",
                              "PYTHONPATH",
                              "NODE_OPTIONS",
                              "BASH_FUNC_x%%",
                              "GH_TOKEN"};
  const std::vector<std::string> environment = {
      "AWS_SECRET_ACCESS_KEY=s", "AWS_SESSION_TOKEN=t", "KUBECONFIG=/k",
      "LD_PRELOAD=/x.so",        "BASH_ENV=/x",         "PYTHONPATH=/x",
      "NODE_OPTIONS=-r x",       "BASH_FUNC_x%%=() {"};
  const std::vector<std::string> clean = CleanEnvironment(environment, profile);
  const auto has = [&](const char* entry) {
    return std::find(clean.begin(), clean.end(), entry) != clean.end();
  };
  EXPECT_TRUE(has("AWS_SECRET_ACCESS_KEY=s"));
  EXPECT_TRUE(has("KUBECONFIG=/k"));
  for (size_t i = 1; i < environment.size(); ++i)
    if (i != 2) {
      EXPECT_FALSE(has(environment[i].c_str())) << environment[i];
    }
}

}  // namespace
}  // namespace gate::backends
