// Progress is shown where work takes long, and only to a person.
#include "cli/output/progress.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Has;
using test::Machine;

TEST(ProgressTest, IsShownOnlyWhenWorkTakesLong) {
  uint64_t now = 0;
  std::string written;
  {
    Progress progress(
        "working", [&now] { return now; },
        [&written](const std::string& text) { written += text; });
    progress.At(1, 10);
    now = Progress::kPatienceUs - 1;
    progress.At(2, 10);
    EXPECT_EQ(written, "");
    now = Progress::kPatienceUs;
    progress.At(3, 10);
    progress.At(4, 10);
    EXPECT_EQ(written, "\rworking: 3 of 10\x1b[K") << "not at every step";
    now += Progress::kPauseUs;
    progress.At(5, 10);
    EXPECT_TRUE(Has(written, "5 of 10"));
  }
  EXPECT_TRUE(written.ends_with("\r\x1b[K")) << "and it goes away";
  Progress silent("working", [&now] { return now; }, {});
  now += 10 * Progress::kPatienceUs;
  silent.At(1, 2);
}

TEST(ProgressTest, NothingOfItIsInAPipe) {
  const Machine machine;
  const Done done = machine.Gate({"rules", "test", "--coverage"});
  EXPECT_FALSE(Has(done.err, "\r")) << done.err;
  EXPECT_FALSE(Has(done.out, "\r"));
}

}  // namespace
}  // namespace gate::app
