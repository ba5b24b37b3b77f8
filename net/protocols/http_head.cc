#include "net/protocols/http_head.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/ascii.h"
#include "base/text.h"
#include "net/host_list.h"

namespace gate::net {
namespace {

using std::string_view;

constexpr uint16_t kHttpPort = 80;
constexpr int kBadRequest = 400, kTargetTooLong = 414, kFieldsTooLarge = 431,
              kNotImplemented = 501, kVersionNotSupported = 505;
constexpr string_view kLineEnd = "\r\n", kScheme = "http://";

// Fields for the next reader alone (RFC 9110, section 7.6.1), besides proxy-*.
constexpr auto kHopByHop =
    std::to_array<string_view>({"connection", "http2-settings", "keep-alive",
                                "te", "transfer-encoding", "upgrade"});
// What frames the request or says whose it is: no Connection field takes it
// out.
constexpr auto kFraming =
    std::to_array<string_view>({"host", "content-length", "transfer-encoding"});

struct Refusal {
  int code;
  std::string why;
};
using Step = std::optional<Refusal>;

Refusal Wrong(std::string why) { return {kBadRequest, std::move(why)}; }

bool IsToken(string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    const char lower = LowerAscii(c);
    return (lower >= 'a' && lower <= 'z') || IsDigit(c) ||
           string_view("!#$%&'*+-.^_`|~").find(c) != string_view::npos;
  });
}

string_view WithoutBlanks(string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// How far the head goes: its end with the empty line, 0 where that is not here
// yet, nothing where a line cannot be part of one.
struct Extent {
  size_t end = 0;
  bool first_line = false;  // is whole
};
std::optional<Extent> FindEnd(string_view bytes) {
  Extent extent;
  size_t line = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '\r') {
      if (i == 0) return std::nullopt;  // an empty line before the request
      if (i + 1 == bytes.size()) return extent;
      if (bytes[++i] != '\n') return std::nullopt;
      extent.first_line = true;
      if (line + 2 == i + 1) {
        extent.end = i + 1;
        return extent;
      }
      line = i + 1;
    } else if ((static_cast<unsigned char>(c) < ' ' && c != '\t') ||
               c == '\x7f') {
      return std::nullopt;
    }
  }
  return extent;
}

string_view TakeLine(string_view* rest) {
  const string_view line = rest->substr(0, rest->find(kLineEnd));
  rest->remove_prefix(line.size() + kLineEnd.size());
  return line;
}

struct Field {
  std::string name;  // lower case
  string_view as_written, value;
};

// Takes one head apart, whose lines end right and have no controls.
class Parser {
 public:
  explicit Parser(HeadForm form) : form_(form) {}

  Step Parse(string_view text);
  HttpHead Take() { return std::move(head_); }

 private:
  Step RequestLine(string_view line);
  Step Target(string_view target);
  Step AbsoluteUrl(string_view target);
  Step AddField(string_view line);
  Step Known(const Field& field);
  Step Length(string_view value);
  Step Host(string_view value);
  Step Connection(string_view value);
  Step CheckHost();
  Step CheckBody();
  bool StaysHere(const Field& field) const;
  void Forward();

  HeadForm form_;
  HttpHead head_;
  std::vector<Field> fields_;
  std::optional<HostPort> host_field_;
  bool has_length_ = false, has_encoding_ = false, has_authorization_ = false;
  std::unordered_set<std::string> connection_;
};

Step Parser::Parse(string_view text) {
  if (Step bad = RequestLine(TakeLine(&text))) return bad;
  while (text != kLineEnd) {
    if (fields_.size() == kMaxHeadFields)
      return Refusal{kFieldsTooLarge, "more than 128 fields"};
    if (Step bad = AddField(TakeLine(&text))) return bad;
  }
  if (Step bad = CheckHost()) return bad;
  if (Step bad = CheckBody()) return bad;
  if (!head_.connect) Forward();
  return {};
}

Step Parser::RequestLine(string_view line) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == line.npos || first == last)
    return Wrong("the first line is not a method, a target and a version");
  const string_view method = line.substr(0, first),
                    target = line.substr(first + 1, last - first - 1),
                    version = line.substr(last + 1);
  if (!IsToken(method)) return Wrong("the method is not a word");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    if (version.starts_with("HTTP/") && version.size() == 8 &&
        IsDigit(version[5]) && version[6] == '.' && IsDigit(version[7]))
      return Refusal{kVersionNotSupported, "not HTTP/1.0 or HTTP/1.1"};
    return Wrong("the version is not one of HTTP's");
  }
  head_.http11 = version.ends_with('1');
  head_.method = method;
  // A blank, and what writers of URLs would have encoded.
  if (target.empty() || !IsAscii(target) ||
      target.find_first_of(" \t#") != target.npos)
    return Wrong("the target has a character that no target has");
  return Target(target);
}

Step Parser::Target(string_view target) {
  if (form_ == HeadForm::kServer) {
    if (head_.method == "CONNECT" ||
        (target.front() != '/' &&
         !(target == "*" && head_.method == "OPTIONS")))
      return Wrong("the target of a request to a server is a path");
    head_.path = target;
    return {};
  }
  if (head_.method != "CONNECT") return AbsoluteUrl(target);
  const auto named = ReadHostPort(target);
  if (!named) return Wrong(named.error().message);
  if (named->port == 0) return Wrong("CONNECT names a port");
  head_.connect = true;
  head_.host = named->host;
  head_.port = named->port;
  return {};
}

Step Parser::AbsoluteUrl(string_view target) {
  if (LowerAscii(target.substr(0, kScheme.size())) != kScheme) {
    if (target.find("://") != target.npos &&
        IsToken(target.substr(0, target.find(':'))))
      return Refusal{kNotImplemented,
                     "only http: is forwarded; for everything else is CONNECT"};
    return Wrong("a request to a proxy names a whole URL");
  }
  target.remove_prefix(kScheme.size());
  const size_t end = std::min(target.find_first_of("/?"), target.size());
  const auto named = ReadHostPort(target.substr(0, end));
  if (!named) return Wrong(named.error().message);
  head_.host = named->host;
  head_.port = named->port == 0 ? kHttpPort : named->port;
  head_.path = target.substr(end);
  if (head_.path.empty() && head_.method == "OPTIONS")
    head_.path = "*";  // RFC 9112, section 3.2.4
  else if (!head_.path.starts_with('/'))
    head_.path.insert(0, "/");
  return {};
}

Step Parser::AddField(string_view line) {
  if (line.starts_with(' ') || line.starts_with('\t'))
    return Wrong("a line goes on with the field before it");
  const size_t colon = line.find(':');
  if (colon == line.npos || !IsToken(line.substr(0, colon)))
    return Wrong("a field's name is not a word before a colon");
  Field field{LowerAscii(line.substr(0, colon)), line.substr(0, colon),
              WithoutBlanks(line.substr(colon + 1))};
  if (Step bad = Known(field)) return bad;
  fields_.push_back(std::move(field));
  return {};
}

Step Parser::Known(const Field& field) {
  if (field.name == "host") return Host(field.value);
  if (field.name == "content-length") return Length(field.value);
  if (field.name == "connection") return Connection(field.value);
  if (field.name == "transfer-encoding") {
    if (std::exchange(has_encoding_, true))
      return Wrong("two fields Transfer-Encoding");
    if (LowerAscii(field.value) != "chunked")
      return Refusal{kNotImplemented, "an encoding other than chunked"};
  }
  if (field.name == "proxy-authorization") {
    if (std::exchange(has_authorization_, true))
      return Wrong("two fields Proxy-Authorization");
    head_.proxy_authorization = field.value;
  }
  return {};
}

Step Parser::Length(string_view value) {
  constexpr size_t kMaxDigits = 18;
  if (std::exchange(has_length_, true))
    return Wrong("two fields Content-Length");
  if (value.empty() || value.size() > kMaxDigits ||
      !std::ranges::all_of(value, IsDigit) ||
      (value.size() > 1 && value[0] == '0'))
    return Wrong("the Content-Length is not a number");
  for (const char c : value)
    head_.length = head_.length * 10 + static_cast<uint64_t>(c - '0');
  return {};
}

Step Parser::Host(string_view value) {
  if (host_field_) return Wrong("two fields Host");
  auto named = ReadHostPort(value);
  if (!named) return Wrong("the field Host: " + named.error().message);
  host_field_ = std::move(*named);
  return {};
}

Step Parser::Connection(string_view value) {
  while (true) {
    const size_t comma = value.find(',');
    const std::string option =
        LowerAscii(WithoutBlanks(value.substr(0, comma)));
    if (!option.empty()) {
      if (!IsToken(option)) return Wrong("the field Connection is not words");
      if (gate::Contains(kFraming, option))
        return Wrong("the field Connection names one that frames the request");
      connection_.insert(option);
    }
    if (comma == value.npos) return {};
    value.remove_prefix(comma + 1);
  }
}

Step Parser::CheckHost() {
  if (!host_field_) {
    if (form_ == HeadForm::kServer || head_.http11)
      return Wrong("there is no field Host");
    return {};
  }
  const uint16_t port = host_field_->port;
  if (form_ == HeadForm::kServer) {
    head_.host = host_field_->host;
    head_.port = port == 0 ? kHttpPort : port;
    return {};
  }
  // Many clients leave the port of CONNECT out there.
  const bool same_port =
      port == head_.port ||
      (port == 0 && (head_.connect || head_.port == kHttpPort));
  if (host_field_->host != head_.host || !same_port)
    return Wrong("the field Host is not the target's");
  return {};
}

Step Parser::CheckBody() {
  if (has_encoding_ && has_length_)
    return Wrong("Content-Length beside Transfer-Encoding");
  if (has_encoding_ && !head_.http11)
    return Wrong("Transfer-Encoding in HTTP/1.0");
  if (head_.connect && (has_encoding_ || head_.length != 0))
    return Wrong("CONNECT has no body");
  if (head_.connect) return {};
  head_.body = has_encoding_ ? BodyKind::kChunked
               : has_length_ ? BodyKind::kLength
                             : BodyKind::kNone;
  return {};
}

bool Parser::StaysHere(const Field& field) const {
  return field.name == "host" || field.name.starts_with("proxy-") ||
         gate::Contains(kHopByHop, field.name) ||
         connection_.contains(field.name);
}

void Parser::Forward() {
  std::string& out = head_.forwarded;
  out = head_.method + ' ' + head_.path + " HTTP/1." +
        (head_.http11 ? '1' : '0') + "\r\nHost: " +
        PrintHostPort(head_.host, head_.port == kHttpPort ? 0 : head_.port);
  out += kLineEnd;
  for (const Field& field : fields_) {
    if (StaysHere(field)) continue;
    out += field.as_written;
    out += ": ";
    out += field.value;
    out += kLineEnd;
  }
  // The body is passed on in its chunks.
  if (head_.body == BodyKind::kChunked) out += "Transfer-Encoding: chunked\r\n";
  out += "Connection: close\r\n\r\n";
}

HttpHead Refused(Refusal refusal) {
  HttpHead head;
  head.code = refusal.code;
  head.why = std::move(refusal.why);
  return head;
}

}  // namespace

HttpHead ReadHttpHead(string_view bytes, HeadForm form) {
  const auto extent = FindEnd(bytes.substr(0, kMaxHeadBytes));
  if (!extent)
    return Refused(Wrong("a line does not end in CR LF, or has a control"));
  if (extent->end == 0) {
    if (bytes.size() >= kMaxHeadBytes)
      return Refused(
          extent->first_line
              ? Refusal{kFieldsTooLarge, "the fields are too long"}
              : Refusal{kTargetTooLong, "the first line is too long"});
    HttpHead head;
    head.status = HeadStatus::kIncomplete;
    return head;
  }
  Parser parser(form);
  if (Step bad = parser.Parse(bytes.substr(0, extent->end)))
    return Refused(std::move(*bad));
  HttpHead head = parser.Take();
  head.status = HeadStatus::kRead;
  head.code = 200;
  head.bytes = extent->end;
  return head;
}

ChunkedBody::At ChunkedBody::Next(char c) {
  constexpr int kMaxDigits = 15;
  switch (at_) {
    case At::kSize:
      if (const int digit = HexValue(c); digit >= 0 && digits_ < kMaxDigits) {
        left_ = left_ * 16 + static_cast<uint64_t>(digit);
        ++digits_;
        return At::kSize;
      }
      return c == '\r' && digits_ > 0 ? At::kSizeLf : At::kBroken;
    case At::kSizeLf:
      digits_ = 0;
      if (c != '\n') return At::kBroken;
      return left_ == 0 ? At::kLastCr : At::kData;
    case At::kDataCr:
      return c == '\r' ? At::kDataLf : At::kBroken;
    case At::kDataLf:
      return c == '\n' ? At::kSize : At::kBroken;
    case At::kLastCr:
      return c == '\r' ? At::kLastLf : At::kBroken;
    case At::kLastLf:
      return c == '\n' ? At::kEnd : At::kBroken;
    default:
      return At::kBroken;
  }
}

HeadStatus ChunkedBody::Read(string_view bytes, size_t* taken) {
  size_t at = 0;
  while (at < bytes.size() && at_ != At::kEnd && at_ != At::kBroken) {
    if (at_ != At::kData) {
      at_ = Next(bytes[at++]);
      continue;
    }
    const uint64_t data = std::min<uint64_t>(left_, bytes.size() - at);
    at += static_cast<size_t>(data);
    left_ -= data;
    if (left_ == 0) at_ = At::kDataCr;
  }
  *taken = at_ == At::kBroken ? 0 : at;
  return at_ == At::kBroken ? HeadStatus::kMalformed
         : at_ == At::kEnd  ? HeadStatus::kRead
                            : HeadStatus::kIncomplete;
}

std::string HttpAnswer(int code, string_view reason, string_view text,
                       string_view extra_fields) {
  std::string out = "HTTP/1.1 " + std::to_string(code) + ' ' + Visible(reason);
  out += "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ";
  out += std::to_string(text.size());
  out += "\r\nConnection: close\r\n";
  out += extra_fields;
  out += kLineEnd;
  out += text;
  return out;
}

}  // namespace gate::net
