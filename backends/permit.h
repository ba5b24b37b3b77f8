// The caller's word that a command may start.
//
// A backend may build its isolation before the decision is on record; the
// command itself may not start before. Every backend asks for the permit
// exactly once, after which nothing is left but the start, and starts nothing
// without it. A permit that nobody gave refuses.
#pragma once

#include <functional>
#include <utility>

#include "base/result.h"

namespace gate::backends {

class Permit {
 public:
  Permit() = default;  // refuses
  // `ask` is called in the caller's thread when everything is ready; its error
  // is why the command does not start.
  explicit Permit(std::function<Status()> ask) : ask_(std::move(ask)) {}
  // For what was recorded before, or is gate's own trial.
  static Permit Given() {
    return Permit([] { return Status(); });
  }

  Status Ask() const {
    if (!ask_)
      return Fail(ErrorCode::kPermission, "nobody permitted the start");
    return ask_();
  }

 private:
  std::function<Status()> ask_;
};

}  // namespace gate::backends
