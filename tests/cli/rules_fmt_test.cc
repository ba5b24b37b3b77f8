// gate rules fmt: in place, as a check, and through a pipe.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

constexpr char kUgly[] = "{ \"schema\":1,// one\n\"pack\" : \"p\"}";
constexpr char kNeat[] = "{\"schema\": 1,  // one\n \"pack\": \"p\"}\n";

TEST(RulesFmt, FormatsInPlaceAndKeepsTheMode) {
  const Machine machine;
  const std::string file = machine.root() + "/a.json";
  machine.Write(file, kUgly, 0600);
  const Done check = machine.Gate({"rules", "fmt", "--check", file});
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_NE(check.out.find("-{ \"schema\":1,// one"), std::string::npos);
  EXPECT_NE(check.out.find("+{\"schema\": 1,  // one"), std::string::npos);
  EXPECT_EQ(machine.Read(file), kUgly) << "a check changes nothing";
  EXPECT_EQ(machine.Gate({"rules", "fmt", file}).exit_code, 0);
  EXPECT_EQ(machine.Read(file), kNeat);
  struct stat info{};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
  const Done again = machine.Gate({"rules", "fmt", "--check", file});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.out, "");
}

TEST(RulesFmt, ReadsStandardInputAndDirectories) {
  const Machine machine;
  EXPECT_EQ(machine.Gate({"rules", "fmt", "-"}, kUgly).out, kNeat);
  EXPECT_EQ(machine.Gate({"rules", "fmt", "--check", "-"}, kNeat).exit_code, 0);
  machine.Write(machine.home() + "/.config/gate/rules.d/a.json", kUgly, 0600);
  EXPECT_EQ(machine.Gate({"rules", "fmt"}).exit_code, 0);
  EXPECT_EQ(machine.Read(machine.home() + "/.config/gate/rules.d/a.json"),
            kNeat);
}

TEST(RulesFmt, RefusesWhatItCannotReadWithItsPlace) {
  const Machine machine;
  const std::string file = machine.root() + "/a.json";
  machine.Write(file, "{\n  \"a\" 1}");
  const Done done = machine.Gate({"rules", "fmt", file});
  EXPECT_EQ(done.exit_code, 78);
  EXPECT_NE(done.err.find(":2:7: error"), std::string::npos) << done.err;
  EXPECT_EQ(machine.Read(file), "{\n  \"a\" 1}");
  std::filesystem::create_symlink(file, machine.root() + "/link.json");
  EXPECT_EQ(
      machine.Gate({"rules", "fmt", machine.root() + "/link.json"}).exit_code,
      64)
      << "a link is not a rule file";
  EXPECT_EQ(machine.Gate({"rules", "fmt", "/nowhere"}).exit_code, 64);
}

}  // namespace
}  // namespace gate::app
