// Skips that a machine can be forbidden: GATE_MUST_WORK names what may not be
// missing there (CONTRIBUTING.md), separated by commas.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace gate::test {

inline bool MustWork(const std::string& name) {
  const char* list = std::getenv("GATE_MUST_WORK");
  return list != nullptr &&
         ("," + std::string(list) + ",").find("," + name + ",") !=
             std::string::npos;
}

}  // namespace gate::test

// Ends the test: skipped, or failed where `name` must work.
#define GATE_SKIP_WITHOUT(name)                                       \
  return GTEST_MESSAGE_((std::string(name) + " must work: ").c_str(), \
                        gate::test::MustWork(name)                    \
                            ? testing::TestPartResult::kFatalFailure  \
                            : testing::TestPartResult::kSkip)
