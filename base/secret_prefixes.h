// How secrets begin that are known by their look. One list for what is taken
// out of the record and for what does not enter a sandbox.
#pragma once

#include <string_view>

namespace gate {

enum class SecretClass : unsigned char {
  kUpper,   // A-Z 0-9
  kHex,     // 0-9 a-f
  kAlnum,   // A-Z a-z 0-9
  kWord,    // and _
  kDash,    // and -
  kDotted,  // and .
  kPath,    // letters, digits, / and :
  kBase64,  // A-Z a-z 0-9 + / =
};

constexpr bool IsAsciiAlnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9');
}

constexpr bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }

constexpr bool IsIn(SecretClass kind, char c) {
  switch (kind) {
    case SecretClass::kUpper:
      return (c >= 'A' && c <= 'Z') || IsAsciiDigit(c);
    case SecretClass::kHex:
      return (c >= 'a' && c <= 'f') || IsAsciiDigit(c);
    case SecretClass::kAlnum:
      return IsAsciiAlnum(c);
    case SecretClass::kWord:
      return IsAsciiAlnum(c) || c == '_';
    case SecretClass::kDash:
      return IsAsciiAlnum(c) || c == '_' || c == '-';
    case SecretClass::kDotted:
      return IsAsciiAlnum(c) || c == '_' || c == '-' || c == '.';
    case SecretClass::kPath:
      return IsAsciiAlnum(c) || c == '_' || c == '-' || c == '/' || c == ':';
    case SecretClass::kBase64:
      return IsAsciiAlnum(c) || c == '+' || c == '/' || c == '=';
  }
  return false;
}

// A prefix at the start of a word, and what follows it.
struct SecretPrefix {
  std::string_view prefix;
  SecretClass kind;
  unsigned char least;  // characters after the prefix
  bool digit;           // one of them must be a digit
  const char* name;
  bool keep_prefix = false;
};

inline constexpr SecretPrefix kSecretPrefixes[] = {
    {"AKIA", SecretClass::kUpper, 16, false, "aws-key"},
    {"ASIA", SecretClass::kUpper, 16, false, "aws-key"},
    {"ghp_", SecretClass::kAlnum, 20, false, "github-token"},
    {"gho_", SecretClass::kAlnum, 20, false, "github-token"},
    {"ghu_", SecretClass::kAlnum, 20, false, "github-token"},
    {"ghs_", SecretClass::kAlnum, 20, false, "github-token"},
    {"ghr_", SecretClass::kAlnum, 20, false, "github-token"},
    {"github_pat_", SecretClass::kWord, 20, false, "github-token"},
    {"glpat-", SecretClass::kDash, 16, false, "gitlab-token"},
    {"gldt-", SecretClass::kDash, 16, false, "gitlab-token"},
    {"glrt-", SecretClass::kDash, 16, false, "gitlab-token"},
    {"glptt-", SecretClass::kDash, 16, false, "gitlab-token"},
    {"sk-", SecretClass::kDash, 20, true, "api-key"},
    {"sk_live_", SecretClass::kAlnum, 10, false, "stripe-key"},
    {"sk_test_", SecretClass::kAlnum, 10, false, "stripe-key"},
    {"rk_live_", SecretClass::kAlnum, 10, false, "stripe-key"},
    {"rk_test_", SecretClass::kAlnum, 10, false, "stripe-key"},
    {"whsec_", SecretClass::kAlnum, 16, false, "stripe-key"},
    {"xoxb-", SecretClass::kDash, 10, false, "slack-token"},
    {"xoxp-", SecretClass::kDash, 10, false, "slack-token"},
    {"xoxa-", SecretClass::kDash, 10, false, "slack-token"},
    {"xoxr-", SecretClass::kDash, 10, false, "slack-token"},
    {"xoxs-", SecretClass::kDash, 10, false, "slack-token"},
    {"xoxe-", SecretClass::kDash, 10, false, "slack-token"},
    {"xapp-", SecretClass::kDash, 10, false, "slack-token"},
    {"hooks.slack.com/services/", SecretClass::kPath, 20, false, "webhook",
     true},
    {"discord.com/api/webhooks/", SecretClass::kPath, 20, false, "webhook",
     true},
    {"api.telegram.org/bot", SecretClass::kPath, 20, true, "webhook", true},
    {"AIza", SecretClass::kDash, 30, false, "google-key"},
    {"ya29.", SecretClass::kDotted, 20, false, "google-token"},
    {"GOCSPX-", SecretClass::kDash, 20, false, "google-key"},
    {"npm_", SecretClass::kAlnum, 30, false, "npm-token"},
    {"pypi-AgE", SecretClass::kDash, 30, false, "pypi-token"},
    {"rubygems_", SecretClass::kAlnum, 30, false, "rubygems-token"},
    {"hf_", SecretClass::kAlnum, 20, false, "huggingface-token"},
    {"dop_v1_", SecretClass::kAlnum, 40, false, "digitalocean-token"},
    {"dckr_pat_", SecretClass::kDash, 16, false, "docker-token"},
    {"SG.", SecretClass::kDotted, 40, false, "sendgrid-key"},
    {"hvs.", SecretClass::kDotted, 20, false, "vault-token"},
    {"shpat_", SecretClass::kAlnum, 20, false, "shopify-token"},
    {"lin_api_", SecretClass::kAlnum, 20, false, "linear-key"},
    {"glsa_", SecretClass::kWord, 20, false, "grafana-token"},
    {"tskey-", SecretClass::kDash, 16, false, "tailscale-key"},
    {"ATATT3", SecretClass::kDash, 30, false, "atlassian-token"},
    {"AGE-SECRET-KEY-1", SecretClass::kAlnum, 20, false, "age-key"},
    {"gsk_", SecretClass::kAlnum, 20, false, "groq-key"},
    {"xai-", SecretClass::kAlnum, 20, true, "xai-key"},
    {"r8_", SecretClass::kAlnum, 20, true, "replicate-token"},
    {"pplx-", SecretClass::kAlnum, 20, true, "perplexity-key"},
    {"dapi", SecretClass::kHex, 32, false, "databricks-token"},
    {"ntn_", SecretClass::kAlnum, 20, true, "notion-token"},
    {"PMAK-", SecretClass::kDash, 20, true, "postman-key"},
    {"vercel_blob_rw_", SecretClass::kWord, 16, false, "vercel-token"},
    {"shpss_", SecretClass::kAlnum, 20, false, "shopify-token"},
    {"sq0atp-", SecretClass::kDash, 16, false, "square-token"},
    {"sq0csp-", SecretClass::kDash, 16, false, "square-token"},
    {"doo_v1_", SecretClass::kAlnum, 40, false, "digitalocean-token"},
    {"hvb.", SecretClass::kDotted, 20, false, "vault-token"},
    {"sntrys_", SecretClass::kDotted, 20, false, "sentry-token"},
    {"sbp_", SecretClass::kAlnum, 20, false, "supabase-token"},
    {"figd_", SecretClass::kDash, 20, false, "figma-token"},
    {"NRAK-", SecretClass::kUpper, 20, false, "newrelic-key"},
    // By config/gitleaks.toml of gitleaks at commit b58d3f102cf3.
    {"HRKU-AA", SecretClass::kDash, 40, false, "heroku-key"},
    {".atlasv1.", SecretClass::kDash, 40, false, "terraform-token", true},
    {"dp.pt.", SecretClass::kAlnum, 40, false, "doppler-token"},
    {"pul-", SecretClass::kHex, 40, false, "pulumi-token"},
    {"pscale_tkn_", SecretClass::kDotted, 32, false, "planetscale-token"},
    {"pscale_pw_", SecretClass::kDotted, 32, false, "planetscale-token"},
    {"pscale_oauth_", SecretClass::kDotted, 32, false, "planetscale-token"},
    {"squ_", SecretClass::kAlnum, 40, true, "sonar-token"},
    {"sqp_", SecretClass::kAlnum, 40, true, "sonar-token"},
    {"sqa_", SecretClass::kAlnum, 40, true, "sonar-token"},
    {"dt0c01.", SecretClass::kDotted, 60, false, "dynatrace-token"},
    {"LTAI", SecretClass::kAlnum, 16, true, "alibaba-key"},
    {"xkeysib-", SecretClass::kDash, 40, false, "brevo-key"},
    {"AKCp", SecretClass::kAlnum, 60, true, "jfrog-key"},
    {"sntryu_", SecretClass::kHex, 40, false, "sentry-token"},
    {"fo1_", SecretClass::kDash, 40, true, "fly-token"},
    {"fm1a_", SecretClass::kBase64, 60, true, "fly-token"},
    {"fm1r_", SecretClass::kBase64, 60, true, "fly-token"},
    {"fm2_", SecretClass::kBase64, 60, true, "fly-token"},
    {"glc_", SecretClass::kBase64, 32, true, "grafana-token"},
    {"glcbt-", SecretClass::kDash, 20, false, "gitlab-token"},
    {"ico-", SecretClass::kAlnum, 32, true, "infracost-key"},
    {"EZAK", SecretClass::kAlnum, 50, true, "easypost-key"},
    // By trufflehog's pkg/detectors (circleci/v2, buildkite/v2, nvapi,
    // contentfulpersonalaccesstoken) and the tests of Snyk's clients; the
    // others by the patterns that several public scanners agree on.
    {"nfp_", SecretClass::kWord, 30, true, "netlify-token"},
    {"CCIPAT_", SecretClass::kWord, 40, false, "circleci-token"},
    {"nvapi-", SecretClass::kDash, 40, false, "nvidia-key"},
    {"ATBB", SecretClass::kAlnum, 32, true, "bitbucket-token"},
    {"bkua_", SecretClass::kAlnum, 40, false, "buildkite-token"},
    {"snyk_uat.", SecretClass::kDotted, 20, false, "snyk-token"},
    {"snyk_sat.", SecretClass::kDotted, 20, false, "snyk-token"},
    {"CFPAT-", SecretClass::kDash, 40, false, "contentful-token"},
    {"sb_secret_", SecretClass::kDash, 20, false, "supabase-token"},
    {"cio", SecretClass::kAlnum, 32, true, "crates-token"},
    {"vcp_", SecretClass::kAlnum, 20, true, "vercel-token"},
    {"csk-", SecretClass::kAlnum, 40, true, "cerebras-key"},
};

// Where the token of a Telegram bot ends that begins at `at` (123456789:AA…);
// 0 when none does.
constexpr size_t TelegramTokenEnd(std::string_view text, size_t at) {
  constexpr size_t kFewest = 6, kMost = 12, kToken = 30;
  size_t colon = at;
  while (colon < text.size() && colon - at <= kMost &&
         IsAsciiDigit(text[colon]))
    ++colon;
  if (colon - at < kFewest || !text.substr(colon).starts_with(":AA")) return 0;
  size_t end = colon + 1;
  while (end < text.size() && IsIn(SecretClass::kDash, text[end])) ++end;
  return end - colon > kToken ? end : 0;
}

// Where a token of parts between dots ends that begins at `at`: Airtable's
// (pat and 14 characters, 64 of hex; gitleaks) and a Discord bot's (its number
// in base64, a time, a MAC; trufflehog). 0 when none does.
constexpr size_t DottedTokenEnd(std::string_view text, size_t at) {
  const auto run = [&](size_t from, SecretClass kind) {
    while (from < text.size() && IsIn(kind, text[from])) ++from;
    return from;
  };
  const std::string_view rest = text.substr(at);
  const bool airtable = rest.starts_with("pat");
  if (!airtable && (rest.empty() || rest[0] < 'M' || rest[0] > 'O')) return 0;
  const size_t first = run(at, SecretClass::kDash);
  if (first >= text.size() || text[first] != '.') return 0;
  if (airtable) {
    const size_t end = run(first + 1, SecretClass::kHex);
    return first - at == 17 && end - first == 65 ? end : 0;
  }
  if (first - at < 23 || first - at > 28) return 0;
  const size_t second = run(first + 1, SecretClass::kDash);
  if (second - first < 7 || second - first > 8 || second >= text.size() ||
      text[second] != '.') {
    return 0;
  }
  const size_t end = run(second + 1, SecretClass::kDash);
  return end - second > 27 ? end : 0;
}

}  // namespace gate
