// How the words of a command are read.
#include "cli/options.h"

#include <gtest/gtest.h>

namespace gate::cli {
namespace {

struct Bound {
  bool json = false, strict = false;
  std::string text = "none", word;
  std::vector<std::string> words;
  uint64_t number = 5;
  double share = 0;
};

// What is wrong, or "" and what was bound.
struct Read {
  std::string error;
  Bound bound;
};

Read ReadWords(const std::vector<std::string>& words) {
  Read read;
  Bound& bound = read.bound;
  Options options("Does a thing.", "gate thing");
  const Option& json = options.Flag("--json", bound.json, "JSON");
  options.Flag("--strict", bound.strict, "strictly").Excludes(json);
  options.Add("--text", bound.text, "a text").OneOf({"a", "b", "-n"});
  options.Add("-n", bound.number, "a number");
  options.Add("--share", bound.share, "a share").Needs(json);
  options.Add("word", bound.word, "a word").Required();
  options.Add("words", bound.words, "the rest");
  const Status parsed = options.Parse(words);
  if (!parsed) read.error = parsed.error().message;
  return read;
}

TEST(Options, ReadsValuesInEveryForm) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{
           {"w", "--text", "a", "-n", "7", "--json"},
           {"--text=a", "-n7", "--json", "w"},
           {"--json", "-n", "7", "w", "--text", "a"},
           {"--json", "-n7", "--text=a", "--", "w"}}) {
    const Read read = ReadWords(words);
    EXPECT_EQ(read.error, "");
    EXPECT_TRUE(read.bound.json);
    EXPECT_EQ(read.bound.text, "a");
    EXPECT_EQ(read.bound.number, 7u);
    EXPECT_EQ(read.bound.word, "w");
    EXPECT_TRUE(read.bound.words.empty());
  }
}

TEST(Options, LeavesWhatIsNotGivenAsItWas) {
  const Read read = ReadWords({"w"});
  EXPECT_EQ(read.error, "");
  EXPECT_FALSE(read.bound.json);
  EXPECT_EQ(read.bound.text, "none");
  EXPECT_EQ(read.bound.number, 5u);
}

TEST(Options, TakesWordsThatLookLikeOptionsWhereTheyAreMeant) {
  EXPECT_EQ(ReadWords({"w", "--text", "-n"}).bound.text, "-n");
  EXPECT_EQ(ReadWords({"-"}).bound.word, "-");
  EXPECT_EQ(ReadWords({"--", "--json", "--", "-n"}).bound.words,
            (std::vector<std::string>{"--", "-n"}));
  EXPECT_FALSE(ReadWords({"--", "--json"}).bound.json);
}

TEST(Options, SaysWhatIsWrong) {
  const struct {
    std::vector<std::string> words;
    const char* error;
  } kCases[] = {
      {{}, "word is required"},
      {{"w", "--nope"}, "The following argument was not expected: --nope"},
      {{"w", "--nope", "-x"},
       "The following arguments were not expected: --nope -x"},
      {{"w", "--text"}, "--text: 1 required TEXT missing"},
      {{"w", "--text", "c"}, "--text: c not in {a,b,-n}"},
      {{"w", "--text=a", "--text=b"}, "--text was given twice"},
      {{"w", "-n", "x"}, "Could not convert: -n = x"},
      {{"w", "-n", "-1"}, "Could not convert: -n = -1"},
      {{"w", "-n", "99999999999999999999"},
       "Could not convert: -n = 99999999999999999999"},
      {{"w", "-n", ""}, "Could not convert: -n = "},
      {{"w", "--json=yes"}, "--json takes no value"},
      {{"w", "--json", "--strict"}, "--strict excludes --json"},
      {{"w", "--share", "0.5"}, "--share requires --json"},
      {{"w", "--json", "--share", "half"}, "Could not convert: --share = half"},
      {{"w", "--jso"}, "The following argument was not expected: --jso"},
  };
  for (const auto& c : kCases) EXPECT_EQ(ReadWords(c.words).error, c.error);
}

TEST(Options, ACommandHasItsOwnWordsAndTheOptionsAbove) {
  const auto read = [](std::vector<std::string> words, std::string* id,
                       bool* json) -> std::string {
    Options options("Things.", "gate things");
    options.Flag("--json", *json, "JSON");
    Options& list = options.Command("list", "all");
    Options& show = options.Command("show", "one");
    show.Add("id", *id, "which").Required();
    const Status parsed = options.Parse(words);
    if (!parsed) return parsed.error().message;
    return options.wants_help() != nullptr ? options.wants_help()->name()
           : show.parsed()                 ? "show"
           : list.parsed()                 ? "list"
                                           : "";
  };
  std::string id;
  bool json = false;
  EXPECT_EQ(read({}, &id, &json), "");
  EXPECT_EQ(read({"list"}, &id, &json), "list");
  EXPECT_FALSE(json);
  EXPECT_EQ(read({"show", "list", "--json"}, &id, &json), "show");
  EXPECT_EQ(id, "list");
  EXPECT_TRUE(json);
  EXPECT_EQ(read({"show"}, &id, &json), "id is required");
  EXPECT_EQ(read({"list", "x"}, &id, &json),
            "The following argument was not expected: x");
  EXPECT_EQ(read({"show", "--help"}, &id, &json), "gate things show");
  EXPECT_EQ(read({"--nope", "-h"}, &id, &json), "gate things");
}

TEST(Options, ShowsThemInItsHelp) {
  bool flag = false;
  std::string one;
  std::vector<std::string> many;
  Options options("Does a thing.", "gate thing");
  options.Flag("--json", flag, "print JSON");
  options.Add("--a-rather-long-name", one, "explained below it")
      .OneOf({"x", "y"});
  options.Add("file", one, "the file").Required();
  options.Add("more", many, "others");
  EXPECT_EQ(options.Help(),
            "Does a thing.\n"
            "Usage: gate thing [OPTIONS] file [more...]\n"
            "\n"
            "Positionals:\n"
            "  file TEXT REQUIRED          the file\n"
            "  more TEXT ...               others\n"
            "\n"
            "Options:\n"
            "  -h,--help                   Print this help message and exit\n"
            "  --json                      print JSON\n"
            "  --a-rather-long-name TEXT:{x,y}\n"
            "                              explained below it\n");
}

}  // namespace
}  // namespace gate::cli
