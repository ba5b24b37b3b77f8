// A walk over JSON text, string by string, without building a value: the
// detail of a record is on the way of every answer. What the walk knows is the
// last structural character, the last member's name and the element before.
#include <algorithm>

#include "audit/log.h"
#include "audit/redact.h"
#include "base/ascii.h"
#include "base/text.h"

namespace gate::audit {
namespace {

uint32_t HexDigits(std::string_view text) {
  uint32_t value = 0;
  for (const char c : text.substr(0, 4))
    value = value * 16 + static_cast<uint32_t>(std::max(HexValue(c), 0));
  return value;
}

// The value of a JSON string's inside.
std::string Unescape(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out.push_back(raw[i]);
      continue;
    }
    switch (const char c = raw[++i]) {
      case 'n':
        out.push_back('\n');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 'b':
        out.push_back('\b');
        break;
      case 'f':
        out.push_back('\f');
        break;
      case 'u': {
        uint32_t code = HexDigits(raw.substr(std::min(i + 1, raw.size())));
        i += 4;
        if (code >= 0xd800 && code < 0xdc00 && i + 2 < raw.size() &&
            raw[i + 1] == '\\' && raw[i + 2] == 'u') {
          code = 0x10000 + ((code - 0xd800) << 10) +
                 (HexDigits(raw.substr(std::min(i + 3, raw.size()))) - 0xdc00);
          i += 6;
        }
        AppendUtf8(code & 0x1fffff, &out);
        break;
      }
      default:
        out.push_back(c);
    }
  }
  return out;
}

void Escape(std::string_view text, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (byte < 0x20) {
      out->append("\\u00");
      out->push_back(kHex[byte >> 4]);
      out->push_back(kHex[byte & 15]);
    } else {
      out->push_back(c);
    }
  }
}

void AddKind(const char* kind, std::vector<std::string>* kinds) {
  if (kinds != nullptr &&
      std::find(kinds->begin(), kinds->end(), kind) == kinds->end()) {
    kinds->emplace_back(kind);
  }
}

}  // namespace

std::string RedactDetail(std::string_view json,
                         std::vector<std::string>* kinds) {
  if (json.empty()) return "";
  if (json.front() != '{' && json.front() != '[') return Redact(json, kinds);
  std::string out;
  out.reserve(json.size());
  char structure = 0;   // the last of { [ : ,
  std::string member;   // the last member's name
  std::string element;  // the last string in this array
  for (size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c != '"') {
      if (!IsSpace(c)) {
        if (c == '{' || c == '[' || c == ']' || c == '}') element.clear();
        structure = c;
      }
      out.push_back(c);
      ++at;
      continue;
    }
    size_t end = at + 1;
    while (end < json.size() && json[end] != '"') {
      end += json[end] == '\\' ? 2 : 1;
    }
    if (end >= json.size()) {
      // Not JSON after all: what is left is text.
      out += Redact(json.substr(at), kinds);
      return out;
    }
    const std::string_view raw = json.substr(at, end + 1 - at);
    std::string value = Unescape(raw.substr(1, raw.size() - 2));
    at = end + 1;
    size_t next = at;
    while (next < json.size() && IsSpace(json[next])) ++next;
    const bool is_name = next < json.size() && json[next] == ':';
    std::string clean;
    if (!is_name && !value.empty() && structure == ':' &&
        IsSecretName(member)) {
      clean = "[redacted:member]";
      AddKind("member", kinds);
    } else if (!is_name && structure != ':' && element.starts_with("-") &&
               element.find('=') == std::string::npos &&
               !value.starts_with("-") && IsSecretName(element)) {
      clean = "[redacted:option]";
      AddKind("option", kinds);
    } else {
      clean = Redact(value, kinds);
    }
    if (clean == value) {
      out += raw;
    } else {
      out.push_back('"');
      Escape(clean, &out);
      out.push_back('"');
    }
    if (is_name) {
      member = std::move(value);
    } else if (structure != ':') {
      element = std::move(value);
    }
  }
  return out;
}

}  // namespace gate::audit
