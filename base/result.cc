#include "base/result.h"

#include <array>
#include <cerrno>
#include <cstring>

namespace gate {
namespace {

constexpr std::array kCodeNames = {"internal",    "invalid",   "not_found",
                                   "permission",  "too_large", "timeout",
                                   "unavailable", "io",        "corrupt"};
static_assert(kCodeNames.size() ==
              static_cast<std::size_t>(ErrorCode::kCorrupt) + 1);

}  // namespace

const char* Name(ErrorCode code) {
  return kCodeNames[static_cast<std::size_t>(code)];
}

std::unexpected<Error> FailErrno(std::string message) {
  const int error = errno;
  ErrorCode code = ErrorCode::kIo;
  if (error == ENOENT) code = ErrorCode::kNotFound;
  if (error == EACCES || error == EPERM || error == EROFS || error == ELOOP)
    code = ErrorCode::kPermission;
  return Fail(code, std::move(message) + ": " + std::strerror(error));
}

}  // namespace gate
