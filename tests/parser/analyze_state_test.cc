// What the shell's own state is when a command is expanded: declarations,
// scopes, statuses, aliases, redirections that fail. Each line is listed with
// the command that bash would run, whatever else it lists.
#include <gtest/gtest.h>

#include "tests/parser/analyze_support.h"

namespace gate::parser {
namespace {

void ExpectListed(const Case& test) {
  const std::string shown = "\n" + Commands(test.line);
  EXPECT_NE(shown.find("\n" + std::string(test.expected) + "\n"),
            std::string::npos)
      << test.line << shown;
}

TEST(AnalyzeState, DeclarationsExpandBeforeTheyAssign) {
  static constexpr Case kCases[] = {
      {"a=0; declare a=1 b=$a; rm $a $b", "rm 1 0"},
      {"a=0; export a=1 b=$a; rm $a $b", "rm 1 0"},
      {"a=0; declare a=1 v=($a 2) b=${v[1]}; rm $a ${v[@]} $b", "rm 1 0 2 2"},
      {"a=5; a=1 export b=$a; rm $a $b", "rm 5 5"},
      {"command declare a=1; rm $a", "rm 1"},
      {"declare a[2]=x; rm ${!a[@]} ${a[2]}", "rm 2 x"},
      {"a=s; declare -a a+=q; rm ${a[@]}", "rm sq"},
      {"a=s; declare -A a; rm ${a[@]}", "rm s"},
      {"declare -i i=3+4; i+=2; rm $i", "rm 9"},
  };
  for (const Case& test : kCases) ExpectListed(test);
}

TEST(AnalyzeState, TextInTheFormOfAListIsCode) {
  for (const char* line :
       {"declare -a 'v=(1 $(rm z))'", "typeset -a 'v+=(`rm z`)'",
        "f() { local -A \"v=([$1]=2)\"; }; f '$(rm z)'",
        "v=(1 2); declare 'v=(3 $(rm z))'", "readonly -a 'v=(3 $(rm z))'",
        "x='(1 $(rm z))'; declare -a v=$x; declare -a \"v=$x\""}) {
    ExpectListed({line, "rm z"});
  }
  // Where it is not known it could be anything.
  EXPECT_NE(Commands("declare -a \"v=$X\"").find("!dynamic_code"),
            std::string::npos);
  EXPECT_EQ(Commands("declare 'v=(1 $(rm z))'; a1 \"$v\""),
            "a1 '(1 $(rm z))'\n");
}

TEST(AnalyzeState, ScopesAreThoseOfBash) {
  static constexpr Case kCases[] = {
      {"a=1; local a=2; rm $a", "rm 1"},
      {"f() { local a=1; declare -g a=5; rm $a; }; f", "rm 1"},
      {"f() { local a=1; declare -g a=5; }; f; rm $a", "rm 5"},
      {"a=x; declare -n n=a; unset -n n; rm $a", "rm x"},
      {"a=s; unset -n a; rm $a", "rm s"},
      {"declare -n n=a; a=3; declare +n n; rm $n", "rm a"},
      {"readonly a=1; f() { local a=3; rm $a; }; f", "rm 1"},
      {"set -- m; . /dev/stdin x <<< 'set -- q'; rm $1", "rm q"},
      {"set -- m; . /dev/stdin x <<< 'shift'; rm $1", "rm m"},
      {"x=2; a=$((x++)) x=9 a1; rm $x", "rm 3"},
  };
  for (const Case& test : kCases) ExpectListed(test);
}

TEST(AnalyzeState, AssociativeArraysTakePairs) {
  static constexpr Case kCases[] = {
      {"declare -A m=(a b [c]=d); rm ${m[a]} ${#m[@]}", "rm b 2"},
      {"declare -A m=(a b '[c]=d'); rm ${m[a]}", "rm b"},
      {"declare -A m=([c]=d a b); rm ${!m[@]}", "rm c"},
      {"declare -A m=('' a k b); rm ${m[@]}", "rm b"},
      {"declare -A m; m=(k {a,b}); rm \"${m[k]}\"", "rm '{a,b}'"},
  };
  for (const Case& test : kCases) ExpectListed(test);
}

TEST(AnalyzeState, WhatCountsOrWaitsAssigns) {
  static constexpr Case kCases[] = {
      {"x=a; printf '%n' x; rm \"$x\"", "rm ?"},
      {"x=a; printf 'a%-+ #5.*ln%s' 3 x; rm \"$x\"", "rm ?"},
      {"x=a; printf -- \"$f\" x; rm \"$x\"", "rm ?"},
      {"x=a; printf -v y '%n' x; rm \"$x\"", "rm ?"},
      {"x=a; printf '%%n' x; rm \"$x\"", "rm a"},
      {"x=a; printf '%s no%%' x; rm \"$x\"", "rm a"},
      {"x=a; printf '%d\n' x; rm \"$x\"", "rm a"},
      {"x=a; wait -np x; rm \"$x\"", "rm ?"},
      {"x=a; wait -px -n; rm \"$x\"", "rm ?"},
      {"x=a; wait -n -p x; rm \"$x\"", "rm ?"},
      {"x=a; wait -n 1 -p x; rm \"$x\"", "rm a"},
  };
  for (const Case& test : kCases) ExpectListed(test);
  // Any variable may be meant.
  for (const char* line :
       {"printf %n \"$x\"", "printf \"$f\" x", "printf $f", "printf *",
        "printf \"$f\" \"$x\"", "printf '%s%n' *", "wait -p \"$x\"", "wait $x",
        "wait *"})
    EXPECT_NE(Commands(line).find("!unmodelled"), std::string::npos) << line;
  for (const char* line :
       {"printf \"$f\"", "printf %s \"$x\"", "printf '%s %d\n' *.c 1",
        "printf -- \"$f\" 'a b' 1 \"$x: \"", "printf \"a $f\" 'a b'",
        "printf \"$((x)) %s\" y", "a1 & wait $!; wait; wait %1 -p",
        "wait -n -- $x", "wait -np"})
    EXPECT_EQ(Commands(line).find("!unmodelled"), std::string::npos) << line;
}

TEST(AnalyzeState, AStatusIsThatOfTheCommandBefore) {
  static constexpr Case kCases[] = {
      {"false; x=$?; rm $x", "rm 1"},
      {"x=$(false); rm $?", "rm 1"},
      {"declare 1a=2; rm $?", "rm 1"},
      {"local a; rm $?", "rm 1"},
  };
  for (const Case& test : kCases) ExpectListed(test);
}

TEST(AnalyzeState, WhatMayNotHaveRunLeavesBothStates) {
  // The value is one of several, never the one alone.
  for (const char* line :
       {"{ a=x; } > /n/y; rm $a", "f() { a=x; } < /n/y; f; rm $a",
        "eval a=x < /n/y; rm $a", "set -- x < /n/y; rm $1",
        "if a1; then declare -i a; fi; a=1+1; rm $a",
        "if a1; then declare -u a; fi; a=x; rm $a",
        "sh -c 'declare a=x; rm $a'"}) {
    const std::string shown = Commands(line);
    const bool open = shown.find("rm ?") != std::string::npos ||
                      shown.find("rm\n") != std::string::npos;
    EXPECT_TRUE(open) << line << "\n" << shown;
  }
  // So are the elements that one branch alone gives an array.
  for (const char* line :
       {"cd x && a=(rm z); \"${a[@]}\"", "if a1; then a=(rm z); fi; ${a[@]}",
        "a1 && declare -A a=([k]='rm z'); ${a[@]}"}) {
    const std::string shown = "\n" + Commands(line);
    EXPECT_NE(shown.find("\nrm z\n"), std::string::npos) << line << shown;
    EXPECT_NE(shown.find("!dynamic_command"), std::string::npos) << shown;
  }
  // Where one branch alone makes a function, its name may be a program.
  EXPECT_NE(Commands("a1 || g() { a2; }; g x").find("g x\n"),
            std::string::npos);
}

TEST(AnalyzeState, AliasesAreThoseOfTheMomentALineIsRead) {
  static constexpr Case kCases[] = {
      {"shopt -s expand_aliases\nalias x=rm\nx z", "rm z"},
      {"shopt -s expand_aliases\nalias x=rm\nunalias x\nx z", "x z"},
      {"shopt -s expand_aliases\nalias x=a1\nalias x=rm\nx z", "rm z"},
      {"shopt -s expand_aliases\nalias x=a1\neval $'alias y=rm\\ny z'", "rm z"},
      {"shopt -s expand_aliases\nalias a/b=rm\na/b z", "a/b z"},
  };
  for (const Case& test : kCases) ExpectListed(test);
  EXPECT_NE(Commands("shopt -s expand_aliases\nalias f=g\nf() { rm z; }\ng")
                .find("!dynamic_code"),
            std::string::npos);
}

TEST(AnalyzeState, OtherShellsTakeBashsWordsForPrograms) {
  for (const char* line :
       {"sh -c '[[ a = a ]]'", "sh -c 'time a1'", "sh -c 'coproc a1'",
        "sh -c 'x+=a'", "sh -c 'exec {fd}>f'"}) {
    const Analysis analysis = Analyze(line, TestContext());
    EXPECT_GE(analysis.invocations.size(), 2u) << line;
  }
  EXPECT_TRUE(Analyze("sh -c '[[ a < b ]]'", TestContext()).hides_commands);
}

TEST(AnalyzeState, TheDirectoriesThatALineEndsInAreThoseOfItsShell) {
  const std::string here = TestContext().cwd;
  for (const auto& [line, ends] :
       std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"a1", {here}},
           {"(cd /x); a1", {here}},
           {"cd /x | a1", {here}},
           {"cd \"$a\"", {}}}) {
    EXPECT_EQ(Analyze(line, TestContext()).leaves_cwds, ends) << line;
  }
  const std::vector<std::string> there =
      Analyze("a1 && cd /x", TestContext()).leaves_cwds;
  EXPECT_EQ(std::set<std::string>(there.begin(), there.end()),
            (std::set<std::string>{here, "/x"}));
}

}  // namespace
}  // namespace gate::parser
