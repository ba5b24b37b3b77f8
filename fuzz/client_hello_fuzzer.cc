// The beginning of TLS: no part of a ClientHello is one, what follows it
// changes nothing, and neither does how records cut it up.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "net/protocols/client_hello.h"

namespace {

using namespace gate::net;
using std::string_view;

size_t RecordSize(string_view record) {
  return static_cast<size_t>(static_cast<unsigned char>(record[3])) << 8 |
         static_cast<unsigned char>(record[4]);
}

// The message in records of `size` bytes each.
std::string InRecords(string_view bytes, size_t size) {
  std::string message, out;
  for (size_t need = 4; message.size() < need && bytes.size() > 5;) {
    const size_t record = RecordSize(bytes);
    message += bytes.substr(5, record);
    bytes.remove_prefix(5 + record);
    if (message.size() >= 4) need = 4 + RecordSize("x" + message);
  }
  for (size_t at = 0; at < message.size(); at += size) {
    const std::string part = message.substr(at, size);
    out += "\x16\x03\x03";
    out += static_cast<char>(part.size() >> 8);
    out += static_cast<char>(part.size() & 0xff);
    out += part;
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const ClientHello hello = ReadClientHello(bytes);
  const size_t cut = bytes.size() * data[0] / 255;
  const ClientHello part = ReadClientHello(bytes.substr(0, cut));
  if (hello.status != HelloStatus::kRead) {
    Require(part.status != HelloStatus::kRead);
    Require(hello.server_name.empty());
    Require(hello.status == HelloStatus::kIncomplete || !hello.why.empty());
    return 0;
  }
  Require(part.status != HelloStatus::kMalformed);
  if (part.status == HelloStatus::kRead)
    Require(part.server_name == hello.server_name &&
            part.encrypted == hello.encrypted);
  const std::string again = InRecords(bytes, 1 + data[0] * size_t{16});
  if (again.size() > kMaxClientHelloBytes) return 0;
  const ClientHello same = ReadClientHello(again);
  Require(same.status == HelloStatus::kRead &&
          same.server_name == hello.server_name &&
          same.encrypted == hello.encrypted);
  return 0;
}
