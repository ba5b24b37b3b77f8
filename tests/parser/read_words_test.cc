// How words come apart: quoting, expansions, assignments, here-documents.
#include <gtest/gtest.h>

#include "tests/parser/read_support.h"

namespace gate::parser {
namespace {

void ExpectWords(const ReadCase& test, bool extglob = false) {
  EXPECT_EQ(TreeOf(test.source, false, extglob),
            std::string("(list (simple ") + test.tree + "))")
      << test.source;
}

TEST(ReadWords, QuotingIsResolvedIntoParts) {
  const ReadCase cases[] = {
      {R"(a'b c'"d e"\f)", R"("a{sq b c}{dq d e}{esc f}")"},
      {R"("a\b\"\$\`\\c")", R"("{dq a\\b"$`\\c}")"},
      {R"($'a\tb\x41\101\u00e9\'\\q')", R"("{ansi a\x09bAAé'\\q}")"},
      {R"($'a\0b'c)", R"("{ansi a}c")"},
      {R"($"a $b")", R"("{locale a {$b}}")"},
      {R"("a'b'")", R"("{dq a'b'}")"},
      {"a\\\nb c", R"("ab" "c")"},
      {"\"a\\\nb\" 'c\\\nd'", R"("{dq ab}" "{sq c\\\nd}")"},
      {"a\rb\vc\fd", R"("a\x0db\x0bc\x0cd")"},
      {"\xc3\xa9\xa0 b", "\"\xc3\xa9\xa0\" \"b\""},
      {R"(a#b # c)", R"("a#b")"},
      {R"(a\ b)", R"("a{esc  }b")"},
      {R"(a\)", R"("a{esc \\}")"},
  };
  for (ReadCase test : cases) {
    // In the expected trees a quotation mark inside text is escaped.
    std::string tree = test.tree;
    if (tree == R"("{dq a\\b"$`\\c}")") tree = R"("{dq a\\b\"$`\\c}")";
    test.tree = tree.c_str();
    ExpectWords(test);
  }
}

TEST(ReadWords, ParametersHaveNameOperatorAndOperands) {
  const ReadCase cases[] = {
      {"$a$1$10$@$?", R"("{$a}{$1}{$1}0{$@}{$?}")"},
      {"${a}${10}${@}", R"("{$a}{$10}{$@}")"},
      {"${a:-b}${a-b}", R"("{$a :- "b"}{$a - "b"}")"},
      {"${a:=b}${a:?b}${a:+b}", R"("{$a := "b"}{$a :? "b"}{$a :+ "b"}")"},
      {"${#a}${#}${##}${#a[@]}",
       R"("{$a length}{$#}{$# length}{$a["@"] length}")"},
      {"${a#b}${a##b}${a%b}${a%%b}",
       R"("{$a # "b"}{$a #all "b"}{$a % "b"}{$a %all "b"}")"},
      {"${a/b/c}${a//b/c}${a/#b/c}${a/%b/c}${a/b}",
       R"("{$a / "b" "c"}{$a // "b" "c"}{$a /# "b" "c"}{$a /% "b" "c"})"
       R"({$a / "b"}")"},
      {"${a:1}${a:1:2}${a: -1}",
       R"("{$a slice "1"}{$a slice "1" "2"}{$a slice " -1"}")"},
      {"${a^}${a^^b}${a,,}${a~}",
       R"("{$a ^ ""}{$a ^all "b"}{$a ,all ""}{$a ~ ""}")"},
      {"${a@Q}${!a}${!a*}${!a@}${!a[@]}",
       R"("{$a @ "Q"}{$!a}{$!a names}{$!a names@}{$!a["@"] keys@}")"},
      {"${a[1]}${a[$b]:-c}", R"("{$a["1"]}{$a["{$b}"] :- "c"}")"},
      {"${a b}${a@z}${}", R"("{$a bad}{$a bad}{$ bad}")"},
      {R"("${a:-'b'}")", R"("{dq {$a :- "'b'"}}")"},
      {R"("${a#'b'}")", R"("{dq {$a # "{sq b}"}}")"},
      {R"(${a:-'b}'})", R"("{$a :- "{sq b\}}"}")"},
      {R"("${a:-"b"}")", R"("{dq {$a :- "b"}}")"},
  };
  for (const ReadCase& test : cases) ExpectWords(test);
}

TEST(ReadWords, SubstitutionsHoldTheirCommands) {
  const ReadCase cases[] = {
      {"$(a; b)", R"("{$ (list (simple "a") (simple "b"))}")"},
      {"$()`` $( )", R"("{$ ()}{` ()}" "{$ ()}")"},
      {"`a \\`b\\``", R"("{` (list (simple "a" "{` (list (simple "b"))}"))}")"},
      {"\"`a \\\"b\\\"`\"", R"("{dq {` (list (simple "a" "{dq b}"))}}")"},
      {"<(a) >(b)", R"("{<( (list (simple "a"))}" "{>( (list (simple "b"))}")"},
      {"$((1+$(a)))", R"("{arith 1+{$ (list (simple "a"))}}")"},
      {"$[1+2]", R"("{arith 1+2}")"},
      {"$((a); (b))", R"("{$ (list (subshell (list (simple "a"))) )"
                      R"((subshell (list (simple "b"))))}")"},
      {"\"${a:-'$(b)'}\"", R"("{dq {$a :- "'{$ (list (simple "b"))}'"}}")"},
      {"$(case a in b) c;; esac)",
       R"("{$ (list (case "a" (clause "b" (list (simple "c")))))}")"},
      {"$(a # )\n)", R"("{$ (list (simple "a"))}")"},
  };
  for (const ReadCase& test : cases) ExpectWords(test);
}

TEST(ReadWords, ErrorsThatBashMeetsLaterAreMarkedAtTheirPart) {
  EXPECT_EQ(TreeOf("a `b; (`"), R"((list (simple "a" "{` unreadable ()}")))");
  EXPECT_EQ(TreeOf("a `b\n(`"),
            R"((list (simple "a" "{` unreadable (list (simple "b"))}")))");
  EXPECT_EQ(TreeOf("cat <<E\n$(b\nE\n"),
            "(list (simple \"cat\" (<< \"{$ unreadable ()}\")))");
}

TEST(ReadWords, ExtendedGlobsOnlyWithTheOption) {
  ExpectWords({"@(a|b*)c", R"("{@glob "a" "b*"}c")"}, true);
  EXPECT_EQ(TreeOf("a @(b)").substr(0, 8), "status 1");
  EXPECT_EQ(TreeOf("[[ a == @(b|c) ]]"),
            R"((list (conditional "a" :"==" "{@glob "b" "c"}")))");
}

TEST(ReadWords, AssignmentsAreReadWhereBashReadsThem) {
  const ReadCase cases[] = {
      {"a=1 b+=$c d", R"((= a "1") (= b + "{$c}") "d")"},
      {"a[1]=x a=(b [2]=c $(d))", R"((= a["1"] "x") (= a ("b" ["2"]="c" )"
                                  R"("{$ (list (simple "d"))}")))"},
      {"b a=1", R"("b" "a=1")"},
      {"-a=1 =b", R"("-a=1" "=b")"},
      {"declare -a a=(1) b=$c d",
       R"("declare" "-a" (= a ("1")) (= b "{$c}") "d")"},
      {"a=1 >b c=2 d", R"((= a "1") (= c "2") "d" (> "b"))"},
      {">a b=1 c", R"((= b "1") "c" (> "a"))"},
  };
  for (const ReadCase& test : cases) ExpectWords(test);
}

TEST(ReadWords, RedirectionsKeepKindDescriptorAndTarget) {
  const ReadCase cases[] = {
      {"a <b >c >>d >|e <>f",
       R"("a" (< "b") (> "c") (>> "d") (>| "e") (<> "f"))"},
      {"a 2>&1 3<&- >&2 4>&5-",
       R"("a" (2>& "1") (3<& "-") (>& "2") (4>& "5-"))"},
      {"a >&b &>c &>>d", R"("a" (&> "b") (&> "c") (&>> "d"))"},
      {"a >&$b", R"("a" (>& "{$b}"))"},
      {"{fd}>b a", R"("a" ({fd}> "b"))"},
      {"a <<<b 2 >c", R"("a" "2" (<<< "b") (> "c"))"},
  };
  for (const ReadCase& test : cases) ExpectWords(test);
}

TEST(ReadWords, HereDocumentsHangOnTheirRedirection) {
  const ReadCase cases[] = {
      {"a <<E\nb $c\nE", R"("a" (<< "b {$c}\n"))"},
      {"a <<'E'\nb $c\nE\n", R"("a" (<< "{sq b $c\n}"))"},
      {"a <<E\"F\"\n$c\nEF", R"("a" (<< "{sq $c\n}"))"},
      {"a <<-E\n\tb\n\t\tc\n\tE", R"("a" (<< "b\nc\n"))"},
      {"a <<A <<B\nx\nA\ny\nB", R"("a" (<< "x\n") (<< "y\n"))"},
      {"a <<E\nb\\\nc\\$d\nE", R"("a" (<< "bc$d\n"))"},
      {"a <<E\nb", R"("a" (<< "b\n"))"},
      {"a <<E\n\"$b\" 'c'\nE", R"("a" (<< "\"{$b}\" 'c'\n"))"},
      {"a <<E", R"("a" (<< ""))"},
      {"a <<E\n${b:-$'c'\"d\"}\nE", R"("a" (<< "{$b :- "$'c'd"}\n"))"},
  };
  for (const ReadCase& test : cases) ExpectWords(test);
  EXPECT_EQ(TreeOf("a <<E; b\nx\nE\nc"),
            R"((list (simple "a" (<< "x\n")) (simple "b") (simple "c")))");
  EXPECT_EQ(TreeOf("a $(b <<E\nx\nE\n) c"),
            R"((list (simple "a" "{$ (list (simple "b" (<< "x\n")))}" "c")))");
  EXPECT_EQ(TreeOf("a $(b <<E\nx\nE) c"),
            R"((list (simple "a" "{$ (list (simple "b" (<< "x\n")))}" "c")))");
}

TEST(ReadWords, SpansPointIntoTheSource) {
  const std::string source = "ab 'c d' `e \\$f` <<X\n\t$g\nX\n";
  ReadOptions options;
  options.compare = false;
  const Script script = Read(source, options);
  ASSERT_EQ(script.status, ReadStatus::kOk);
  for (const Word& word : script.ast.words) {
    ASSERT_LE(word.span.end, source.size());
  }
  for (const Node& node : script.ast.nodes) {
    if (node.kind != NodeKind::kSimple || node.words.empty()) continue;
    const Span first = script.ast.words[node.words[0]].span;
    const std::string_view text = Slice(source, first);
    EXPECT_TRUE(text == "ab" || text == "e") << text;
  }
}

}  // namespace
}  // namespace gate::parser
