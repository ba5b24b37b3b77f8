// Secrets that are known by their look (rules.d/known/secrets.json). Each
// pattern is a fixed prefix at the start of a word, followed by at least so
// many characters of a class; the few that are more than that (JWT, PEM, URL)
// have a function. All of them look at each byte a bounded number of times.
#include <algorithm>
#include <array>

#include "audit/redact.h"
#include "known/known.h"

namespace gate::audit {
namespace {

// What one of the functions below can start with.
constexpr std::array<bool, 256> kStarts = [] {
  std::array<bool, 256> starts{};
  for (const char c : std::string_view("e-:BbpMNO0123456789"))
    starts[static_cast<unsigned char>(c)] = true;
  return starts;
}();

size_t RunEnd(std::string_view text, size_t at, SecretClass kind) {
  while (at < text.size() && IsIn(kind, text[at])) ++at;
  return at;
}

// eyJ….eyJ….… : three base64url parts, of which the first two are JSON.
size_t JwtEnd(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with("eyJ")) return 0;
  const size_t header = RunEnd(text, at, SecretClass::kDash);
  if (header - at < 10 || header >= text.size() || text[header] != '.') {
    return 0;
  }
  const size_t payload = RunEnd(text, header + 1, SecretClass::kDash);
  if (payload - header < 10) return 0;
  if (payload >= text.size() || text[payload] != '.') return payload;
  return RunEnd(text, payload + 1, SecretClass::kDash);
}

bool IsBase64(char c) { return IsAsciiAlnum(c) || c == '+' || c == '/'; }

// Behind what stands between the lines of a key: line breaks, also written as
// \n, indentation, and the quotes and signs of a program's string over lines.
size_t BehindKeyBreak(std::string_view text, size_t at) {
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\\' && at + 1 < text.size() &&
        (text[at + 1] == 'n' || text[at + 1] == 'r' || text[at + 1] == '\\')) {
      at += text[at + 1] == '\\' ? 1 : 2;
    } else if (std::string_view(" \t\r\n\"',+#").find(c) !=
               std::string_view::npos) {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

// The end of the line `Proc-Type: 4,ENCRYPTED` and the like at `at`; 0 for any
// other line.
size_t KeyHeaderEnd(std::string_view text, size_t at) {
  for (const std::string_view name :
       {"Proc-Type: ", "DEK-Info: ", "Version: ", "Comment: "}) {
    if (!text.substr(at).starts_with(name)) continue;
    size_t end = at + name.size();
    while (end < text.size() && (IsIn(SecretClass::kDotted, text[end]) ||
                                 text[end] == ',' || text[end] == ' ')) {
      ++end;
    }
    return end;
  }
  return 0;
}

// From -----BEGIN … PRIVATE KEY over the lines that look like a key's to its
// END, where that follows. Nothing else is the key's: what stands behind a
// BEGIN without them may be commands. 0 when no line follows.
size_t PemEnd(std::string_view text, size_t at) {
  constexpr size_t kMaxLabel = 64;
  if (!text.substr(at).starts_with("-----BEGIN ")) return 0;
  const std::string_view label = text.substr(at, kMaxLabel);
  const size_t key = label.find("PRIVATE KEY");
  if (key == std::string_view::npos) return 0;
  const size_t dashes = label.find("-----", key);
  if (dashes == std::string_view::npos) return 0;
  size_t end = at + dashes + 5;
  const size_t first = end;
  for (;;) {
    const size_t line = BehindKeyBreak(text, end);
    if (text.substr(line).starts_with("-----END ")) {
      const std::string_view last = text.substr(line, kMaxLabel);
      const size_t close = last.find("-----", 9);
      if (close != std::string_view::npos &&
          last.substr(0, close).find('\n') == std::string_view::npos) {
        return line + close + 5;
      }
      break;
    }
    size_t next = KeyHeaderEnd(text, line);
    if (next == 0) next = KeyLineEnd(text, line);
    if (next == 0) {
      // The last line, or a checksum, may be short.
      next = line;
      while (next < text.size() && (IsBase64(text[next]) || text[next] == '='))
        ++next;
      if (next == line ||
          !text.substr(BehindKeyBreak(text, next)).starts_with("-----END ")) {
        break;
      }
    }
    end = next;
  }
  return end == first ? 0 : end;
}

// The secret part of scheme://user:password@host at the colon `at`; returns
// where to go on. The authority ends before the next slash, so that it is not
// read twice.
size_t UrlPassword(std::string_view text, size_t at,
                   std::vector<SecretSpan>* out) {
  const size_t begin = at + 3;
  size_t end = begin;
  size_t colon = std::string_view::npos;
  size_t host = std::string_view::npos;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '/' || c == '?' || c == '#' || c == '"' || c == '\'' || c == '`' ||
        c == ')' || c == '>' || c == '|' || c == ';' ||
        static_cast<unsigned char>(c) <= ' ') {
      break;
    }
    if (c == ':' && colon == std::string_view::npos) colon = end;
    if (c == '@') host = end;
  }
  if (host == std::string_view::npos ||
      text.substr(begin).starts_with("[redacted:")) {
    return begin;
  }
  // Without a colon a long user name is a token: https://TOKEN@host.
  constexpr size_t kTokenLength = 20;
  size_t secret = begin;
  if (colon != std::string_view::npos && colon < host) {
    secret = colon + 1;
  } else if (host - begin < kTokenLength) {
    return begin;
  }
  // What may be more of the shell's line is left.
  const size_t stop =
      std::min(text.substr(0, host).find_first_of("&<", secret), host);
  const std::string_view value = text.substr(secret, stop - secret);
  if (value.empty() || value.front() == '$' ||
      value.starts_with("[redacted:")) {
    return begin;
  }
  out->push_back({secret, stop, "url-password"});
  return end;
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

// "Bearer TOKEN", with something that is more than a word.
size_t BearerEnd(std::string_view text, size_t at, size_t* secret) {
  constexpr std::string_view kBearer = "bearer ";
  constexpr size_t kLeast = 12;
  if (!EqualsIgnoringCase(text.substr(at, kBearer.size()), kBearer)) return 0;
  *secret = at + kBearer.size();
  size_t end = *secret;
  bool digit = false;
  while (end < text.size() &&
         (IsIn(SecretClass::kDotted, text[end]) || text[end] == '+' ||
          text[end] == '/' || text[end] == '=' || text[end] == '~')) {
    digit = digit || IsAsciiDigit(text[end]);
    ++end;
  }
  return digit && end - *secret >= kLeast ? end : 0;
}

}  // namespace

size_t KeyLineEnd(std::string_view text, size_t at) {
  constexpr size_t kLong = 40, kLeast = 12;
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  const size_t begin = at;
  bool upper = false, lower = false, digit = false;
  for (; at < text.size() && IsBase64(text[at]); ++at) {
    upper = upper || (text[at] >= 'A' && text[at] <= 'Z');
    lower = lower || (text[at] >= 'a' && text[at] <= 'z');
    digit = digit || IsAsciiDigit(text[at]);
  }
  const size_t size = at - begin;
  if (size < kLeast || !upper || !lower || (!digit && size < kLong)) return 0;
  while (at < text.size() && text[at] == '=') ++at;
  // A word with more behind it is a command's.
  size_t next = at;
  while (next < text.size() && (text[next] == ' ' || text[next] == '\t'))
    ++next;
  const bool alone = next >= text.size() ||
                     std::string_view("\r\n\\\"'-").find(text[next]) !=
                         std::string_view::npos ||
                     (next > at && size >= kLong);
  return alone ? at : 0;
}

void FindSecretPatterns(std::string_view text, std::vector<SecretSpan>* out) {
  const std::array<bool, 256>& prefix_starts = known::SecretStarts();
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (!kStarts[static_cast<unsigned char>(c)] &&
        !prefix_starts[static_cast<unsigned char>(c)]) {
      ++at;
      continue;
    }
    if (c == ':' && text.substr(at).starts_with("://")) {
      at = std::max(UrlPassword(text, at, out), at + 1);
      // Tokens inside the authority are covered, or short.
      continue;
    }
    if (c == '-') {
      if (const size_t end = PemEnd(text, at); end > 0) {
        out->push_back({at, end, "private-key"});
        at = end;
        continue;
      }
    }
    // Inside a word nothing starts, so that each word is read once.
    if (at > 0 && c != '.' && IsIn(SecretClass::kDash, text[at - 1])) {
      ++at;
      continue;
    }
    size_t end = JwtEnd(text, at);
    if (end > 0) {
      out->push_back({at, end, "jwt"});
      at = end;
      continue;
    }
    size_t secret = 0;
    end = BearerEnd(text, at, &secret);
    if (end > 0) {
      out->push_back({secret, end, "bearer"});
      at = end;
      continue;
    }
    if (end = TelegramTokenEnd(text, at); end > 0) {
      out->push_back({at, end, "telegram-token"});
      at = end;
      continue;
    }
    if (end = DottedTokenEnd(text, at); end > 0) {
      out->push_back({at, end, "api-token"});
      at = end;
      continue;
    }
    size_t next = at + 1;
    for (const SecretPrefix& pattern : known::SecretPrefixes()) {
      if (pattern.prefix.front() != c ||
          !text.substr(at).starts_with(pattern.prefix)) {
        continue;
      }
      const size_t body = at + pattern.prefix.size();
      const size_t run = RunEnd(text, body, pattern.kind);
      if (run - body < pattern.least) continue;
      if (pattern.digit &&
          std::none_of(text.begin() + static_cast<std::ptrdiff_t>(body),
                       text.begin() + static_cast<std::ptrdiff_t>(run),
                       IsAsciiDigit)) {
        continue;
      }
      out->push_back({pattern.keep_prefix ? body : at, run, pattern.name});
      next = run;
      break;
    }
    at = next;
  }
}

}  // namespace gate::audit
