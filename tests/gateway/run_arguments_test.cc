// The words of `gate run`, in every form.
#include "gateway/run_arguments.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gate::app {
namespace {

TEST(RunArgumentsTest, ReadsEveryForm) {
  struct Case {
    std::vector<std::string> words;
    bool ok;
    std::string command;
    size_t argv;
  };
  const Case kCases[] = {
      {{"ls -l"}, true, "ls -l", 0},
      {{"-c", "ls"}, true, "ls", 0},
      {{"--", "ls", "--json"}, true, "", 2},
      {{"--profile", "read-only", "-c", "x"}, true, "x", 0},
      {{"--profile=read-only", "x"}, true, "x", 0},
      {{"--timeout", "1.5", "x"}, true, "x", 0},
      {{}, false, "", 0},
      {{"--ticket", "t"}, true, "", 0},
      {{"--"}, false, "", 0},
      {{"-"}, false, "", 0},
      {{"-", "x"}, false, "", 0},
      {{"--", "-"}, true, "", 1},
      {{"a", "b"}, false, "", 0},
      {{"-c"}, false, "", 0},
      {{"-c", "a", "--", "b"}, false, "", 0},
      {{"--timeout", "0", "x"}, false, "", 0},
      {{"--timeout", "-1", "x"}, false, "", 0},
      {{"--timeout", "nan", "x"}, false, "", 0},
      {{"--timeout", "1e9", "x"}, false, "", 0},
      {{"--timeout", "99999999999999999999", "x"}, false, "", 0},
      {{"--unknown", "1", "x"}, false, "", 0},
      {{"--profile", "readonly", "x"}, false, "", 0},
      {{"--network", "off", "x"}, false, "", 0},
      {{"--network", "domains", "x"}, true, "x", 0},
      {{"--network", "domains", "--host", "a.example", "--", "x"}, true, "", 1},
      {{"--host=a.example:8443", "--network=domains", "x"}, true, "x", 0},
      {{"--host", "a.example", "x"}, false, "", 0},
      {{"--host", "a.example", "--network", "open", "x"}, false, "", 0},
      {{"--host", "a.example", "--", "x"}, false, "", 0},
      {{"--network", "domains", "--host", "*", "x"}, false, "", 0},
      {{"--network", "domains", "--host", "http://a.example", "x"},
       false,
       "",
       0},
      {{"--network", "domains", "--host", "x"}, false, "", 0},
  };
  for (const Case& c : kCases) {
    const auto parsed = ParseRunArguments(c.words);
    ASSERT_EQ(parsed.has_value(), c.ok) << testing::PrintToString(c.words);
    if (!c.ok) continue;
    EXPECT_EQ(parsed->command, c.command);
    EXPECT_EQ(parsed->argv.size(), c.argv);
  }
  EXPECT_EQ(ParseRunArguments({"--timeout", "1.5", "x"})->timeout_ms, 1500u);
  const auto hosts =
      ParseRunArguments({"--network", "domains", "--host", "A.example.",
                         "--host=*.b.example:22", "x"});
  EXPECT_EQ(*hosts->hosts,
            (std::vector<std::string>{"a.example", "*.b.example:22"}));
  EXPECT_EQ(hosts->network, backends::Network::kDomains);
  EXPECT_EQ(ParseRunArguments({"--network", "domains", "x"})->hosts,
            std::nullopt);
  EXPECT_EQ(ParseRunArguments({"-ls"}).error().message.find("`-ls` is not an"),
            0u);
}

}  // namespace
}  // namespace gate::app
