#include "cli/output/record_text.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "approvals/terminal.h"
#include "backends/backend.h"
#include "base/json.h"
#include "base/text.h"

namespace gate::app {
namespace {

Colour TintOf(const audit::Record& record) {
  if (record.action == "deny") return Colour::kRed;
  if (record.action == "ask") return Colour::kYellow;
  if (record.action == "sandbox") return Colour::kBlue;
  if (record.action == "allow") return Colour::kGreen;
  return Colour::kDim;
}

bool IsUnobserved(const audit::Record& record) {
  return record.status == Name(backends::OutcomeStatus::kUnobserved);
}

bool IsEmpty(const Json& value) {
  return value.is_null() || value.empty() ||
         (value.is_string() && value.get_ref<const std::string&>().empty());
}

}  // namespace

std::string TimeText(uint64_t ns) {
  const auto seconds = static_cast<time_t>(ns / 1000000000);
  tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  char out[48];
  std::snprintf(out, sizeof out, "%s.%03uZ", text,
                static_cast<unsigned>(ns / 1000000 % 1000));
  return out;
}

std::string RowText(const audit::Record& record, bool colour) {
  std::string what = record.action.empty() ? record.status : record.action;
  if (record.kind == audit::Kind::kConfig) what = record.mode;
  what.resize(std::max<size_t>(what.size(), 9), ' ');
  const Colour tint = TintOf(record);
  std::string line = std::to_string(record.sequence);
  line.resize(std::max<size_t>(line.size(), 6), ' ');
  line += " " + TimeText(record.time_ns) + "  " + Paint(tint, what, colour);
  line += ' ';
  if (record.kind == audit::Kind::kOutcome) {
    // -1: it ended otherwise, or out of sight.
    if (record.exit_code >= 0)
      line += "exit " + std::to_string(record.exit_code) + ", ";
    if (!IsUnobserved(record))
      line += std::to_string(record.duration_ms) + " ms ";
  }
  std::string command = Visible(record.command);
  if (command.size() > 100)
    command = Visible(record.command.substr(0, 96)) + "…";
  line += command;
  // Contained, if at all, by another than gate.
  if (record.kind == audit::Kind::kDecision && record.action == "sandbox" &&
      IsUnobserved(record))
    line += Paint(Colour::kDim, "  (unobserved: left to the client)", colour);
  if (!record.rule_id.empty())
    line += Paint(Colour::kDim, "  [" + record.rule_id + "]", colour);
  return line + "\n";
}

std::string RecordText(const audit::Record& record, bool colour) {
  std::string text = std::string(audit::Name(record.kind)) + " " +
                     std::to_string(record.sequence) + "  " +
                     TimeText(record.time_ns) + "\n";
  const auto line = [&](std::string name, const std::string& value) {
    if (value.empty()) return;
    constexpr size_t kNameWidth = 11;
    name.resize(std::max(name.size() + 1, kNameWidth), ' ');
    text += "  " + Paint(Colour::kDim, name, colour) + Visible(value) + "\n";
  };
  line("command", record.command);
  line("in", record.cwd);
  if (record.kind == audit::Kind::kOutcome) {
    std::string end = record.status;
    if (record.exit_code >= 0)
      end += ", exit " + std::to_string(record.exit_code);
    if (!IsUnobserved(record))
      end += ", " + std::to_string(record.duration_ms) + " ms";
    line("ended", end);
  } else if (!record.action.empty()) {
    std::string decided = Paint(TintOf(record), record.action, colour);
    if (!record.enforced) decided += " (only asked for, not enforced)";
    if (IsUnobserved(record)) decided += " (unobserved)";
    text += "  " + Paint(Colour::kDim, "decided    ", colour) + decided + "\n";
  } else {
    line("status", record.status);
  }
  line("reason", record.reason);
  line("rule", record.rule_id);
  line("sandbox", record.backend);
  line("agent", record.agent);
  line("session", record.session);
  line("mode", record.mode);
  line("policy", record.policy_revision);
  if (const auto detail = ParseJson(record.detail);
      detail && detail->is_object()) {
    for (const auto& [name, value] : detail->items()) {
      if (IsEmpty(value)) continue;
      line(name,
           value.is_string()
               ? value.get<std::string>()
               : value.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  } else {
    line("detail", record.detail);
  }
  line("id", record.id);
  line("of", record.parent);
  line("hash", record.hash);
  return text;
}

}  // namespace gate::app
