#include "approvals/trust.h"

#include <unistd.h>

#include "approvals/signed_store.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate::app {
namespace {

constexpr std::string_view kTrustDomain = "trust";

std::string TrustFile(const std::string& state_dir,
                      const std::string& workspace) {
  return state_dir + "/trust/" + Hex(Sha256(workspace)).substr(0, 32);
}

}  // namespace

const char* Name(TrustKind kind) {
  switch (kind) {
    case TrustKind::kRules:
      return "rules";
    case TrustKind::kAgent:
      return "agent";
    case TrustKind::kHook:
      return "hook";
  }
  return "?";
}

// Paths may be any bytes, so they stand in base64.
Result<TrustRecord> LoadTrust(const std::string& state_dir,
                              const std::string& workspace) {
  TrustRecord record;
  auto body =
      ReadSigned(state_dir, kTrustDomain, TrustFile(state_dir, workspace));
  if (!body) {
    if (body.error().code == ErrorCode::kNotFound) return record;
    return std::unexpected(body.error());
  }
  const auto damaged = [] {
    return Fail(ErrorCode::kCorrupt, "the trust record does not verify");
  };
  const auto json = ParseJson(*body);
  if (!json || !json->is_object() ||
      json->value("workspace", "") != Base64(workspace))
    return damaged();
  record.trusted_ms = json->value("trusted_ms", uint64_t{0});
  const auto files = json->find("files");
  if (files == json->end() || !files->is_object()) return damaged();
  for (const auto& [name, hash] : files->items()) {
    std::string path;
    if (!DecodeBase64(name, &path) || !hash.is_string()) return damaged();
    record.files[path] = hash.get<std::string>();
  }
  return record;
}

Status SaveTrust(const std::string& state_dir, const std::string& workspace,
                 const TrustRecord& record) {
  const std::string file = TrustFile(state_dir, workspace);
  if (record.files.empty()) {
    if (::unlink(file.c_str()) != 0 && errno != ENOENT)
      return FailErrno("the trust record cannot be removed");
    return {};
  }
  Json files = Json::object();
  for (const auto& [path, hash] : record.files) files[Base64(path)] = hash;
  return WriteSigned(state_dir, kTrustDomain, file,
                     Dump({{"workspace", Base64(workspace)},
                           {"trusted_ms", record.trusted_ms},
                           {"files", files}}));
}

std::vector<std::string> TrustedRuleHashes(const std::string& state_dir,
                                           const std::string& workspace) {
  std::vector<std::string> hashes;
  // Most projects have no rules; that costs one look.
  if (workspace.empty() ||
      ::access((workspace + "/.gate/rules.d").c_str(), F_OK) != 0)
    return hashes;
  const auto record = LoadTrust(state_dir, workspace);
  if (!record) return hashes;
  for (const auto& [path, hash] : record->files)
    if (DirName(path) == workspace + "/.gate/rules.d") hashes.push_back(hash);
  return hashes;
}

}  // namespace gate::app
