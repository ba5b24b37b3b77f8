// An allowed line runs raw. So it may neither run nor read what the line does
// not name, whatever the files of the workspace are: each of these lines did,
// with the files that stand beside it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Machine;
using test::MakeRepository;

constexpr int kAllow = 0;

int Check(const Machine& machine, const std::string& line) {
  return machine.Gate({"check", "-c", line}).exit_code;
}

void Link(const std::string& target, const std::string& path) {
  std::filesystem::create_directories(
      std::filesystem::path(path).parent_path());
  std::filesystem::create_symlink(target, path);
}

TEST(RawTest, GitOfAnotherDirectoryIsJudgedWhereTheKernelFindsIt) {
  const Machine machine;
  const std::string& project = machine.project();
  MakeRepository(project + "/.git");
  MakeRepository(project + "/nest" + "/.git", "\tfsmonitor = ./evil\n");
  machine.Write(project + "/nest/deep/a.txt", "a");
  machine.Write(project + "/a.txt", "a");
  Link("nest/deep", project + "/link");
  for (const char* line :
       {"git status", "git -C . log", "cd link/.. && git status"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
  for (const char* line : {"git -C nest status", "git -C link/.. status",
                           "env -C link/.. git status", "cd nest && git status",
                           "find . -name a.txt -execdir git status \\;",
                           // A program that stands beside what is found.
                           "find . -name a.txt -execdir ./cat a.txt \\;"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
}

TEST(RawTest, ARepositoryInGatesOwnDirectoryIsContained) {
  const Machine machine;
  MakeRepository(machine.project() + "/.git");
  EXPECT_EQ(Check(machine, "git status"), kAllow);
  const std::string place = machine.state() + "/sessions/s/tmp/tmp/g";
  MakeRepository(place + "/.git");
  const std::string commondir = machine.project() + "/.git/commondir";
  machine.Write(commondir, place + "/.git\n");
  EXPECT_NE(Check(machine, "git status"), kAllow);
  std::filesystem::remove(commondir);
  EXPECT_EQ(Check(machine, "git status"), kAllow);
  std::filesystem::remove_all(machine.project() + "/.git");
  machine.Write(machine.project() + "/.git", "gitdir: " + place + "/.git\n");
  EXPECT_NE(Check(machine, "git status"), kAllow);
}

TEST(RawTest, GitThatMayCompareFilesOutsideOfTheRepositoryIsContained) {
  const Machine machine;
  const std::string& project = machine.project();
  machine.Write(project + "/a.txt", "a");
  machine.Write(project + "/b.txt", "b");
  // Without a repository two operands are two files, links among them.
  EXPECT_NE(Check(machine, "git diff a.txt b.txt"), kAllow);
  MakeRepository(project + "/.git");
  machine.Write(project + "/sub/c.txt", "c");
  for (const char* line :
       {"git diff", "git diff a.txt b.txt", "git diff HEAD~1 HEAD -- *.txt",
        "git diff main...topic", "cd sub && git diff HEAD ../a.txt"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
  for (const char* line :
       {"git diff ~/.netrc /dev/null", "git diff -- /dev/null /etc/hostname",
        "git diff ../x ../y", "git diff \"$A\" \"$B\"", "git diff .* x",
        "cd .git && git diff HEAD config", "cd /tmp && git diff a b"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
}

TEST(RawTest, ARepositoryThatLeadsOutOfItselfIsContained) {
  for (const char* config :
       {"[blame]\nignoreRevsFile = /home/x/.netrc\n",
        "[mailmap]\nfile = ../x\n", "[extensions]\npartialClone = origin\n",
        "[remote \"origin\"]\npromisor = true\n", "[diff]\nsubmodule = diff\n",
        "[remote \"o\"]\nurl = https://h/r\npartialclonefilter = blob:none\n",
        "[remote \"o\"]\nPartialCloneFilter =\n",
        "[remote.O]\npartialclonefilter = tree:0\n",
        "[status]\nsubmoduleSummary = true\n", "[alias]\nlfs = reset --hard\n",
        "[alias]\nx = grep -O./evil y\n", "[log]\nshowSignature = true\n",
        "[log]\nshowSignature\n", "[gpg]\nformat = x509\n",
        "[gpg \"ssh\"]\nrevocationFile = x\n", "[format]\npretty = %h%+GS\n",
        "[pretty]\nx = \"%h % G?\"\n", "[tag]\nsort = -signature:key\n"}) {
    const Machine machine;
    MakeRepository(machine.project() + "/.git", config);
    EXPECT_NE(Check(machine, "git log"), kAllow) << config;
  }
  for (const char* config :
       {"[remote \"origin\"]\nurl = https://h/r\n[branch \"m\"]\nremote = "
        "origin\n",
        "[alias]\nst = status -sb\n", "[diff]\nalgorithm = histogram\n",
        "[user]\nname = x\n", "[log]\nshowSignature = false\n",
        "[format]\npretty = oneline\n[pretty]\nx = %h %s\n"}) {
    const Machine machine;
    MakeRepository(machine.project() + "/.git", config);
    EXPECT_EQ(Check(machine, "git log"), kAllow) << config;
  }
}

TEST(RawTest, GitThatChecksSignaturesIsContained) {
  const Machine machine;
  MakeRepository(machine.project() + "/.git");
  for (const char* line :
       {"git verify-commit HEAD", "git verify-tag v1",
        "git log --show-signature", "git log --format='%h %G?'",
        "git show -s --pretty=%+GS", "git rev-list --format=%-GK HEAD",
        "git log --pretty='% GF'", "git log --format='%'\"G?\"",
        "F=%G; git log --format=\"${F}?\"", "git log --format=$'%\\x47?'",
        "git for-each-ref --format='%(signature:grade)'",
        "git tag -l --format='%(*signature)'", "git -C . log --format=%GG",
        "git branch --sort=-signature:key", "git tag --sort signature",
        "git tag --so signature"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
  for (const char* line :
       {"git log --format='%h %an %ad'", "git log --pretty=oneline -- *.txt",
        "git log -- signature.cc", "git for-each-ref --format='%(refname)'",
        "git branch --sort=-committerdate"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
}

TEST(RawTest, ACommandThatGitMayNotHaveBecomesNoAlias) {
  const struct {
    const char *config, *line;
    bool allowed;
  } rows[] = {
      {"[help]\nautocorrect = immediate\n", "git log", false},
      {"[help]\nautocorrect\n", "git log", false},
      {"[help]\nautoCorrect = 5\n", "git lfs ls-files", false},
      {"[help]\nautocorrect = never\n", "git log", true},
      {"[help]\nautocorrect = 0\n", "git lfs ls-files", true},
      // The person's configuration may say so.
      {"[alias]\nlfz = push --all\n", "git lfs ls-files", false},
      {"[alias]\nx = status\n", "git -C . lfs ls-files", false},
      {"[alias]\nx = status\n", "git whatchanged", false},
      {"[alias]\nx = status\n", "git log", true},
      {"", "git lfs ls-files", true},
  };
  for (const auto& row : rows) {
    const Machine machine;
    MakeRepository(machine.project() + "/.git", row.config);
    EXPECT_EQ(Check(machine, row.line) == kAllow, row.allowed)
        << row.config << row.line;
  }
}

TEST(RawTest, GitIsContainedWhereItWouldPrintWhatALinkLeadsTo) {
  // Git prints the lines of these that it does not understand.
  for (const char* name :
       {"info/grafts", "shallow", "packed-refs", "BISECT_LOG",
        "objects/info/alternates", "info/attributes", "info/sparse-checkout",
        "rebase-merge/done", "sequencer/todo", "info", "worktrees/w",
        "worktrees/w/locked", "worktrees/w/gitdir", "worktrees/.w/gitdir",
        "worktrees/w/rebase-merge/head-name"}) {
    const Machine machine;
    MakeRepository(machine.project() + "/.git");
    EXPECT_EQ(Check(machine, "git log"), kAllow);
    Link(machine.home() + "/.netrc",
         machine.project() + "/.git/" + std::string(name));
    EXPECT_NE(Check(machine, "git log"), kAllow) << name;
  }
  const Machine machine;
  MakeRepository(machine.project() + "/.git");
  Link("../githooks", machine.project() + "/.git/hooks");
  EXPECT_EQ(Check(machine, "git log"), kAllow);
}

TEST(RawTest, ReadersThatFindFilesByThemselvesAreContained) {
  const Machine machine;
  const std::string& project = machine.project();
  machine.Write(machine.home() + "/.netrc", "password x\n");
  machine.Write(project + "/list", machine.home() + "/.netrc");
  machine.Write(project + "/m.jq", "def f: $ENV;");
  machine.Write(project + "/b/notes.txt", "b");
  Link(machine.home() + "/.netrc", project + "/a/notes.txt");
  for (const char* line : {"sort --files0-from=list",
                           "wc --files0-from list",
                           "strings @list",
                           "jq -n 'include \"m\"; f'",
                           "jq -n 'import \"d\" as $d; $d'",
                           "jq -n '$ ENV'",
                           "jq -n --rawfile a ~/.netrc '$a'",
                           "jq -n --slurpfile a ~/.netrc '$a'",
                           "jq -R . ~/.netrc --args",
                           "grep -d recurse x ~",
                           "grep --dir=recurse x ~",
                           "diff a b",
                           "diff a/ b/notes.txt",
                           "diff b/notes.txt a",
                           "diff * b",
                           "diff --to-file=a b/notes.txt",
                           "diff --from-f=a b/notes.txt",
                           "jq -L. -n '\"m\"|modulemeta'",
                           "cat /proc/self/task/*/environ",
                           "users ~/.netrc",
                           "cat /dev/stdin/../.netrc < .",
                           "getconf -v X Y"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
  for (const char* line :
       {"sort list", "strings list", "jq -n '{env_name: 1}'",
        "jq --arg a b '.x' list", "diff b/notes.txt list", "grep -rn x b"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
}

TEST(RawTest, AFileThatWasOpenedForReadingIsNotWrittenByItsDescriptor) {
  const Machine machine;
  for (const char* line :
       {"echo x 3<~/.bashrc >/dev/fd/3", "echo x 3<~/.bashrc >>/proc/self/fd/3",
        "{ echo x >/dev/stdin; } <~/.bashrc", "cat <a.txt >/dev/stdin",
        "while read l; do echo x >/dev/stdin; done <a.txt",
        "cat 2<a.txt >/dev/stderr", "echo x {v}<a.txt >/dev/fd/10",
        "echo x 3<a.txt >/dev/fd/[3]", "echo x 3<a.txt >/dev/fd/$n"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
  for (const char* line :
       {"echo x >/dev/stderr", "echo x >/dev/fd/2", "cat <a.txt >/dev/stdout",
        "cat a.txt 3>&1 >/dev/fd/3", "echo x | cat >/dev/null",
        "while read l; do echo $l >/dev/stderr; done <a.txt"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
}

// On a terminal it appends to nohup.out, which may be a link.
TEST(RawTest, NohupWritesNoFileOfItsOwn) {
  const Machine machine;
  for (const char* line :
       {"nohup cat a.txt", "nohup git log", "nohup ls &", "nohup ls | cat",
        "env nohup ls", "bash -c 'nohup ls'", "nohup ls > /dev/tty",
        "nohup ls 2> /dev/null", "nohup ls >&-"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
  for (const char* line :
       {"nohup ls > /dev/null", "nohup ls > /dev/null 2>&1 &"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
}

TEST(RawTest, AnEnvironmentIsNotPrinted) {
  const Machine machine;
  for (const char* line :
       {"env", "env -u X", "env --unset X", "env -iu X", "env -u X -u 'Y Z'",
        "env -u X --", "env -u X -", "env --unse X -C src", "nice env -u X",
        "x=$(env -u X); echo \"$x\"", "env -u X | grep AWS"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
  for (const char* line :
       {"env ls", "env -u X ls -la", "env --unset=X ls", "env -u -- ls"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
}

TEST(RawTest, WhereAShellStandsIsKnownOrEveryPlaceIsLookedAt) {
  const Machine machine;
  const std::string& project = machine.project();
  MakeRepository(project + "/.git");
  MakeRepository(project + "/evil" + "/.git", "\tfsmonitor = ./evil\n");
  MakeRepository(project + "/good" + "/.git");
  machine.Write(project + "/evil/in/a.txt", "a");
  machine.Write(project + "/good/in/a.txt", "a");
  machine.Write(project + "/file", "a");
  machine.Write(machine.home() + "/.cargo/credentials.toml", "a");
  machine.Write(machine.home() + "/.cargo/bin/a", "a");
  Link("evil/in", project + "/link");
  Link("/proc/self/fd", project + "/fds");
  Link("/proc/self/cwd", project + "/good/here");
  Link(machine.home() + "/.cargo/bin", project + "/bin");
  for (const char* line :
       {"cd good; git status", "cd good && git status; ls",
        "cd nosuch && git status", "cd nosuch; git status", "cd nosuch; ls",
        "cd nosuch || exit; git status", "cd good || cd evil; git status",
        "[ -d nosuch ] || cd good; git status", "cd link; cd ..; git status",
        "cd -P good/in; cd ..; git status", "env -C good git status",
        "cd evil; cd ..; git status", "pushd good; popd; git status"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
  for (const char* line :
       {"cd nosuch || cd evil; git status", "cd nosuch; cd evil; git status",
        "[ -d nosuch ] || cd evil; git status", "cd file; cd evil; git status",
        "cd nosuch; git -C evil status", "cd nosuch; env -C evil git status",
        "if grep -q y file; then cd .; else cd evil; fi; git status",
        "select d in evil; do cd $d; break; done <<< 1; git status",
        "cd good file; cd evil; git status", "cd -x; cd evil; git status",
        "cd evil; cd ..; cd nosuch; cd -; git status",
        "pushd evil; dirs -c; popd; git status",
        "pushd nosuch; cd evil; popd; git status", "env -C ev* git status",
        // Links that the kernel walks.
        "cd -P link; cd ..; git status", "cd -P bin; cd ..; cat credentials.*",
        "cd -P bin; cd ..; cat credentials.toml",
        // What the shell has opened.
        "cd 3<evil /proc/self/fd/3; git status", "cd 3<evil /dev/fd/3; git log",
        "cd 0<evil /dev/stdin; git status", "git -C /dev/fd/3 log 3<evil",
        "env -C /proc/self/fd/3 git status 3<evil",
        // …and by a link: gate's own descriptors are others.
        "cd 3<evil fds/3; git status", "env -C fds/3 git status 3<evil",
        "git -C fds/3 status 3<evil", "cat fds/3/credentials.toml 3<~/.cargo",
        "cat fds/3/cred* 3<~/.cargo", "cd good; cat here/a.txt",
        // The same files from another directory.
        "cd ~/.cargo; cd nosuch; cat credentials.toml",
        "cd ~/.cargo; cd nosuch; cat cred*"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
}

TEST(RawTest, NamesOfFilesThatMayBeOptionsAreContained) {
  const Machine machine;
  const std::string& project = machine.project();
  machine.Write(project + "/a.c", "a");
  machine.Write(project + "/src/b.c", "b");
  // Names that do more than reading, and words that name a variable or code.
  for (const char* line :
       {"find *", "find * \\;", "sort *.c", "iconv *.c", "shuf ?.c",
        "uniq -s [12] l", "xxd -p -l [12] l", "uniq *", "fd . *", "nice * ls",
        "timeout [12] ls", "x=*; find $x", "find . -name *",
        // Builtins.
        "jobs *", "command jobs *", "test -v *", "[ -v * ]", "[ -v *.c ]",
        "[ -e * ]", "read P* < line; ls", "printf *; echo $HOME", "printf -v *",
        "getopts *; ls", "getopts ab *; ls", "unset *; ls", "shopt *; ls",
        "export *; ls", "let *", "mapfile *; ls"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
  for (const char* line :
       {"cat *.c", "ls *", "ls *.c", "wc -l src/*.c", "head -n 3 *.c",
        "sort src/*.c", "sort ./*.c", "sort -- *.c", "find src/* -name x",
        "find . -name *.c", "printf '%s\\n' *.c", "echo *", "stat -c %s *",
        "for f in *.c; do echo \"$f\"; done", "[ -f *.c ]", "du -sh *"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
  // Options that read what the line does not name: as the files are.
  machine.Write(project + "/-Re.c", "");
  for (const char* line : {"grep x *.c", "ls *.c", "cat *.c"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
  for (const char* line : {"cat ./*.c", "cat -- *.c", "ls a*", "echo *"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
}

TEST(RawTest, SettingsThatChangeWhatProgramsReadAreContained) {
  const Machine machine;
  for (const char* line :
       {"POSIXLY_CORRECT=1 tac a.txt -s ~/.netrc",
        "set -a; set -o posix; tac a.txt -s ~/.netrc",
        "(set -o posix; tac a.txt -s ~/.netrc)",
        "LANGUAGE=../../../../home/x/project LC_ALL=C.UTF-8 ls /none",
        "LC_ALL=\"$X\" ls",
        // They may have been inherited, so that programs get the new value.
        "(HOME=h; git status)", "(HOME=$PWD/h; bash -lc ls)",
        "bash -c 'HOME=h; git status'", "sh -c 'read HOME; git status' <<< h",
        "echo h | { read HOME; git status; }", "(printf -v HOME h; git status)",
        "x=$(HOME=h; git status)", "(HOME=h; jq -n x)",
        "(HOME[0]=h; git status)", "printf '%n' PATH; ls",
        "printf 'x%n' HOME; git status", "(printf 'xx%n' BASH_ENV; bash -c ls)",
        "wait -np HOME; ls", "jobs -rx touch a.txt",
        "xargs -I{} --process-slot-var=GIT_CONFIG_GLOBAL git status",
        "xargs -I{} --process-slot-var=BASH_ENV bash -c ls",
        "xargs --process-slot-var=\"$x\" ls",
        // The last of these options takes the others back.
        "xargs -I{} -n2 bash -c < f", "xargs -I{} -L1 bash -c < f",
        "xargs -i -l bash -c < f", "xargs -I{} -L1 git log < o",
        "xargs --max-lines bash ls -c", "(for HOME in h; do git status; done)",
        "(LANGUAGE=../x; ls /none)", "(LC_MESSAGES=$x; ls)",
        "(npm_config_logs_dir=x; npm --version)",
        "(_JAVA_OPTIONS=-agentpath:x; java --version)"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
  for (const char* line :
       {"LC_ALL=C sort a.txt", "LANG=en_US.UTF-8 ls", "(HOME=$HOME; ls)",
        "(LANG=C; ls)", "(home=h; ls)", "(x=a/b; ls)", "(CI=1; ls)",
        "bash -c 'LC_ALL=C; sort a.txt'",
        "ls | while read x; do echo $x; done"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
}

TEST(RawTest, VariablesByWhichBashReadsTheRestOtherwiseAreContained) {
  const Machine machine;
  MakeRepository(machine.project() + "/.git");
  for (const char* line :
       {// Another file is started under the name.
        "EXECIGNORE=/usr/bin/git; git status",
        "EXECIGNORE=/usr/bin/git git status",
        "read EXECIGNORE <<< '*'; git status",
        "bash -c 'EXECIGNORE=/usr/bin/ls; ls'", "(EXECIGNORE=/u*; ls)",
        "for EXECIGNORE in /usr/bin/ls; do ls; done",
        "TMOUT=.000001; read x <<< a; cat $x", "FUNCNEST=1; ls",
        "auto_resume=1; ls", "GLOBSORT=-name; cat *.txt", "BASH_XTRACEFD=1; ls",
        "GLOBIGNORE=a*; cat *", "SHLVL=0; bash -c ls",
        "BASH_LOADABLES_PATH=.; ls", "TEXTDOMAIN=x; ls", "HISTFILESIZE=0; ls",
        // A backslash that gate sees is the end of a character for bash.
        "LC_ALL=zh_CN.GBK ls", "LC_ALL=zh_CN.GBK; ls", "LANG=zh_TW; ls",
        "export LC_CTYPE=ja_JP.SJIS; ls", "LANG=ko_KR.JOHAB ls",
        "(LC_ALL=zh_CN.GB18030; ls)", "LC_ALL=zh_HK.BIG5-HKSCS\nls",
        "LANG=xx ls", "LOCPATH=./l LC_ALL=C.UTF-8 ls",
        "LC_ALL='LC_CTYPE=zh_CN.GBK' ls", "bash -c 'LANG=zh_CN.GBK; ls'"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
  for (const char* line :
       {"LC_ALL=C ls", "LANG=de_DE.UTF-8 ls", "LC_ALL=en_US.ISO-8859-1; ls",
        "LC_ALL=POSIX sort a.txt", "TIMEFORMAT=%R; ls", "COLUMNS=80 ls",
        "LC_TIME=zh_CN.GBK date", "HISTCONTROL=ignoredups; ls", "TZ=UTC date",
        "OPTIND=1; ls", "LANG=en_US ls", "REPLY=x; ls", "TMPDIR=/x; ls"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
}

TEST(RawTest, EveryRunHasALocaleByWhichBashReadsTheLineAsGateDid) {
  Machine machine;
  for (const char* locale :
       {"zh_CN.GBK", "zh_TW.BIG5", "ja_JP.SJIS", "zh_TW", "xx"})
    for (const char* line : {"echo \"$LC_ALL$LC_CTYPE$LANG\"",
                             "touch a; echo \"$LC_ALL$LC_CTYPE$LANG\""}) {
      if (line[0] == 't' && !test::HasSandbox(machine)) continue;
      for (const char* name : {"LC_ALL=", "LC_CTYPE=", "LANG="}) {
        machine.environment = {std::string(name) + locale, "LANGUAGE=zh",
                               "LOCPATH=" + machine.project()};
        const test::Done done = machine.Gate({"run", line});
        EXPECT_EQ(done.out.find(locale), std::string::npos) << done.out;
        EXPECT_NE(done.out.find("C.UTF-8"), std::string::npos)
            << line << done.out << done.err;
      }
    }
  machine.environment = {"LC_ALL=de_DE.UTF-8"};
  EXPECT_EQ(machine.Gate({"run", "echo $LC_ALL"}).out, "de_DE.UTF-8\n");
}

TEST(RawTest, WhatChangesLaterLinesIsNotLeftBehind) {
  const Machine machine;
  for (const char* line :
       {// Assignments of later lines store something else, or nothing.
        "declare -n x=PATH", "declare -i n", "readonly f=$HOME/.netrc",
        "declare -r f=x", "declare -l f", "readonly IFS", "f=(a ~/.netrc)",
        "read -a f <<< 'a b'",
        // What gate takes as given.
        "set -- ~/.netrc", "USER=../x", "SHELL=./x", "PWD=/etc",
        // Words of later lines expand to something else.
        "shopt -s dotglob", "shopt -s globstar", "shopt -s nocaseglob",
        "shopt -s extglob", "shopt -s nullglob", "shopt -s lastpipe", "set -f",
        "set +B", "set -H", "set -o histexpand", "set -o history",
        "set -o posix", "shopt -so posix", "GLOBIGNORE=x",
        "export POSIXLY_CORRECT=1",
        // Run by bash or by an allowed program.
        "PS1='$(id)'", "PS0='`id`'", "PS1=$x", "export MAILPATH='x?$(id)'",
        "HISTFILE=~/.bashrc", "export GREP=./evil", "export GETCONF_DIR=.",
        "export MAGIC=./x", "export GIT_TEST_FSMONITOR=./e",
        "export LANGUAGE=../../../../home/x"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
  for (const char* line :
       {"set -euo pipefail; ls", "set +H", "x=1; ls", "export CI=1",
        "for f in a b; do echo $f; done", "cd src", "cd src && ls",
        "PS1='$ '; ls", "export LANG=C.UTF-8", "[[ a =~ (a) ]] && echo x",
        "(shopt -s dotglob; ls)", "set --; ls"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
}

// However it reaches the program: as `X=v file a` does.
TEST(RawTest, AVariableThatTheLineExportsIsContained) {
  const Machine machine;
  for (const char* line :
       {"X=v file a", "X=v; export X; file a", "export X; X=v; file a",
        "set -a; X=v; file a", "set -o allexport; X=v; file a",
        "shopt -so allexport; X=v; file a", "set -a; : ${X:=v}; file a",
        "set -a; read X <<< v; file a", "set -a; for X in v; do file a; done",
        "read X <<< v; export X; file a", "export X; read X <<< v; file a",
        "declare -x X; printf -v X v; file a",
        "for X in v; do export X; ls; done",
        "export X; test -f a && X=v; file a",
        "test -f a && set -a; X=v; file a",
        "declare -n r=X; X=v; export r; file a", "X=v eval 'file a'",
        "f() { file a; }; X=v f", "f() { local -x X=v; file a; }; f",
        "X=v; export X; bash -c 'file a'", "bash -ac 'X=v; file a'",
        "bash -o allexport -c 'X=v; file a'", "X=v; export X; (file a)",
        "echo $(X=v; export X; file a)", "X=v; export X; find . -exec ls {} +",
        // A function that bash hands on.
        "(set -a; ls() { git gc; }; bash -c ls)",
        // Its later lines would export, too.
        "set -a"})
    EXPECT_NE(Check(machine, line), kAllow) << line;
  for (const char* line :
       {"X=v; file a", "export X; file a", "X=v; export X; unset X; file a",
        "X=v; export X; export -n X; file a", "set -a; set +a; X=v; file a",
        "LANG=C; export LANG; file a", "cd src && git status",
        "for i in 1 2; do export X; file a; done"})
    EXPECT_EQ(Check(machine, line), kAllow) << line;
}

TEST(RawTest, AProgramOfTheWorkspaceThatIsNotThereYetIsContained) {
  const Machine machine;
  EXPECT_NE(Check(machine, "./cat README.md"), kAllow);
  EXPECT_NE(Check(machine, "bin/ls"), kAllow);
}

// The line was judged, not what the caller's variables make of it.
TEST(RawTest, VariablesOfTheCallerRunNoOtherCode) {
  struct Case {
    std::string variable, line;
  };
  Machine machine;
  const std::string mark = machine.project() + "/mark";
  const std::string script = machine.project() + "/script";
  machine.Write(script, "#!/bin/sh\necho x >" + mark + "\n", 0755);
  machine.Write(machine.project() + "/a.txt", "a\n");
  machine.Write(machine.project() + "/rc", "--pre=" + script + "\n");
  machine.Write(machine.project() + "/apt",
                "Dir::Bin::dpkg \"" + script + "\";\n");
  MakeRepository(machine.project() + "/.git");
  for (const Case& c : std::vector<Case>{
           {"BASH_FUNC_ls%%=() { echo x >" + mark + "; }", "ls -d ."},
           {"BASH_ENV=" + script, "ls -d ."},
           {"BASH_ENV=$(" + script + ")", "ls -d ."},
           {"SHELLOPTS=xtrace\nPS4=$(" + script + ")", "ls -d ."},
           {"LD_PRELOAD=" + script, "ls -d ."},
           {"GIT_EXTERNAL_DIFF=" + script, "git diff"},
           {"GIT_TEST_FSMONITOR=" + script, "git status"},
           {"GREP=" + script, "zgrep a a.txt"},
           {"APT_CONFIG=" + machine.project() + "/apt", "apt list bash"},
           {"RIPGREP_CONFIG_PATH=" + machine.project() + "/rc", "rg a a.txt"},
           {"CDPATH=/", "ls -d ."}}) {
    machine.environment.clear();
    for (size_t at = 0; at <= c.variable.size();) {
      const size_t end = std::min(c.variable.find('\n', at), c.variable.size());
      machine.environment.push_back(c.variable.substr(at, end - at));
      at = end + 1;
    }
    const test::Done done = machine.Gate({"run", c.line});
    EXPECT_FALSE(machine.Exists(mark)) << c.variable << "\n" << done.err;
    // Where gate itself is linked dynamically it hears of LD_PRELOAD, once.
    const std::string own = machine.Gate({"--version"}).err;
    EXPECT_EQ(test::Count(done.err, "ld.so"), test::Count(own, "ld.so"))
        << done.err;
    if (c.line == "ls -d .") {
      EXPECT_EQ(done.exit_code, 0) << c.variable << "\n" << done.err;
      EXPECT_EQ(done.out, ".\n") << c.variable;
    }
    std::filesystem::remove(mark);
  }
}

TEST(RawTest, LibrariesOfTheCallerStayWhereNoSandboxWritesThem) {
  Machine machine;
  for (const auto& [value, stays] : std::vector<std::pair<std::string, bool>>{
           {"/usr/lib", true},
           {"/usr/lib:/opt/modules/lib", true},
           {"lib", false},
           {"/usr/lib:", false},
           {"/tmp/lib", false},
           {"/proc/self/cwd", false},
           {machine.project() + "/lib", false},
           {"/usr/lib/../../tmp", false}}) {
    machine.environment = {"LD_LIBRARY_PATH=" + value};
    const test::Done done = machine.Gate({"run", "echo \"$LD_LIBRARY_PATH\""});
    EXPECT_EQ(done.out, stays ? value + "\n" : "\n") << done.err;
  }
}

TEST(RawTest, AHomeThatSandboxesWriteConfiguresNothingRaw) {
  Machine machine;
  MakeRepository(machine.project() + "/.git");
  EXPECT_EQ(Check(machine, "git status"), kAllow);
  for (const std::string& place :
       {machine.project() + "/home", std::string("/tmp/home"),
        std::string("/proc/self/cwd"), std::string("relative")}) {
    for (const char* name : {"HOME=", "XDG_CONFIG_HOME="}) {
      machine.environment = {name + place,
                             "XDG_STATE_HOME=" + machine.root() + "/state"};
      EXPECT_NE(Check(machine, "git status"), kAllow) << name << place;
    }
  }
}

TEST(RawTest, NothingRunsInADirectoryThatIsGone) {
  const Machine machine;
  for (const std::string words :
       {"run pwd", "run 'ls etc'", "run -- pwd", "sandbox pwd",
        "run --cwd etc 'ls'", "check pwd"}) {
    const test::Done done = machine.Run(
        {"/bin/bash", "-c", "mkdir g && cd g && rmdir ../g && \"$0\" " + words,
         test::GateBinary()});
    EXPECT_NE(done.exit_code, 0) << words;
    EXPECT_NE((done.out + done.err).find("the working directory is gone"),
              std::string::npos)
        << words << "\n"
        << done.out << done.err;
  }
  const test::Done done =
      machine.Run({"/bin/bash", "-c",
                   "mkdir g && cd g && rmdir ../g && \"$0\" run --cwd / pwd",
                   test::GateBinary()});
  EXPECT_EQ(done.out, "/\n") << done.err;
}

}  // namespace
}  // namespace gate
