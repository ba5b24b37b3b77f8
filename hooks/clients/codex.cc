// Codex, event PreToolUse. Its answer's schema is closed: one field too many,
// an `ask`, or an `allow` without a rewrite makes the answer invalid, and the
// command runs. So: silence allows, exit 2 with a reason refuses, and the one
// JSON object is a rewrite with exactly the fields below.
#include <algorithm>

#include "base/text.h"
#include "hooks/adapter.h"
#include "hooks/clients/codex_review.h"
#include "hooks/clients/codex_sandbox.h"
#include "hooks/installed.h"
#include "hooks/message.h"
#include "hooks/tool_files.h"

namespace gate::hooks {
namespace {

// The hook sees every shell call as Bash; the other names are those of the
// tools behind it, in this and older versions.
constexpr std::string_view kShellTools[] = {"Bash",          "shell",
                                            "local_shell",   "exec_command",
                                            "shell_command", "container.exec"};

// The files that a patch in Codex's own format names.
Result<std::vector<std::string>> PatchedFiles(std::string_view patch) {
  static constexpr std::string_view kMarks[] = {
      "*** Add File:", "*** Update File:", "*** Delete File:",
      "*** Move to:",  "*** Move File:",   "*** Rename to:"};
  std::vector<std::string> paths;
  while (!patch.empty()) {
    const size_t end = patch.find('\n');
    std::string_view line = patch.substr(0, end);
    patch.remove_prefix(end == std::string_view::npos ? patch.size() : end + 1);
    // The client trims lines before it looks at them.
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) {
      line.remove_prefix(1);
    }
    while (!line.empty() &&
           (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) {
      line.remove_suffix(1);
    }
    for (const std::string_view mark : kMarks) {
      if (!line.starts_with(mark)) continue;
      line.remove_prefix(mark.size());
      while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) {
        line.remove_prefix(1);
      }
      if (line.empty()) {
        return Fail(ErrorCode::kInvalid, "the patch has a file without a name");
      }
      paths.emplace_back(line);
      break;
    }
  }
  if (paths.empty()) {
    return Fail(ErrorCode::kInvalid, "the patch names no file");
  }
  return paths;
}

class CodexAdapter final : public Adapter {
 public:
  const char* Name() const override { return "codex"; }

  Result<Event> Parse(std::string_view text) const override {
    GATE_TRY(const Json json, ParseEvent(text));
    GATE_TRY(const std::string name, RequireText(json, "hook_event_name"));
    Event event;
    event.agent = Name();
    event.persons_shell = true;
    // PermissionRequest too: an `allow` there would run the command outside
    // Codex's own sandbox, and silence leaves the question to its person.
    if (name != "PreToolUse") return event;
    GATE_TRY(event.tool, RequireText(json, "tool_name"));
    GATE_TRY(event.session, OptionalText(json, "session_id"));
    GATE_TRY(event.cwd, EventDirectory(json));
    const auto input = json.find("tool_input");
    if (event.tool == "apply_patch") {
      if (input == json.end()) {
        return Fail(ErrorCode::kInvalid, "the patch is missing");
      }
      GATE_TRY(const std::string patch, PatchText(*input));
      GATE_TRY(event.paths, PatchedFiles(patch));
      event.tool_input = Dump(*input);
      event.kind = EventKind::kFileWrite;
      return event;
    }
    const bool known = std::ranges::find(kShellTools, event.tool) !=
                       std::ranges::end(kShellTools);
    if (known || (input != json.end() && MayRunAShell(event.tool, *input))) {
      if (input == json.end() || !input->is_object()) {
        return Fail(ErrorCode::kInvalid, "the shell tool has no input");
      }
      GATE_TRY(event.command, ShellCommand(*input, {"command", "cmd"}));
      GATE_TRY(event.description, OptionalText(*input, "description"));
      event.tool_input = Dump(*input);
      event.kind = EventKind::kCommand;
      // The tool's `workdir` is not in the event: openai/codex issues 32360,
      // 33986, 37251, 40348.
      event.cwd_is_sure = false;
      return event;
    }
    // view_image, read_file, list_dir and grep_files, where a version offers
    // them to hooks (codex-rs/core/src/tools/handlers), and those of servers.
    if (input == json.end()) return event;
    GATE_CHECK(TakeFiles(*input, &event));
    return event;
  }

  Output Format(const Event& event, const Answer& answer) const override {
    if (answer.kind == AnswerKind::kAllow) return Output{"", "", 0};
    if (answer.kind != AnswerKind::kRewrite) return RefuseWith(event, answer);
    const auto input = ParseJson(event.tool_input);
    if (event.kind != EventKind::kCommand || answer.command.empty() ||
        !IsUtf8(answer.command) || !input || !input->is_object()) {
      return Refuse("gate could not rewrite the command");
    }
    const char* field = input->contains("command") ? "command" : "cmd";
    Json updated = Json::object();
    if ((*input)[field].is_array()) {
      updated[field] = Json::array({"/bin/bash", "-c", answer.command});
    } else {
      updated[field] = answer.command;
    }
    Json output = Json::object();
    output["hookEventName"] = "PreToolUse";
    output["permissionDecision"] = "allow";
    output["updatedInput"] = std::move(updated);
    Json json = Json::object();
    json["hookSpecificOutput"] = std::move(output);
    return Output{Dump(json) + "\n", "", 0};
  }

  OwnSandbox ReadSandbox(const SandboxPlaces& places) const override {
    return ReadCodexSandbox(places);
  }
  HookReview Review(const InstallOptions& options,
                    const Installed& installed) const override {
    return ReviewByCodex(options, installed);
  }
  void MarkForReview(const FoundHook& hook,
                     Installed* installed) const override {
    MarkForCodex(hook, installed);
  }

 private:
  static Result<std::string> PatchText(const Json& input) {
    if (input.is_string()) return input.get<std::string>();
    if (!input.is_object()) {
      return Fail(ErrorCode::kInvalid, "the patch is not text");
    }
    const char* key = nullptr;
    for (const char* candidate : {"command", "input", "patch"}) {
      if (!input.contains(candidate)) continue;
      if (key != nullptr) {
        return Fail(ErrorCode::kInvalid, "there is more than one patch");
      }
      key = candidate;
    }
    if (key == nullptr) {
      return Fail(ErrorCode::kInvalid, "the patch is missing");
    }
    // ["apply_patch", PATCH], as older versions have it.
    if (input[key].is_array()) {
      std::string all;
      for (const Json& word : input[key]) {
        if (!word.is_string()) {
          return Fail(ErrorCode::kInvalid, "the patch is not text");
        }
        all += word.get_ref<const std::string&>() + "\n";
      }
      return all;
    }
    return RequireText(input, key);
  }
};

constinit const CodexAdapter kCodex;

}  // namespace

namespace codex {
const Adapter* Get();
const Adapter* Get() { return &kCodex; }
}  // namespace codex

}  // namespace gate::hooks
