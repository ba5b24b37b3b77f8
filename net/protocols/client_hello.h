// The name of the server in the first bytes of a TLS connection.
//
// RFC 8446 sections 4.1.2 and 5.1, RFC 6066 section 3, RFC 9849 (ECH). Nothing
// is decrypted. Pure; linear in the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gate::net {

// A ClientHello with the headers of its records is refused beyond this:
// post-quantum key shares need 2 KiB.
inline constexpr size_t kMaxClientHelloBytes = size_t{16} << 10;

enum class HelloStatus : uint8_t {
  kMalformed,   // no TLS, or more bytes than allowed; the default
  kIncomplete,  // call again with more
  kRead,
};

struct ClientHello {
  HelloStatus status = HelloStatus::kMalformed;
  std::string server_name;  // as it stands there; empty: none
  bool encrypted = false;   // an ECH extension (0xfe0d), real or GREASE
  std::string_view why;     // of kMalformed
};

// Reads all bytes so far, of one or more records of the type handshake; what
// follows the record in which the ClientHello ends is not looked at. A second
// name, a name of another type, an empty name, an extension that stands twice,
// lengths that disagree, an empty record, and another message in the record of
// the ClientHello are malformed. `server_name` may hold any bytes: ReadHost
// judges them.
ClientHello ReadClientHello(std::string_view bytes);

}  // namespace gate::net
