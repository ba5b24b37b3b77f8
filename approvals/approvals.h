// Questions that wait for a person, and the answers.
//
// When a command is to be asked about and nobody can be asked (a hook, no
// terminal), the question is kept for a day under its decision's id. A person
// answers it by `gate approve ID` on a terminal of their own; the agent then
// sends the same command again. An answer fits exactly one command in one
// directory under one policy, is used once, and expires.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/grants.h"

namespace gate::app {

inline constexpr uint64_t kPendingLifetimeMs = 24ull * 60 * 60 * 1000;
inline constexpr uint64_t kApprovalLifetimeMs = 60ull * 60 * 1000;

struct PendingQuestion {
  std::string id;  // the decision's id
  std::string command;
  std::string cwd;  // without links, where it could be found
  std::string policy_revision;
  std::string agent;
  std::string reason;
  // What an approval that is remembered holds for
  // (approvals/standing_approvals.h).
  std::string session, workspace;
  std::vector<std::string> rules;  // that asked
  uint64_t asked_ms = 0;
  uint64_t approved_ms = 0;  // 0: not answered yet
  std::string runs = {};     // where a yes lets it run (AfterYes)
  // What was shown that a yes gives, or what the person chose of it.
  engine::GrantKind grant = engine::GrantKind::kSandbox;
  // What `cwd` was (BoundPlace). An approval fits nothing without it.
  std::string place = {};
};

// Keeps `question`. Older ones beyond their lifetime are removed.
Status KeepQuestion(const std::string& state_dir,
                    const PendingQuestion& question);

// All questions that are not expired, oldest first.
Result<std::vector<PendingQuestion>> ListQuestions(const std::string& state_dir,
                                                   uint64_t now_ms);

// The question of that id, or of a unique start of it of at least 8
// characters; kNotFound when there is none.
Result<PendingQuestion> FindQuestion(const std::string& state_dir,
                                     const std::string& id, uint64_t now_ms);

// Marks the question as approved, for a run in the sandbox where the person
// wants no more. kNotFound when there is none of that id (a unique prefix of at
// least 8 characters will do).
Result<PendingQuestion> Approve(const std::string& state_dir,
                                const std::string& id, uint64_t now_ms,
                                bool in_sandbox = false);

// Takes the question away: it was answered by an approval that is remembered.
void DropQuestion(const std::string& state_dir, const std::string& id);

// What was granted when a person approved exactly this, in this place
// (BoundPlace); the approval is used up. Nothing when nobody did.
std::optional<engine::GrantKind> TakeApproval(
    const std::string& state_dir, const std::string& command,
    const std::string& place, const std::string& policy_revision,
    uint64_t now_ms);

// The question for people. `columns`: of their terminal.
std::string RenderQuestion(const PendingQuestion& question, bool colour,
                           size_t columns);

}  // namespace gate::app
