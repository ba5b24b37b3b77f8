// Claude Code, event PreToolUse. Silence with exit 0 lets the client's own
// permissions decide; one JSON object on stdout rewrites, asks or refuses; exit
// 2 with a reason on stderr refuses too, and the client shows it as the error
// of a hook, with the hook's whole line. updatedInput replaces the whole input
// of the tool, so that every field of it is echoed.
#include <string>
#include <utility>

#include "base/text.h"
#include "hooks/adapter.h"
#include "hooks/client_sign.h"
#include "hooks/clients/claude_sign.h"
#include "hooks/message.h"
#include "hooks/tool_files.h"

namespace gate::hooks {
namespace {

// Tools that write one file, and where its name is.
struct FileTool {
  std::string_view name;
  const char* field;
};
constexpr FileTool kFileTools[] = {
    {"Write", "file_path"},
    {"Edit", "file_path"},
    {"MultiEdit", "file_path"},
    {"NotebookEdit", "notebook_path"},
};

// Tools that look at files, with the names that older versions gave them
// (Claude Code, tools reference; Grep and Glob look in the working directory
// without a `path`).
struct ReadTool {
  std::string_view name;
  ToolRead::How how;
  const char* path;     // the field with the file or directory
  bool path_required;   // else the working directory
  const char* pattern;  // of kList: a field that must be there; of kSearch too
};
using ReadHow = ToolRead::How;
constexpr ReadTool kReadTools[] = {
    {"Read", ReadHow::kFile, "file_path", true, nullptr},
    {"View", ReadHow::kFile, "file_path", true, nullptr},
    {"NotebookRead", ReadHow::kFile, "notebook_path", true, nullptr},
    {"ReadNotebook", ReadHow::kFile, "notebook_path", true, nullptr},
    {"Grep", ReadHow::kSearch, "path", false, "pattern"},
    {"GrepTool", ReadHow::kSearch, "path", false, "pattern"},
    {"Search", ReadHow::kSearch, "path", false, "pattern"},
    {"Glob", ReadHow::kList, "path", false, "pattern"},
    {"GlobTool", ReadHow::kList, "path", false, "pattern"},
    {"LS", ReadHow::kList, "path", false, nullptr},
};

Result<ToolRead> ReadOf(const ReadTool& tool, const Json& input) {
  ToolRead read;
  read.how = tool.how;
  GATE_TRY(read.path, tool.path_required ? RequireText(input, tool.path)
                                         : OptionalText(input, tool.path));
  if (tool.path_required && read.path.empty())
    return Fail(ErrorCode::kInvalid, "the tool names no file");
  if (tool.pattern != nullptr) {
    GATE_TRY(std::string pattern, RequireText(input, tool.pattern));
    if (tool.how == ReadHow::kList) read.pattern = std::move(pattern);
  }
  if (tool.how != ReadHow::kSearch) return read;
  GATE_TRY(read.glob, OptionalText(input, "glob"));
  GATE_TRY(const std::string mode, OptionalText(input, "output_mode"));
  read.names_only =
      mode.empty() || mode == "files_with_matches" || mode == "count";
  return read;
}

// Longer reasons are told by the exit code: the client cuts what hooks say in
// an object after 10,000 characters (Claude Code, hooks reference).
constexpr size_t kMaxObjectReason = 8000;

// Modes in which the client shows its person a question. In dontAsk and
// bypassPermissions nobody is asked; a mode not known here is taken as one of
// these.
bool CanAsk(std::string_view mode) {
  return mode == "default" || mode == "acceptEdits" || mode == "plan";
}

// Fields of the events of other clients that speak the same protocol, and not
// of Claude Code's (2.1.330): Gemini's and Qwen's, Copilot's and VS Code's,
// Codex', Cursor's, Cline's, goose's.
constexpr const char* kEmbeddedFields[] = {
    "timestamp",        "tool_call_id",
    "turn_id",          "model",
    "conversation_id",  "generation_id",
    "hookName",         "clineVersion",
    "cursor_version",   "workspaceRoots",
    "workspace_roots",  "toolName",
    "matcher_context",  "working_dir",
    "mcp_context",      "original_request_name",
    "agent_action_name"};
// Where other clients keep what is said in a session.
constexpr std::string_view kEmbeddedPlaces[] = {
    "/.qwen/",  "/.gemini/", "/.codex/",      "/.copilot/", "/.factory/",
    "/.crush/", "/.kimi/",   "/.kimi-code/",  "/.cursor/",  "/.devin/",
    "/.kiro/",  "/.agents/", "/.antigravity/"};

// What says that the event is another client's.
std::string EmbeddedSign(const Json& event) {
  for (const char* name : kEmbeddedFields)
    if (event.contains(name))
      return std::string("its events have a `") + name + "`";
  const auto mode = event.find("permission_mode");
  for (const char* name : {"yolo", "auto-edit", "auto_edit", "autoEdit"})
    if (mode != event.end() && *mode == name)
      return std::string("its permission mode is `") + name + "`";
  const auto transcript = event.find("transcript_path");
  if (transcript == event.end() || !transcript->is_string()) return "";
  const auto& path = transcript->get_ref<const std::string&>();
  for (const std::string_view place : kEmbeddedPlaces)
    if (path.find(place) != std::string::npos)
      return "its transcript is in `" + std::string(place) + "`";
  return "";
}

bool IsText(const Json& event, const char* name) {
  const auto found = event.find(name);
  return found != event.end() && found->is_string() &&
         !found->get_ref<const std::string&>().empty();
}

class ClaudeAdapter final : public Adapter {
 public:
  const char* Name() const override { return "claude"; }

  Result<Event> Parse(std::string_view text) const override {
    GATE_TRY(const Json json, ParseEvent(text));
    GATE_TRY(const std::string name, RequireText(json, "hook_event_name"));
    Event event;
    event.agent = Name();
    event.persons_shell = true;
    event.keeps_directory = true;
    const bool done = name == "PostToolUse" || name == "PostToolUseFailure";
    if (name != "PreToolUse" && !done) return event;
    GATE_TRY(event.tool, RequireText(json, "tool_name"));
    GATE_TRY(event.session, OptionalText(json, "session_id"));
    GATE_TRY(event.call, OptionalText(json, "tool_use_id"));
    GATE_TRY(event.cwd, EventDirectory(json));
    if (done) return CommandDone(json, std::move(event), name);
    event.foreign = EmbeddedSign(json);
    event.complete =
        IsText(json, "session_id") && IsText(json, "permission_mode");
    GATE_TRY(const std::string mode, OptionalText(json, "permission_mode"));
    event.can_ask = CanAsk(mode);
    event.planning = mode == "plan";
    const auto input = json.find("tool_input");
    const bool has_input = input != json.end() && input->is_object();
    if (event.tool == "PowerShell") {
      return Fail(ErrorCode::kInvalid, "PowerShell is not understood");
    }
    // Runs its `command` in the shell environment of Bash, and watches what it
    // prints (Claude Code, tools reference, "Monitor tool").
    if (event.tool == "Monitor" && !(has_input && input->contains("command"))) {
      return Fail(ErrorCode::kInvalid,
                  "Monitor is understood only with a `command`");
    }
    if (event.tool == "Bash" || event.tool == "Monitor") {
      if (!has_input) {
        return Fail(ErrorCode::kInvalid, "the shell tool has no input");
      }
      return ReadCommand(*input, std::move(event));
    }
    for (const FileTool& tool : kFileTools) {
      if (event.tool != tool.name) continue;
      if (!has_input) {
        return Fail(ErrorCode::kInvalid, "the file tool has no input");
      }
      GATE_TRY(std::string path, RequireText(*input, tool.field));
      if (path.empty()) {
        return Fail(ErrorCode::kInvalid, "the file tool names no file");
      }
      event.paths.push_back(std::move(path));
      event.tool_input = Dump(*input);
      event.kind = EventKind::kFileWrite;
      return event;
    }
    for (const ReadTool& tool : kReadTools) {
      if (event.tool != tool.name) continue;
      if (!has_input) {
        return Fail(ErrorCode::kInvalid, "the tool that reads has no input");
      }
      GATE_TRY(ToolRead read, ReadOf(tool, *input));
      event.reads.push_back(std::move(read));
      event.tool_input = Dump(*input);
      event.kind = EventKind::kFileRead;
      return event;
    }
    // Older versions' own commands (`/review`), which are no shell's.
    if (event.tool == "SlashCommand") return event;
    if (has_input && MayRunAShell(event.tool, *input)) {
      return ReadCommand(*input, std::move(event));
    }
    if (!has_input) return event;
    GATE_CHECK(TakeFiles(*input, &event));
    return event;
  }

  Output Format(const Event& event, const Answer& answer) const override {
    switch (answer.kind) {
      case AnswerKind::kAllow:
        return Output{"", "", 0};
      case AnswerKind::kRewrite:
        if (event.kind != EventKind::kCommand || answer.command.empty()) {
          return Refuse("gate could not rewrite the command");
        }
        if (answer.direct) return Decide(event, answer, nullptr);
        return Decide(event, answer,
                      answer.confirm && event.can_ask ? "ask" : "allow");
      case AnswerKind::kAsk:
        if (!event.can_ask) break;
        return Decide(event, answer, "ask");
      case AnswerKind::kDeny:
        if (!answer.by_object || !answer.command.empty() ||
            answer.reason.size() > kMaxObjectReason)
          break;
        return Decide(event, answer, "deny");
    }
    return RefuseWith(event, answer);
  }

  Output Tell(const std::string& message) const override {
    Json json = Json::object();
    json["systemMessage"] = "gate: " + message;
    return Output{Dump(json) + "\n", "", 0};
  }

  ClientSign Recognise(
      const Event& event, const std::vector<std::string>& environment,
      const std::vector<ProcessView>& ancestors) const override {
    return TellClaude(event, environment, ancestors);
  }

 private:
  // The input of the event is the one that was run: what a hook has put in its
  // place, where the client applied that (seen with 2.1.215, 2.1.220, 2.1.330).
  static Result<Event> CommandDone(const Json& json, Event event,
                                   const std::string& name) {
    const auto input = json.find("tool_input");
    if (event.call.empty() || input == json.end() || !input->is_object() ||
        !IsText(*input, "command"))
      return event;
    GATE_TRY(event.command, OptionalText(*input, "command"));
    event.kind = EventKind::kCommandDone;
    event.failed = name == "PostToolUseFailure";
    const auto says = [](const Json& object, const char* key) {
      const auto found = object.find(key);
      return found != object.end() && !found->is_null() && *found != false;
    };
    const auto response = json.find("tool_response");
    // Sent to the background by the model or by its person: it may not have
    // come to the ticket yet. Interrupted: it may never.
    event.background = says(*input, "run_in_background") ||
                       says(json, "is_interrupt") || event.tool == "Monitor" ||
                       (response != json.end() && response->is_object() &&
                        (says(*response, "backgroundTaskId") ||
                         says(*response, "interrupted")));
    return event;
  }

  static Result<Event> ReadCommand(const Json& input, Event event) {
    GATE_TRY(event.command, ShellCommand(input, {"command"}));
    GATE_TRY(event.description, OptionalText(input, "description"));
    event.tool_input = Dump(input);
    event.kind = EventKind::kCommand;
    return event;
  }

  // Without a `decision` the client's own permissions decide, about the input
  // as it is then.
  static Output Decide(const Event& event, const Answer& answer,
                       const char* decision) {
    Json output = Json::object();
    output["hookEventName"] = "PreToolUse";
    if (decision != nullptr) {
      output["permissionDecision"] = decision;
      std::string reason = ReasonText(answer);
      if (!reason.starts_with("gate: ")) reason.insert(0, "gate: ");
      output["permissionDecisionReason"] = std::move(reason);
    }
    if (!answer.command.empty()) {
      auto input = ParseJson(event.tool_input);
      if (!input || !input->is_object() || event.kind != EventKind::kCommand ||
          !IsUtf8(answer.command)) {
        return Refuse("gate could not rewrite the command");
      }
      (*input)["command"] = answer.command;
      output["updatedInput"] = std::move(*input);
    }
    Json json = Json::object();
    json["hookSpecificOutput"] = std::move(output);
    return Output{Dump(json) + "\n", "", 0};
  }
};

constinit const ClaudeAdapter kClaude;

}  // namespace

namespace claude {
const Adapter* Get();
const Adapter* Get() { return &kClaude; }
}  // namespace claude

}  // namespace gate::hooks
