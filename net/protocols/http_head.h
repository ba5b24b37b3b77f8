// The head of a request, to an HTTP proxy: CONNECT HOST:PORT, or a method with
// an absolute http: URL; or to a server: a method with a path and the field
// Host (RFC 9112 sections 2 to 3.2, RFC 9110 section 9.3.6).
//
// What two readers may take for different requests is refused, so that nothing
// can be smuggled past the one who judges: a bare CR or LF, obs-fold, a blank
// before a colon, control characters, two fields Host, Content-Length,
// Transfer-Encoding or Proxy-Authorization, Content-Length beside
// Transfer-Encoding, an encoding other than chunked, a Host field that is not
// the URL's, a Connection field that names one of those that frame the request,
// a user, a fragment or characters beyond ASCII in the URL. Pure; linear in the
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gate::net {

inline constexpr size_t kMaxHeadBytes = size_t{64} << 10;
inline constexpr size_t kMaxHeadFields = 128;

enum class HeadStatus : uint8_t { kMalformed, kIncomplete, kRead };
enum class BodyKind : uint8_t { kNone, kLength, kChunked };
enum class HeadForm : uint8_t {
  kProxy,   // CONNECT and absolute URLs
  kServer,  // paths, for the host that Host names, which must be there
};

struct HttpHead {
  HeadStatus status = HeadStatus::kMalformed;
  int code = 400;    // to answer a malformed one with (400, 414, 431, 501, 505)
  std::string why;   // of kMalformed
  size_t bytes = 0;  // of the head, with its empty line
  std::string method;
  bool connect = false;
  std::string host;  // as ReadHost returns it
  // CONNECT must name it; a URL or Host that names none is for 80.
  uint16_t port = 0;
  std::string path;  // with the query; of CONNECT empty
  bool http11 = true;
  BodyKind body = BodyKind::kNone;
  uint64_t length = 0;              // kLength
  std::string proxy_authorization;  // the field's value; empty: none
  // What is sent on: origin form, Host first, without hop-by-hop fields (those
  // that Connection names among them), without Proxy-*, `Connection: close`.
  // Empty where the method is CONNECT.
  std::string forwarded;
};

HttpHead ReadHttpHead(std::string_view bytes, HeadForm form = HeadForm::kProxy);

// Where a chunked body ends. Feed all bytes in order. Extensions of a chunk and
// fields behind the last, which hardly any client sends and servers disagree
// on, are malformed, and so is a size of more than 15 digits.
class ChunkedBody {
 public:
  // `*taken`: how many of `bytes` belong to the body; all of them unless it is
  // kRead. Malformed framing: kMalformed and nothing of `bytes` is to be passed
  // on, now and later.
  HeadStatus Read(std::string_view bytes, size_t* taken);

 private:
  enum class At : uint8_t {
    kSize,    // digits, or the end of the line
    kSizeLf,  // its line feed
    kData,
    kDataCr,  // behind the data
    kDataLf,
    kLastCr,  // behind the chunk of size 0
    kLastLf,
    kEnd,
    kBroken,
  };
  // Takes one byte of the framing.
  At Next(char c);

  At at_ = At::kSize;
  int digits_ = 0;
  uint64_t left_ = 0;  // of the chunk's data
};

// A whole answer of the proxy's: status line, text/plain, Connection: close.
// `extra_fields`: each with its CRLF.
std::string HttpAnswer(int code, std::string_view reason, std::string_view text,
                       std::string_view extra_fields = {});

}  // namespace gate::net
