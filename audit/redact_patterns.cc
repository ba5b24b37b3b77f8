// Secrets that are known by their look. Each pattern is a fixed prefix at the
// start of a word, followed by at least so many characters of a class; the few
// that are more than that (JWT, PEM, URL) have a function. All of them look at
// each byte a bounded number of times.
#include <algorithm>
#include <array>

#include "audit/redact.h"

namespace gate::audit {
namespace {

enum class Class : unsigned char {
  kUpper,   // A-Z 0-9
  kAlnum,   // A-Z a-z 0-9
  kWord,    // and _
  kDash,    // and -
  kDotted,  // and .
  kPath,    // letters, digits, / and :
};

bool IsAlnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9');
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool In(Class kind, char c) {
  switch (kind) {
    case Class::kUpper:
      return (c >= 'A' && c <= 'Z') || IsDigit(c);
    case Class::kAlnum:
      return IsAlnum(c);
    case Class::kWord:
      return IsAlnum(c) || c == '_';
    case Class::kDash:
      return IsAlnum(c) || c == '_' || c == '-';
    case Class::kDotted:
      return IsAlnum(c) || c == '_' || c == '-' || c == '.';
    case Class::kPath:
      return IsAlnum(c) || c == '_' || c == '-' || c == '/' || c == ':';
  }
  return false;
}

struct Pattern {
  std::string_view prefix;
  Class kind;
  unsigned char least;  // characters after the prefix
  bool digit;           // one of them must be a digit
  const char* name;
  bool keep_prefix = false;
};

constexpr Pattern kPatterns[] = {
    {"AKIA", Class::kUpper, 16, false, "aws-key"},
    {"ASIA", Class::kUpper, 16, false, "aws-key"},
    {"ghp_", Class::kAlnum, 20, false, "github-token"},
    {"gho_", Class::kAlnum, 20, false, "github-token"},
    {"ghu_", Class::kAlnum, 20, false, "github-token"},
    {"ghs_", Class::kAlnum, 20, false, "github-token"},
    {"ghr_", Class::kAlnum, 20, false, "github-token"},
    {"github_pat_", Class::kWord, 20, false, "github-token"},
    {"glpat-", Class::kDash, 16, false, "gitlab-token"},
    {"gldt-", Class::kDash, 16, false, "gitlab-token"},
    {"glrt-", Class::kDash, 16, false, "gitlab-token"},
    {"glptt-", Class::kDash, 16, false, "gitlab-token"},
    {"sk-", Class::kDash, 20, true, "api-key"},
    {"sk_live_", Class::kAlnum, 10, false, "stripe-key"},
    {"sk_test_", Class::kAlnum, 10, false, "stripe-key"},
    {"rk_live_", Class::kAlnum, 10, false, "stripe-key"},
    {"rk_test_", Class::kAlnum, 10, false, "stripe-key"},
    {"whsec_", Class::kAlnum, 16, false, "stripe-key"},
    {"xoxb-", Class::kDash, 10, false, "slack-token"},
    {"xoxp-", Class::kDash, 10, false, "slack-token"},
    {"xoxa-", Class::kDash, 10, false, "slack-token"},
    {"xoxr-", Class::kDash, 10, false, "slack-token"},
    {"xoxs-", Class::kDash, 10, false, "slack-token"},
    {"xoxe-", Class::kDash, 10, false, "slack-token"},
    {"xapp-", Class::kDash, 10, false, "slack-token"},
    {"hooks.slack.com/services/", Class::kPath, 20, false, "webhook", true},
    {"discord.com/api/webhooks/", Class::kPath, 20, false, "webhook", true},
    {"api.telegram.org/bot", Class::kPath, 20, true, "webhook", true},
    {"AIza", Class::kDash, 30, false, "google-key"},
    {"ya29.", Class::kDotted, 20, false, "google-token"},
    {"GOCSPX-", Class::kDash, 20, false, "google-key"},
    {"npm_", Class::kAlnum, 30, false, "npm-token"},
    {"pypi-AgE", Class::kDash, 30, false, "pypi-token"},
    {"rubygems_", Class::kAlnum, 30, false, "rubygems-token"},
    {"hf_", Class::kAlnum, 20, false, "huggingface-token"},
    {"dop_v1_", Class::kAlnum, 40, false, "digitalocean-token"},
    {"dckr_pat_", Class::kDash, 16, false, "docker-token"},
    {"SG.", Class::kDotted, 40, false, "sendgrid-key"},
    {"hvs.", Class::kDotted, 20, false, "vault-token"},
    {"shpat_", Class::kAlnum, 20, false, "shopify-token"},
    {"lin_api_", Class::kAlnum, 20, false, "linear-key"},
    {"glsa_", Class::kWord, 20, false, "grafana-token"},
    {"tskey-", Class::kDash, 16, false, "tailscale-key"},
    {"ATATT3", Class::kDash, 30, false, "atlassian-token"},
    {"AGE-SECRET-KEY-1", Class::kAlnum, 20, false, "age-key"},
};

// Which bytes a pattern or one of the functions below can start with.
constexpr std::array<bool, 256> MakeStarts() {
  std::array<bool, 256> starts{};
  for (const Pattern& pattern : kPatterns) {
    starts[static_cast<unsigned char>(pattern.prefix.front())] = true;
  }
  for (const char c : {'e', '-', ':', 'B', 'b'}) {
    starts[static_cast<unsigned char>(c)] = true;
  }
  return starts;
}
constexpr std::array<bool, 256> kStarts = MakeStarts();

size_t RunEnd(std::string_view text, size_t at, Class kind) {
  while (at < text.size() && In(kind, text[at])) ++at;
  return at;
}

// eyJ….eyJ….… : three base64url parts, of which the first two are JSON.
size_t JwtEnd(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with("eyJ")) return 0;
  const size_t header = RunEnd(text, at, Class::kDash);
  if (header - at < 10 || header >= text.size() || text[header] != '.') {
    return 0;
  }
  const size_t payload = RunEnd(text, header + 1, Class::kDash);
  if (payload - header < 10) return 0;
  if (payload >= text.size() || text[payload] != '.') return payload;
  return RunEnd(text, payload + 1, Class::kDash);
}

// From -----BEGIN … PRIVATE KEY to the end of its END line, or of the text.
size_t PemEnd(std::string_view text, size_t at) {
  constexpr size_t kMaxLabel = 64;
  if (!text.substr(at).starts_with("-----BEGIN ")) return 0;
  const size_t key = text.substr(at, kMaxLabel).find("PRIVATE KEY");
  if (key == std::string_view::npos) return 0;
  const size_t end = text.find("-----END ", at + key);
  if (end == std::string_view::npos) return text.size();
  const size_t dashes = text.find("-----", end + 9);
  if (dashes == std::string_view::npos) return text.size();
  return dashes + 5;
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
  const std::string_view value = text.substr(secret, host - secret);
  if (value.empty() || value.front() == '$' ||
      value.starts_with("[redacted:")) {
    return begin;
  }
  out->push_back({secret, host, "url-password"});
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
         (In(Class::kDotted, text[end]) || text[end] == '+' ||
          text[end] == '/' || text[end] == '=' || text[end] == '~')) {
    digit = digit || IsDigit(text[end]);
    ++end;
  }
  return digit && end - *secret >= kLeast ? end : 0;
}

}  // namespace

void FindSecretPatterns(std::string_view text, std::vector<SecretSpan>* out) {
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (!kStarts[static_cast<unsigned char>(c)]) {
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
    if (at > 0 && In(Class::kDash, text[at - 1])) {
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
    size_t next = at + 1;
    for (const Pattern& pattern : kPatterns) {
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
                       IsDigit)) {
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
