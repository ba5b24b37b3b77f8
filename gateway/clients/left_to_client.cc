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

// Codex's sandbox is made of namespaces, and its network is all or nothing.
bool AskForMore(const router::Settings& settings, const CodexSandbox& sandbox) {
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

}  // namespace

CodexSandbox FindCodexSandbox(const ProcessFacts& facts,
                              const std::string& directory,
                              std::vector<std::string> words) {
  CodexPlaces places;
  places.home =
      facts.codex_dir.empty() ? facts.home + "/.codex" : facts.codex_dir;
  // Codex takes a relative one from where it was started, which is not told.
  if (facts.codex_dir.empty() && !Variable(facts, "CODEX_HOME").empty())
    places.home.clear();
  places.directory = directory;
  places.tmpdir = Variable(facts, "TMPDIR");
  places.words = std::move(words);
  return ReadCodexSandbox(places);
}

std::string OwnPlaceWrittenIn(const CodexSandbox& sandbox,
                              const ProcessFacts& facts) {
  const std::string client =
      facts.codex_dir.empty() ? facts.home + "/.codex" : facts.codex_dir;
  for (const std::string& own :
       {facts.places.state, facts.places.config, facts.executable, client}) {
    const std::string real = RealPath(own);
    for (const std::string& root : sandbox.writable)
      if (IsWithin(own, root) || (!real.empty() && IsWithin(real, root)) ||
          IsWithin(root, own))
        return own;
  }
  return "";
}

CodexOutlook ForesightOf(const CodexSandbox& sandbox, const ProcessFacts& facts,
                         bool intent) {
  const std::string by = " (" + Describe(sandbox) + ")";
  const std::string off =
      "sandbox_mode = \"danger-full-access\" in Codex's config.toml, so that "
      "gate contains";
  const std::string leave =
      "gate install codex --mode intent, which leaves containing to Codex";
  if (sandbox.mode == CodexMode::kUnknown)
    return {false, false,
            "whether Codex's own sandbox is on is not known" + by +
                "; where it is on, gate's cannot start inside of it and no "
                "command runs",
            leave + ", or " + off};
  if (sandbox.mode == CodexMode::kFullAccess)
    return {true, true,
            "Codex's own sandbox is off" + by + ", so that gate contains" +
                (intent ? ", in mode intent too" : ""),
            ""};
  const std::string own = OwnPlaceWrittenIn(sandbox, facts);
  if (!own.empty())
    return {false, true,
            "commands in Codex's own sandbox" + by + " may write " +
                Visible(own) +
                ", and so forge approvals and the record, or take the hook "
                "away",
            "start Codex in a project, and take the directory out of "
            "writable_roots"};
  if (!intent)
    return {false, true,
            "Codex's own sandbox is on" + by +
                " and gate's cannot start inside of it: no command will run",
            leave + ", or " + off};
  return {true, true,
          "gate denies and asks; the rest is left to Codex's own sandbox" + by +
              (sandbox.network ? ", which has the network" : "") +
              ", and recorded as unobserved. It hides no secrets from commands",
          ""};
}

void LeaveToClient(Gateway& gateway, const hooks::Event& event,
                   Authorization* authorization) {
  if (event.kind != hooks::EventKind::kCommand || authorization->unwrapped ||
      authorization->decision.action == rules::Action::kDeny)
    return;
  auto words = WordsOfClient(event.agent);
  if (!words) return;
  const CodexSandbox sandbox = FindCodexSandbox(
      gateway.facts(), authorization->request.cwd, std::move(*words));
  if (sandbox.mode != CodexMode::kReadOnly &&
      sandbox.mode != CodexMode::kWorkspaceWrite)
    return;
  if (!OwnPlaceWrittenIn(sandbox, gateway.facts()).empty()) return;
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
  authorization->left_to = "Codex's own sandbox (" + Describe(sandbox) +
                           (sandbox.network ? ", with network" : "") + ")";
}

hooks::Answer AnswerLeft(const Gateway& gateway, const hooks::Event& event,
                         const Authorization& authorization) {
  const std::string line = LineOf(authorization.request);
  hooks::Answer answer;
  answer.id = authorization.id;
  answer.kind = hooks::AnswerKind::kDeny;
  if (!backends::HasSafeLocale(gateway.facts().environment)) {
    answer.reason =
        "not run: in the locale of Codex's shell the line may mean something "
        "else than gate has read; tell the person to set LANG=C.UTF-8";
    return answer;
  }
  if (event.persons_shell && BaseName(gateway.facts().shell) != "bash" &&
      !hooks::MeansTheSameInEveryShell(line)) {
    answer.reason =
        "not run: Codex's shell is no bash and may read the line otherwise "
        "than gate has. Send it so: bash -c " +
        ShellQuote(line);
    return answer;
  }
  answer.reason = authorization.decision.reason;
  if (event.cwd_is_sure) {
    answer.kind = hooks::AnswerKind::kAllow;
    return answer;
  }
  // Plain commands, so that Codex's own rules (prefix_rule) see those of the
  // line as before. A directory that is gone is another one.
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
