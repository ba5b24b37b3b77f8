// Rule files -> Policy.
//
// A Policy is an immutable set of layers of rules, ready to be matched: the
// built-in rules come as an image made by the build, users' files are read
// when they exist. docs/rules.md is the manual of the language, and says what
// may loosen what.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "rules/action.h"

namespace gate::rules {

// One rule file, read but not yet understood.
struct RuleFile {
  std::string name;  // as shown in messages
  Layer layer = Layer::kProject;
  std::string text;
  bool trusted = false;  // project layer: the user trusted these bytes
};

// Where the layers are. Empty members are skipped.
struct PolicySources {
  std::string system_dir;   // /etc/gate/rules.d
  std::string user_dir;     // $XDG_CONFIG_HOME/gate/rules.d
  std::string project_dir;  // <workspace>/.gate/rules.d
  unsigned owner = 0;       // uid that user files must belong to
  bool builtin = true;
  // Hex SHA-256 of the project files that the user trusted.
  std::vector<std::string> trusted_hashes;
};

// What `trusted_hashes` holds of a file with these bytes.
std::string FileHash(std::string_view text);

inline constexpr size_t kMaxRuleFileBytes = 4u << 20;
inline constexpr size_t kMaxRuleFiles = 512;
inline constexpr size_t kMaxRules = 200000;

struct Rule;  // rules/rule.h
class Index;  // rules/index.h

class Policy {
 public:
  Policy();
  Policy(Policy&&) noexcept;
  Policy& operator=(Policy&&) noexcept;
  ~Policy();

  // What loading found to say, all layers.
  const std::vector<Diagnostic>& diagnostics() const;

  // The least action that any decision under this policy may have because of
  // a layer that did not load: kDeny for system and user, kAsk for project,
  // kAllow when all is well.
  Action floor() const;

  // The action when no rule matches.
  Action default_action() const;

  // Some rule asks for the branch, so that callers must find it.
  bool asks_branch() const;

  // Hex SHA-256 that names this exact policy (all layers, in order).
  const std::string& revision() const;

  struct Impl;
  const Impl& impl() const { return *impl_; }
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Loads all layers. Never fails: a file that does not load is a diagnostic and
// raises floor(). Files are read in byte order of their names; their order has
// no influence on decisions.
Policy LoadPolicy(const PolicySources& sources);

// A policy of these files only, plus the built-in rules when `builtin`.
Policy MakePolicy(const std::vector<RuleFile>& files, bool builtin);

}  // namespace gate::rules
