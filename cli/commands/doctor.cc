// gate doctor: one screen that says what is enforced here and what is not.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "approvals/terminal.h"
#include "audit/log.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "gateway/candidates.h"
#include "gateway/client_health.h"
#include "gateway/client_record.h"
#include "gateway/gateway.h"
#include "gateway/settings_copies.h"

namespace gate::app {
namespace {

Status RecordTrial(const ProcessFacts& facts, const std::string& client) {
  GATE_TRY(auto log, audit::Log::Open(facts.places.state, {}));
  audit::Record record;
  record.kind = audit::Kind::kConfig;
  record.id = NewUuid(NowMs());
  record.time_ns = NowNs();
  record.mode = "doctor";
  record.agent = client;
  record.reason = "rewrites are tried again for " + client;
  record.detail = "{}";
  return log.Append(&record);
}

// gate doctor --prove: has gate put commands in place again for the versions
// for which it stopped. Only at a person's terminal; recorded.
int ProveClients(const ProcessFacts& facts) {
  if (auto code = RequirePerson("trying a client's rewrites again"))
    return *code;
  // Recorded first: what cannot be recorded does not happen.
  for (const ClientRecord& record : ListClients(facts.places.state)) {
    if (record.standing != Standing::kMarked) continue;
    if (auto stored = RecordTrial(facts, record.client); !stored) {
      Complain("the trial could not be recorded: " + stored.error().message);
      return kExitInternal;
    }
  }
  const auto tried = TryAgain(facts.places.state, NowMs());
  if (!tried) {
    Complain(tried.error().message);
    return kExitInternal;
  }
  if (tried->empty()) std::puts("no client is marked");
  for (const std::string& client : *tried)
    std::printf(
        "%s: on trial. Have the agent run a command that gate contains; what "
        "it does then shows here. A command whose rewrite is dropped runs as "
        "the agent wrote it\n",
        Visible(client).c_str());
  return 0;
}

void CheckPolicy(Gateway& gateway, const std::string& workspace,
                 std::vector<Finding>* findings) {
  const rules::Policy& policy = gateway.PolicyFor(workspace);
  std::vector<Diagnostic> problems = policy.diagnostics();
  for (const Diagnostic& problem : gateway.settings().diagnostics)
    problems.push_back(problem);
  if (policy.floor() != rules::Action::kAllow)
    findings->push_back({Health::kBad, "policy",
                         std::string("a rule file does not load, so every "
                                     "command is at least ") +
                             Name(policy.floor()),
                         "gate rules lint"});
  else
    findings->push_back({Health::kGood, "policy",
                         "loaded, revision " + policy.revision().substr(0, 12),
                         ""});
  for (const Diagnostic& problem : problems) {
    std::string text = Render(problem);
    while (text.ends_with('\n')) text.pop_back();
    findings->push_back(
        {problem.severity == Severity::kError ? Health::kBad : Health::kNote,
         "policy", text, ""});
  }
}

void CheckWorkspace(const std::string& workspace,
                    std::vector<Finding>* findings) {
  if (workspace.empty())
    findings->push_back({Health::kNote, "workspace",
                         "this directory cannot be one, so sandboxed commands "
                         "from here write nothing",
                         "work in a project directory"});
  else
    findings->push_back({Health::kGood, "workspace", Visible(workspace), ""});
}

// What contains commands here, with what it lacks; the others in a line, since
// `gate backends` says all of each.
void CheckBackends(const std::vector<router::Candidate>& candidates,
                   const router::Settings& settings,
                   std::vector<Finding>* findings) {
  const router::Candidate* used = ContainsHere(candidates, settings);
  if (used == nullptr) {
    findings->push_back({Health::kBad, "sandbox",
                         std::string("nothing here is as strong as `") +
                             backends::Name(settings.required) +
                             "`, so commands that need a sandbox are refused",
                         "gate backends probe"});
  } else {
    std::string text = used->name + " contains commands (" +
                       Visible(used->availability.why) + ")";
    for (const std::string& lost : used->availability.lost)
      text += "\n              but " + Visible(lost);
    findings->push_back({Health::kGood, "sandbox", std::move(text), ""});
  }
  std::string others, absent;
  for (const router::Candidate& candidate : candidates) {
    if (candidate.strength == backends::Strength::kNone || &candidate == used)
      continue;
    if (candidate.availability.available)
      others += (others.empty() ? "" : ", ") + candidate.name;
    else
      absent += (absent.empty() ? "" : ", ") + candidate.name + " (" +
                Visible(candidate.availability.why) + ")";
  }
  if (!others.empty())
    findings->push_back({Health::kGood, "sandbox",
                         "also here: " + others + "; gate backends says more",
                         ""});
  if (!absent.empty())
    findings->push_back({Health::kNote, "sandbox", "not here: " + absent, ""});
}

// Why nothing can be written to the state directory; empty when it can. Tried,
// since a mode does not tell of read-only file systems: a directory is made in
// it, or in what it would be made in, and removed.
std::string WhyNotWritable(const std::string& state) {
  std::string place = state;
  struct stat info{};
  while (place != "/" && ::lstat(place.c_str(), &info) != 0)
    place = std::string(DirName(place));
  std::string made = place + "/.gate-doctor-" + Hex(RandomBytes(8));
  if (::mkdir(made.c_str(), 0700) != 0)
    return FailErrno("`" + Visible(place) + "` cannot be written")
        .error()
        .message;
  ::rmdir(made.c_str());
  for (const char* name : {"/audit.db", "/audit.pending"}) {
    const std::string log = state + name;
    if (::access(log.c_str(), F_OK) == 0 && ::access(log.c_str(), W_OK) != 0)
      return FailErrno("`" + Visible(log) + "` cannot be written")
          .error()
          .message;
  }
  return "";
}

void CheckAudit(const ProcessFacts& facts, std::vector<Finding>* findings) {
  struct stat info{};
  const std::string& state = facts.places.state;
  if (::stat(state.c_str(), &info) == 0 &&
      (info.st_uid != facts.uid || (info.st_mode & 077) != 0))
    findings->push_back({Health::kBad, "state",
                         Visible(state) + " is open to others",
                         "chmod 700 " + ShellQuote(state)});
  if (const std::string why = WhyNotWritable(state); !why.empty())
    findings->push_back(
        {Health::kBad, "state",
         "nothing can be recorded in " + Visible(state) +
             ", so every command is refused: " + why,
         "make it writable, or name another place with --state-dir"});
  auto log = audit::Log::OpenReadOnly(state);
  if (!log) {
    const bool absent = log.error().code == ErrorCode::kNotFound;
    findings->push_back({absent ? Health::kNote : Health::kBad, "audit",
                         absent ? "no record yet" : log.error().message, ""});
    return;
  }
  auto stats = log->Count("action", {});
  if (!stats)
    findings->push_back(
        {Health::kBad, "audit", stats.error().message, "gate audit verify"});
  else
    findings->push_back({Health::kGood, "audit",
                         std::to_string(stats->records) + " records in " +
                             Visible(state) + "/audit.db",
                         ""});
}

void AddLimits(std::vector<Finding>* findings) {
  for (const char* text :
       {"clients started without their hook, or with hooks switched off",
        "text typed into a shell session that is already running",
        "what an allowed command does: it runs raw"})
    findings->push_back({Health::kNote, "not seen", text, ""});
}

}  // namespace

int DoctorCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app("Says what is enforced here and what is not.", "gate doctor");
  bool json = false;
  bool prove = false;
  app.Flag("--json", json, "print one JSON object");
  app.Flag("--prove", prove,
           "try again the clients that ran commands as they were (a person's "
           "terminal)");
  if (auto code = ParseWith(app, arguments)) return *code;
  if (prove) return ProveClients(ReadProcessFacts(globals));

  Gateway gateway(ReadProcessFacts(globals));
  const ProcessFacts& facts = gateway.facts();
  const std::string workspace = FindWorkspace(facts, facts.cwd);
  std::vector<Finding> findings;
  CheckWorkspace(workspace, &findings);
  CheckPolicy(gateway, workspace, &findings);
  // Always tried anew: a doctor that repeats what was once true is no use.
  CheckBackends(FindCandidates(facts, gateway.backends(), /*refresh=*/true),
                gateway.settings().router, &findings);
  if (std::string text = DescribeSettings(facts); !text.empty())
    findings.push_back({Health::kGood, "settings", std::move(text), ""});
  CheckAudit(facts, &findings);
  CheckHooks(facts, workspace, &findings);
  CheckClients(facts, &findings);
  AddLimits(&findings);

  bool bad = false;
  JsonWriter out;
  out.BeginObject().Field("schema", "gate.doctor/1");
  out.Key("findings").BeginArray();
  const bool colour = WantsColour(STDOUT_FILENO);
  for (const Finding& finding : findings) {
    bad |= finding.health == Health::kBad;
    static constexpr const char* kNames[] = {"ok", "note", "bad"};
    const char* name = kNames[static_cast<int>(finding.health)];
    out.BeginObject().Field("health", name).Field("topic", finding.topic);
    out.Field("text", finding.text).Field("help", finding.help).EndObject();
    if (json) continue;
    static constexpr Colour kColours[] = {Colour::kGreen, Colour::kYellow,
                                          Colour::kRed};
    static constexpr const char* kMarks[] = {"ok ", "-  ", "BAD"};
    const int i = static_cast<int>(finding.health);
    std::printf("%s %-9s %s\n", Paint(kColours[i], kMarks[i], colour).c_str(),
                finding.topic.c_str(), finding.text.c_str());
    if (!finding.help.empty())
      std::printf("              help: %s\n", finding.help.c_str());
  }
  out.EndArray().Flag("ok", !bad).EndObject();
  if (json) std::puts(out.text().c_str());
  return bad ? kExitInternal : 0;
}

}  // namespace gate::app
