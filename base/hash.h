// Hashes, MACs, random identifiers. libsodium does the work.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gate {

inline constexpr size_t kHashBytes = 32;
using Hash = std::array<unsigned char, kHashBytes>;

// SHA-256 of `bytes`. About 3 ns a byte: a megabyte costs more than a whole
// decision may, so large inputs are not hashed on the way to an answer.
Hash Sha256(std::string_view bytes);

// Keyed BLAKE2b of 32 bytes (RFC 7693, section 2.9): a fifth of HMAC-SHA-256's
// cost without the processor's own instructions, and every sandboxed command
// seals its plan with it.
Hash Mac(const Hash& key, std::string_view bytes);

// Compares in constant time.
bool Equal(const Hash& a, const Hash& b);

std::string Hex(const Hash& hash);
bool ParseHex(std::string_view text, Hash* out);

// `size` bytes from the kernel's random source.
std::string RandomBytes(size_t size);

// A UUID of version 7 (RFC 9562): sorts by time. `unix_ms` is UTC.
std::string NewUuid(uint64_t unix_ms);

// The 32-byte secret in `path`, made with mode 0600 on first use. kPermission
// when the file is not owned by the caller or is readable by others.
Result<Hash> LoadOrCreateKey(const std::string& path);

}  // namespace gate
