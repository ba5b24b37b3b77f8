#include "cli/output/report.h"

#include <cstdint>
#include <vector>

#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "gateway/withheld.h"

namespace gate::app {
namespace {

using backends::Outcome;
using backends::OutcomeStatus;

// Whether ProtectedPaths took it away (backends/protect/verify_and_restore.cc),
// so that nothing of it is left to do.
bool IsMended(const backends::Violation& violation) {
  return violation.detail.ends_with("; removed") ||
         violation.detail.find("; moved to ") != std::string::npos;
}

// A run chooses how many there are. What is mended comes last, so that it
// cannot hide the others.
}  // namespace

void TellViolations(const std::vector<backends::Violation>& violations,
                    const std::string& id) {
  size_t told = 0;
  for (const bool mended : {false, true})
    for (const backends::Violation& violation : violations) {
      if (told == kMaxToldViolations) break;
      if (IsMended(violation) != mended) continue;
      Complain("blocked " + Visible(violation.detail) + " (" +
               backends::Name(violation.kind) + ")");
      ++told;
    }
  if (told < violations.size() && !id.empty())
    Complain("and " + std::to_string(violations.size() - told) +
             " more: gate audit show " + id);
}

std::string OutcomeToJson(const Executed& executed) {
  const Outcome& outcome = executed.outcome;
  JsonWriter json;
  json.BeginObject().Field("schema", "gate.outcome/1");
  json.Field("id", executed.id).Field("status", Name(outcome.status));
  if (outcome.status == OutcomeStatus::kExited)
    json.Field("exit", int64_t{outcome.exit_code});
  if (outcome.signal != 0) json.Field("signal", int64_t{outcome.signal});
  json.Field("reason", outcome.reason);
  json.Field("violations", static_cast<int64_t>(outcome.violations.size()));
  json.Flag("sweep_complete", outcome.sweep_complete);
  if (!outcome.sweep_end.empty()) json.Field("sweep_end", outcome.sweep_end);
  json.Field("left_running", static_cast<int64_t>(outcome.left_running));
  json.Flag("lasts", outcome.lasts);
  const auto list = [&](const char* key, const std::vector<std::string>& all) {
    if (all.empty()) return;
    json.Key(key).BeginArray();
    for (const std::string& one : all) json.String(one);
    json.EndArray();
  };
  list("withheld", outcome.withheld);
  list("hints", outcome.hints);
  json.EndObject();
  return json.Take();
}

int Report(const Outcome& outcome, const std::string& id) {
  TellViolations(outcome.violations, id);
  // What could not be opened is among the violations.
  const bool unseen =
      outcome.status == OutcomeStatus::kViolation && !outcome.sweep_end.empty();
  if (!outcome.sweep_end.empty() && !unseen)
    Complain("the search for protected names ended early (" +
             outcome.sweep_end + ")");
  switch (outcome.status) {
    case OutcomeStatus::kExited:
      // It was not executed, and nothing else has said so.
      if (!outcome.reason.empty() && outcome.reason != "exited")
        Complain(Visible(outcome.reason));
      if (outcome.exit_code == 0 && outcome.left_listening != 0 &&
          outcome.lasts)
        Complain("what listens on port " +
                 std::to_string(outcome.left_listening) +
                 " goes on, in a network of this line's own; a server and what "
                 "asks it run in one line");
      else if (outcome.exit_code == 0 && outcome.left_listening != 0)
        Complain("ended with the command: what was still listening on port " +
                 std::to_string(outcome.left_listening) +
                 "; a server and what asks it run in one line");
      for (const std::string& line : WithheldLines(outcome)) Complain(line);
      return outcome.exit_code;
    case OutcomeStatus::kSignalled:
      return 128 + outcome.signal;
    case OutcomeStatus::kTimeout:
      Complain("timed out: " + Visible(outcome.reason));
      return kExitTimeout;
    case OutcomeStatus::kLimit:
    case OutcomeStatus::kViolation:
      // Such a search ended after the command had.
      Complain((unseen ? "" : "stopped: ") + Visible(outcome.reason));
      return outcome.signal != 0 ? 128 + outcome.signal : kExitGateFailed;
    case OutcomeStatus::kSetupFailed:
    case OutcomeStatus::kUnobserved:
      break;
  }
  Complain((outcome.not_found ? "not found: " : "did not start: ") +
           Visible(outcome.reason));
  return outcome.not_found ? kExitNotFound : kExitGateFailed;
}

int Report(const Executed& executed) {
  const int code = Report(executed.outcome, executed.id);
  if (executed.recorded) return code;
  Complain("the outcome could not be recorded: " +
           Visible(executed.recorded.error().message));
  return kExitGateFailed;
}

}  // namespace gate::app
