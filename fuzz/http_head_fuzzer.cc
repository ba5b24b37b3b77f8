// Heads of requests and chunked bodies: no part of a head is a head, what
// follows one changes nothing, what is sent on is one request for the same
// host, and a body ends at the same byte however it arrives.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "net/host_list.h"
#include "net/protocols/http_head.h"

namespace {

using namespace gate::net;
using std::string_view;

void CheckHead(string_view bytes, size_t cut, HeadForm form) {
  const HttpHead head = ReadHttpHead(bytes, form);
  if (head.status != HeadStatus::kRead) {
    Require(head.host.empty() && head.forwarded.empty());
    Require(head.status == HeadStatus::kIncomplete || !head.why.empty());
    return;
  }
  Require(head.bytes <= bytes.size() && head.bytes <= kMaxHeadBytes);
  Require(head.port != 0);
  const auto host = ReadHost(head.host);
  Require(host && *host == head.host);
  const HttpHead part = ReadHttpHead(bytes.substr(0, cut), form);
  Require(part.status ==
          (cut < head.bytes ? HeadStatus::kIncomplete : HeadStatus::kRead));
  if (head.connect) {
    Require(form == HeadForm::kProxy && head.forwarded.empty());
    return;
  }
  const HttpHead again = ReadHttpHead(head.forwarded + "GET / HTTP/1.1\r\n\r\n",
                                      HeadForm::kServer);
  Require(again.status == HeadStatus::kRead);
  Require(again.bytes == head.forwarded.size());
  Require(again.host == head.host && again.port == head.port);
  Require(again.method == head.method && again.path == head.path);
  Require(again.body == head.body && again.length == head.length);
  Require(again.forwarded == head.forwarded);
  Require(again.proxy_authorization.empty());
}

void CheckBody(string_view bytes, size_t cut) {
  ChunkedBody whole, parts;
  size_t taken = 0, first = 0, second = 0;
  const HeadStatus status = whole.Read(bytes, &taken);
  Require(taken <= bytes.size());
  Require(status != HeadStatus::kMalformed || taken == 0);
  Require(status != HeadStatus::kIncomplete || taken == bytes.size());
  if (parts.Read(bytes.substr(0, cut), &first) == HeadStatus::kMalformed) {
    Require(status == HeadStatus::kMalformed);
    return;
  }
  Require(parts.Read(bytes.substr(cut), &second) == status);
  if (status == HeadStatus::kMalformed) return;
  Require(first + second == taken);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t cut = bytes.size() * data[0] / 255;
  CheckHead(bytes, cut, HeadForm::kProxy);
  CheckHead(bytes, cut, HeadForm::kServer);
  CheckBody(bytes, cut);
  return 0;
}
