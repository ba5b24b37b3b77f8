// gate parse.
#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "tests/support/machine.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

TEST(ToolsTest, ParseShowsWhatRunsAndPredicts) {
  const Machine machine;
  const Done text = machine.Gate({"parse", "sudo env A=1 bash -c 'rm -rf x'"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.out.find("rm -rf x"), std::string::npos) << text.out;
  const Done batch = machine.Gate(
      {"parse", "--batch"}, "{\"id\": \"a\", \"cmd\": \"ls > f; $x\"}\nbad\n");
  EXPECT_EQ(batch.exit_code, 0);
  const size_t end = batch.out.find('\n');
  const auto first = ParseJson(batch.out.substr(0, end));
  ASSERT_TRUE(first);
  EXPECT_EQ((*first)["id"], "a");
  EXPECT_EQ((*first)["commands"][0]["argv"][0], "ls");
  EXPECT_EQ((*first)["writes"][0], "f");
  EXPECT_EQ((*first)["dynamic"], true);
  const auto second = ParseJson(batch.out.substr(end + 1));
  ASSERT_TRUE(second);
  EXPECT_EQ((*second)["dynamic"], true);
  EXPECT_EQ((*second)["parse_error"], true);
}

}  // namespace
}  // namespace gate
