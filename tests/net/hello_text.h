// ClientHellos of a test.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tests/net/name_server.h"

namespace gate::test {

inline std::string TlsExtension(unsigned type, std::string_view data) {
  std::string bytes;
  Put16(type, &bytes);
  Put16(static_cast<unsigned>(data.size()), &bytes);
  return bytes + std::string(data);
}

inline std::string ServerName(std::string_view name) {
  std::string entry(1, '\0');
  Put16(static_cast<unsigned>(name.size()), &entry);
  entry += name;
  std::string list;
  Put16(static_cast<unsigned>(entry.size()), &list);
  return TlsExtension(0, list + entry);
}

inline std::string EncryptedHello() {
  return TlsExtension(0xfe0d, std::string(32, 'x'));
}

// A ClientHello with these extensions, in records of at most `record` bytes.
inline std::string Hello(const std::string& extensions, size_t record = 16384) {
  std::string body("\x03\x03", 2);
  body += std::string(32, 'r');
  body += std::string("\x00\x00\x02\x13\x01\x01\x00", 7);
  Put16(static_cast<unsigned>(extensions.size()), &body);
  body += extensions;
  std::string message(1, '\x01');
  message += '\0';
  Put16(static_cast<unsigned>(body.size()), &message);
  message += body;
  std::string bytes;
  for (std::string_view rest = message; !rest.empty();) {
    const std::string_view part = rest.substr(0, record);
    bytes += std::string("\x16\x03\x01", 3);
    Put16(static_cast<unsigned>(part.size()), &bytes);
    bytes += part;
    rest.remove_prefix(part.size());
  }
  return bytes;
}

// A fatal alert, access_denied.
inline std::string AccessDenied() {
  return std::string("\x15\x03\x03\x00\x02\x02\x31", 7);
}

}  // namespace gate::test
