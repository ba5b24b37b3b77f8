#include "base/regex.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <string>

namespace gate {
namespace {

TEST(Regex, SearchesAnywhere) {
  const struct {
    const char *pattern, *text;
    bool found;
  } cases[] = {
      {"rm", "sudo rm x", true},
      {"^rm", "sudo rm x", false},
      {"^rm\\b.*-rf$", "rm x -rf", true},
      {"(?i)RM", "rm", true},
      {"", "", true},
      {"a{3}", "aa", false},
      {"\\p{Greek}", "\xce\xb1", true},
  };
  for (const auto& c : cases) {
    const auto regex = Regex::Compile(c.pattern);
    ASSERT_TRUE(regex) << c.pattern;
    EXPECT_EQ(regex->Search(c.text),
              c.found ? MatchResult::kYes : MatchResult::kNo)
        << c.pattern;
  }
}

TEST(Regex, WhatDoesNotCompileIsAnError) {
  for (const std::string& pattern :
       {std::string("("), std::string("(?=x)"), std::string("\\1"),
        std::string("a{1001}"), std::string("((a{100}){100}){100}"),
        std::string("\xff"), std::string(Regex::kMaxPatternBytes + 1, 'a')}) {
    const auto regex = Regex::Compile(pattern);
    ASSERT_FALSE(regex) << pattern;
    EXPECT_EQ(regex.error().code, ErrorCode::kInvalid);
    EXPECT_FALSE(regex.error().message.empty());
  }
}

TEST(Regex, AnIllFormedByteDoesNotHideAMatch) {
  const auto regex = Regex::Compile("^rm .*/etc$");
  ASSERT_TRUE(regex);
  EXPECT_EQ(regex->Search("rm \xff /etc"), MatchResult::kYes);
}

TEST(Regex, ALargeTextIsAnsweredOrIsAnError) {
  const auto simple = Regex::Compile("needle");
  ASSERT_TRUE(simple);
  std::string text(size_t{1} << 20, 'x');
  EXPECT_EQ(simple->Search(text), MatchResult::kNo);
  text += "needle";
  EXPECT_EQ(simple->Search(text), MatchResult::kYes);
  // A pattern whose automaton has 2^200 states, on text that visits new ones.
  const auto hard = Regex::Compile("[ab]*a[ab]{200}c");
  ASSERT_TRUE(hard);
  std::string noise;
  uint32_t state = 1;
  for (int i = 0; i < 1 << 20; ++i) {
    state = state * 1664525 + 1013904223;
    noise += state >> 31 != 0 ? 'a' : 'b';
  }
  EXPECT_EQ(hard->Search(noise), MatchResult::kError);
  noise.resize(30000);
  EXPECT_EQ(hard->Search(noise), MatchResult::kNo);
  EXPECT_EQ(hard->Search(noise + "a" + std::string(200, 'b') + "c"),
            MatchResult::kYes);
}

TEST(Regex, AMovedFromPatternIsAnError) {
  auto a = Regex::Compile("x");
  ASSERT_TRUE(a);
  const Regex b = std::move(*a);
  EXPECT_EQ(a->Search("x"), MatchResult::kError);
  EXPECT_EQ(b.Search("x"), MatchResult::kYes);
}

TEST(Regex, OneOfTheRequiredStringsStandsInEveryMatch) {
  const struct {
    const char* pattern;
    std::vector<const char*> matches;
    bool known;
  } kCases[] = {
      {"^git push.*--force", {"git push -f --force"}, true},
      {"(?i)(rmtree|unlink)\\(", {"shutil.RmTree(x)", "os.unlink(x)"}, true},
      {" (-c|--config) ?'?(core\\.pager|alias\\.[^ =]*=!)",
       {"git -c core.pager=x", "git --config 'alias.x=!id'"},
       true},
      {"a|bcd", {"a", "bcd"}, false},
      {"abcd?e", {"abce", "abcde"}, true},
      {"x[0-9]+", {"x1"}, false},
      {"(foo|bar)?", {"", "foo"}, false},
      {".*", {""}, false},
      {"HELLO", {"HELLO"}, true},
      {"(", {}, false},
  };
  for (const auto& [pattern, matches, known] : kCases) {
    const std::vector<std::string> required = Regex::RequiredAny(pattern);
    EXPECT_EQ(!required.empty(), known) << pattern;
    for (const char* text : matches) {
      const auto regex = Regex::Compile(pattern);
      ASSERT_TRUE(regex);
      ASSERT_EQ(regex->Search(text), MatchResult::kYes) << text;
      std::string lower = text;
      for (char& c : lower) c = static_cast<char>(tolower(c));
      bool found = required.empty();
      for (const std::string& one : required)
        found = found || lower.find(one) != std::string::npos;
      EXPECT_TRUE(found) << pattern << " in " << text;
    }
  }
}

TEST(Regex, TheRequiredStringsAreTheTellingOnes) {
  const struct {
    const char* pattern;
    std::vector<std::string> required;
  } kCases[] = {
      {"^git .*--force", {"--force"}},
      {"(?i)^[^ ]*git( [^ ]+)* -c ?alias\\.", {"alias."}},
      {"^python3? -m (pip|build)( |$)", {" -m build", " -m pip"}},
      {"for *\\(\\(.*do.*done", {"done"}},
      {"://([a-z]+\\.)*(github|gitlab)\\.com", {"github.com", "gitlab.com"}},
  };
  for (const auto& [pattern, required] : kCases) {
    std::vector<std::string> found = Regex::RequiredAny(pattern);
    std::ranges::sort(found);
    EXPECT_EQ(found, required) << pattern;
  }
}

}  // namespace
}  // namespace gate
