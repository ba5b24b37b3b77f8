// Lines where bash's answer is surprising: the order in which lists of
// elements are computed, `read` with separators, empty fields, braces. Known
// words are what bash 5.2.15 made of them (`probe` printed its words, each in
// <>, one call a line); where versions of bash differ nothing is claimed.
#include <gtest/gtest.h>

#include <string>

#include "parser/analysis.h"

namespace gate::parser {
namespace {

Context TestContext() {
  Context context;
  context.cwd = "/w";
  context.home = "/home/u";
  context.user = "u";
  context.path = "/usr/bin:/bin";
  return context;
}

struct Case {
  const char* line;
  const char* words;
};

constexpr Case kKnown[] = {
    {R"~(i=0; a=([100+i++]=$((i++)) [200+i++]=$((i++))); probe "${!a[@]}" "${a[@]}" $i)~",
     "<102><203><0><1><4>\n"},
    {R"~(i=1; a=([100+i++]=$((i++)) [200+i++]=$((i++)) [300+i++]=$((i++))); probe "${!a[@]}" "${a[@]}" $i)~",
     "<104><205><306><1><2><3><7>\n"},
    {R"~(i=1; a=(9 8); a+=([++i]=$((i++)) x); probe "${!a[@]}" "${a[@]}" $i)~",
     "<0><1><3><4><9><8><1><x><3>\n"},
    {R"~(i=1; a=(9 8); a+=([i]+=7 [i--]+=6); probe "${a[@]}" $i)~",
     "<9><876><0>\n"},
    {R"~(j=5; a=([j--]=x [j--]=y [j]=z); probe "${!a[@]}" $j)~",
     "<3><4><5><3>\n"},
    {R"~(readonly b[7]=8; probe $?)~", "<1>\n"},
    {R"~(export a[7]=8; probe $?; declare a[7]=8; probe $? "${a[@]}")~",
     "<1>\n<0><8>\n"},
    {R"~(readonly -a m[1]=5; probe $?)~", "<1>\n"},
    {R"~(readonly e=(1 2); probe $? "${e[@]}"; f() { local c[3]=4; probe $? "${c[3]}"; }; f)~",
     "<0><1><2>\n<0><4>\n"},
    {R"~(IFS=' -'; read a b c <<< 'A-B-C - '; probe "$a" "$b" "$c")~",
     "<A><B><C>\n"},
    {R"~(IFS=' -'; read a b <<< 'A -B-'; probe "$a" "$b")~", "<A><B>\n"},
    {R"~(IFS=:; read a b <<< 'x:y:'; probe "$a" "$b"; read a b <<< 'x:y:z:'; probe "$a" "$b")~",
     "<x><y>\n<x><y:z:>\n"},
    {R"~(IFS=' :'; read a b c <<< ' x : y '; probe "$a" "$b" "$c")~",
     "<x><y><>\n"},
    {R"~(read a b <<< '  x   y  z  '; probe "$a" "$b"; read a <<< ' x y '; probe "$a")~",
     "<x><y  z>\n<x y>\n"},
    {R"~(IFS=; read a b <<< ' x '; probe "$a" "$b")~", "< x ><>\n"},
    {R"~(read a b <<< 'x\ny z'; probe "$a" "$b")~", "<xny><z>\n"},
    {R"~(IFS=; a=("" ""); probe "${a[*]:-e}" "${a[@]:-e}")~", "<e><><>\n"},
    {R"~(IFS=; a=(""); probe ${a[*]:-e} "${a[*]:-e}")~", "<e><e>\n"},
    {R"~(IFS=; set -- "" ""; probe ${*:-e} "${*:-e}")~", "<e>\n"},
    {R"~(a=("" ""); probe "${a[*]:-e}" ${a[*]:+s})~", "< ><s>\n"},
    {R"~(IFS=x; a=("" ""); probe ${a[*]:-e} "${a[*]:-e}")~", "<><x>\n"},
    {R"~(probe {a b{,} {b,c)~", "<{a><b><b><{b,c>\n"},
    {R"~(probe a{b{c,d}e {{x,y} {},{x,y})~",
     "<a{bce><a{bde><{x><{y><{},x><{},y>\n"},
    {R"~(probe {a{b,c}d} x{1..2}{a HEAD@{1} @{u}..x{1,2})~",
     "<{abd}><{acd}><x1{a><x2{a><HEAD@{1}><@{u}..x1><@{u}..x2>\n"},
};

// `probe` with a word that is not known, or a line that says so.
constexpr const char* kNotClaimed[] = {
    // A sequence that holds a list; a closing brace that is passed over.
    "probe {a..{b,c}}",
    "probe k{j{i,h}e}d,c}b",
    "probe {a}b,c}",
    // The old value of an element that a new list adds to.
    "declare -A a; a=([h]=1 [h]+=2); probe \"${a[@]}\"",
    "declare -A a; a[k]=1; a=([k]+=2); probe \"${a[@]}\"",
    // References to all elements.
    "a=(x y); typeset -n r='a[@]'; r=(z); probe \"${a[@]}\"",
    "a=(x y); typeset -n r='a[*]'; r=z; probe \"${a[@]}\"",
    "a=(x y); typeset -n r='a[1]'; r[2]=z; probe \"${a[@]}\"",
    // Escaped separators keep bash's own marks.
    "IFS='x '; read a b <<< 'x\\  \\ '; probe \"$a\" \"$b\"",
    "IFS=:; read a b <<< 'x\\:y:z'; probe \"$a\" \"$b\"",
    "read a <<< ' x\\ '; probe \"$a\"",
    "read -a a <<< 'x\\ y'; probe \"${a[@]}\"",
    "read a b <<< $'x\\001 y'; probe \"$a\" \"$b\"",
    // The body is read from what follows the alias.
    "shopt -s expand_aliases\nalias c='cat <<E\n$(rm x)\nE\n'\nc",
    "shopt -s expand_aliases\nalias c='cat <<-E'\nc\n\trm x\nE",
    // Cuts the file of the history at once.
    "HISTFILE=f; HISTFILESIZE=5",
    "export HISTFILESIZE=0",
    "HISTFILESIZE=5 true",
    "declare HISTFILESIZE=1",
    "read HISTFILESIZE <<< 3",
    "printf -v HISTFILESIZE 3",
    "((HISTFILESIZE=3))",
};

std::string Words(const Analysis& analysis) {
  std::string out;
  for (const Invocation& invocation : analysis.invocations) {
    if (invocation.program != "probe") continue;
    for (size_t i = 1; i < invocation.argv.size(); ++i) {
      const Argument& word = invocation.argv[i];
      out += word.known && !word.glob && !word.splits ? "<" + word.text + ">"
                                                      : "<?>";
    }
    out += "\n";
  }
  return out;
}

TEST(OddExpansion, IsWhatBashMakesOfIt) {
  for (const Case& one : kKnown)
    EXPECT_EQ(Words(Analyze(one.line, TestContext())), one.words) << one.line;
}

TEST(OddExpansion, IsNotClaimedWhereVersionsOfBashDiffer) {
  for (const char* line : kNotClaimed) {
    const Analysis analysis = Analyze(line, TestContext());
    bool hides = false;
    for (const Unknown& unknown : analysis.unknowns)
      hides |= HidesCommands(unknown.code);
    EXPECT_TRUE(hides || Words(analysis).find("<?>") != std::string::npos)
        << line;
  }
}

TEST(OddExpansion, OfOrdinaryLinesStaysKnown) {
  constexpr const char* kOrdinary[] = {
      "probe {a,b}{c,d} src/{x,y}.{h,cc} {1..3} a{}b {} '{a}b,c}'",
      "HISTSIZE=5; HISTFILE=/dev/null; probe x",
      "shopt -s expand_aliases\nalias l='ls -l'\nl <<< x",
      "declare -A a=([x]=1 [y]=2); probe \"${a[x]}\"",
      "a=(1 2); a+=(3); probe \"${a[@]}\"",
      "read -r x y <<< 'a b c'; probe \"$x\" \"$y\"",
  };
  for (const char* line : kOrdinary) {
    const Analysis analysis = Analyze(line, TestContext());
    for (const Unknown& unknown : analysis.unknowns)
      EXPECT_FALSE(HidesCommands(unknown.code)) << line << Name(unknown.code);
    EXPECT_EQ(Words(analysis).find("<?>"), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace gate::parser
