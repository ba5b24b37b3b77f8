// Patterns over text of which parts are not known.
#include "rules/match/gaps.h"

#include <gtest/gtest.h>

#include <random>

#include "base/regex.h"
#include "rules/glob.h"
#include "rules/policy.h"
#include "rules/policy_impl.h"

namespace gate::rules {
namespace {

// "~" stands for any text, "@" for an operand.
std::u32string Gapped(std::string_view text) {
  std::u32string out;
  for (const char c : text)
    out.push_back(c == '~'   ? kAnyGap
                  : c == '@' ? kOperandGap
                             : static_cast<char32_t>(c));
  return out;
}

bool Glob(std::string_view pattern, std::string_view text) {
  uint64_t work = 0;
  return GlobMayMatch(pattern, Gapped(text), &work);
}

bool Re(std::string_view pattern, std::string_view text) {
  uint64_t work = 0;
  return RegexMayMatch(pattern, Gapped(text), &work);
}

TEST(Gaps, AGlobMayMatchWhatCouldStandThere) {
  EXPECT_TRUE(Glob("*prod*", "deploy @"));
  EXPECT_TRUE(Glob("deploy prod-*", "deploy pr@"));
  EXPECT_TRUE(Glob("deploy *-prod", "deploy @rod"));
  EXPECT_TRUE(Glob("deploy prod", "deploy @"));
  EXPECT_TRUE(Glob("deploy", "deploy~"));
  EXPECT_FALSE(Glob("deploy prod-*", "deploy x@"));
  EXPECT_FALSE(Glob("deploy *-prod", "deploy @x"));
  EXPECT_FALSE(Glob("kubectl * prod", "deploy @"));
}

TEST(Gaps, ARegexMayMatchWhatCouldStandThere) {
  EXPECT_TRUE(Re("prod", "deploy @"));
  EXPECT_TRUE(Re("^deploy .*prod$", "deploy @"));
  EXPECT_TRUE(Re("^psql .*(?i:drop\\s+table)", "psql -c @"));
  EXPECT_TRUE(Re("^deploy (prod|live)$", "deploy l@"));
  EXPECT_FALSE(Re("^deploy (prod|live)$", "deploy x@"));
  EXPECT_FALSE(Re("^kubectl .*prod", "deploy @"));
  EXPECT_FALSE(Re("prod$", "deploy @x"));
}

TEST(Gaps, AnOperandHoldsNoOption) {
  for (const char* line : {"git push origin @", "git push origin x@"}) {
    EXPECT_FALSE(Glob("git push*--force*", line)) << line;
    EXPECT_FALSE(Glob("git push* -f*", line)) << line;
    EXPECT_FALSE(Re("^git push .*--force", line)) << line;
    EXPECT_FALSE(Re("rm\\s+-rf", line)) << line;
    // Case does not make a dash or a blank into a letter.
    EXPECT_FALSE(Re("(?i) --config filter", line)) << line;
  }
  EXPECT_TRUE(Glob("git push*--force*", "git push origin ~"));
  EXPECT_TRUE(Re("rm\\s+-rf", "~"));
  EXPECT_TRUE(Glob("git push*--force*", "git push --fo@"));
  EXPECT_TRUE(Glob("*my-prod*", "deploy @"));
}

TEST(Gaps, WhatCannotBeFollowedIsPossible) {
  uint64_t work = 0;
  std::string deep;
  for (int i = 0; i < 400; ++i) deep += '(';
  deep += 'x';
  for (int i = 0; i < 400; ++i) deep += ')';
  EXPECT_TRUE(RegexMayMatch(deep, Gapped("a@"), &work));
  EXPECT_TRUE(RegexMayMatch("((a{30}){30}){30}b", Gapped("c@"), &work));
  EXPECT_LT(work, 10'000'000u);
}

TEST(Gaps, HostilePatternsAndTextsEndInTime) {
  uint64_t work = 0;
  std::string stars, text;
  for (int i = 0; i < 500; ++i) stars += "*a";
  for (int i = 0; i < 5000; ++i) text += "a@";
  GlobMayMatch(stars + "b", Gapped(text), &work);
  RegexMayMatch("(.*a){200}b", Gapped(text), &work);
  RegexMayMatch("^(((a+)+)+)+$", Gapped(text + "b"), &work);
  EXPECT_LT(work, 10'000'000u);
}

TEST(Gaps, KnownTextIsMatchedAsItIsWithoutGaps) {
  const Policy policy = MakePolicy({}, true);
  size_t regexes = 0, texts = 0;
  for (const auto& layer : policy.impl().layers) {
    const RuleView& view = layer->view;
    for (const RegexRecord& record : view.regexes) {
      ++regexes;
      const std::string_view pattern = view.Text(record.pattern);
      const auto compiled = Regex::Compile(pattern);
      ASSERT_TRUE(compiled) << pattern;
      // A word's boundary and a name of a class are not followed.
      const bool vague = pattern.find("\\b") != std::string_view::npos;
      for (size_t i = regexes % 7; i < view.examples.size(); i += 7) {
        const std::string_view text = view.Text(view.examples[i].command);
        std::u32string line;
        AppendText(text, &line);
        uint64_t work = 0;
        const bool may = RegexMayMatch(pattern, line, &work);
        const bool does = compiled->Search(text) == MatchResult::kYes;
        ++texts;
        if (vague)
          EXPECT_TRUE(may || !does) << pattern << "\n" << text;
        else
          EXPECT_EQ(may, does) << pattern << "\n" << text;
      }
    }
  }
  EXPECT_GT(regexes, 100u);
  EXPECT_GT(texts, 10'000u);
}

// Whatever stands in a gap: what then matches was possible.
TEST(Gaps, NothingThatCouldMatchIsRuledOut) {
  std::mt19937 random(7);
  const auto pick = [&](std::string_view from) {
    return from[random() % from.size()];
  };
  const char* const kPieces[] = {"a",    "b",     "-",   " ",    ".",
                                 "a*",   "(a|b)", "b+",  "[^a]", "\\s",
                                 "a{2}", "(b-)?", "--?", "\\w",  "[a-b ]"};
  std::vector<std::string> fills = {""};
  for (size_t i = 0; i < fills.size() && fills[i].size() < 4; ++i)
    for (const char c : {'a', 'b', ' ', '-'}) fills.push_back(fills[i] + c);
  size_t possible = 0, ruled_out = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string regex, glob;
    if (random() % 3 == 0) regex += '^';
    for (size_t i = 1 + random() % 4; i > 0; --i)
      regex += kPieces[random() % std::size(kPieces)];
    if (random() % 3 == 0) regex += '$';
    for (size_t i = 1 + random() % 4; i > 0; --i) glob += pick("ab -*?");
    std::string before, after;
    for (size_t i = random() % 3; i > 0; --i) before += pick("ab ");
    for (size_t i = random() % 3; i > 0; --i) after += pick("ab ");
    const bool any = random() % 2 == 0;
    const std::string line = before + (any ? "~" : "@") + after;
    const auto compiled = Regex::Compile(regex);
    ASSERT_TRUE(compiled) << regex;
    const bool may_regex = Re(regex, line), may_glob = Glob(glob, line);
    bool regex_does = false, glob_does = false;
    for (const std::string& fill : fills) {
      const std::string text = before + fill + after;
      // An operand has no dash behind nothing, a blank or a dash.
      const std::string around = (before.empty() ? " " : before) + fill;
      bool option = false;
      for (size_t i = around.size() - fill.size(); i < around.size(); ++i)
        option = option || (around[i] == '-' &&
                            (around[i - 1] == ' ' || around[i - 1] == '-'));
      if (!any && option) continue;
      regex_does |= compiled->Search(text) == MatchResult::kYes;
      glob_does |= TextGlob(glob, text) == Tri::kYes;
    }
    EXPECT_TRUE(may_regex || !regex_does) << regex << " on `" << line << "`";
    EXPECT_TRUE(may_glob || !glob_does) << glob << " on `" << line << "`";
    possible += may_regex ? 1 : 0;
    ruled_out += may_regex ? 0 : 1;
  }
  EXPECT_GT(possible, 100u);
  EXPECT_GT(ruled_out, 100u);
}

}  // namespace
}  // namespace gate::rules
