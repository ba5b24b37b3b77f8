// What the reader makes of each construct of bash's grammar.
#include <gtest/gtest.h>

#include <string>

#include "parser/read.h"
#include "tests/parser/print_tree.h"

namespace gate::parser {
namespace {

struct Case {
  const char* source;
  const char* tree;
};

std::string Tree(const Script& script) {
  if (script.status != ReadStatus::kOk) {
    return "status " + std::to_string(static_cast<int>(script.status)) + ": " +
           script.message;
  }
  return Print(script.ast);
}

void Expect(const Case& test) {
  ReadOptions options;
  options.compare = false;
  EXPECT_EQ(Tree(Read(test.source, options)), test.tree) << test.source;
}

TEST(ReadGrammar, ListsAndPipelinesKeepTheirOrder) {
  const Case cases[] = {
      {"", "()"},
      {"\n # only a comment\n", "()"},
      {"ls", "(list (simple \"ls\"))"},
      {"a; b & c", "(list (simple \"a\") (simple \"b\") & (simple \"c\"))"},
      {"a\nb\n\nc", "(list (simple \"a\") (simple \"b\") (simple \"c\"))"},
      {"a && b || c",
       "(list (or (and (simple \"a\") (simple \"b\")) (simple \"c\")))"},
      {"a |& b | c",
       "(list (pipeline (simple \"a\") |& (simple \"b\") (simple \"c\")))"},
      {"! a | b", "(list (pipeline ! (simple \"a\") (simple \"b\")))"},
      {"! ! a", "(list (simple \"a\"))"},
      {"time -p -- a", "(list (pipeline time (simple \"a\")))"},
      {"a |\n\n b &&\n c",
       "(list (and (pipeline (simple \"a\") (simple \"b\")) "
       "(simple \"c\")))"},
  };
  for (const Case& test : cases) Expect(test);
}

TEST(ReadGrammar, CompoundCommandsHaveTheirParts) {
  const Case cases[] = {
      {"(a; b)", "(list (subshell (list (simple \"a\") (simple \"b\"))))"},
      {"{ a; } >f", "(list (group (list (simple \"a\")) (> \"f\")))"},
      {"if a; then b; elif c; then d; else e; fi",
       "(list (if (list (simple \"a\")) (list (simple \"b\")) "
       "(list (simple \"c\")) (list (simple \"d\")) (list (simple \"e\"))))"},
      {"for i in 1 $x; do a; done",
       "(list (for name=\"i\" in \"1\" \"{$x}\" (list (simple \"a\"))))"},
      {"for i; do a; done", "(list (for name=\"i\" (list (simple \"a\"))))"},
      {"for i in a; { b; }",
       "(list (for name=\"i\" in \"a\" (list (simple \"b\"))))"},
      {"for ((i=0;i<3;i++)); do a; done",
       "(list (arithmetic-for \"i=0\" \"i<3\" \"i++\" "
       "(list (simple \"a\"))))"},
      {"until a; do b; done",
       "(list (until (list (simple \"a\")) (list (simple \"b\"))))"},
      {"case $x in a|b) c ;; (*) d ;& e) esac",
       "(list (case \"{$x}\" (clause \"a\" \"b\" (list (simple \"c\"))) "
       "(clause \"*\" (list (simple \"d\")) ;&) (clause \"e\" ())))"},
      {"f() { a; }",
       "(list (function name=\"f\" (group (list (simple \"a\")))))"},
      {"function f { a; }",
       "(list (function name=\"f\" (group (list (simple \"a\")))))"},
      {"function f (a)",
       "(list (function name=\"f\" (subshell (list (simple \"a\")))))"},
      {"[[ -f x && ! $a == b* ]]",
       "(list (conditional :\"-f\" \"x\" :\"&&\" :\"!\" \"{$a}\" :\"==\" "
       "\"b*\"))"},
      {"((a + 1))", "(list (arithmetic \"a + 1\"))"},
      {"((a); (b))",
       "(list (subshell (list (subshell (list (simple \"a\"))) "
       "(subshell (list (simple \"b\"))))))"},
      {"coproc X { a; }",
       "(list (coproc name=\"X\" (group (list (simple \"a\")))))"},
  };
  for (const Case& test : cases) Expect(test);
}

TEST(ReadGrammar, ReservedWordsAreRecognisedOnlyWhereBashDoes) {
  const Case cases[] = {
      {"echo if then fi", "(list (simple \"echo\" \"if\" \"then\" \"fi\"))"},
      {"'if' a", "(list (simple \"{sq if}\" \"a\"))"},
      {"a | time b",
       "(list (pipeline (simple \"a\") (simple \"time\" \"b\")))"},
      {"x=1 if", "(list (simple (= x \"1\") \"if\"))"},
      {"case in in in) a;; esac",
       "(list (case \"in\" (clause \"in\" (list (simple \"a\")))))"},
      {"echo }", "(list (simple \"echo\" \"\\}\"))"},
  };
  for (const Case& test : cases) Expect(test);
}

TEST(ReadGrammar, SyntaxErrorsKeepTheLinesBeforeThem) {
  ReadOptions options;
  options.compare = false;
  for (const char* source :
       {"a; b\nc; )", "a; b\nif x", "a; b\necho 'x", "a; b\n;;", "a; b\n{ }",
        "a; b\nx=(|)", "a; b\necho $(", "a; b\n[[ x y ]]"}) {
    const Script script = Read(source, options);
    EXPECT_EQ(script.status, ReadStatus::kSyntaxError) << source;
    EXPECT_FALSE(script.message.empty()) << source;
    EXPECT_EQ(Print(script.ast), "(list (simple \"a\") (simple \"b\"))")
        << source;
  }
}

}  // namespace
}  // namespace gate::parser
