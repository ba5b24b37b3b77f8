#include "gateway/hook_rewrite.h"

#include <algorithm>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "gateway/client_record.h"
#include "gateway/directory_after.h"
#include "gateway/line.h"
#include "gateway/plan_json.h"
#include "hooks/capabilities.h"
#include "hooks/client_sign.h"
#include "hooks/ticket.h"

namespace gate::app {
namespace {

constexpr std::string_view kTicketOption = " --ticket ";
constexpr size_t kTicketDigits = 32;

// What the kernel takes for one argument, its NUL included (MAX_ARG_STRLEN, 32
// pages of 4 KiB: execve(2)).
constexpr size_t kMaxArgument = 128 << 10;
// What clients put around a line that they hand to a shell.
constexpr size_t kClientsOwn = 4 << 10;

// Whether a client can start `line`. Some quote it once more, for eval,
// and a quote becomes five characters by that.
bool FitsAnArgument(const std::string& line) {
  const auto quotes = std::ranges::count(line, '\'');
  return line.size() + 4 * static_cast<size_t>(quotes) + kClientsOwn <
         kMaxArgument;
}

// The line that the client is to run instead. Of one that could not be started
// the ticket alone knows the command, as of an empty one. `after`: where the
// client's shell is to stand then.
std::string RewrittenLine(const ProcessFacts& facts,
                          const GlobalOptions& globals,
                          const std::string& preview, const std::string& ticket,
                          const std::string& command, const std::string& cwd,
                          const DirectoryAfter& after) {
  std::string line = ShellQuote(facts.executable);
  if (!globals.config_dir.empty())
    line += " --config-dir " + ShellQuote(globals.config_dir);
  if (!globals.state_dir.empty())
    line += " --state-dir " + ShellQuote(globals.state_dir);
  line += " run" + preview + " --ticket " + ticket;
  const std::string go = "cd " + ShellQuote(after.path);
  std::string last;
  if (after.when == WhenThere::kAnyway) {
    line.insert(0, go + " && ");
    line += " --cwd " + ShellQuote(cwd);
  } else if (after.when == WhenThere::kOnSuccess) {
    last = " && " + go;
  }
  std::string whole =
      line + (command.empty() ? "" : " -c " + ShellQuote(command)) + last;
  return FitsAnArgument(whole) ? whole : line + last;
}

// What of `authorization` a ticket carries.
Result<hooks::Ticket> TicketFor(const Authorization& authorization,
                                bool asked) {
  hooks::Ticket ticket;
  ticket.command = LineOf(authorization.request);
  if (ticket.command.size() >= kMaxArgument)
    return Fail(ErrorCode::kTooLarge,
                "the line is longer than a program's argument may be (128 "
                "KiB); write what it holds into a file, with the tool that "
                "writes files");
  ticket.cwd = authorization.request.cwd;
  ticket.place = BoundPlace(ticket.cwd, authorization.request.directory);
  ticket.policy_revision = authorization.policy_revision;
  router::Plan plan = authorization.plan;
  if (plan.mode == router::Mode::kDirect) {
    // The policy's revision belongs to a workspace, and a direct plan has none.
    plan.profile.workspace = authorization.session.workspace;
    // By the name that the process which redeems it will see.
    if (std::string real = RealPath(ticket.cwd); !real.empty())
      ticket.cwd = std::move(real);
  }
  ticket.plan = PlanToJson(plan);
  ticket.decision_id = authorization.id;
  ticket.agent = authorization.request.agent;
  ticket.session = authorization.request.session;
  ticket.asked = asked;
  if (asked) ticket.bound = authorization.binding.mark;
  ticket.expires_ms = NowMs() + (asked ? hooks::kAskedTicketLifetimeMs
                                       : hooks::kTicketLifetimeMs);
  return ticket;
}

std::string PreviewOption(const Authorization& authorization) {
  const std::string& asked = authorization.request.preview;
  return asked.empty()     ? ""
         : asked == "auto" ? " --preview=auto"
                           : " --preview";
}

// The line that an agent is told to run. One that would not be read as it is
// written leaves the command to the ticket.
std::string GivenLine(const Gateway& gateway, const GlobalOptions& globals,
                      const Authorization& authorization,
                      const std::string& name, const hooks::Ticket& ticket) {
  const bool readable =
      FindHidden(ticket.command).empty() &&
      ticket.command.find_first_of("\n\r\t") == std::string::npos;
  return RewrittenLine(gateway.facts(), globals, PreviewOption(authorization),
                       name, readable ? ticket.command : "", ticket.cwd, {});
}

// The name of a call for its ticket; empty for one without a name.
std::string CallOf(const hooks::Event& event) {
  return event.call.empty()
             ? ""
             : event.agent + "\n" + event.session + "\n" + event.call;
}

// The ticket that a line names; empty when it names none.
std::string TicketIn(std::string_view line) {
  const size_t at = line.find(kTicketOption);
  return at == std::string_view::npos
             ? ""
             : std::string(
                   line.substr(at + kTicketOption.size(), kTicketDigits));
}

}  // namespace

RewriteWay FindRewriteWay(const ProcessFacts& facts,
                          const hooks::Event& event) {
  // The other adapters' clients are known to apply rewrites, and tell nothing
  // afterwards.
  const hooks::Capabilities* can = hooks::CapabilitiesOf(event.agent);
  if (can == nullptr || !can->has_lookalikes) return {true, "", false, ""};
  const hooks::ClientSign sign =
      hooks::FindAdapter(can->client)
          ->Recognise(event, facts.environment, hooks::NearestAncestors());
  if (!sign.applies_rewrites)
    return {false, "", false,
            "`gate hook " + event.agent + "` is for " +
                std::string(can->title) + ", and this is " + sign.name + " (" +
                sign.why +
                "), of which gate does not know that it runs what a hook puts "
                "in place of a command"};
  RewriteWay way{true, sign.name + " " + sign.version, false, ""};
  switch (StandingOf(facts.places.state, way.client)) {
    case Standing::kGood:
      break;
    case Standing::kTrial:
      way.trial = true;
      break;
    case Standing::kMarked:
      way.rewrites = false;
      way.why = way.client +
                " was seen to run commands as they were where gate had put "
                "contained ones in their place; a person lets gate try again "
                "with `gate doctor --prove`";
      break;
  }
  return way;
}

Result<std::string> Rewrite(const Gateway& gateway,
                            const GlobalOptions& globals,
                            const hooks::Event& event,
                            const Authorization& authorization,
                            const RewriteWay& way, bool needs_a_yes) {
  GATE_TRY(hooks::Ticket ticket, TicketFor(authorization, needs_a_yes));
  ticket.client = way.client;
  ticket.trial = way.trial;
  GATE_TRY(const std::string name,
           hooks::IssueTicket(gateway.facts().places.state, ticket,
                              way.client.empty() ? "" : CallOf(event)));
  return RewrittenLine(gateway.facts(), globals, PreviewOption(authorization),
                       name, ticket.command, ticket.cwd,
                       event.keeps_directory ? FindDirectoryAfter(authorization)
                                             : DirectoryAfter());
}

Result<hooks::Answer> RefuseWithLine(const Gateway& gateway,
                                     const GlobalOptions& globals,
                                     const Authorization& authorization,
                                     const RewriteWay& way, bool approved) {
  GATE_TRY(const hooks::Ticket ticket, TicketFor(authorization, approved));
  GATE_TRY(const std::string name,
           hooks::IssueTicket(gateway.facts().places.state, ticket));
  hooks::Answer answer;
  answer.kind = hooks::AnswerKind::kDeny;
  answer.id = authorization.id;
  answer.reason = "not run as it is (" + authorization.decision.reason +
                  "): " + way.why + ". Run exactly this line instead, once: " +
                  GivenLine(gateway, globals, authorization, name, ticket);
  return answer;
}

std::optional<LineGiven> FindLineGiven(const Gateway& gateway,
                                       const GlobalOptions& globals,
                                       const hooks::Event& event,
                                       const Authorization& authorization) {
  const std::string name = TicketIn(event.command);
  if (name.empty()) return std::nullopt;
  const auto ticket = hooks::PeekTicket(gateway.facts().places.state, name);
  if (!ticket || !ticket->client.empty() || NowMs() >= ticket->expires_ms ||
      ticket->agent != authorization.request.agent ||
      ticket->session != authorization.request.session ||
      event.command !=
          GivenLine(gateway, globals, authorization, name, *ticket))
    return std::nullopt;
  auto plan = PlanFromJson(ticket->plan);
  if (!plan) return std::nullopt;
  return LineGiven{std::move(*plan), ticket->decision_id};
}

std::optional<std::string> FindDroppedRewrite(Gateway& gateway,
                                              const hooks::Event& event,
                                              int busy_timeout_ms) {
  const std::string& state = gateway.facts().places.state;
  if (event.background || event.call.empty()) return std::nullopt;
  if (event.failed && hooks::PeekTicket(state, TicketIn(event.command)))
    return std::nullopt;
  const auto ticket = hooks::TakeUnredeemed(state, CallOf(event));
  if (!ticket || ticket->client.empty()) return std::nullopt;
  const auto record = NoteDrop(state, ticket->client, NowMs());
  Authorization authorization;
  authorization.request.agent = ticket->agent;
  authorization.request.session = ticket->session;
  authorization.request.command = ticket->command;
  authorization.request.cwd = ticket->cwd;
  authorization.policy_revision = ticket->policy_revision;
  backends::Outcome outcome;
  outcome.status = backends::OutcomeStatus::kUnobserved;
  outcome.reason = ticket->client +
                   " has run the command as it was: the rewrite was dropped";
  const Status stored = gateway.RecordOutcome(
      ticket->decision_id, authorization, outcome, "hook", busy_timeout_ms);
  constexpr size_t kShownBytes = 200;
  std::string line = ticket->command.substr(0, kShownBytes);
  if (line.size() < ticket->command.size()) line += "…";
  std::string message = ticket->client +
                        " has run a command as it was, not contained, though "
                        "gate had put another in its place: " +
                        Visible(ToUtf8(line)) + ". ";
  if (!record)
    message += "This could not be noted: " + record.error().message + ". ";
  else if (record->standing == Standing::kMarked)
    message +=
        "From now on its commands are refused with the line to run "
        "instead, until `gate doctor --prove`. ";
  else
    message += "After " + std::to_string(kDropsToMark) +
               " of these its commands are refused with the line to run "
               "instead; this was number " +
               std::to_string(record->drops) + ". ";
  message += stored ? "gate audit show " + ticket->decision_id
                    : "It could not be recorded: " + stored.error().message;
  return message;
}

}  // namespace gate::app
