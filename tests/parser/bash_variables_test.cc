// Every variable that bash 5.0 to 5.3 itself reads or sets, and what the line
// that assigns it means to gate. The names are those of the manual ("Bourne
// Shell Variables", "Bash Variables") and of special_vars in bash's
// variables.c; the meanings are in rules.d/programs/environment.json and
// parser/expand/special.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parser/analysis.h"
#include "parser/expand/special.h"
#include "parser/programs.h"
#include "tests/parser/analyze_support.h"

namespace gate::parser {
namespace {

enum class Meaning {
  kOwn,      // bash sets it, whatever is assigned (parser/expand/special.cc)
  kLine,     // the rest of the line is another one: never raw
  kLater,    // followed in the line; later lines are others
  kLocale,   // by its value
  kCode,     // names code, or where it is looked for
  kData,     // nothing of the line means anything else
  kOrdinary  // bash only sets it; an assignment stores what it says
};

struct Row {
  const char* name;
  Meaning meaning;
};

constexpr Row kRows[] = {
    // Bourne Shell Variables.
    {"CDPATH", Meaning::kLater},
    {"HOME", Meaning::kOrdinary},  // followed; ChangesPrograms knows it
    {"IFS", Meaning::kLater},
    {"MAIL", Meaning::kData},
    {"MAILPATH", Meaning::kLater},
    {"OPTARG", Meaning::kData},
    {"OPTIND", Meaning::kData},
    {"PATH", Meaning::kCode},
    {"PS1", Meaning::kData},  // prompts are expanded where they are assigned
    {"PS2", Meaning::kData},
    // Bash Variables.
    {"_", Meaning::kOrdinary},
    {"BASH", Meaning::kOrdinary},
    {"BASHOPTS", Meaning::kOwn},
    {"BASHPID", Meaning::kOwn},
    {"BASH_ALIASES", Meaning::kOwn},
    {"BASH_ARGC", Meaning::kOwn},
    {"BASH_ARGV", Meaning::kOwn},
    {"BASH_ARGV0", Meaning::kOwn},
    {"BASH_CMDS", Meaning::kOwn},
    {"BASH_COMMAND", Meaning::kOwn},
    {"BASH_COMPAT", Meaning::kLine},
    {"BASH_ENV", Meaning::kCode},
    {"BASH_EXECUTION_STRING", Meaning::kOrdinary},
    {"BASH_LINENO", Meaning::kOwn},
    {"BASH_LOADABLES_PATH", Meaning::kCode},
    {"BASH_MONOSECONDS", Meaning::kOwn},
    {"BASH_REMATCH", Meaning::kOrdinary},
    {"BASH_SOURCE", Meaning::kOwn},
    {"BASH_SUBSHELL", Meaning::kOwn},
    {"BASH_TRAPSIG", Meaning::kOwn},
    {"BASH_VERSINFO", Meaning::kOwn},
    {"BASH_VERSION", Meaning::kOrdinary},
    {"BASH_XTRACEFD", Meaning::kLine},
    {"CHILD_MAX", Meaning::kData},
    {"COLUMNS", Meaning::kData},
    {"COMP_CWORD", Meaning::kData},
    {"COMP_KEY", Meaning::kData},
    {"COMP_LINE", Meaning::kData},
    {"COMP_POINT", Meaning::kData},
    {"COMP_TYPE", Meaning::kData},
    {"COMP_WORDBREAKS", Meaning::kData},
    {"COMP_WORDS", Meaning::kData},
    {"COMPREPLY", Meaning::kData},
    {"COPROC", Meaning::kOrdinary},
    {"DIRSTACK", Meaning::kOwn},
    {"EMACS", Meaning::kData},
    {"ENV", Meaning::kCode},
    {"EPOCHREALTIME", Meaning::kOwn},
    {"EPOCHSECONDS", Meaning::kOwn},
    {"EUID", Meaning::kOwn},
    {"EXECIGNORE", Meaning::kLine},
    {"FCEDIT", Meaning::kCode},
    {"FIGNORE", Meaning::kData},
    {"FUNCNAME", Meaning::kOwn},
    {"FUNCNEST", Meaning::kLine},
    {"GLOBIGNORE", Meaning::kLine},
    {"GLOBSORT", Meaning::kLine},
    {"GROUPS", Meaning::kOwn},
    {"histchars", Meaning::kLine},
    {"HISTCMD", Meaning::kOwn},
    {"HISTCONTROL", Meaning::kData},
    {"HISTFILE", Meaning::kLater},
    {"HISTFILESIZE", Meaning::kLine},
    {"HISTIGNORE", Meaning::kData},
    {"HISTSIZE", Meaning::kData},
    {"HISTTIMEFORMAT", Meaning::kData},
    {"HOSTFILE", Meaning::kData},
    {"HOSTNAME", Meaning::kOrdinary},
    {"HOSTTYPE", Meaning::kOrdinary},
    {"IGNOREEOF", Meaning::kData},
    {"INPUTRC", Meaning::kCode},
    {"INSIDE_EMACS", Meaning::kData},
    {"LANG", Meaning::kLocale},
    {"LC_ALL", Meaning::kLocale},
    {"LC_COLLATE", Meaning::kLocale},
    {"LC_CTYPE", Meaning::kLocale},
    {"LC_MESSAGES", Meaning::kLocale},
    {"LC_NUMERIC", Meaning::kLocale},
    {"LC_TIME", Meaning::kLocale},
    {"LINENO", Meaning::kOwn},
    {"LINES", Meaning::kData},
    {"MACHTYPE", Meaning::kOrdinary},
    {"MAILCHECK", Meaning::kData},
    {"MAPFILE", Meaning::kOrdinary},
    {"OLDPWD", Meaning::kOrdinary},
    {"OPTERR", Meaning::kData},
    {"OSTYPE", Meaning::kOrdinary},
    {"PIPESTATUS", Meaning::kOwn},
    {"POSIXLY_CORRECT", Meaning::kLine},
    {"PPID", Meaning::kOwn},
    {"PROMPT_COMMAND", Meaning::kCode},
    {"PROMPT_DIRTRIM", Meaning::kLine},
    {"PS0", Meaning::kData},
    {"PS3", Meaning::kData},
    {"PS4", Meaning::kLater},
    {"PWD", Meaning::kOrdinary},
    {"RANDOM", Meaning::kOwn},
    {"READLINE_ARGUMENT", Meaning::kData},
    {"READLINE_LINE", Meaning::kData},
    {"READLINE_MARK", Meaning::kData},
    {"READLINE_POINT", Meaning::kData},
    {"REPLY", Meaning::kData},
    {"SECONDS", Meaning::kOwn},
    {"SHELL", Meaning::kCode},
    {"SHELLOPTS", Meaning::kOwn},
    {"SHLVL", Meaning::kLine},
    {"SRANDOM", Meaning::kOwn},
    {"TIMEFORMAT", Meaning::kData},
    {"TMOUT", Meaning::kLine},
    {"TMPDIR", Meaning::kData},
    {"UID", Meaning::kOwn},
    // "Job Control Variables", shell.c, locale.c, readline and variables.c.
    {"auto_resume", Meaning::kLine},
    {"ignoreeof", Meaning::kData},
    {"SSH_CLIENT", Meaning::kLine},
    {"SSH2_CLIENT", Meaning::kLine},
    {"TERM", Meaning::kData},
    {"TERMCAP", Meaning::kCode},
    {"TERMINFO", Meaning::kCode},
    {"TEXTDOMAIN", Meaning::kLine},
    {"TEXTDOMAINDIR", Meaning::kCode},
    {"TZ", Meaning::kData},
    {"USER", Meaning::kOrdinary},  // given; leftovers.cc knows it
    {"LOGNAME", Meaning::kOrdinary},
};

bool IsCode(Role role) {
  return role == Role::kShellCode || role == Role::kCommand ||
         role == Role::kForeignCode || role == Role::kScriptFile ||
         role == Role::kLoadCode;
}

TEST(BashVariablesTest, TheDataSaysOfEachWhatItDoes) {
  for (const Row& row : kRows) {
    const auto data = EnvironmentRole(row.name);
    const std::string detail(data ? data->detail : "");
    const bool set = data && data->role == Role::kSetVariable;
    switch (row.meaning) {
      case Meaning::kOwn:
        EXPECT_NE(FindSpecial(row.name).kind, SpecialKind::kOrdinary)
            << row.name;
        break;
      case Meaning::kLine:
        EXPECT_TRUE(set && detail == "line") << row.name;
        break;
      case Meaning::kLater:
        EXPECT_TRUE(data && (detail == "later" || data->role == Role::kWrite))
            << row.name;
        break;
      case Meaning::kLocale:
        EXPECT_TRUE(set && detail == "locale") << row.name;
        break;
      case Meaning::kCode:
        EXPECT_TRUE(data && IsCode(data->role)) << row.name;
        break;
      case Meaning::kData:
        EXPECT_TRUE(set && (detail == "bash" || detail == "prompt"))
            << row.name;
        break;
      case Meaning::kOrdinary:
        EXPECT_FALSE(data.has_value()) << row.name;
        break;
    }
  }
}

// However the line assigns it, what it starts afterwards is not what its name
// says, which the engine needs to see on the command itself.
TEST(BashVariablesTest, WhatChangesTheRestOfALineStandsOnEachLaterCommand) {
  for (const Row& row : kRows) {
    if (row.meaning != Meaning::kLine) continue;
    const std::string name = row.name;
    for (const std::string& line :
         {name + "=1; git x", "(" + name + "=1; git x)",
          "printf -v " + name + " 1; git x", "read " + name + " <<< 1; git x",
          "declare " + name + "=1; git x",
          "for " + name + " in 1; do git x; done",
          ": ${" + name + ":=1}; git x",
          "declare -n r=" + name + "; r=1; git x",
          "f() { local " + name + "=1; git x; }; f",
          "bash -c '" + name + "=1; git x'", "eval " + name + "=1; git x"}) {
      const Analysis analysis = Analyze(line, TestContext());
      const auto marked = [&](const Invocation& invocation) {
        return invocation.program != "git" ||
               std::ranges::any_of(invocation.environment,
                                   [&](const EnvironmentSetting& each) {
                                     return each.name == name;
                                   });
      };
      EXPECT_TRUE(analysis.hides_commands ||
                  std::ranges::all_of(analysis.invocations, marked))
          << line;
    }
    EXPECT_TRUE(Analyze(name + "=1", TestContext()).alters_later_lines) << name;
  }
}

TEST(BashVariablesTest, WhatChangesNothingStandsOnNone) {
  for (const Row& row : kRows) {
    if (row.meaning != Meaning::kData) continue;
    const std::string line = std::string(row.name) + "=1; git x";
    for (const Invocation& each : Analyze(line, TestContext()).invocations)
      EXPECT_TRUE(each.environment.empty()) << line;
  }
}

TEST(BashVariablesTest, ALocaleThatBashReadsAnotherLineByIsSeen) {
  for (const char* line : {"LC_ALL=zh_CN.GBK; git x",
                           "LANG=zh_TW.BIG5; git x",
                           "LC_CTYPE=ja_JP.SJIS; git x",
                           "export LANG=zh_CN.GB18030; git x",
                           "(LC_ALL=zh_HK.BIG5-HKSCS; git x)",
                           "LC_ALL=zh_TW; git x",
                           "read LANG <<< ko_KR.JOHAB; git x",
                           "printf -v LC_ALL %s zh_CN.GBK; git x",
                           "for LANG in zh_CN.GBK; do git x; done",
                           "LANG=\"$x\"; git x",
                           "l=zh_CN.GBK; LC_ALL=$l; git x",
                           "LC_ALL=C; LC_ALL=zh_CN.GBK; git x",
                           "declare -n r=LANG; r=zh_CN.GBK; git x",
                           "LOCPATH=./l; git x",
                           "bash -c 'LC_ALL=zh_CN.GBK; git x'",
                           "eval LC_ALL=zh_CN.GBK; git x",
                           "LC_ALL='LC_CTYPE=zh_CN.GBK;LC_TIME=C'; git x",
                           "test a && LANG=ja_JP.SJIS; git x",
                           ": ${LC_ALL:=zh_CN.GBK}; git x",
                           "LC_ALL=zh_CN.GBK\ngit x",
                           "f() { local LANG=zh_CN.GBK; git x; }; f",
                           "mapfile LANG < f; git x"}) {
    const Analysis analysis = Analyze(line, TestContext());
    const bool marked = std::ranges::any_of(
        analysis.invocations, [](const Invocation& invocation) {
          return invocation.program == "git" && !invocation.environment.empty();
        });
    EXPECT_TRUE(marked) << line;
  }
  for (const char* line :
       {"LC_ALL=C; git x", "LANG=en_US.UTF-8; git x", "LC_ALL=; git x",
        "LC_CTYPE=de_DE.ISO-8859-1; git x", "unset LC_ALL; git x",
        "l=C.UTF-8; LC_ALL=$l; git x"})
    for (const Invocation& each : Analyze(line, TestContext()).invocations)
      EXPECT_TRUE(each.environment.empty()) << line;
}

// The machine's own bash has no variable that the table does not.
TEST(BashVariablesTest, TheTableNamesAllThatBashSets) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      ::popen("env -i /bin/bash --norc --noprofile -c 'compgen -v' 2>/dev/null",
              "r"),
      ::pclose);
  ASSERT_NE(pipe, nullptr);
  char line[256];
  while (std::fgets(line, sizeof line, pipe.get()) != nullptr) {
    std::string name = line;
    while (!name.empty() && name.back() == '\n') name.pop_back();
    EXPECT_TRUE(std::ranges::any_of(kRows, [&](const Row& row) {
      return name == row.name;
    })) << name;
  }
}

}  // namespace
}  // namespace gate::parser
