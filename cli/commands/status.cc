// gate status: on one screen, what holds here and what happened last.
#include <unistd.h>

#include <cstdio>

#include "approvals/approvals.h"
#include "approvals/pause.h"
#include "approvals/standing_approvals.h"
#include "approvals/terminal.h"
#include "audit/log.h"
#include "base/duration.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output/record_text.h"
#include "gateway/candidates.h"
#include "gateway/client_health.h"
#include "gateway/gateway.h"

namespace gate::app {
namespace {

constexpr uint64_t kDayNs = 24ull * 60 * 60 * 1'000'000'000;
constexpr uint64_t kRecords = 8;
constexpr size_t kShownQuestions = 5;

struct Recorded {
  std::string problem;  // why the log cannot be read; "no record yet"
  audit::Stats day;
  std::vector<audit::Record> last;  // decisions, newest first
};

Recorded ReadRecords(const std::string& state) {
  Recorded recorded;
  const auto log = audit::Log::OpenReadOnly(state);
  if (!log) {
    recorded.problem = log.error().code == ErrorCode::kNotFound
                           ? "no record yet"
                           : log.error().message;
    return recorded;
  }
  audit::Filter filter;
  filter.kinds = {audit::Kind::kDecision};
  filter.limit = kRecords;
  auto last = log->Query(filter);
  const uint64_t now = NowMs() * 1'000'000;
  filter.since_ns = now > kDayNs ? now - kDayNs : 0;
  auto day = log->Count("action", filter);
  if (!last || !day) {
    recorded.problem = (last ? day.error() : last.error()).message;
    return recorded;
  }
  recorded.last = std::move(*last);
  recorded.day = std::move(*day);
  return recorded;
}

// One line of the screen, and one member of the object.
class Screen {
 public:
  explicit Screen(bool json)
      : json_(json), colour_(WantsColour(STDOUT_FILENO)) {
    out_.BeginObject().Field("schema", "gate.status/1");
  }
  void Line(const char* name, const std::string& text) {
    out_.Field(name, text);
    if (!json_) Print(name, text);
  }
  void Print(const char* name, const std::string& text) const {
    if (!json_)
      std::printf("%s %s\n", Paint(Colour::kDim, Padded(name), colour_).c_str(),
                  text.c_str());
  }
  JsonWriter& out() { return out_; }
  bool json() const { return json_; }
  bool colour() const { return colour_; }
  void End() {
    out_.EndObject();
    if (json_) std::puts(out_.text().c_str());
  }

 private:
  static std::string Padded(std::string name) {
    constexpr size_t kNameWidth = 10;
    name.resize(kNameWidth, ' ');
    return name;
  }
  bool json_, colour_;
  JsonWriter out_;
};

std::string PolicyText(Gateway& gateway, const std::string& workspace,
                       bool* bad) {
  const rules::Policy& policy = gateway.PolicyFor(workspace);
  if (policy.floor() != rules::Action::kAllow) {
    *bad = true;
    return std::string(
               "a rule file does not load, so every command is at "
               "least ") +
           Name(policy.floor()) + "; gate rules lint says where";
  }
  std::string text = engine::Name(
      gateway.settings().preset.value_or(engine::Preset::kStandard));
  const size_t problems =
      policy.diagnostics().size() + gateway.settings().diagnostics.size();
  if (problems > 0)
    text += "; " + std::to_string(problems) +
            " remarks on its files: gate rules lint";
  return text + "; revision " + policy.revision().substr(0, 12);
}

std::string SandboxText(Gateway& gateway, bool* bad) {
  const router::Candidate* used =
      ContainsHere(gateway.candidates(), gateway.settings().router);
  if (used != nullptr) return used->name;
  *bad = true;
  return "none works here, so commands that need one are refused; gate doctor "
         "says why";
}

std::string HooksText(const ProcessFacts& facts, const std::string& workspace) {
  std::vector<Finding> findings;
  CheckHooks(facts, workspace, &findings);
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.health == Health::kNote && !text.empty()) continue;
    text += (text.empty() ? "" : "; ") +
            finding.text.substr(0, finding.text.find('\n'));
  }
  return text;
}

std::string PauseText(const ProcessFacts& facts) {
  const auto pause = FindPause(facts.places.state, NowMs());
  if (!pause) return "";
  return "questions that a sandbox can answer get a yes for " +
         ShowDuration(pause->until_ms - NowMs()) + " more" +
         (pause->workspace.empty() ? "" : " in " + Visible(pause->workspace));
}

// False when what is stored cannot be read.
bool ShowQuestions(const ProcessFacts& facts, Screen* screen) {
  const auto questions = ListQuestions(facts.places.state, NowMs());
  const auto kept = ListStandingApprovals(facts.places.state, NowMs());
  screen->out().Key("questions").BeginArray();
  size_t waiting = 0;
  for (const PendingQuestion& question :
       questions.value_or(std::vector<PendingQuestion>{})) {
    if (question.approved_ms != 0) continue;
    ++waiting;
    screen->out().BeginObject().Field("id", question.id);
    screen->out().Field("command", question.command).EndObject();
    if (waiting <= kShownQuestions)
      screen->Print(waiting == 1 ? "waiting" : "",
                    "gate approve " + question.id + "   " +
                        Visible(question.command.substr(0, 60)));
  }
  screen->out().EndArray();
  if (waiting > kShownQuestions)
    screen->Print("", "and " + std::to_string(waiting - kShownQuestions) +
                          " more: gate pending");
  const size_t approvals =
      kept.value_or(std::vector<StandingApproval>{}).size();
  screen->out().Field("approvals", static_cast<int64_t>(approvals));
  if (approvals > 0)
    screen->Print("approvals",
                  std::to_string(approvals) + " hold: gate approvals list");
  return questions.has_value() && kept.has_value();
}

void ShowRecords(const Recorded& recorded, Screen* screen) {
  JsonWriter& out = screen->out();
  out.Field("record", recorded.problem).Key("day").BeginObject();
  std::string day;
  for (const auto& [action, count] : recorded.day.rows) {
    out.Field(action, static_cast<int64_t>(count));
    day += (day.empty() ? "" : ", ") + std::to_string(count) + " " +
           (action.empty() ? "other" : action);
  }
  out.EndObject().Key("last").BeginArray();
  for (const audit::Record& record : recorded.last)
    out.BeginObject()
        .Field("id", record.id)
        .Field("action", record.action)
        .Field("command", record.command)
        .EndObject();
  out.EndArray();
  if (!recorded.problem.empty()) screen->Print("record", recorded.problem);
  if (!day.empty()) screen->Print("24 hours", day);
  if (screen->json()) return;
  for (const audit::Record& record : recorded.last)
    std::fputs(("  " + RowText(record, screen->colour())).c_str(), stdout);
}

}  // namespace

int StatusCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app("Shows on one screen what holds here and what happened last.",
              "gate status");
  bool json = false;
  app.Flag("--json", json, "print one JSON object");
  if (auto code = ParseWith(app, arguments)) return *code;
  Gateway gateway(ReadProcessFacts(globals));
  const ProcessFacts& facts = gateway.facts();
  const std::string workspace = FindWorkspace(facts, facts.cwd);
  bool bad = false;
  Screen screen(json);
  screen.Line("workspace", workspace.empty()
                               ? "none: sandboxed commands write nothing here"
                               : Visible(workspace));
  screen.Line("policy", PolicyText(gateway, workspace, &bad));
  screen.Line("sandbox", SandboxText(gateway, &bad));
  screen.Line("hooks", HooksText(facts, workspace));
  const std::string pause = PauseText(facts);
  screen.out().Field("pause", pause);
  if (!pause.empty()) screen.Print("paused", pause);
  bad |= !ShowQuestions(facts, &screen);
  const Recorded recorded = ReadRecords(facts.places.state);
  bad |= !recorded.problem.empty() && recorded.problem != "no record yet";
  ShowRecords(recorded, &screen);
  screen.out().Flag("ok", !bad);
  screen.End();
  return bad ? kExitInternal : 0;
}

}  // namespace gate::app
