#include "tests/support/wait.h"

#include <poll.h>

#include <ctime>

namespace gate::test {

bool WaitUntil(const std::function<bool()>& holds,
               std::chrono::milliseconds patience) {
  constexpr timespec kStep = {0, 500'000};
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return holds();
    ::ppoll(nullptr, 0, &kStep, nullptr);
  }
  return true;
}

}  // namespace gate::test
