// The comparison with tree-sitter-bash: what it must flag, what it must not.
#include <gtest/gtest.h>

#include "parser/crosscheck/tree_check.h"
#include "tests/parser/read_support.h"

namespace gate::parser {
namespace {

TEST(ReadCompare, KnownErrorsOfTheGrammarAreReadAsBashReadsThem) {
  const ReadCase cases[] = {
      {"echo a\n\\rm b", R"((list (simple "echo" "a") )"
                         R"((simple "{esc r}m" "b")))"},
      {"export A=1\n\\rm x",
       R"((list (simple "export" (= A "1")) (simple "{esc r}m" "x")))"},
      {"ls > f\n\\rm x",
       R"((list (simple "ls" (> "f")) (simple "{esc r}m" "x")))"},
      {"a | b | c\nrm x && true",
       R"((list (pipeline (simple "a") (simple "b") (simple "c")) )"
       R"((and (simple "rm" "x") (simple "true"))))"},
      {"echo x\\\r\nrm y",
       R"((list (simple "echo" "x{esc \x0d}") (simple "rm" "y")))"},
      {"r\\\nm x", R"((list (simple "rm" "x")))"},
      {"'su'\\do x", R"((list (simple "{sq su}{esc d}o" "x")))"},
      {"a\rb\vc", R"((list (simple "a\x0db\x0bc")))"},
      {"-x=1 a", R"((list (simple "-x=1" "a")))"},
      {"{a,b} c", R"((list (simple "\{a,b\}" "c")))"},
      {"coproc rm x", R"((list (coproc (simple "rm" "x"))))"},
      {"time rm x", R"((list (pipeline time (simple "rm" "x"))))"},
      {"! ! rm x", R"((list (simple "rm" "x")))"},
      {"a <>b", R"((list (simple "a" (<> "b"))))"},
      {"a >f <<< b c", R"((list (simple "a" "c" (> "f") (<<< "b"))))"},
      {"a 2>f <<<\"$b\" | d <<<e >g",
       R"((list (pipeline (simple "a" (2> "f") (<<< "{dq {$b}}")) )"
       R"((simple "d" (<<< "e") (> "g")))))"},
      {"{ a; } <<<b; rm c",
       R"((list (group (list (simple "a")) (<<< "b")) (simple "rm" "c")))"},
      {"a {fd}>b", R"((list (simple "a" ({fd}> "b"))))"},
      {"a <<A <<B\nx\nA\ny\nB\nrm z",
       R"((list (simple "a" (<< "x\n") (<< "y\n")) (simple "rm" "z")))"},
      {"a ${s:$i:1}", R"((list (simple "a" "{$s slice "{$i}" "1"}")))"},
      {"if (a) then b; fi",
       R"((list (if (list (subshell (list (simple "a")))) )"
       R"((list (simple "b")))))"},
      {"((a); (b))", R"((list (subshell (list (subshell (list (simple "a"))) )"
                     R"((subshell (list (simple "b")))))))"},
      {"echo `` a", R"((list (simple "echo" "{` ()}" "a")))"},
  };
  for (const ReadCase& test : cases) {
    EXPECT_EQ(TreeOf(test.source, true), test.tree) << test.source;
  }
}

TEST(ReadCompare, WhatIsNotExplainedStaysFlagged) {
  for (const char* source : {"((rm x))", "${ rm x; }", "echo ${a#$(rm x)}"}) {
    const Script script = Read(source);
    EXPECT_EQ(script.status, ReadStatus::kDisagreement) << source;
    EXPECT_LE(script.where.end, script.source.size());
    EXPECT_NE(script.ast.root, kNone);
  }
}

// A mistake of gate's own reader is found by the other one, also in a text
// with a construct that the grammar is known to misread.
TEST(ReadCompare, AKnownErrorPardonsOnlyItsOwnPlace) {
  ReadOptions options;
  options.compare = false;
  for (const char* source :
       {"ls a b; rm c", "time ls a b; rm c", "ls {x,y} b\n\\rm c",
        "a <>b; rm c d", "a >f <<<b; rm c d", "coproc a b; rm $(c d)"}) {
    Script script = Read(source, options);
    ASSERT_EQ(script.status, ReadStatus::kOk);
    std::vector<Suspect> suspects;
    for (size_t i = 0; i < script.ast.nodes.size(); ++i) {
      if (script.ast.nodes[i].kind != NodeKind::kSimple) continue;
      Ast without = script.ast;
      without.nodes[i].words.pop_back();
      EXPECT_TRUE(CheckTree(source, without, suspects).difference)
          << source << i;
      Ast longer = script.ast;
      Word& last = longer.words[longer.nodes[i].words.back()];
      if (last.span.begin > 0) --last.span.begin;
      EXPECT_TRUE(CheckTree(source, longer, suspects).difference)
          << source << i;
    }
    for (Node& node : script.ast.nodes) {
      if (node.kind == NodeKind::kList && node.children.size() > 1) {
        node.children.pop_back();
        EXPECT_TRUE(CheckTree(source, script.ast, suspects).difference)
            << source;
        break;
      }
    }
  }
}

// Read() does not compare plain texts; here they are all compared.
TEST(ReadCompare, PlainTextsAreReadAlikeByBoth) {
  static const char* const kPieces[] = {
      "a",       "ls",       "git",   "b.txt",   "/usr/bin/x", "./y",
      "1",       "-",        "-x",    "--l",     "--a=b",      "x=1",
      "=",       "==",       "a=",    "+",       "%",          "a%",
      "@",       "^",        ":",     ",",       ".",          "~",
      "~/a",     "*",        "?",     "*.c",     "'q'",        "'a b'",
      "\"a b\"", "''",       "\"\"",  "'su'do",  "' #'",       "\"'\"",
      "'\"'",    " ",        " ",     " ",       "  ",         "\t",
      "|",       "||",       "&&",    ";",       " | ",        " && ",
      " ; ",     ">",        ">>",    " > f",    " 2>&1",      " 2>/dev/null",
      "2>f",     " 1>&2",    "if",    "then",    "in",         "do",
      "test",    "eval",     "let",   "exec",    "[",          "alias",
      "time",    "function", "unset", "declare", "10#2",       "1.5",
      "a-b",     "a/b/c",    "u@h:p", "_",       "9a"};
  std::mt19937 random(7);
  ReadOptions options;
  options.compare = false;
  int plain = 0;
  for (int i = 0; i < 60000; ++i) {
    std::string text = kPieces[random() % 6];
    text += ' ';
    text += Soup(random, kPieces, 10);
    if (!IsPlain(text)) continue;
    ++plain;
    const Script script = Read(text, options);
    ASSERT_EQ(script.status, ReadStatus::kOk) << text;
    ASSERT_FALSE(CheckTree(text, script.ast, {}).difference) << text;
  }
  EXPECT_GT(plain, 5000);
}

TEST(ReadCompare, PlainIsOnlyWhatItSays) {
  for (const char* text : {"ls", "ls -la /tmp | grep 'a b' && echo \"c\" ; d",
                           "a 2>&1 | b", "a > b"}) {
    EXPECT_TRUE(IsPlain(text)) << text;
  }
  for (const char* text :
       {"",          "a\nb",   "$a",     "a $b",    "a `b`", "a \"$b\"",
        "a &",       "a & b",  "a #b",   "time a",  "if a",  "[ a ]",
        "a=1",       "a=1 b",  "{ a; }", "(a)",     "a <b",  "a \\b",
        "a {b,c}",   "a |& b", "a ;; b", "a > b c", "a\rb",  "! a",
        "declare a", "a >&b",  "a 'b",   "a é"}) {
    EXPECT_FALSE(IsPlain(text)) << text;
  }
}

}  // namespace
}  // namespace gate::parser
