// What a person trusts of a project.
//
// A project's rule files and the settings that agents and git load from it
// count only as far as a person said so about exactly these bytes. The SHA-256
// of each trusted file stands outside the project, in <state>/trust, signed
// with the state key. Any change of a file un-trusts it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "facts/process_facts.h"
#include "parser/analysis.h"

namespace gate::app {

enum class TrustKind : unsigned char { kRules, kAgent, kHook };
const char* Name(TrustKind kind);

// One file that can be trusted, as it is now.
struct TrustItem {
  std::string path;  // absolute
  TrustKind kind = TrustKind::kRules;
  std::string hash;     // hex SHA-256; empty when it cannot be trusted
  std::string problem;  // why it cannot: a link, too large, unreadable
  std::string text;     // the bytes that were hashed
};

inline constexpr size_t kMaxTrustedFileBytes = 4u << 20;
inline constexpr size_t kMaxTrustedBytes = 32u << 20;
inline constexpr size_t kMaxTrustedFiles = 2000;

// The files that concern a command in `directory` of `workspace`: settings in
// every directory from `directory` up to the workspace, the workspace's rules
// and its git hooks. Links are never followed. Sorted by path.
std::vector<TrustItem> FindTrustItems(const std::string& workspace,
                                      const std::string& directory);
// Only the settings of agents, and only the git hooks, of the same.
std::vector<TrustItem> FindAgentSettings(const std::string& workspace,
                                         const std::string& directory);
std::vector<TrustItem> FindGitHooks(const std::string& directory);

struct TrustRecord {
  std::map<std::string, std::string> files;  // absolute path -> hash
  uint64_t trusted_ms = 0;
};

// What is trusted of `workspace`: an empty record when nothing is.
Result<TrustRecord> LoadTrust(const std::string& state_dir,
                              const std::string& workspace);
// Writes the record; removes it when it holds no file.
Status SaveTrust(const std::string& state_dir, const std::string& workspace,
                 const TrustRecord& record);

// The hashes of the trusted rule files, for rules::PolicySources; none when
// the record does not verify.
std::vector<std::string> TrustedRuleHashes(const std::string& state_dir,
                                           const std::string& workspace);

struct UntrustedUse {
  std::string why;   // empty: there is none
  std::string mark;  // of exactly these files as they are now
};

// Why `analysis` would load a setting of the workspace that nobody trusts:
// starting an agent there, or, once the project's hooks were trusted, git
// commands that run another hook. Looks at files only for such commands.
UntrustedUse FindUntrustedUse(const std::string& state_dir,
                              const std::string& workspace,
                              const parser::Analysis& analysis);

}  // namespace gate::app
