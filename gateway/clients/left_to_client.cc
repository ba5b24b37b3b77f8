#include "gateway/left_to_client.h"

#include <algorithm>

#include "backends/environment.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "gateway/git_transport.h"
#include "gateway/line.h"
#include "hooks/plain_line.h"

namespace gate::app {
namespace {

std::string Variable(const ProcessFacts& facts, const std::string& name) {
  std::string value;
  for (const std::string& entry : facts.environment)
    if (entry.starts_with(name + "=")) value = entry.substr(name.size() + 1);
  return value;
}

// A client's sandbox is made of namespaces, and its network is all or nothing.
bool AskForMore(const router::Settings& settings,
                const hooks::OwnSandbox& sandbox) {
  return settings.required > backends::Strength::kNamespace ||
         settings.hardened ||
         (sandbox.network && settings.network != backends::Network::kOpen);
}

// Whether the preset `autonomous` may have put a sandbox in place of a
// question: one of gate's, without network.
bool MayReplaceAQuestion(Gateway& gateway, const engine::Decision& decision) {
  if (gateway.settings().preset != engine::Preset::kAutonomous) return false;
  return (decision.code != engine::ReasonCode::kRule &&
          decision.code != engine::ReasonCode::kDefault) ||
         std::ranges::any_of(decision.matches, [](const engine::Match& match) {
           return !match.observed_only && match.action == rules::Action::kAsk;
         });
}

// Its directory below the home, or where its variable puts that.
std::string DirectoryOfClient(const ProcessFacts& facts,
                              const hooks::Capabilities& client) {
  const auto moved = clients::DirectoryOf(client.client);
  return moved && !facts.client_dirs[*moved].empty()
             ? facts.client_dirs[*moved]
             : facts.home + "/" + std::string(client.directory);
}

// How people call the client of an event.
std::string TitleOf(const hooks::Event& event) {
  const hooks::Capabilities* client = hooks::CapabilitiesOf(event.agent);
  return client == nullptr ? "the client" : std::string(client->title);
}

}  // namespace

hooks::OwnSandbox FindOwnSandbox(const ProcessFacts& facts,
                                 const hooks::Capabilities& client,
                                 const std::string& directory,
                                 std::vector<std::string> words) {
  hooks::SandboxPlaces places;
  places.home = DirectoryOfClient(facts, client);
  // A relative one is taken from where the client was started, which is not
  // told.
  if (const auto moved = clients::DirectoryOf(client.client))
    if (facts.client_dirs[*moved].empty() &&
        !Variable(facts, std::string(clients::Directories()[*moved].variable))
             .empty())
      places.home.clear();
  places.directory = directory;
  places.tmpdir = Variable(facts, "TMPDIR");
  places.words = std::move(words);
  return hooks::FindAdapter(client.client)->ReadSandbox(places);
}

std::string OwnPlaceWrittenIn(const hooks::OwnSandbox& sandbox,
                              const hooks::Capabilities& client,
                              const ProcessFacts& facts) {
  for (const std::string& own :
       {facts.places.state, facts.places.config, facts.executable,
        DirectoryOfClient(facts, client)}) {
    const std::string real = RealPath(own);
    for (const std::string& root : sandbox.writable)
      if (IsWithin(own, root) || (!real.empty() && IsWithin(real, root)) ||
          IsWithin(root, own))
        return own;
  }
  return "";
}

SandboxOutlook ForesightOf(const hooks::Capabilities& client,
                           const hooks::OwnSandbox& sandbox,
                           const ProcessFacts& facts, bool intent) {
  const std::string title(client.title);
  const std::string whose = title + "'s own sandbox";
  const std::string by = " (" + hooks::Describe(sandbox) + ")";
  const std::string off =
      std::string(client.sandbox_off) + ", so that gate contains";
  const std::string leave = "gate install " + std::string(client.client) +
                            " --mode intent, which leaves containing to " +
                            title;
  if (sandbox.mode == hooks::SandboxMode::kUnknown)
    return {false, false,
            "whether " + whose + " is on is not known" + by +
                "; where it is on, gate's cannot start inside of it and no "
                "command runs",
            leave + ", or " + off};
  if (sandbox.mode == hooks::SandboxMode::kFullAccess)
    return {true, true,
            whose + " is off" + by + ", so that gate contains" +
                (intent ? ", in mode intent too" : ""),
            ""};
  const std::string own = OwnPlaceWrittenIn(sandbox, client, facts);
  if (!own.empty())
    return {false, true,
            "commands in " + whose + by + " may write " + Visible(own) +
                ", and so forge approvals and the record, or take the hook "
                "away",
            std::string(client.sandbox_narrow)};
  if (!intent)
    return {false, true,
            whose + " is on" + by +
                " and gate's cannot start inside of it: no command will run",
            leave + ", or " + off};
  return {true, true,
          "gate denies and asks; the rest is left to " + whose + by +
              (sandbox.network ? ", which has the network" : "") +
              ", and recorded as unobserved. It hides no secrets from commands",
          ""};
}

void LeaveToClient(Gateway& gateway, const hooks::Event& event,
                   Authorization* authorization) {
  if (event.kind != hooks::EventKind::kCommand || authorization->unwrapped ||
      authorization->decision.action == rules::Action::kDeny)
    return;
  const hooks::Capabilities* client = hooks::CapabilitiesOf(event.agent);
  if (client == nullptr || !client->has_own_sandbox) return;
  auto words = hooks::WordsOfClient(event.agent);
  if (!words) return;
  const hooks::OwnSandbox sandbox = FindOwnSandbox(
      gateway.facts(), *client, authorization->request.cwd, std::move(*words));
  if (sandbox.mode != hooks::SandboxMode::kReadOnly &&
      sandbox.mode != hooks::SandboxMode::kWorkspaceWrite)
    return;
  if (!OwnPlaceWrittenIn(sandbox, *client, gateway.facts()).empty()) return;
  if (AskForMore(gateway.settings().router, sandbox)) return;
  const auto& agents = gateway.settings().agents;
  const auto agent = agents.find(authorization->request.agent);
  if (agent != agents.end() && AskForMore(agent->second, sandbox)) return;
  if (MayReplaceAQuestion(gateway, authorization->decision)) return;
  // What the line writes must not look like what was there before.
  backends::Profile written;
  written.write = sandbox.writable;
  if (!NoteRemotes(gateway.facts(), authorization->session.workspace, written))
    return;
  authorization->left_to = std::string(client->title) + "'s own sandbox (" +
                           hooks::Describe(sandbox) +
                           (sandbox.network ? ", with network" : "") + ")";
}

hooks::Answer AnswerLeft(const Gateway& gateway, const hooks::Event& event,
                         const Authorization& authorization) {
  const std::string line = LineOf(authorization.request);
  hooks::Answer answer;
  answer.id = authorization.id;
  answer.kind = hooks::AnswerKind::kDeny;
  if (!backends::HasSafeLocale(gateway.facts().environment)) {
    answer.reason = "not run: in the locale of " + TitleOf(event) +
                    "'s shell the line may mean something else than gate has "
                    "read; tell the person to set LANG=C.UTF-8";
    return answer;
  }
  if (event.persons_shell && BaseName(gateway.facts().shell) != "bash" &&
      !hooks::MeansTheSameInEveryShell(line)) {
    answer.reason = "not run: " + TitleOf(event) +
                    "'s shell is no bash and may read the line otherwise than "
                    "gate has. Send it so: bash -c " +
                    ShellQuote(line);
    return answer;
  }
  answer.reason = authorization.decision.reason;
  if (event.cwd_is_sure) {
    answer.kind = hooks::AnswerKind::kAllow;
    return answer;
  }
  // Plain commands, so that the client's own rules see those of the line as
  // before. A directory that is gone is another one.
  const std::string same =
      "test . -ef " + ShellQuote(authorization.request.cwd) + " || ";
  answer.command =
      same + "echo " +
      ShellQuote("gate: not run: this line was judged in " +
                 Visible(authorization.request.cwd) +
                 ". To run it elsewhere, begin it with cd DIRECTORY &&") +
      "; " + same + "exit 125; " + line;
  answer.kind = hooks::AnswerKind::kRewrite;
  return answer;
}

void RecordAsLeft(Authorization* authorization) {
  authorization->unobserved = true;
  const std::string left_to = authorization->left_to;
  authorization->plan = {};
  authorization->plan.mode = router::Mode::kDirect;
  authorization->plan.why = "left to " + left_to;
  authorization->lending.reset();
}

}  // namespace gate::app
