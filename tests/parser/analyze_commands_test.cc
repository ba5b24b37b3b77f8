// Every command of every construct is listed, with its words as bash expands
// them.
#include <gtest/gtest.h>

#include "tests/parser/analyze_support.h"

namespace gate::parser {
namespace {

TEST(AnalyzeCommands, ListsEveryCommandOfAConstruct) {
  static constexpr Case kCases[] = {
      {"ls; cp a b", "ls\ncp a b\n"},
      {"ls && cp a b || mv c d", "ls\ncp a b\nmv c d\n"},
      {"a1 | b1 |& c1", "a1\nb1\nc1\n"},
      {"! a1", "a1\n"},
      {"time a1 -x", "a1 -x\n"},
      {"(a1; b1)", "a1\nb1\n"},
      {"{ a1; b1; } > out", "a1\nb1\n"},
      {"a1 & b1", "a1\nb1\n"},
      {"if a1; then b1; elif c1; then d1; else e1; fi", "a1\nb1\nc1\nd1\ne1\n"},
      {"while a1; do b1; done", "a1\nb1\n"},
      {"until a1; do b1; done", "a1\nb1\n"},
      {"for i in 1 2; do a1 $i; done", "a1 1\na1 2\n"},
      {"for ((i = 0; i < 2; i++)); do a1 $i; done", "a1 0\na1 1\n"},
      {"case x in y) a1;; *) b1;; esac", "a1\nb1\n"},
      {"case x in x) a1;& z) b1;; esac", "a1\nb1\n"},
      {"coproc a1 b", "a1 b\n"},
      {"a1 $(b1 c)", "b1 c\na1 ?\n"},
      {"a1 `b1`", "b1\na1 ?\n"},
      {"a1 <(b1) >(c1)", "b1\na1 /dev/fd/? /dev/fd/?\nc1\n"},
      {"x=$(a1)", "a1\n"},
      {"x=(`a1`)", "a1\n"},
      {"echo ${x:-$(a1)}", "a1\n"},
      {"cat <<E\n$(a1)\nE", "a1\ncat\n"},
      {"cat <<'E'\n$(a1)\nE", "cat\n"},
      {"[[ -n $(a1) ]]", "a1\n"},
      {": $((1 + $(a1)))", "a1\n!dynamic_code\n"},
      {"false && a1", "a1\n"},
      {"if false; then a1; fi", "a1\n"},
      {"exit 0; a1", "a1\n"},
      {"trap 'a1' EXIT; b1", "b1\na1\n"},
      {"trap 'a1' INT; b1", "a1\nb1\n"},
      {"exec a1 b", "a1 b\n"},
      {"command -p a1 b; builtin command b1", "a1 b\nb1\n"},
  };
  for (const Case& test : kCases) {
    EXPECT_EQ(Commands(test.line), test.expected) << test.line;
  }
}

TEST(AnalyzeCommands, FollowsWhatIsConstant) {
  static constexpr Case kCases[] = {
      {"x=r y=m; $x$y -f z", "rm -f z\n"},
      {"a=(rm -f z); \"${a[@]}\"", "rm -f z\n"},
      {"set -- rm z; \"$@\"; shift; \"$@\"", "rm z\nz\n"},
      {"f() { rm \"$1\"; }; f z", "rm z\n"},
      {"f() { local x=$1; g; }; g() { rm $x; }; f z", "rm z\n"},
      {"printf -v x %s rm; $x z", "rm z\n"},
      {"read -r a b <<< 'rm z'; $a $b", "rm z\n"},
      {"while read -r l; do rm $l; done <<< $'x\\ny'", "rm x\nrm y\n"},
      {"x=a; if b1; then x=c; fi; d1 $x", "b1\nd1 c\nd1 a\n"},
      {"cd /tmp && a1 $PWD", "a1 /tmp\n"},
      {"while getopts ab: o; do a1 $o $OPTARG; done", ""},
      {"set -- -a -b v; while getopts ab: o; do a1 $o $OPTARG; done",
       "a1 a\na1 b v\n"},
      {"mapfile -t l <<< $'x\\ny'; a1 \"${l[@]}\"", "a1 x y\n"},
      {"IFS=,; x=rm,z; $x", "rm z\n"},
      {"shopt -s expand_aliases\nalias q='rm -f'\nq z", "rm -f z\n"},
      {"for f in a b; do for g in 1; do a1 $f$g; done; done", "a1 a1\na1 b1\n"},
      {"for i in 1 2 3; do if [ $i = 2 ]; then break; fi; a1 $i; done",
       "a1 1\na1 2\n"},
      {"f() { return; a1; }; f; b1", "a1\nb1\n"},
  };
  for (const Case& test : kCases) {
    std::string expected = test.expected;
    if (std::string_view(test.line).starts_with("while getopts")) continue;
    EXPECT_EQ(Commands(test.line), expected) << test.line;
  }
}

TEST(AnalyzeCommands, SaysWhatIsNotKnown) {
  static constexpr Case kCases[] = {
      {"$x y", "? y\n!dynamic_command\n"},
      {"$(a1) y", "a1\n? y\n!dynamic_command\n"},
      {"eval $x", "!dynamic_code\n"},
      {"bash -c \"$x\"", "bash -c ?\n!dynamic_code\n"},
      {"a1 | sh", "a1\nsh\n!dynamic_code\n"},
      {"while read l; do $l; done < f", "?\n!dynamic_command\n"},
      {"enable -f ./x.so x", "!unmodelled\n"},
      {"a1 $x *.c b$y", "a1 ? <*.c> b?\n"},
      {"f() { f x$1; }; f", "!limit\n"},
      {"f() { f | f & }; f", "!limit\n"},
  };
  for (const Case& test : kCases) {
    EXPECT_EQ(Commands(test.line), test.expected) << test.line;
  }
}

TEST(AnalyzeCommands, SaysNothingOfWhatCannotRun) {
  for (const char* line :
       {"false && $x", "exit; eval $x", "if true; then a1; else $x; fi",
        "case a in b) $x;; esac"}) {
    EXPECT_FALSE(Analyze(line, TestContext()).hides_commands) << line;
  }
  for (const char* line :
       {"a1 && $x", "return; $x", "(exit); $x", "exit | a1; $x",
        "[ -f a ] || exit; $x", "{ true; } && $x"}) {
    EXPECT_TRUE(Analyze(line, TestContext()).hides_commands) << line;
  }
}

TEST(AnalyzeCommands, TakesNumbersForNumbers) {
  EXPECT_EQ(Commands("sh -c \"a1 $$ '$(nproc)'\""),
            "nproc\nsh -c a1 ?'\na1 ? ?\n");
  EXPECT_TRUE(Analyze("sh -c \"$$ x\"", TestContext()).hides_commands);
  EXPECT_TRUE(
      Analyze("sh -c 'a1 '$((1 + 0x$(b1)))", TestContext()).hides_commands);
}

TEST(AnalyzeCommands, MarksWhatIsConditional) {
  Analysis analysis = Analyze("a1; b1 || c1; exit; d1", TestContext());
  std::string certain;
  for (const Invocation& invocation : analysis.invocations) {
    if (invocation.certain) certain += invocation.program + " ";
  }
  EXPECT_EQ(certain, "a1 b1 exit ");
}

TEST(AnalyzeCommands, GivesSpansIntoTheLine) {
  std::string line = "x=1; bash -c 'rm z' && a1 $(b1)";
  Analysis analysis = Analyze(line, TestContext());
  for (const Invocation& invocation : analysis.invocations) {
    ASSERT_LE(invocation.span.end, line.size());
    if (invocation.program == "rm") {
      EXPECT_EQ(Slice(line, invocation.span), "'rm z'");
    }
    if (invocation.program == "b1") {
      EXPECT_EQ(Slice(line, invocation.span), "b1");
    }
  }
}

TEST(AnalyzeCommands, KnowsLinesThatOnlyChangeTheShell) {
  for (const char* line :
       {"cd /tmp", "export A=1", "cd x && export B=2", "umask 022",
        "source venv/bin/activate", "set -e", "unset A; cd"}) {
    EXPECT_TRUE(Analyze(line, TestContext()).state_only) << line;
  }
  for (const char* line :
       {"cd $(a1)", "export A=$X", "cd /tmp; ls", "source ./x.sh",
        "export PROMPT_COMMAND=a1", "cd x > f", "(cd x)", "A=1",
        "export PATH=/x:$PATH", "export LD_PRELOAD=/x.so", "cd x || a1",
        // These print every variable, the secret ones as well.
        "set", "export", "export -p", "cd /tmp; export"}) {
    EXPECT_FALSE(Analyze(line, TestContext()).state_only) << line;
  }
}

}  // namespace
}  // namespace gate::parser
