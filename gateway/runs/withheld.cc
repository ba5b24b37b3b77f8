#include "gateway/withheld.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/environment.h"
#include "base/file.h"
#include "base/host.h"
#include "base/paths.h"
#include "base/text.h"
#include "engine/tool_access.h"
#include "gateway/line.h"
#include "gateway/runs/left_running.h"
#include "gateway/runs/withheld_programs.h"
#include "gateway/settings_copies.h"
#include "git/https.h"
#include "rules/lending.h"

namespace gate::app {
namespace {

using backends::Network;
using parser::Argument;
using parser::EffectKind;
using parser::Invocation;

// Things named at most; of more the first stand for the rest.
constexpr size_t kMaxNamed = 4;

constexpr size_t kMaxShownLine = 300;
constexpr const char* kByPerson =
    "tell the person, who can run it in a terminal of their own; do not try "
    "another way";

bool Exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

// Whether the backend counts what it ends when the command has ended.
bool CountsProcesses(const router::Plan& plan) {
  return plan.backend == "native";
}

bool IsBelowAny(const std::string& path,
                const std::vector<std::string>& roots) {
  return std::ranges::any_of(
      roots, [&](const std::string& root) { return IsWithin(path, root); });
}

class Finder {
 public:
  Finder(const ProcessFacts& facts, const Authorization& authorization,
         const parser::Analysis& analysis, Background background,
         backends::Outcome* outcome)
      : facts_(facts),
        judgement_(authorization),
        profile_(authorization.plan.profile),
        analysis_(analysis),
        line_(LineOf(authorization.request)),
        background_(background),
        counted_(CountsProcesses(authorization.plan)),
        outcome_(outcome) {}

  void Find() {
    if (outcome_->exit_code != 0) OfFailure();
    OfBackground();
    if (withheld().size() > kMaxNamed) withheld().resize(kMaxNamed);
  }

 private:
  static constexpr const char* kNetworkStep =
      "tell the person, who can give this command the network with a rule "
      "(`\"network\": \"open\"`); do not try another way";
  static constexpr const char* kServerStep =
      "start the server and ask it in one line, or tell the person";

  void OfFailure() {
    OfTransports();
    OfSignatures();
    for (const parser::Effect& effect : analysis_.effects) OfEffect(effect);
    for (const Invocation& invocation : analysis_.invocations)
      OfProgram(invocation);
    OfVariables();
    if (outcome_->tried_to_leave && hosts_.empty())
      Add("the network, which something of it tried to reach", kNetworkStep);
    if (SignalsProcesses(analysis_) &&
        HasEarlierRuns(facts_.places.state, judgement_.request,
                       profile_.workspace)) {
      Hint("a process that an earlier line left running is out of reach");
      if (outcome_->instead.empty())
        outcome_->instead =
            "start it with `& echo $!` and end it by that number (`kill "
            "NUMBER`), or tell the person, who can end it with: gate sessions "
            "end";
    }
  }

  // A later line finds nothing of what this one left in the background: it
  // ended with the run. Helpers and daemons that a program starts by itself are
  // not told of.
  void OfBackground() {
    constexpr auto kMeantToStay = std::to_array<std::string_view>(
        {"daemonize", "nohup", "screen", "setsid", "start-stop-daemon",
         "tmux"});
    const auto is_run = [&](const auto& names) {
      return std::ranges::any_of(
          analysis_.invocations, [&](const Invocation& invocation) {
            return std::ranges::find(names, invocation.program) != names.end();
          });
    };
    if (IsEndedByLine(analysis_, background_)) return;
    constexpr const char* kStep =
        "run what needs it in the same line, or let the person start it in a "
        "terminal of their own";
    if (!counted_) {
      if (!background_.any) return;
      Hint("what the line left in the background ended with it");
      if (outcome_->instead.empty()) outcome_->instead = kStep;
      return;
    }
    const uint64_t left = outcome_->left_running;
    // Of a port that is known something else is said.
    if (left == 0 ||
        (outcome_->left_listening != 0 && outcome_->exit_code == 0) ||
        !(background_.any || Listens() || is_run(kMeantToStay) ||
          IsInnerBackground()))
      return;
    Add("running on in the background: " + std::to_string(left) +
            (left == 1 ? " process that the line left was"
                       : " processes that the line left were") +
            " ended with it",
        kStep);
  }

  // Of code that the line gives to a shell.
  bool IsInnerBackground() const {
    constexpr auto kShells =
        std::to_array<std::string_view>({"bash", "dash", "eval", "sh", "zsh"});
    return std::ranges::any_of(
        analysis_.invocations, [&](const Invocation& invocation) {
          return std::ranges::find(kShells, invocation.program) !=
                     kShells.end() &&
                 std::ranges::any_of(invocation.argv,
                                     [](const parser::Argument& argument) {
                                       return argument.text.contains('&') &&
                                              FindBackground(argument.text).any;
                                     });
        });
  }

  bool Listens() const {
    return std::ranges::any_of(analysis_.effects, &parser::Effect::listens);
  }

  std::vector<std::string>& withheld() { return outcome_->withheld; }

  void Add(std::string what, std::string instead) {
    if (std::ranges::find(withheld(), what) != withheld().end()) return;
    if (withheld().empty()) outcome_->instead = std::move(instead);
    withheld().push_back(std::move(what));
  }

  void Hint(std::string what) {
    what = "probably " + what;
    if (std::ranges::find(outcome_->hints, what) == outcome_->hints.end())
      outcome_->hints.push_back(std::move(what));
  }

  std::string Shown(const std::string& path) const {
    return !facts_.home.empty() && IsWithin(path, facts_.home) &&
                   path != facts_.home
               ? "~" + path.substr(facts_.home.size())
               : path;
  }

  bool IsLent(const std::string& path, bool writes) const {
    const auto holds = [&](const backends::Lent& lent) {
      return IsWithin(path, lent.path) && (lent.copy || !writes);
    };
    return std::ranges::any_of(profile_.lend, holds) ||
           std::ranges::any_of(profile_.substitutes, holds);
  }

  bool IsSubstituted(const std::string& path) const {
    return std::ranges::any_of(
        profile_.substitutes,
        [&](const backends::Lent& lent) { return lent.path == path; });
  }

  void OfPath(const std::string& path, bool writes) {
    if (!path.starts_with('/')) return;  // a name, no place
    if (IsLent(path, writes)) return;
    if (IsSubstituted(path)) return Add("writing " + Shown(path), kByPerson);
    if (IsBelowAny(path, profile_.deny_read)) {
      if (Exists(path)) Add(Shown(path) + " (credentials)", kByPerson);
      return;
    }
    if (IsTemporaryPlace(path)) {
      const bool own =
          profile_.private_tmp.empty() ||
          (!profile_.workspace.empty() && IsWithin(path, profile_.workspace));
      if (!own && !writes && Exists(path) &&
          std::ranges::find(profile_.host_tmp_binds, path) ==
              profile_.host_tmp_binds.end())
        Add(Shown(path) +
                " (this machine's; the session has a /tmp of its own)",
            "copy it into the workspace first, or let the person do that");
      return;
    }
    if (!writes || path.starts_with("/dev/")) return;
    if (!IsBelowAny(path, profile_.write)) {
      Add("writing " + Shown(path),
          profile_.workspace.empty()
              ? std::string(kByPerson)
              : "write below " + Shown(profile_.workspace) +
                    ", or tell the person, who can run it in a terminal of "
                    "their own");
      return;
    }
    const bool guarded =
        IsBelowAny(path, profile_.protect) ||
        std::ranges::any_of(profile_.protect_names, [&](const auto& name) {
          return path.ends_with("/" + name) ||
                 path.find("/" + name + "/") != std::string::npos;
        });
    if (guarded)
      Add("changing " + Shown(path) +
              " (programs execute or follow what stands there)",
          kByPerson);
  }

  void OfEffect(const parser::Effect& effect) {
    switch (effect.kind) {
      case EffectKind::kRead:
      case EffectKind::kExecuteFile:
        if (effect.path.known) OfPath(effect.path.text, false);
        break;
      case EffectKind::kWrite:
      case EffectKind::kDelete:
      case EffectKind::kPermission:
      case EffectKind::kMove:
      case EffectKind::kPersistence:
        if (effect.path.known) OfPath(effect.path.text, true);
        if (effect.target.known) OfPath(effect.target.text, true);
        break;
      case EffectKind::kNetwork: {
        if (effect.listens || effect.host.empty()) break;
        if (IsLoopback(NormaliseHost(effect.host).normal)) {
          OfLoopback(effect);
          break;
        }
        // Of a network by name, its filter tells.
        if (profile_.network >= Network::kDomains) break;
        // A host stands once, with the port that is known best.
        if (std::ranges::find(hosts_, effect.host) != hosts_.end()) break;
        hosts_.push_back(effect.host);
        Add("the network (" + WithPort(effect) + ")", kNetworkStep);
        break;
      }
      case EffectKind::kPrivilege:
        Add("the rights of root: nobody is root in a sandbox",
            "ask the person to run it: " + line_);
        break;
      default:
        break;
    }
  }

  // Whoever starts a server in one line looks for it in the next.
  void OfLoopback(const parser::Effect& effect) {
    if (background_.any || Listens()) return;  // its own is meant
    if (WasForwarded(effect)) return;
    const bool known = effect.port > 0 && effect.port <= UINT16_MAX;
    const bool is_here =
        known && IsListenedOn(static_cast<uint16_t>(effect.port));
    if (profile_.network != Network::kOpen && !profile_.session.key.empty()) {
      // Where the session has no server there, nothing was withheld.
      if (!is_here) return;
      Add("this machine's " + WithPort(effect) +
              " (lines of a session reach the servers of that session)",
          "start a server of the line's own, or tell the person");
    } else if (profile_.network != Network::kOpen) {
      Add("this machine's " + WithPort(effect) +
              " and what an earlier line started there (a line has a network "
              "of its own)",
          kServerStep);
    } else if (known && !is_here) {
      Hint("a server of an earlier line is meant: nothing listens on port " +
           std::to_string(effect.port) +
           ", and a server that a contained line leaves behind is in another "
           "network");
      if (outcome_->instead.empty()) outcome_->instead = kServerStep;
    }
  }

  // Whether a service of this machine was there for it. One that changed is
  // told.
  bool WasForwarded(const parser::Effect& effect) {
    for (const services::Forwarded& one : judgement_.forwarded) {
      if (effect.port != one.port && (effect.port != 0 || !one.changed))
        continue;
      if (one.changed)
        Add("localhost:" + std::to_string(one.port) +
                " of this machine: another program listens there now",
            "send the line again, so that a person can be asked");
      return true;
    }
    return effect.port == 0 && !judgement_.forwarded.empty();
  }

  std::string WithPort(const parser::Effect& effect) const {
    int port = effect.port;
    for (const parser::Effect& other : analysis_.effects)
      if (other.kind == EffectKind::kNetwork && other.host == effect.host &&
          port == 0)
        port = other.port;
    return port == 0 ? effect.host : effect.host + ":" + std::to_string(port);
  }

  std::string HomeFile(std::string_view name) const {
    return facts_.home + "/" + std::string(name);
  }

  void OfProgram(const Invocation& invocation) {
    if (invocation.guessed) return;
    OfSettings(invocation);
    if (invocation.program == "git") return OfGit(invocation);
    if (GoesBySsh(invocation)) return OfSsh();
    if (const auto missed =
            MissedByProgram(invocation.program, judgement_.plan);
        !missed.empty()) {
      Hint(std::string(missed) + " is withheld from `" + invocation.program +
           "`");
      if (outcome_->instead.empty()) outcome_->instead = kByPerson;
    }
    OfPasswords(invocation.program);
    const auto lending = rules::FindLending(invocation.program);
    if (!lending || router::KindOf(profile_) == rules::ProfileKind::kTool)
      return;
    const std::string name(lending->program);
    for (const auto* list : {&lending->files, &lending->copies})
      for (const std::string_view file : *list)
        if (const std::string path = HomeFile(file);
            IsBelowAny(path, profile_.deny_read) && Exists(path))
          return Add("the credentials of `" + name + "` (" + Shown(path) + ")",
                     kByPerson);
    for (const std::string_view socket : lending->sockets)
      if (const std::string path(socket); Exists(path))
        return Add("the socket of `" + name + "` (" + path + ")", kByPerson);
  }

  // Files of settings that the program reads and that are shown in part, or
  // not at all. Of a program that talks to nobody no login is missed.
  void OfSettings(const Invocation& invocation) {
    constexpr auto kFetches = std::to_array<std::string_view>(
        {"add", "ci", "dlx", "exec", "i", "info", "install", "outdated", "up",
         "update", "upgrade", "view"});
    for (const rules::SettingsFile& file : rules::SettingsFiles()) {
      const std::string path = HomeFile(file.file);
      if (!rules::HasWord(file.programs, invocation.program) ||
          !IsBelowAny(path, profile_.deny_read) || !Exists(path))
        continue;
      const settings::Copy copy = CopySettingsOf(facts_.home, file);
      if (!IsSubstituted(path))
        Hint(Shown(path) + ", which gate cannot " +
             (copy.parsed ? "show in part" : "read as settings") +
             (copy.line == 0
                  ? ""
                  : " (line " + std::to_string(copy.line) + ", column " +
                        std::to_string(copy.column) + ")") +
             ", is withheld");
      else if (copy.left_out && file.format == "npmrc" &&
               !invocation.subcommand.empty() &&
               std::ranges::find(kFetches, invocation.subcommand.front()) !=
                   kFetches.end())
        Hint("the logins of " + Shown(path) + " are withheld");
      else
        continue;
      if (outcome_->instead.empty())
        outcome_->instead =
            "tell the person, who can run it in a terminal of their own; do "
            "not change the registry";
    }
  }

  // What git asked of the person's ssh login, and did not get.
  void OfTransports() {
    static const std::string kPush =
        credentials::Name(credentials::SshService::kPush);
    for (const credentials::Transport& transport : judgement_.transports) {
      if (transport.refused.empty()) continue;
      if (transport.unpinned)
        Add("the ssh login for " + transport.target +
                (transport.service == kPush
                     ? " (not where this repository pushed to when gate first "
                       "saw it)"
                     : " (no remote of this repository when gate first saw "
                       "it)"),
            "let the person run: gate trust --remote " +
                ShellQuote(transport.target) + "; do not change the remote");
      else if (transport.service == kPush)
        Add("the push to " + transport.target + " (" +
                transport.refused.substr(0, transport.refused.find("; ")) + ")",
            PushByPerson());
      else
        Add("the ssh login (" + transport.refused + ")", kByPerson);
    }
  }

  // Those of a service of this machine are given with its port.
  void OfPasswords(const std::string& program) {
    const std::string_view file = PasswordFileOf(program);
    if (file.empty()) return;
    const std::string path = HomeFile(file);
    if (!IsBelowAny(path, profile_.deny_read) || !Exists(path) ||
        IsSubstituted(path))
      return;
    Hint("the passwords in " + Shown(path) + " are withheld from `" + program +
         "`");
    if (outcome_->instead.empty()) outcome_->instead = kByPerson;
  }
  // The line's push, where it has one that can be written out.
  std::string PushByPerson() const {
    const Invocation* push = nullptr;
    size_t pushes = 0;
    for (const Invocation& invocation : analysis_.invocations)
      if (invocation.program == "git" && !invocation.subcommand.empty() &&
          invocation.subcommand.front() == "push" && ++pushes == 1)
        push = &invocation;
    if (pushes != 1 || !std::ranges::all_of(push->argv, &Argument::known))
      return kByPerson;
    std::string line = parser::NormalisedLine(*push);
    if (line.size() > kMaxShownLine) return kByPerson;
    return "look at it with the person, who can run in a terminal of their "
           "own: " +
           Visible(line) + "; do not try another way";
  }

  // What git itself uses is not in the line.
  void OfGit(const Invocation& invocation) {
    constexpr auto kTalks = std::to_array<std::string_view>(
        {"push", "fetch", "pull", "clone", "ls-remote", "submodule"});
    constexpr auto kSigns = std::to_array<std::string_view>(
        {"am", "cherry-pick", "commit", "commit-tree", "merge", "pull",
         "rebase", "revert", "tag"});
    const auto is = [&](const auto& names) {
      return !invocation.subcommand.empty() &&
             std::ranges::find(names, invocation.subcommand.front()) !=
                 names.end();
    };
    // Git ends so when another side could not be read.
    constexpr int kFatal = 128;
    if (!judgement_.transports.empty() && is(kTalks))
      return;  // known, not guessed
    for (const std::string& place : PushedPlaces(invocation))
      OfPath(place, true);
    if (is(kTalks) && outcome_->exit_code == kFatal) {
      Hint(GitLoginOf(invocation) + " are withheld");
      if (outcome_->instead.empty())
        outcome_->instead =
            "tell the person, who can run it in a terminal of their own; do "
            "not change the remote";
    } else if (is(kSigns) && (outcome_->exit_code == kFatal ||
                              is(std::to_array<std::string_view>(
                                  {"commit-tree", "rebase"})))) {
      OfMissedSignature();
    }
  }

  void OfSsh() {
    constexpr int kNoConnection = 255;  // ssh(1), "EXIT STATUS"
    if (outcome_->exit_code != kNoConnection || !Exists(HomeFile(".ssh")))
      return;
    Hint("the keys and the agent of ssh are withheld");
    if (outcome_->instead.empty()) outcome_->instead = kByPerson;
  }

  // What git of the line asked the signing agent for, and did not get.
  void OfSignatures() {
    for (const credentials::Signature& each :
         judgement_.signed_for.signatures) {
      if (each.refused.empty()) continue;
      std::string step =
          "let the person commit, in a terminal of their own; do not switch "
          "signing off";
      // It was asked whether the key is there, and no agent has it.
      if (each.hash.empty())
        for (const credentials::SigningKey& key : judgement_.signing.keys)
          if (credentials::NameOf(key) == each.key)
            step = "let the person run: ssh-add " +
                   (key.file.empty() ? "KEY" : ShellQuote(key.file)) +
                   "; do not switch signing off";
      Add("a signature (" + each.refused + ")", std::move(step));
    }
  }

  // git ended as it does when it cannot sign, and asked for nothing.
  void OfMissedSignature() {
    if (!judgement_.signing.wanted || judgement_.signed_for.refusals > 0)
      return;
    if (!judgement_.signing.withheld.empty())
      Hint(judgement_.signing.withheld + " is withheld");
    else if (judgement_.signed_for.signatures.empty() &&
             !judgement_.signing.keys.empty())
      Hint("another key than " +
           credentials::NameOf(judgement_.signing.keys.front()) +
           ", which signs, is withheld");
    else
      return;
    if (outcome_->instead.empty())
      outcome_->instead = judgement_.signing.instead;
  }

  // Variables of the caller's that the line names, and that stayed outside.
  void OfVariables() {
    for (const std::string& entry : facts_.environment) {
      const size_t equals = entry.find('=');
      if (equals == std::string::npos || equals == 0) continue;
      const std::string name = entry.substr(0, equals);
      if (!backends::LooksSecret(name, entry.substr(equals + 1)) ||
          !NamesVariable(line_, name) ||
          std::ranges::find(profile_.environment_lend, name) !=
              profile_.environment_lend.end() ||
          std::ranges::find(profile_.environment_keep, name) !=
              profile_.environment_keep.end())
        continue;
      Add("the variable " + name, kByPerson);
    }
  }

  const ProcessFacts& facts_;
  const Authorization& judgement_;
  const backends::Profile& profile_;
  const parser::Analysis& analysis_;
  const std::string line_;
  const Background background_;
  const bool counted_;  // what was left is in the outcome
  backends::Outcome* outcome_;
  std::vector<std::string> hosts_;  // named as withheld
};

}  // namespace

void FillWithheld(const ProcessFacts& facts, const Authorization& authorization,
                  backends::Outcome* outcome) {
  using backends::OutcomeStatus;
  if (authorization.plan.mode != router::Mode::kSandbox ||
      outcome->status != OutcomeStatus::kExited)
    return;
  const bool failed = outcome->exit_code != 0;
  const bool counted = CountsProcesses(authorization.plan);
  if (!failed && counted && outcome->left_running == 0) return;
  const Request& request = authorization.request;
  const Background background =
      request.is_argv ? Background() : FindBackground(request.command);
  if (!failed && !counted && !background.any) return;
  std::optional<parser::Analysis> again;
  Finder(facts, authorization, AnalysisOf(facts, authorization, &again),
         background, outcome)
      .Find();
}

void FillNotForwarded(const Authorization& authorization,
                      backends::Outcome* outcome) {
  for (const uint16_t port : authorization.not_forwarded)
    outcome->withheld.push_back("localhost:" + std::to_string(port) +
                                " from what goes on in the background");
  if (!authorization.not_forwarded.empty())
    outcome->instead =
        "where that needs it, start it, use it and end it in one line";
}

std::vector<std::string> WithheldLines(const backends::Outcome& outcome) {
  std::vector<std::string> lines;
  if (!outcome.withheld.empty()) {
    std::string text = "withheld ";
    for (size_t i = 0; i < outcome.withheld.size(); ++i)
      text += (i == 0 ? "" : ", ") + Visible(outcome.withheld[i]);
    lines.push_back(std::move(text));
  }
  if (!outcome.hints.empty()) lines.push_back(Visible(outcome.hints.front()));
  if (!lines.empty() && !outcome.instead.empty())
    lines.back() += "; instead: " + Visible(outcome.instead);
  return lines;
}

}  // namespace gate::app
