// What is known of the credentials and caches of programs, as it is compiled.
#include "rules/lending.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gate {
namespace {

TEST(LendingDataTest, MistakesAreFoundWhenItIsCompiled) {
  for (const char* text :
       {"", "{}", R"({"schema": 2, "programs": []})",
        R"({"schema": 1, "programs": {}})",
        R"({"schema": 1, "programs": [{}]})",
        R"({"schema": 1, "programs": [{"program": "a"}, {"program": "b a"}]})",
        R"({"schema": 1, "programs": [{"program": "a/b"}]})",
        R"({"schema": 1, "programs": [{"program": "a", "file": []}]})",
        R"({"schema": 1, "programs": [{"program": "a", "files": ".x"}]})",
        R"({"schema": 1, "programs": [{"program": "a", "files": [1]}]})",
        R"({"schema": 1, "programs": [{"program": "a", "files": ["/x"]}]})",
        R"({"schema": 1, "programs": [{"program": "a", "files": ["../x"]}]})",
        R"({"schema": 1, "programs": [{"program": "a", "files": ["x/../y"]}]})",
        R"({"schema": 1, "programs": [{"program": "a", "files": ["x/"]}]})",
        R"({"schema": 1, "programs": [{"program": "a", "files": ["x\ny"]}]})",
        R"({"schema": 1, "programs": [{"program": "a", "sockets": ["x"]}]})",
        R"({"schema": 1, "programs": [{"program": "a", "line": ["*"]}]})",
        R"({"schema": 1, "programs": [{"program": "a", "line": ["A B"]}]})",
        R"({"schema": 1, "more": 1, "programs": []})"})
    EXPECT_FALSE(rules::CompileLending(text)) << text;
  const auto image = rules::CompileLending(
      R"({"schema": 1, "all": {"line": ["LC_*"]}, "programs": [
          {"program": "a b", "files": [".a"], "line": ["P=|cat", "A_*_B"]},
          {"program": "c", "away": ["--server", "-s", "exec"]}]})");
  ASSERT_TRUE(image) << image.error().message;
  const auto b = rules::FindLendingIn(*image, "b");
  ASSERT_TRUE(b);
  EXPECT_EQ(b->program, "a");
  EXPECT_EQ(b->files, std::vector<std::string_view>{".a"});
  const auto accepts = [&](const char* name, const char* value) {
    return rules::AcceptsSetting(b->line, name,
                                 value == nullptr
                                     ? std::nullopt
                                     : std::optional<std::string_view>(value));
  };
  EXPECT_TRUE(accepts("LC_ALL", "C") && accepts("P", "") &&
              accepts("P", "cat") && accepts("A_x_B", nullptr));
  EXPECT_FALSE(accepts("LANG", "C") || accepts("P", "./x") ||
               accepts("P", nullptr) || accepts("A_B", "") ||
               accepts("PP", ""));
  const auto c = rules::FindLendingIn(*image, "c");
  ASSERT_TRUE(c && c->files.empty());
  for (const char* word :
       {"--server", "--server=x", "--serv", "-server=x", "-s", "-sx", "-As"})
    EXPECT_TRUE(rules::LeadsAway(c->away, word, false)) << word;
  for (const char* word :
       {"--server-side", "--se", "-ojson", "-n", "server", "exec", "-", "--"})
    EXPECT_FALSE(rules::LeadsAway(c->away, word, false)) << word;
  EXPECT_TRUE(rules::LeadsAway(c->away, "exec", true));
  for (const char* word : {":sftp,ssh=./x:", "remote,ssh=./x:p"})
    EXPECT_TRUE(rules::LeadsAway({":", ","}, word, true)) << word;
  EXPECT_FALSE(rules::LeadsAway({":", ","}, "remote:path", true));
  EXPECT_FALSE(rules::FindLendingIn(*image, "d"));
  EXPECT_FALSE(rules::FindLendingIn(*image, ""));
}

// A directory that lies in another is looked at after it.
TEST(ToolCacheDataTest, ADirectoryComesBeforeWhatLiesInIt) {
  const auto caches = rules::ToolCaches();
  ASSERT_GT(caches.size(), 20U);
  for (size_t i = 0; i < caches.size(); ++i)
    for (size_t j = i + 1; j < caches.size(); ++j)
      EXPECT_FALSE(std::string(caches[i].directory)
                       .starts_with(std::string(caches[j].directory) + "/"))
          << caches[i].directory;
  EXPECT_FALSE(rules::CompileLending(
      R"({"schema":1,"programs":[],"caches":[{"directory":"../x"}]})"));
  EXPECT_FALSE(rules::CompileLending(
      R"({"schema":1,"programs":[],"caches":[{"directory":"a","extra":1}]})"));
  EXPECT_FALSE(
      rules::CompileLending(R"({"schema":1,"programs":[],"caches":1})"));
}

}  // namespace
}  // namespace gate
