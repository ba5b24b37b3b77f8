// gate's own protocol, for clients that have none: one JSON object in, one line
// of JSON out. Unlike with the others a refusal is an answer with exit 0; only
// a failure of gate is exit 2.
#include "base/text.h"
#include "hooks/adapter.h"
#include "hooks/message.h"

namespace gate::hooks {
namespace {

class GenericAdapter final : public Adapter {
 public:
  const char* Name() const override { return "generic"; }

  Result<Event> Parse(std::string_view text) const override {
    GATE_TRY(const Json json, ParseEvent(text));
    Event event;
    event.kind = EventKind::kCommand;
    GATE_TRY(event.command, RequireText(json, "command"));
    if (event.command.empty()) {
      return Fail(ErrorCode::kInvalid, "`command` is empty in the event");
    }
    GATE_TRY(event.cwd, RequireText(json, "cwd"));
    if (!event.cwd.starts_with('/')) {
      return Fail(ErrorCode::kInvalid,
                  "`cwd` is not an absolute path in the event");
    }
    GATE_TRY(event.session, OptionalText(json, "session"));
    GATE_TRY(event.agent, OptionalText(json, "agent"));
    if (event.agent.empty()) event.agent = Name();
    event.can_ask = true;
    return event;
  }

  Output Format(const Event&, const Answer& answer) const override {
    const char* decision = "deny";
    bool with_command = false;
    switch (answer.kind) {
      case AnswerKind::kAllow:
        decision = "allow";
        break;
      case AnswerKind::kRewrite:
        if (answer.command.empty()) {
          return Refuse("gate could not rewrite the command");
        }
        decision = "allow";
        with_command = true;
        break;
      case AnswerKind::kAsk:
        decision = "ask";
        with_command = !answer.command.empty();
        break;
      case AnswerKind::kDeny:
        break;
    }
    if (with_command && !IsUtf8(answer.command)) {
      return Refuse("gate could not rewrite the command");
    }
    // In the order of the documentation; Dump would sort the keys.
    std::string line = std::string("{\"decision\":\"") + decision +
                       "\",\"reason\":" + Dump(Reason(answer));
    if (with_command) line += ",\"command\":" + Dump(answer.command);
    line += ",\"id\":" + Dump(answer.id) + "}\n";
    return Output{std::move(line), "", 0};
  }

 private:
  static std::string Reason(const Answer& answer) {
    const bool may_be_empty = answer.kind == AnswerKind::kAllow ||
                              answer.kind == AnswerKind::kRewrite;
    if (may_be_empty && answer.reason.empty()) return "";
    return ReasonText(answer);
  }
};

constinit const GenericAdapter kGeneric;

}  // namespace

namespace generic {
const Adapter* Get();
const Adapter* Get() { return &kGeneric; }
}  // namespace generic

}  // namespace gate::hooks
