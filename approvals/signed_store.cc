#include "approvals/signed_store.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"

namespace gate::app {
namespace {

constexpr size_t kMaxSignedBytes = 4u << 20;

Hash MacOf(const Hash& key, std::string_view domain, std::string_view body) {
  std::string text(domain);
  text += '\n';
  text += body;
  return Mac(key, text);
}

}  // namespace

Result<std::string> Sign(const std::string& state_dir, std::string_view domain,
                         const std::string& body) {
  GATE_TRY(const Hash key, LoadOrCreateKey(state_dir + "/key"));
  return Hex(MacOf(key, domain, body)) + "\n" + body;
}

Result<std::string> VerifySigned(const std::string& state_dir,
                                 std::string_view domain,
                                 std::string_view text) {
  GATE_TRY(const Hash key, LoadOrCreateKey(state_dir + "/key"));
  const size_t newline = text.find('\n');
  Hash mac;
  if (newline == std::string_view::npos ||
      !ParseHex(text.substr(0, newline), &mac) ||
      !Equal(mac, MacOf(key, domain, text.substr(newline + 1))))
    return Fail(
        ErrorCode::kCorrupt,
        "a file of gate's state (" + std::string(domain) + ") does not verify");
  return std::string(text.substr(newline + 1));
}

Status WriteSigned(const std::string& state_dir, std::string_view domain,
                   const std::string& path, const std::string& body) {
  GATE_CHECK(MakeDirectories(std::string(DirName(path)), 0700));
  GATE_TRY(const std::string text, Sign(state_dir, domain, body));
  return WriteFileAtomically(path, text, 0600);
}

Result<std::string> ReadSigned(const std::string& state_dir,
                               std::string_view domain,
                               const std::string& path) {
  GATE_TRY(const std::string text,
           ReadFile(path, kMaxSignedBytes, /*follow=*/false));
  return VerifySigned(state_dir, domain, text);
}

}  // namespace gate::app
