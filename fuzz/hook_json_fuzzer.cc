// Feeds bytes to every client's adapter. Besides not crashing:
//   - an event that is judged has a command or a file, without NUL;
//   - every answer exits 0 or 2, and a refusal has a reason and nothing on
//     stdout;
//   - what is printed on stdout is one line of JSON;
//   - a line that is taken for plain has no expansion outside of quotes.
#include <cstdint>
#include <string>

#include "base/json.h"
#include "fuzz/require.h"
#include "hooks/adapter.h"
#include "hooks/plain_line.h"
#include "hooks/settings.h"

namespace {

using namespace gate;         // NOLINT(google-build-using-namespace)
using namespace gate::hooks;  // NOLINT(google-build-using-namespace)

void CheckOutput(const Output& output) {
  Require(output.exit_code == 0 || output.exit_code == 2);
  if (output.exit_code == 2) Require(output.out.empty() && !output.err.empty());
  if (output.out.empty()) return;
  Require(output.out.back() == '\n');
  const auto json = ParseJson(output.out);
  Require(json.has_value() && json->is_object());
}

void FuzzAdapter(const Adapter& adapter, std::string_view text) {
  const auto event = adapter.Parse(text);
  if (!event) return;
  switch (event->kind) {
    case EventKind::kCommand:
      Require(!event->command.empty());
      Require(event->command.find('\0') == std::string::npos);
      break;
    case EventKind::kFileWrite:
      Require(!event->paths.empty());
      break;
    case EventKind::kFileRead:
      Require(!event->reads.empty());
      for (const ToolRead& read : event->reads)
        Require(read.path.find('\0') == std::string::npos &&
                read.pattern.find('\0') == std::string::npos &&
                read.glob.find('\0') == std::string::npos);
      break;
    case EventKind::kCommandDone:
      Require(!event->command.empty() && !event->call.empty());
      CheckOutput(adapter.Tell(event->command));
      return;
    case EventKind::kNothing:
      return;
  }
  for (const AnswerKind kind : {AnswerKind::kAllow, AnswerKind::kRewrite,
                                AnswerKind::kAsk, AnswerKind::kDeny}) {
    Answer answer;
    answer.kind = kind;
    answer.reason = std::string(text.substr(0, 40));
    CheckOutput(adapter.Format(*event, answer));
    answer.command = event->command;
    CheckOutput(adapter.Format(*event, answer));
  }
}

void FuzzSettings(std::string_view text) {
  HookEntry entry;
  entry.client = "claude";
  entry.matcher = "Bash";
  entry.command = "gate hook claude || echo \"gate: hook failed (status $s)\"";
  const auto with = WithHook(text, entry);
  if (!with) return;
  const auto again = WithHook(*with, entry);
  Require(again.has_value() && *again == *with);
  const auto without = WithoutHook(*with, "claude");
  Require(without.has_value());
  // Byte for byte what it was, where nothing of gate's was in it.
  const auto plain = WithoutHook(text, "claude");
  Require(!plain || *plain != text || *without == text);
}

void FuzzPlainLine(std::string_view text) {
  if (!MeansTheSameInEveryShell(text)) return;
  Require(text.find('\0') == std::string_view::npos);
  if (text.find_first_of("'\"") == std::string_view::npos)
    Require(text.find_first_of("$`*?[]{}()^#!\\") == std::string_view::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* client : {"claude", "codex", "generic"}) {
    FuzzAdapter(*FindAdapter(client), text);
  }
  FuzzSettings(text);
  FuzzPlainLine(text);
  return 0;
}
