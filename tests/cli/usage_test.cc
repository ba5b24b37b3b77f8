// Wrong usage: what it says and how it ends.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Has;
using test::Machine;

TEST(ToolsTest, WrongUsageBeforeACommandIsNoResultOfTheCommand) {
  const Machine machine;
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"check", "ls"},
                                             {"run", "--", "true"},
                                             {"run", "--", "claude"},
                                             {"sandbox", "--", "true"},
                                             {"audit", "verify"},
                                             {"doctor"},
                                             {"nonsense"}})
    for (const std::vector<std::string>& before :
         std::vector<std::vector<std::string>>{{"--config-dir", "rel"},
                                               {"--state-dir", "rel"},
                                               {"--config-dir", "hooks"},
                                               {"--nonsense"}}) {
      std::vector<std::string> words = before;
      words.insert(words.end(), command.begin(), command.end());
      const Done done = machine.Gate(words);
      EXPECT_EQ(done.exit_code, 64) << before[0] << " " << command[0];
      EXPECT_EQ(done.out, "") << before[0] << " " << command[0];
    }
}

TEST(UsageTest, WhatIsQuotedCannotDriveTheTerminal) {
  const Machine machine;
  const std::string evil = "\x1b[2J\n\u202ex";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{evil},
        {"--" + evil},
        {"run", "--network", evil, "ls"},
        {"run", "--timeout", evil, "ls"},
        {"run", "--" + evil, "x", "ls"},
        {"sandbox", "--profile", evil, "true"},
        {"sandbox", "--backend", evil, "true"},
        {"sandbox", "--cwd", "/" + evil, "true"},
        {"approve", evil},
        {"pending", "show", evil},
        {"pending", evil},
        {"rules", evil},
        {"rules", "show", evil},
        {"audit", evil},
        {"check", "--why-not", evil, "ls"},
        {"explain", "--cwd", evil, "--" + evil},
        {"install", evil},
        {"trust", "--" + evil},
        {"backends", evil},
        {"doctor", evil},
        {"replay", evil}}) {
    const test::Done done = machine.Gate(words);
    for (const std::string& text : {done.out, done.err}) {
      EXPECT_FALSE(Has(text, "\x1b")) << words[0] << ": " << text;
      EXPECT_FALSE(Has(text, "\u202e")) << words[0] << ": " << text;
    }
  }
}

}  // namespace
}  // namespace gate::app
