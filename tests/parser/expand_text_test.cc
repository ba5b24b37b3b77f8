// What expansion does to plain text: braces, patterns, fields, printf, echo,
// arithmetic. The expected values are what bash 5.2.15 printed.
#include <gtest/gtest.h>

#include <chrono>

#include "base/text.h"
#include "parser/expand/braces.h"
#include "parser/expand/expand.h"
#include "parser/expand/pattern.h"

namespace gate::parser {
namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += "<" + word + ">";
  return out;
}

// Runs nothing; remembers what was noted and asked.
class TestHost : public Host {
 public:
  Values Substitute(State&, const Script&, NodeId, Span) override {
    ++substituted;
    return {Value::Of("7")};
  }
  Value Process(State&, const Script&, NodeId, char, Span) override {
    return Value::Of("/dev/fd/63");
  }
  std::string HomeOf(const std::string&) override { return ""; }
  void Note(UnknownCode code, Span, std::string) override {
    noted.push_back(code);
  }
  void Fail(State&) override { ++failed; }
  bool Spend(size_t steps) override { return (spent += steps) < 1000000; }

  int substituted = 0;
  int failed = 0;
  size_t spent = 0;
  std::vector<UnknownCode> noted;
};

struct Bench {
  Bench() : state(InitialState(Context{})), x{state, script, host} {}
  void Set(const std::string& name, const std::string& text) {
    SetVariable(x, name, {Value::Of(text)});
  }
  std::string Arithmetic(const std::string& text) {
    const auto number = EvaluateArithmetic(x, Value::Of(text), Span{});
    return number ? std::to_string(*number) : "?";
  }
  State state;
  Script script;
  TestHost host;
  Expander x;
};

// Brace expansion of plain text as a sequence of texts.
std::vector<std::string> ExpandBraces(std::string_view text) {
  std::vector<BraceAtom> atoms;
  for (const char c : text) atoms.push_back({c, kNone});
  std::vector<std::vector<BraceAtom>> results;
  ExpandBraceAtoms(atoms, &results);
  std::vector<std::string> texts;
  for (const auto& result : results) {
    std::string one;
    for (const BraceAtom& atom : result) one += atom.c;
    texts.push_back(std::move(one));
  }
  return texts;
}

TEST(ExpandBraces, GivesBashsWords) {
  const struct {
    const char* text;
    const char* words;
  } kCases[] = {
      {"{a,b}{c,d}", "<ac><ad><bc><bd>"},
      {"{1..3}", "<1><2><3>"},
      {"{3..1}", "<3><2><1>"},
      {"{01..03}", "<01><02><03>"},
      {"{-01..1}", "<-01><000><001>"},
      {"{1..10..4}", "<1><5><9>"},
      {"{1..3..-1}", "<1><2><3>"},
      {"{a..e..2}", "<a><c><e>"},
      {"{a,b}}", "<a}><b}>"},
      {"{{a,b}", "<{a><{b>"},
      {"{}", "<{}>"},
      {"{a}", "<{a}>"},
      {"{,}x", "<x><x>"},
      {"a{b{c,d}e,f}g", "<abceg><abdeg><afg>"},
      {"{1..x}", "<{1..x}>"},
      {"{9223372036854775806..9223372036854775807}",
       "<9223372036854775806><9223372036854775807>"},
  };
  for (const auto& [text, words] : kCases)
    EXPECT_EQ(Joined(ExpandBraces(text)), words) << text;
}

TEST(ExpandBraces, AreBounded) {
  EXPECT_LE(ExpandBraces("{1..100000}").size(), 4096u);
  EXPECT_LE(ExpandBraces("{1..99}{1..99}{1..99}").size(), 4096u);
  EXPECT_FALSE(ExpandBraces(std::string(20000, '{')).empty());
}

TEST(MatchPattern, AgreesWithBash) {
  const struct {
    const char* pattern;
    const char* text;
    bool plain;
    bool extended;
  } kCases[] = {
      {"a*c", "abc", true, true},      {"a*c", "abcd", false, false},
      {"a\\*c", "a*c", true, true},    {"[!a-c]", "d", true, true},
      {"[]]", "]", true, true},        {"[a-]", "-", true, true},
      {"[a", "[a", true, true},        {"[[:digit:]]x", "7x", true, true},
      {"?", "\xc3\xa9", false, false},  // one character or two bytes
      {"+(a)", "aaa", false, true},    {"+(a)", "+(a)", true, false},
      {"@(a|b)c", "bc", false, true},  {"!(a)", "b", false, true},
      {"!(a)", "a", false, false},     {"*(a|bc)d", "abcad", false, true},
      {"?(x)y", "y", false, true},     {"!(!(a))", "a", false, true},
      {"+(a", "+(a", true, false},  // unclosed: matches nothing
      {"**(a)b", "xab", false, true},
  };
  for (const auto& [pattern, text, plain, extended] : kCases) {
    EXPECT_EQ(TryMatchPattern(pattern, text, false).value_or(false), plain)
        << pattern << " " << text;
    EXPECT_EQ(TryMatchPattern(pattern, text, true).value_or(false), extended)
        << pattern << " " << text;
  }
  EXPECT_EQ(TryMatchPattern("?", "\xc3\xa9", false), std::nullopt);
  EXPECT_EQ(TryMatchPattern("ABC", "abc", false, true), true);
}

TEST(MatchPattern, EndsOnHostilePatterns) {
  const auto start = std::chrono::steady_clock::now();
  std::string pattern;
  for (int i = 0; i < 30; ++i) pattern += "*(a|*(b|*(a)))";
  TryMatchPattern(pattern + "c", std::string(300, 'a'), true);
  TryMatchPattern(std::string(2000, '*') + "b", std::string(20000, 'a'), true);
  std::string nested = "a";
  for (int i = 0; i < 20; ++i) nested = "!(" + nested + "|b)";
  TryMatchPattern(nested, std::string(200, 'b'), true);
  TryMatchPattern(std::string(100000, '('), "x", true);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(SplitFields, FollowsIfs) {
  const struct {
    const char* text;
    const char* ifs;
    const char* words;
  } kCases[] = {
      {" a  b ", " \t\n", "<a><b>"},
      {"a:b::c:", ":", "<a><b><><c>"},
      {" a : b ", " :", "<a><b>"},
      {":", ":", "<>"},
      {"a b", "", "<a b>"},
      {"\fa\fb\f", "\f", "<a><b>"},
      {"", ":", ""},
  };
  for (const auto& [text, ifs, words] : kCases)
    EXPECT_EQ(Joined(SplitFields(text, ifs)), words) << text << "|" << ifs;
}

TEST(FormatPrintf, PrintsAsBash) {
  const struct {
    std::vector<std::string> words;
    const char* printed;
  } kCases[] = {
      {{"%s-%s\n", "a", "b", "c"}, "a-b\nc-\n"},
      {{"%s"}, ""},
      {{"%d %i"}, "0 0"},
      {{"x", "a", "b"}, "x"},
      {{"%5d|%-5d|%05d|%+d|%#x", "1", "1", "1", "1", "255"},
       "    1|1    |00001|+1|0xff"},
      {{"%u %x", "-1", "-1"}, "18446744073709551615 ffffffffffffffff"},
      {{"%q", "it's $x"}, "it\\'s\\ \\$x"},
      {{"%q|%q|%q", "", "~a", "a~"}, "''|\\~a|a~"},
      {{"%q", "a\tb"}, "$'a\\tb'"},
      {{"%Q|%.3Q", "a b", "a b c"}, "a\\ b|a\\ b"},
      {{"%b|", "\\101", "\\0101", "a\\cb", "x"}, "A|A|a"},
      {{"\\101\\0101\\x41\\u0041"}, "A\b1AA"},
      {{"a\\cb"}, "a\\cb"},
      {{"%.2s|%5s|%-5s|", "abc", "abc", "abc"}, "ab|  abc|abc  |"},
      {{"%*d|%-*d", "5", "1", "5", "1"}, "    1|1    "},
      {{"%f %e %g", "1.5", "1.5", "1.5"}, "1.500000 1.500000e+00 1.5"},
      {{"%d %d %d", "0x1f", "010", "'a"}, "31 8 97"},
      {{"%%%c", "abc"}, "%a"},
  };
  for (const auto& [words, printed] : kCases)
    EXPECT_EQ(FormatPrintf(words).value_or("?"), printed) << words[0];
  for (const char* format : {"%(%Y)T", "%z", "%", "%'d", "%1$s"})
    EXPECT_EQ(FormatPrintf({format, "1"}), std::nullopt) << format;
}

TEST(EchoEscapes, PrintAsBash) {
  bool stop = false;
  EXPECT_EQ(ExpandEchoEscapes("a\\tb\\0101\\101\\x414\\q\\", &stop),
            "a\tbA\\101A4\\q\\");
  EXPECT_EQ(ExpandEchoEscapes("a\\cb", &stop), "a");
  EXPECT_TRUE(stop);
}

TEST(Arithmetic, AgreesWithBash) {
  const struct {
    const char* text;
    const char* value;
  } kCases[] = {
      {"", "0"},
      {"1+2*3", "7"},
      {"2**3**2", "512"},
      {"-2**2", "4"},
      {"7/2", "3"},
      {"-7%3", "-1"},
      {"08", "?"},
      {"010", "8"},
      {"0x1F", "31"},
      {"1#1", "?"},
      {"2#3", "?"},
      {"36#zZ", "1295"},
      {"37#aA", "406"},
      {"64#@_", "4031"},
      {"010#5", "?"},
      {"10#08", "8"},
      {"1<<65", "2"},
      {"1/0", "?"},
      {"0&&1/0", "0"},
      {"1||1/0", "1"},
      {"2**-1", "?"},
      {"1?2,3:4", "3"},
      {"0?1:x=9", "?"},
      {"x=y=2", "2"},
      {"(x=4)", "4"},
      {"1 2", "?"},
      {"--5", "5"},
      {"5++", "?"},
      {"x+++y", "9"},
      {"z", "6"},
      {"n", "7"},
      {"unset_name=1", "1"},
      {"9223372036854775807+1", "-9223372036854775808"},
      {"99999999999999999999", "7766279631452241919"},
  };
  for (const auto& [text, value] : kCases) {
    Bench bench;
    bench.Set("x", "5");
    bench.Set("y", "4");
    bench.Set("z", "x+1");
    bench.Set("n", " 7 ");
    EXPECT_EQ(bench.Arithmetic(text), value) << text;
    if (std::string(value) == "?") {
      EXPECT_GT(bench.host.failed, 0) << text;
    }
  }
}

TEST(Arithmetic, RunsWhatSubscriptsInTextRun) {
  Bench bench;
  bench.Set("x", "y[$(id)]");
  bench.Arithmetic("x");
  EXPECT_EQ(bench.host.substituted, 1);
  // Not where it is skipped.
  bench.Arithmetic("0 && x");
  bench.Arithmetic("1 ? 2 : y[$(id)]");
  EXPECT_EQ(bench.host.substituted, 1);
  // Assignments to bash's own integers evaluate, too.
  bench.Set("OPTIND", "y[$(id)]");
  bench.Set("RANDOM", "y[$(id)]");
  EXPECT_EQ(bench.host.substituted, 3);
}

TEST(Arithmetic, IsBoundedInDepth) {
  Bench bench;
  bench.Set("e", "e+1");
  EXPECT_EQ(bench.Arithmetic("e"), "?");
  EXPECT_EQ(bench.Arithmetic(std::string(5000, '(') + "1"), "?");
  EXPECT_EQ(bench.Arithmetic(std::string(5000, '-') + "1"), "?");
  EXPECT_FALSE(bench.host.noted.empty());
}

TEST(Variables, OfBashItselfAreNotWhatWasAssigned) {
  Bench bench;
  for (const char* name : {"RANDOM", "SECONDS", "LINENO", "BASHPID", "FUNCNAME",
                           "BASH_COMMAND", "UID", "PPID"}) {
    bench.Set(name, "5");
    for (const Value& value : GetVariable(bench.x, name))
      EXPECT_FALSE(value.known()) << name;
  }
  bench.Set("BASH_ARGV0", "zz");
  EXPECT_EQ(GetVariable(bench.x, "0")[0].text(), "zz");
}

TEST(Values, KeepWhatAllAlternativesShare) {
  Values values;
  for (char c = 'a'; c <= 'z'; ++c)
    values =
        values.empty()
            ? Values{Value::Of("/tmp/a.txt")}
            : Union(values, {Value::Of(std::string("/tmp/") + c + ".txt")});
  EXPECT_LE(values.size(), kMaxAlternatives);
  for (const Value& value : values) {
    EXPECT_EQ(value.Prefix().substr(0, 5), "/tmp/");
    EXPECT_TRUE(value.Suffix().ends_with(".txt"));
  }
}

TEST(State, JoinKeepsBothReadings) {
  Bench a;
  Bench b;
  a.Set("x", "1");
  b.Set("x", "2");
  a.Set("only", "1");
  b.state.extglob = true;
  State joined = Join(a.state, b.state);
  EXPECT_TRUE(joined.extglob_unknown);
  EXPECT_EQ(joined.variables["x"].scalar.size(), 2u);
  EXPECT_TRUE(joined.variables["only"].maybe_unset);
  EXPECT_EQ(MatchInState(joined, "+(a)", "aa", false), std::nullopt);
  EXPECT_EQ(MatchInState(joined, "+(a)", "aa", true), true);
}

}  // namespace
}  // namespace gate::parser
