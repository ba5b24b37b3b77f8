// Errors as values.
//
// Result<T> holds a T or an Error; no function of gate throws across a folder
// border. Error is for what kept a function from doing its work (a file that
// cannot be read, a database that is locked). Problems in a user's own policy
// files are not Errors but Diagnostics (base/diagnostic.h).
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace gate {

enum class ErrorCode : unsigned char {
  kInternal,     // a bug, or a promise of a library that did not hold
  kInvalid,      // the input is not what was asked for
  kNotFound,     // the thing named does not exist
  kPermission,   // the kernel or an ownership check refused
  kTooLarge,     // a limit of gate was exceeded
  kTimeout,      // a deadline passed
  kUnavailable,  // a missing part: backend, kernel feature, program
  kIo,           // reading or writing failed
  kCorrupt,      // stored data does not verify
};

// The stable lower-case name of `code`, as JSON and messages show it.
const char* Name(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // one line, lower case, no final period
};

// A value or an Error. A class of its own only to be [[nodiscard]], which
// libstdc++ 12's std::expected is not: results must be looked at.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

using Status = Result<void>;

// Fail(kNotFound, "no such rule `x`") as the return value of a Result function.
inline std::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

// `message` followed by the text of the current errno.
std::unexpected<Error> FailErrno(std::string message);

// Evaluates a Result expression; on failure returns its Error from the
// enclosing function, else binds the value:  GATE_TRY(auto fd, OpenFile(p));
#define GATE_CONCAT_(a, b) a##b
#define GATE_CONCAT(a, b) GATE_CONCAT_(a, b)
#define GATE_TRY(binding, expression)                            \
  auto GATE_CONCAT(gate_result_, __LINE__) = (expression);       \
  if (!GATE_CONCAT(gate_result_, __LINE__))                      \
    return std::unexpected(                                      \
        std::move(GATE_CONCAT(gate_result_, __LINE__)).error()); \
  binding = std::move(*GATE_CONCAT(gate_result_, __LINE__))

// Returns the error of a Status that failed.
#define GATE_CHECK(expression)                                \
  do {                                                        \
    if (auto gate_status = (expression); !gate_status)        \
      return std::unexpected(std::move(gate_status).error()); \
  } while (false)

}  // namespace gate
