// A state directory of its own for each test.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "audit/log.h"
#include "base/hash.h"
#include "tests/support/temporary_directory.h"

namespace gate::audit {

class TemporaryState : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(root_, "");
    state_ = root_ + "/state";
    database_ = state_ + "/audit.db";
  }

  static Record Decision(const std::string& command) {
    Record record;
    record.kind = Kind::kDecision;
    record.time_ns = 1795237567ull * 1000000000ull;
    record.id = NewUuid(record.time_ns / 1000000);
    record.agent = "claude";
    record.session = "s1";
    record.mode = "hook";
    record.command = command;
    record.cwd = "/home/u/project";
    record.action = "allow";
    record.reason = "read-only";
    record.rule_id = "core.read";
    record.detail = "{\"host\":\"h\"}";
    return record;
  }

  // Opens, appends `count` decisions, brings them into the table, closes.
  void Fill(int count) {
    auto log = Log::Open(state_, Options{});
    ASSERT_TRUE(log) << log.error().message;
    for (int i = 0; i < count; ++i) {
      Record record = Decision("command " + std::to_string(i + 1));
      const auto status = log->Append(&record);
      ASSERT_TRUE(status) << status.error().message;
    }
    const auto folded = log->Head();
    ASSERT_TRUE(folded) << folded.error().message;
  }

  VerifyReport VerifyLog(const std::string& anchor = "") {
    auto log = Log::OpenReadOnly(state_);
    EXPECT_TRUE(log) << log.error().message;
    if (!log) return {};
    auto verdict = log->Verify(anchor);
    EXPECT_TRUE(verdict) << verdict.error().message;
    return verdict ? *verdict : VerifyReport{};
  }

  const TemporaryDirectory made_;
  const std::string root_ = made_.path();
  std::string state_, database_;
};

}  // namespace gate::audit
