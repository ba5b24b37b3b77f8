// The key to running without any containment.
//
// Whoever makes a NoSandbox says in the source that a command runs raw; a
// search for this header finds every such place. The router never plans it
// for a command that must be contained.
#pragma once

namespace gate::backends::unsafe {

class NoSandbox {
 public:
  explicit NoSandbox() = default;
};

}  // namespace gate::backends::unsafe
