// CompilePrograms: descriptions that are wrong are refused with their place;
// damaged images know nothing.

#include <gtest/gtest.h>

#include "parser/programs.h"

namespace gate::parser {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

Result<std::string> Compile(const std::string& text,
                            std::vector<Diagnostic>* diagnostics) {
  return CompilePrograms(Files{{"t.json", text}}, diagnostics);
}

TEST(CompilePrograms, RefusesWhatItDoesNotUnderstand) {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"{", ""},
      {"[]", "expected an object"},
      {R"({"programs": []})", "`schema` must be 1"},
      {R"({"schema": 1, "program": []})", "unknown key"},
      {R"({"schema": 1, "programs": [{}]})", "a program is an object"},
      {R"({"schema": 1, "programs": [{"name": ""}]})", "empty name"},
      {R"({"schema": 1, "programs": [{"name": "a", "opts": []}]})",
       "unknown key `opts`"},
      {R"({"schema": 1, "programs": [{"name": "a"}, {"name": "b a"}]})",
       "described twice"},
      {R"({"schema": 1, "programs": [{"name": "a", "is": "odd"}]})",
       "unknown word `odd`"},
      {R"({"schema": 1, "programs": [{"name": "a", "do": ["* eat"]}]})",
       "no such role `eat`"},
      {R"({"schema": 1, "programs": [{"name": "a", "do": ["*"]}]})", "no role"},
      {R"({"schema": 1, "programs": [{"name": "a", "do": ["* read if -x"]}]})",
       "not described"},
      {R"({"schema": 1, "programs": [{"name": "a", "do": ["* read if"]}]})",
       "without a condition"},
      {R"({"schema": 1, "programs": [{"name": "a", "do": ["* read if #?1"]}]})",
       "bad condition"},
      {R"({"schema": 1, "programs": [{"name": "a", "do": ["* read odd"]}]})",
       "unknown word `odd`"},
      {R"({"schema": 1, "programs": [{"name": "a", "do": ["0 read"]}]})",
       "no such role `0`"},
      {R"({"schema": 1, "programs": [{"name": "a", "options": ["read"]}]})",
       "expected option names"},
      {R"({"schema": 1, "programs": [{"name": "a", "use": "g"}]})",
       "no such group"},
      {R"({"schema": 1, "programs": [{"name": "a", "number": "-n"}]})",
       "no such option"},
      {R"({"schema": 1, "programs": [{"name": "a", "stdin": 1}]})",
       "expected true or a condition"},
      {R"({"schema": 1, "programs": [{"name": "a", "commands": {"b": "c"}}]})",
       "expected `@`"},
      {R"({"schema": 1, "programs": [{"name": "a", "commands": {"b": "@c"}}]})",
       "no such sub-command `c`"},
      {R"({"schema": 1, "programs":
           [{"name": "a", "commands": {"b": [], "c b": []}}]})",
       "described twice"},
      {R"({"schema": 1, "environment": {"A": "eat"}})", "no such role"},
      {R"({"schema": 1, "environment": {"A*": "load"}})", "only at the end"},
      {R"({"schema": 1, "programs": [{"name": "a", "output": "odd"}]})",
       "no such `output`: `odd`"},
      {R"({"schema": 1, "programs": [{"name": "a", "leaves": 1}]})",
       "expected a word"},
      {R"({"schema": 1, "programs": [{"name": "a", "runs": {"b": "copy"}}]})",
       "`b` is no name of it"},
      {R"({"schema": 1, "programs":
           [{"name": "a", "commands": {"b": {"output": "copy"}}}]})",
       "only a program has `output`"},
      {R"({"schema": 1, "languages": {"a": "odd"}})", "that gate reads"},
      {R"({"schema": 1, "languages": {"a": "perl-calls", "b a": "ruby-calls"}})",
       "named twice"},
      {R"({"schema": 1, "programs":
           [{"name": "a", "do": ["* read"],
             "examples": {"a x": ["write: x"]}}]})",
       "should give write: x; gives read: x"},
      {R"({"schema": 1, "programs":
           [{"name": "a", "examples": {"a -x": []}}]})",
       "not complete"},
      {R"({"schema": 1, "programs": [{"name": "a", "examples": {"b": []}}]})",
       "not a described program"},
      {R"({"schema": 1, "programs":
           [{"name": "a", "examples": {"a": ["[decodes]"]}}]})",
       "not so"},
  };
  for (const auto& c : kCases) {
    std::vector<Diagnostic> diagnostics;
    const auto image = Compile(c.text, &diagnostics);
    ASSERT_FALSE(image.has_value()) << c.text;
    EXPECT_EQ(image.error().code, ErrorCode::kInvalid);
    ASSERT_FALSE(diagnostics.empty()) << c.text;
    EXPECT_NE(diagnostics[0].message.find(c.message), std::string::npos)
        << c.text << "\n"
        << Render(diagnostics[0]);
    EXPECT_EQ(diagnostics[0].file, "t.json");
    EXPECT_GT(diagnostics[0].line, 0u);
  }
}

constexpr char kSmall[] = R"({
  "schema": 1,
  "groups": {"g": {"options": ["-q,--quiet -o,--out= write"]}},
  "programs": [
    {"name": "one uno", "use": "g", "do": ["* read if !-q"],
     "commands": {"sub s": {"is": "inherits posix", "do": ["1.. command"]},
                  "other": "@sub"}, "is": "open"}
  ],
  "environment": {"X_*": "load:x"}
})";

TEST(CompilePrograms, DescriptionsWorkTogether) {
  std::vector<Diagnostic> diagnostics;
  const auto image = Compile(kSmall, &diagnostics);
  ASSERT_TRUE(image.has_value())
      << (diagnostics.empty() ? "" : Render(diagnostics[0]));
  const auto read = [&](std::vector<std::string> words) {
    std::vector<Argument> argv;
    for (std::string& word : words) {
      argv.emplace_back();
      argv.back().text = std::move(word);
    }
    std::string all;
    for (const std::string& line : Describe(ReadArgumentsWith(*image, argv))) {
      all += line + ";";
    }
    return all;
  };
  EXPECT_EQ(read({"uno", "a", "-qo", "f"}), "write: f;");
  EXPECT_EQ(read({"one", "a", "b"}), "read: a;read: b;");
  EXPECT_EQ(read({"one", "s", "-o", "f", "x", "-q"}),
            "command: x -q;write: f;");
  EXPECT_EQ(read({"one", "other", "x"}), "command: x;");
}

TEST(CompilePrograms, NamesOfAProgramMayHaveModelsOfTheirOwn) {
  std::vector<Diagnostic> diagnostics;
  const auto image = Compile(
      R"({"schema": 1, "programs": [
           {"name": "a b c", "runs": "input-words", "leaves": "linked",
            "output": {"a": "packed", "b": "unpacked"}}]})",
      &diagnostics);
  ASSERT_TRUE(image.has_value());
  const struct {
    const char* name;
    OutputModel output;
  } kCases[] = {
      {"a", OutputModel::kPacked},
      {"/bin/b", OutputModel::kUnpacked},
      {"c", OutputModel::kNone},
  };
  for (const auto& c : kCases) {
    Argument name;
    name.text = c.name;
    const ArgumentAnalysis read = ReadArgumentsWith(*image, {&name, 1});
    EXPECT_EQ(read.output, c.output) << c.name;
    EXPECT_EQ(read.leaves, LeftFiles::kLinks) << c.name;
    EXPECT_EQ(read.runs, RunModel::kInputWords) << c.name;
  }
}

TEST(CompilePrograms, DamagedImagesKnowNothing) {
  std::vector<Diagnostic> diagnostics;
  const auto image = Compile(kSmall, &diagnostics);
  ASSERT_TRUE(image.has_value());
  std::vector<Argument> argv(3);
  argv[0].text = "one";
  argv[1].text = "s";
  argv[2].text = "x";
  EXPECT_TRUE(ReadArgumentsWith(*image, argv).known);
  for (size_t k = 0; k < image->size(); ++k) {
    std::string damaged = *image;
    damaged[k] = static_cast<char>(damaged[k] ^ 0x55);
    ReadArgumentsWith(damaged, argv);  // any answer, no crash
  }
  for (size_t k = 0; k < image->size(); k += 5) {
    EXPECT_FALSE(ReadArgumentsWith(image->substr(0, k), argv).known);
  }
}

TEST(CompilePrograms, EmbeddedImageIsWhole) {
  std::vector<Argument> argv(2);
  argv[0].text = "rm";
  argv[1].text = "x";
  EXPECT_TRUE(ReadArgumentsWith(EmbeddedPrograms(), argv).known);
}

}  // namespace
}  // namespace gate::parser
