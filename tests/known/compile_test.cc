#include "known/compile.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace gate::known {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

std::string Text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(GATE_SOURCE_DIR "/rules.d/" + path).rdbuf();
  return text.str();
}

Files Shipped() {
  Files files = {{"programs", Text("lending/programs.json")}};
  for (const char* name :
       {"home", "system", "files", "environment", "secrets", "git"})
    files.emplace_back(name, Text("known/" + std::string(name) + ".json"));
  return files;
}

TEST(CompileKnown, TheShippedFilesMakeOneSource) {
  const auto source = Compile(Shipped());
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_NE(source->find("// home/hidden\n"), std::string::npos);
  EXPECT_EQ(*source, *Compile(Shipped()));
}

TEST(CompileKnown, ProgramsStandForTheHostsOfTheirLists) {
  const auto compile = [](const std::string& list) {
    Files files = Shipped();
    files.emplace_back("hosts", R"({"schema": 1, "lists": {"a": )" + list +
                                    R"(, "b": {"meaning": "m",
      "programs": ["p"]}}, "entries": [{"why": "w", "source": "s", "names":
      {"a": ["z.example", "y.example"], "b": ["x.example"]}}]})");
    return Compile(files);
  };
  const auto source = compile(R"({"meaning": "m", "programs": ["p", "q"]})");
  ASSERT_TRUE(source) << source.error().message;
  for (const char* text :
       {"\":p\\n\"\n    \"x.example\\n\"\n    \"y.example\\n\"\n    "
        "\"z.example\\n\"\n    \":q\\n\"\n    \"y.example\\n\""})
    EXPECT_NE(source->find(text), std::string::npos) << text;
  EXPECT_TRUE(compile("\"m\""));
  for (const char* list :
       {"{}", R"({"meaning": "m"})", R"({"programs": ["p"]})",
        R"({"meaning": "m", "programs": []})",
        R"({"meaning": "", "programs": ["p"]})",
        R"({"meaning": "m", "programs": [1]})",
        R"({"meaning": "m", "programs": ["p", "p"]})",
        R"({"meaning": "m", "programs": ["p"], "more": 1})"})
    EXPECT_FALSE(compile(list)) << list;
}

TEST(CompileKnown, WhatIsNotUnderstoodEndsTheBuild) {
  struct Row {
    const char* text;   // of a file `more`
    const char* error;  // a part of what is said
  };
  constexpr Row kRows[] = {
      {"{", "more.json: "},
      {"[]", "expected `schema` 1"},
      {R"({"schema": 2, "lists": {"a": "b"}, "entries": []})", "schema"},
      {R"({"schema": 1, "entries": []})", "`lists`"},
      {R"({"schema": 1, "lists": {"a": "b"}, "entries": [], "more": 1})",
       "expected"},
      {R"({"schema": 1, "lists": {"a": ""}, "entries": []})",
       "does not say what it is"},
      {R"({"schema": 1, "lists": {"a": "b"}, "entries": []})",
       "nothing is in the list `a`"},
      {R"({"schema": 1, "lists": {"a": "b"},
           "entries": [{"source": "s", "names": {"a": ["x"]}}]})",
       "an entry has `why`"},
      {R"({"schema": 1, "lists": {"a": "b"},
           "entries": [{"why": "w", "source": "", "names": {"a": ["x"]}}]})",
       "an entry has `why`"},
      {R"({"schema": 1, "lists": {"a": "b"},
           "entries": [{"why": "w", "source": "s", "names": {"c": ["x"]}}]})",
       "there is no list `c`"},
      {R"({"schema": 1, "lists": {"a": "b"},
           "entries": [{"why": "w", "source": "s", "names": {"": ["x"]}}]})",
       "holds names"},
      {R"({"schema": 1, "lists": {"a": "b"},
           "entries": [{"why": "w", "source": "s", "names": {"a": "x"}}]})",
       "holds names"},
      {R"({"schema": 1, "lists": {"a": "b"},
           "entries": [{"why": "w", "source": "s", "names": {"a": [1]}}]})",
       "no text"},
      {R"({"schema": 1, "lists": {"a": "b"},
           "entries": [{"why": "w", "source": "s",
                        "names": {"a": ["x", "y", "x"]}}]})",
       "`x` stands there twice"},
  };
  for (const Row& row : kRows) {
    Files files = Shipped();
    files.emplace_back("more", row.text);
    const auto source = Compile(files);
    ASSERT_FALSE(source) << row.text;
    EXPECT_EQ(source.error().code, ErrorCode::kInvalid);
    EXPECT_NE(source.error().message.find(row.error), std::string::npos)
        << row.text << ": " << source.error().message;
  }
}

TEST(CompileKnown, AListThatTheProgramGoesByCannotBeMissing) {
  Files files = Shipped();
  files.pop_back();
  const auto source = Compile(files);
  ASSERT_FALSE(source);
  EXPECT_NE(source.error().message.find("git/runs-key"), std::string::npos);
}

TEST(CompileKnown, AShapeIsAKindItsCharactersAndHowMany) {
  for (const char* shape :
       {"kind", "kind word", "kind letters 10", "kind word ten",
        "kind word 1000", "kind word 10 digits", "kind word 10 keep digit"}) {
    Files files = Shipped();
    for (auto& [name, text] : files) {
      const std::string right = "\"aws-key upper 16\"";
      if (const size_t at = text.find(right); at != std::string::npos)
        text.replace(at, right.size(), "\"" + std::string(shape) + "\"");
    }
    const auto source = Compile(files);
    ASSERT_FALSE(source) << shape;
    EXPECT_NE(source.error().message.find(shape), std::string::npos);
  }
}

}  // namespace
}  // namespace gate::known
