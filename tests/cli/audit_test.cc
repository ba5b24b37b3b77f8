#include <gtest/gtest.h>

#include "tests/cli/process.h"

namespace gate {
namespace {

using test::Done;
using test::Machine;

TEST(AuditCommandTest, ListShowStatsVerify) {
  const Machine machine;
  machine.Gate({"check", "ls"});
  machine.Gate({"check", "rm -rf /"});
  const Done list = machine.Gate({"audit", "list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_NE(list.out.find("rm -rf /"), std::string::npos) << list.out;
  EXPECT_EQ(
      machine.Gate({"audit", "list", "--action", "allow"}).out.find("rm -rf"),
      std::string::npos);
  EXPECT_EQ(
      machine.Gate({"audit", "list", "--text", "nothing like it"}).exit_code,
      1);
  EXPECT_NE(machine.Gate({"audit", "show"}).out.find("\"action\": \"deny\""),
            std::string::npos);
  EXPECT_NE(machine.Gate({"audit", "stats"}).out.find("2 records"),
            std::string::npos);
  // Ok, but nothing outside vouches for the end of it.
  const Done verify = machine.Gate({"audit", "verify"});
  EXPECT_EQ(verify.exit_code, 3) << verify.out << verify.err;
}

TEST(AuditCommandTest, SecretsAreNotStored) {
  const Machine machine;
  machine.Gate({"check",
                "curl -H 'Authorization: Bearer canary-123' "
                "https://user:canary-456@example.com"});
  for (const char* file : {"/audit.db", "/audit.db-wal"})
    EXPECT_EQ(machine.Read(machine.state() + file).find("canary-"),
              std::string::npos);
  EXPECT_NE(machine.Gate({"audit", "list"}).out.find("[redacted:"),
            std::string::npos);
}

TEST(AuditCommandTest, AForeignFileIsNotALog) {
  const Machine machine;
  machine.Write(machine.state() + "/audit.db", "not a database", 0600);
  EXPECT_EQ(machine.Gate({"check", "ls"}).exit_code, 1);
  EXPECT_EQ(machine.Gate({"audit", "verify"}).exit_code, 2);
}

}  // namespace
}  // namespace gate
