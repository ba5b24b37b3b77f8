// Hosts in one form, whoever wrote them: what resolvers and URL parsers take
// for the same machine is the same text here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gate {

// No name that resolves is longer (RFC 1035: 255), percent-encoding included.
inline constexpr size_t kMaxHostBytes = 1024;

struct HostForms {
  // Lower case and without a final dot. An IPv4 address is four decimal
  // numbers, whichever way inet_aton(3) reads it (octal, hexadecimal, fewer
  // parts); so is one that IPv6 maps (::ffff:a9fe:a9fe). Any other IPv6 address
  // is as inet_ntop(3) writes it, without brackets and zone. Characters that
  // IDNA maps to ASCII (full-width and circled digits, the ideographic stop)
  // are mapped, percent-encoding is decoded. Empty: not known.
  std::string normal;
  bool is_address = false;
  // Addresses that it reaches besides, or that some readers take it for: the
  // IPv4 address inside an IPv4-compatible, NAT64, 6to4, Teredo or ISATAP
  // address, numbers with leading zeros read as decimal, numbers that are too
  // large read modulo 256. Never a loopback address, so that nothing is
  // loosened by what is only possible. At most four.
  std::vector<std::string> also;
};

// The forms of `text`, a host without a port, in brackets or not. What is no
// host (`{a,b}.org`, see base/url_globs.h) is a name as it stands; text of more
// than kMaxHostBytes is not known. Pure and linear.
HostForms NormaliseHost(std::string_view text);

// Whether a normal form is this very machine: 127.0.0.0/8, ::1, 0.0.0.0, ::, or
// localhost and what is below it.
bool IsLoopback(std::string_view normal);

// One reading of a URL, or of HOST[:PORT][/PATH].
struct UrlHost {
  std::string scheme;  // lower case; empty: none
  std::string host;    // as it stands there, without brackets; may be empty
  int port = 0;        // 0: none was named, or it is none
};

// How URL parsers read `url`: the first is curl's (the host stands behind the
// last `@`), then, where it is another, that of the WHATWG's URL standard (a
// backslash is a slash). Any number of slashes stands before the host. `whole`:
// the text is complete; else only a host that something ends is known. Never
// empty, at most two. Pure and linear.
std::vector<UrlHost> HostsOfUrl(std::string_view url, bool whole = true);

}  // namespace gate
