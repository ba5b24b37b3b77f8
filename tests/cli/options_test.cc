// What the commands rely on when they say which words they take.
#include "cli/options.h"

#include <gtest/gtest.h>

namespace gate::app {
namespace {

struct Bound {
  bool json = false, strict = false;
  std::string text = "none", word;
  std::vector<std::string> words;
  uint64_t number = 5;
  double share = 0;
};

// Whether the words were taken, and what was bound.
struct Read {
  bool good = false;
  Bound bound;
};

Read ReadWords(const std::vector<std::string>& words) {
  Read read;
  Bound& bound = read.bound;
  Options options("Does a thing.", "gate thing");
  const Option json = options.Flag("--json", bound.json, "JSON");
  options.Flag("--strict", bound.strict, "strictly").Excludes(json);
  options.Add("--text", bound.text, "a text").OneOf({"a", "b"});
  options.Add("-n", bound.number, "a number");
  options.Add("--share", bound.share, "a share").Needs(json);
  options.Add("word", bound.word, "a word").Required();
  options.Add("words", bound.words, "the rest");
  const Status parsed = options.Parse(words);
  read.good = parsed.has_value();
  EXPECT_TRUE(read.good || !parsed.error().message.empty());
  return read;
}

TEST(Options, TakeValuesInEveryForm) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{
           {"w", "--text", "a", "-n", "7", "--json"},
           {"--text=a", "-n7", "--json", "w"},
           {"--json", "-n", "7", "w", "--text", "a"},
           {"--json", "-n7", "--text=a", "--", "w"}}) {
    const Read read = ReadWords(words);
    EXPECT_TRUE(read.good);
    EXPECT_TRUE(read.bound.json);
    EXPECT_EQ(read.bound.text, "a");
    EXPECT_EQ(read.bound.number, 7u);
    EXPECT_EQ(read.bound.word, "w");
    EXPECT_TRUE(read.bound.words.empty());
  }
}

TEST(Options, LeaveWhatIsNotGivenAsItWas) {
  const Read read = ReadWords({"w"});
  EXPECT_TRUE(read.good);
  EXPECT_FALSE(read.bound.json);
  EXPECT_EQ(read.bound.text, "none");
  EXPECT_EQ(read.bound.number, 5u);
}

TEST(Options, RefuseWhatTheCommandDoesNotTake) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"w", "--nope"},
                                             {"w", "--text"},
                                             {"w", "--text", "c"},
                                             {"w", "--text=a", "--text=b"},
                                             {"w", "-n", "x"},
                                             {"w", "-n", "-1"},
                                             {"w", "--json", "--strict"},
                                             {"w", "--share", "0.5"},
                                             {"w", "--json", "--share", "half"},
                                             {"w", "--jso"}})
    EXPECT_FALSE(ReadWords(words).good) << testing::PrintToString(words);
}

TEST(Options, ACommandHasItsOwnWordsAndTheOptionsAbove) {
  std::string id, help;
  bool json = false;
  const auto read = [&](const std::vector<std::string>& words) -> std::string {
    Options options("Things.", "gate things");
    options.Flag("--json", json, "JSON");
    Options& list = options.Command("list", "all");
    Options& show = options.Command("show", "one");
    show.Add("id", id, "which").Required();
    const Status parsed = options.Parse(words);
    help = options.help();
    if (!parsed) return "wrong";
    return show.parsed() ? "show" : list.parsed() ? "list" : "";
  };
  EXPECT_EQ(read({}), "");
  EXPECT_EQ(read({"list"}), "list");
  EXPECT_FALSE(json);
  EXPECT_EQ(read({"show", "x7", "--json"}), "show");
  EXPECT_EQ(id, "x7");
  EXPECT_TRUE(json);
  EXPECT_EQ(help, "");
  EXPECT_EQ(read({"show"}), "wrong");
  EXPECT_EQ(read({"list", "x"}), "wrong");
  read({"--help"});
  EXPECT_NE(help.find("gate things [OPTIONS] [COMMAND …]"), std::string::npos)
      << help;
  read({"show", "--help"});
  EXPECT_NE(help.find("which"), std::string::npos) << help;
}

}  // namespace
}  // namespace gate::app
