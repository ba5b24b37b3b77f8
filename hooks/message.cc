#include "hooks/message.h"

#include "base/text.h"

namespace gate::hooks {
namespace {

std::unexpected<Error> Wrong(const char* key, const char* what) {
  return Fail(ErrorCode::kInvalid,
              std::string("`") + key + "` " + what + " in the event");
}

Result<std::string> AsText(const Json& value, const char* key) {
  if (!value.is_string()) return Wrong(key, "is not a string");
  const auto& text = value.get_ref<const std::string&>();
  if (text.find('\0') != std::string::npos) return Wrong(key, "has a NUL");
  return text;
}

}  // namespace

Result<Json> ParseEvent(std::string_view text) {
  if (text.size() > kMaxInputBytes) {
    return Fail(ErrorCode::kTooLarge, "the event is larger than 1 MiB");
  }
  auto event = ParseJson(text);
  if (!event) {
    return Fail(ErrorCode::kInvalid, "not JSON: " + event.error().message +
                                         " at byte " +
                                         std::to_string(event.error().offset));
  }
  if (!event->is_object()) {
    return Fail(ErrorCode::kInvalid, "the event is not an object");
  }
  return std::move(*event);
}

Result<std::string> RequireText(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return Wrong(key, "is missing");
  return AsText(*found, key);
}

Result<std::string> OptionalText(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::string();
  return AsText(*found, key);
}

Result<std::string> EventDirectory(const Json& object) {
  GATE_TRY(std::string cwd, OptionalText(object, "cwd"));
  if (!cwd.empty() && cwd.front() != '/') {
    return Wrong("cwd", "is not an absolute path");
  }
  return cwd;
}

Result<std::string> ShellCommand(const Json& input,
                                 std::initializer_list<const char*> keys) {
  const char* key = nullptr;
  for (const char* candidate : keys) {
    if (!input.contains(candidate)) continue;
    // Two commands in one event: which of them runs is not known.
    if (key != nullptr) return Wrong(candidate, "is a second command");
    key = candidate;
  }
  if (key == nullptr) {
    return Fail(ErrorCode::kInvalid, "the shell tool has no command");
  }
  const Json& value = input[key];
  std::string command;
  if (value.is_array()) {
    for (const Json& word : value) {
      GATE_TRY(const std::string text, AsText(word, key));
      if (!command.empty()) command += ' ';
      command += ShellQuote(text);
    }
  } else {
    GATE_TRY(command, AsText(value, key));
  }
  if (command.empty()) return Wrong(key, "is empty");
  return command;
}

bool MayRunAShell(std::string_view tool, const Json& input) {
  if (tool.starts_with("mcp__") || !input.is_object()) return false;
  const auto command = input.find("command");
  return command != input.end() && command->is_string();
}

std::string ReasonText(const Answer& answer) {
  std::string reason = Visible(ToUtf8(answer.reason), /*keep_layout=*/true);
  while (!reason.empty() && (reason.back() == '\n' || reason.back() == ' ')) {
    reason.pop_back();
  }
  if (reason.empty()) reason = "refused";
  return reason;
}

Output RefuseWith(const Event&, const Answer& answer) {
  std::string reason = ReasonText(answer);
  if (answer.kind == AnswerKind::kAsk) {
    reason += "\na person must approve this";
    if (!answer.id.empty()) reason += ": gate approve " + Visible(answer.id);
  }
  return Refuse(reason);
}

}  // namespace gate::hooks
