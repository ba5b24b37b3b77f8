#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace gate {
namespace {

Result<int> Half(int value) {
  if (value % 2 != 0) return Fail(ErrorCode::kInvalid, "odd");
  return value / 2;
}

Result<int> Quarter(int value) {
  GATE_TRY(const int half, Half(value));
  GATE_TRY(const int quarter, Half(half));
  return quarter;
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error().message, "odd");
}

TEST(Result, ErrnoIsTranslated) {
  const struct {
    int error;
    ErrorCode code;
  } cases[] = {
      {ENOENT, ErrorCode::kNotFound},  {EACCES, ErrorCode::kPermission},
      {EPERM, ErrorCode::kPermission}, {ELOOP, ErrorCode::kPermission},
      {EROFS, ErrorCode::kPermission}, {ENOSPC, ErrorCode::kIo}};
  for (const auto& c : cases) {
    errno = c.error;
    EXPECT_EQ(FailErrno("x").error().code, c.code) << c.error;
  }
  EXPECT_STREQ(Name(ErrorCode::kCorrupt), "corrupt");
  EXPECT_STREQ(Name(ErrorCode::kInternal), "internal");
}

}  // namespace
}  // namespace gate
