#include "net/protocols/client_hello.h"

#include <algorithm>
#include <bitset>

#include "net/protocols/reader.h"

namespace gate::net {
namespace {

using std::string_view;

constexpr uint32_t kHandshakeRecord = 22, kClientHello = 1, kMajorVersion = 3;
constexpr size_t kRecordHeader = 5, kMessageHeader = 4;
constexpr size_t kMaxRecord = size_t{1} << 14;
constexpr uint32_t kServerName = 0, kEncryptedHello = 0xfe0d, kHostName = 0;
constexpr size_t kRandomBytes = 32, kMaxSessionId = 32;

ClientHello Malformed(string_view why) {
  return {HelloStatus::kMalformed, {}, false, why};
}
ClientHello Incomplete() { return {HelloStatus::kIncomplete, {}, false, {}}; }

uint32_t ByteAt(string_view bytes, size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

// The one name in the data of the extension server_name.
bool ReadServerName(string_view data, std::string* name) {
  Reader all(data);
  Reader list(all.Vector(2));
  const uint32_t type = list.Number(1);
  *name = list.Vector(2);
  return all.AtEnd() && list.AtEnd() && type == kHostName && !name->empty();
}

ClientHello ReadExtensions(string_view data) {
  ClientHello hello;
  Reader extensions(data);
  std::bitset<0x10000> seen;
  while (extensions.left() > 0) {
    const uint32_t type = extensions.Number(2);
    const string_view value = extensions.Vector(2);
    if (!extensions.good()) return Malformed("an extension is cut short");
    if (seen[type]) return Malformed("an extension stands twice");
    seen.set(type);
    if (type == kEncryptedHello) hello.encrypted = true;
    if (type == kServerName && !ReadServerName(value, &hello.server_name))
      return Malformed("the server's name is not one host name");
  }
  hello.status = HelloStatus::kRead;
  return hello;
}

// `body`: of the message, without its header.
ClientHello ReadBody(string_view body) {
  Reader reader(body);
  const uint32_t version = reader.Number(2);
  reader.Bytes(kRandomBytes);
  const string_view session = reader.Vector(1), suites = reader.Vector(2),
                    compressions = reader.Vector(1);
  if (!reader.good() || version >> 8 != kMajorVersion ||
      session.size() > kMaxSessionId || suites.empty() ||
      suites.size() % 2 != 0 || compressions.empty())
    return Malformed("the ClientHello is not well formed");
  // TLS 1.2 and before need no extensions, and not even their length.
  if (reader.AtEnd()) return ReadExtensions({});
  const string_view extensions = reader.Vector(2);
  if (!reader.AtEnd())
    return Malformed("the length of the extensions is not theirs");
  return ReadExtensions(extensions);
}

// Why the header of a record, as far as it is here, is of none that belongs to
// a ClientHello; empty: it is of one.
string_view WrongRecord(string_view header) {
  if (ByteAt(header, 0) != kHandshakeRecord) return "not a TLS handshake";
  if (header.size() > 1 && ByteAt(header, 1) != kMajorVersion)
    return "not a version of TLS";
  if (header.size() < kRecordHeader) return {};
  const size_t size = ByteAt(header, 3) << 8 | ByteAt(header, 4);
  if (size == 0 || size > kMaxRecord) return "a record of no allowed size";
  return {};
}

}  // namespace

ClientHello ReadClientHello(string_view bytes) {
  // Of the message, from all records so far; `need`: how much it is in all.
  std::string message;
  size_t need = kMessageHeader;
  for (size_t at = 0; at < bytes.size();) {
    const string_view header = bytes.substr(at, kRecordHeader);
    if (const string_view why = WrongRecord(header); !why.empty())
      return Malformed(why);
    if (header.size() < kRecordHeader) break;
    const size_t size = ByteAt(header, 3) << 8 | ByteAt(header, 4);
    const string_view fragment = bytes.substr(at + kRecordHeader, size);
    at += kRecordHeader + size;
    message += fragment;
    if (!message.empty() && ByteAt(message, 0) != kClientHello)
      return Malformed("the first message is no ClientHello");
    if (message.size() >= kMessageHeader) {
      Reader length(string_view(message).substr(1));
      need = kMessageHeader + length.Number(3);
      // Also of what the record announces and has not sent.
      if (at > kMaxClientHelloBytes || need > kMaxClientHelloBytes)
        return Malformed("the ClientHello is too long");
      if (message.size() + (size - fragment.size()) > need)
        return Malformed("something follows the ClientHello in its record");
    }
    if (fragment.size() < size) break;
    if (message.size() >= kMessageHeader && message.size() == need)
      return ReadBody(string_view(message).substr(kMessageHeader));
  }
  return bytes.size() < kMaxClientHelloBytes
             ? Incomplete()
             : Malformed("the ClientHello is too long");
}

}  // namespace gate::net
