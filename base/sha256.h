// SHA-256 of what comes in pieces.
#pragma once

#include <string_view>

#include "base/hash.h"

namespace gate {

class Sha256Stream {
 public:
  Sha256Stream();
  void Add(std::string_view bytes);
  // Once, at the end.
  Hash Finish();

 private:
  alignas(16) unsigned char state_[128];  // libsodium's, unseen here
};

}  // namespace gate
