#include "base/sha256.h"

#include <sodium/crypto_hash_sha256.h>

#include <new>

namespace gate {
namespace {

using State = crypto_hash_sha256_state;

State* In(unsigned char* storage) {
  return std::launder(reinterpret_cast<State*>(storage));
}

}  // namespace

Sha256Stream::Sha256Stream() {
  static_assert(sizeof(State) <= sizeof(state_) && alignof(State) <= 16);
  crypto_hash_sha256_init(::new (state_) State);
}

void Sha256Stream::Add(std::string_view bytes) {
  crypto_hash_sha256_update(
      In(state_), reinterpret_cast<const unsigned char*>(bytes.data()),
      bytes.size());
}

Hash Sha256Stream::Finish() {
  Hash hash;
  crypto_hash_sha256_final(In(state_), hash.data());
  return hash;
}

}  // namespace gate
