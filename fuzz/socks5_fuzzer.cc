// SOCKS5: no part of a message is a message, what follows one changes nothing,
// and a host is in normal form.
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "net/host_list.h"
#include "net/protocols/socks5.h"

namespace {

using namespace gate::net;
using std::string_view;

template <class Message>
void Check(Message (*read)(string_view), string_view bytes) {
  const Message message = read(bytes);
  if (message.status != SocksStatus::kRead) return;
  Require(message.bytes > 0 && message.bytes <= bytes.size());
  Require(read(bytes.substr(0, message.bytes)).status == SocksStatus::kRead);
  for (size_t size = 0; size < message.bytes; ++size)
    Require(read(bytes.substr(0, size)).status == SocksStatus::kIncomplete);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const string_view bytes(reinterpret_cast<const char*>(data), size);
  Check(ReadSocksGreeting, bytes);
  Check(ReadSocksPassword, bytes);
  Check(ReadSocksRequest, bytes);
  const SocksRequest request = ReadSocksRequest(bytes);
  if (request.status != SocksStatus::kRead) {
    Require(request.host.empty() && request.code != 0);
    return 0;
  }
  Require(request.port != 0 && request.code == 0);
  const auto host = ReadHost(request.host);
  Require(host && *host == request.host);
  return 0;
}
