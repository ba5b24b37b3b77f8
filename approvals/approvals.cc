#include "approvals/approvals.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>

#include "approvals/prompt_text.h"
#include "approvals/signed_store.h"
#include "approvals/terminal.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace gate::app {
namespace {

constexpr size_t kMaxQuestions = 1000;
std::string QuestionDirectory(const std::string& state_dir) {
  return state_dir + "/pending";
}

std::string QuestionFile(const std::string& state_dir, const std::string& id) {
  return QuestionDirectory(state_dir) + "/" + id;
}

constexpr std::string_view kQuestionDomain = "question";

// Command and directory may be any bytes, so they stand in base64.
std::string EncodeQuestion(const PendingQuestion& question) {
  return Dump({{"id", question.id},
               {"command", Base64(question.command)},
               {"cwd", Base64(question.cwd)},
               {"place", Base64(question.place)},
               {"policy", question.policy_revision},
               {"agent", question.agent},
               {"reason", question.reason},
               {"runs", question.runs},
               {"grant", engine::Name(question.grant)},
               {"session", question.session},
               {"workspace", Base64(question.workspace)},
               {"rules", question.rules},
               {"asked_ms", question.asked_ms},
               {"approved_ms", question.approved_ms}});
}

Result<PendingQuestion> DecodeQuestion(const std::string& body) {
  const auto damaged = [] {
    return Fail(ErrorCode::kCorrupt, "a kept question does not verify");
  };
  auto json = ParseJson(body);
  if (!json || !json->is_object()) return damaged();
  PendingQuestion question;
  question.id = json->value("id", "");
  question.policy_revision = json->value("policy", "");
  question.agent = json->value("agent", "");
  question.reason = json->value("reason", "");
  question.runs = json->value("runs", "");
  // One without a grant was shown as a run in the sandbox.
  question.grant = engine::GrantKindOf(json->value("grant", "sandbox"));
  question.session = json->value("session", "");
  question.rules = json->value("rules", std::vector<std::string>());
  question.asked_ms = json->value("asked_ms", uint64_t{0});
  question.approved_ms = json->value("approved_ms", uint64_t{0});
  if (!DecodeBase64(json->value("command", ""), &question.command) ||
      !DecodeBase64(json->value("cwd", ""), &question.cwd) ||
      !DecodeBase64(json->value("place", ""), &question.place) ||
      !DecodeBase64(json->value("workspace", ""), &question.workspace))
    return damaged();
  return question;
}

bool Expired(const PendingQuestion& question, uint64_t now_ms) {
  if (question.approved_ms != 0)
    return now_ms > question.approved_ms + kApprovalLifetimeMs ||
           now_ms < question.approved_ms;
  return now_ms > question.asked_ms + kPendingLifetimeMs;
}

Result<std::vector<std::string>> ListIds(const std::string& state_dir) {
  std::vector<std::string> ids;
  DIR* directory = ::opendir(QuestionDirectory(state_dir).c_str());
  if (directory == nullptr) {
    if (errno == ENOENT) return ids;
    return FailErrno("the kept questions cannot be listed");
  }
  while (const dirent* entry = ::readdir(directory))
    if (IsStoredId(entry->d_name)) ids.emplace_back(entry->d_name);
  ::closedir(directory);
  std::sort(ids.begin(), ids.end());  // UUIDv7: by time
  return ids;
}

}  // namespace

Status KeepQuestion(const std::string& state_dir,
                    const PendingQuestion& question) {
  if (!IsStoredId(question.id)) return Fail(ErrorCode::kInvalid, "not an id");
  GATE_CHECK(MakeDirectories(QuestionDirectory(state_dir), 0700));
  GATE_TRY(const auto ids, ListIds(state_dir));
  // A flood of questions pushes out the oldest, which only costs an answer.
  for (size_t i = 0; i + kMaxQuestions <= ids.size(); ++i)
    ::unlink(QuestionFile(state_dir, ids[i]).c_str());
  return WriteSigned(state_dir, kQuestionDomain,
                     QuestionFile(state_dir, question.id),
                     EncodeQuestion(question));
}

Result<std::vector<PendingQuestion>> ListQuestions(const std::string& state_dir,
                                                   uint64_t now_ms) {
  GATE_TRY(const auto ids, ListIds(state_dir));
  std::vector<PendingQuestion> questions;
  for (const std::string& id : ids) {
    auto body =
        ReadSigned(state_dir, kQuestionDomain, QuestionFile(state_dir, id));
    // Taken by another process meanwhile.
    if (!body && body.error().code == ErrorCode::kNotFound) continue;
    Result<PendingQuestion> question = std::unexpected(Error{});
    if (body) question = DecodeQuestion(*body);
    if (!question || question->id != id || Expired(*question, now_ms)) {
      ::unlink(QuestionFile(state_dir, id).c_str());
      continue;
    }
    questions.push_back(std::move(*question));
  }
  return questions;
}

Result<PendingQuestion> FindQuestion(const std::string& state_dir,
                                     const std::string& id, uint64_t now_ms) {
  GATE_TRY(auto questions, ListQuestions(state_dir, now_ms));
  PendingQuestion* found = nullptr;
  for (PendingQuestion& question : questions) {
    const bool fits = question.id == id || (id.size() >= kMinIdPrefix &&
                                            question.id.starts_with(id));
    if (!fits) continue;
    if (found != nullptr)
      return Fail(ErrorCode::kInvalid, "`" + id + "` fits several questions");
    found = &question;
  }
  if (found == nullptr)
    return Fail(ErrorCode::kNotFound, "no question `" + id + "` is waiting");
  return std::move(*found);
}

Result<PendingQuestion> Approve(const std::string& state_dir,
                                const std::string& id, uint64_t now_ms,
                                bool in_sandbox) {
  GATE_TRY(PendingQuestion found, FindQuestion(state_dir, id, now_ms));
  found.approved_ms = now_ms;
  if (in_sandbox) found.grant = engine::GrantKind::kSandbox;
  GATE_CHECK(KeepQuestion(state_dir, found));
  return found;
}

void DropQuestion(const std::string& state_dir, const std::string& id) {
  if (IsStoredId(id)) ::unlink(QuestionFile(state_dir, id).c_str());
}

std::optional<engine::GrantKind> TakeApproval(
    const std::string& state_dir, const std::string& command,
    const std::string& place, const std::string& policy_revision,
    uint64_t now_ms) {
  auto questions = ListQuestions(state_dir, now_ms);
  if (!questions) return std::nullopt;
  for (const PendingQuestion& question : *questions) {
    if (question.approved_ms == 0 || question.command != command ||
        place.empty() || question.place != place ||
        question.policy_revision != policy_revision)
      continue;
    // Whoever removes the file has the approval; nobody else does.
    if (::unlink(QuestionFile(state_dir, question.id).c_str()) == 0)
      return question.grant;
  }
  return std::nullopt;
}

std::string RenderQuestion(const PendingQuestion& question, bool colour,
                           size_t columns) {
  constexpr std::string_view kIn = "  in ", kWhy = "  why asked: ";
  std::string text = Paint(Colour::kBold, question.id, colour) +
                     (question.approved_ms != 0 ? "  approved" : "") + "  ";
  text += question.agent.empty()
              ? "?"
              : ShownField(question.agent, question.id.size() + 12, columns);
  text += "\n" + ShownCommand(question.command, columns);
  text.append(kIn).append(ShownField(question.cwd, kIn.size(), columns));
  text.append("\n").append(kWhy).append(
      ShownField(question.reason, kWhy.size(), columns));
  return text + "\n";
}

}  // namespace gate::app
