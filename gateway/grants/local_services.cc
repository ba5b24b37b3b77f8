#include "gateway/grants/local_services.h"

#include <algorithm>
#include <map>
#include <utility>

#include "approvals/standing_approvals.h"
#include "base/hash.h"
#include "base/paths.h"
#include "base/text.h"
#include "gateway/gateway.h"
#include "gateway/line.h"
#include "gateway/programs/engine_names.h"
#include "gateway/programs/engine_socket.h"
#include "gateway/runs/left_running.h"
#include "gateway/settings_copies.h"
#include "parser/programs.h"
#include "services/named_ports.h"
#include "services/published.h"

namespace gate::app {
namespace {

using backends::LocalService;
using services::Listener;
using services::PortFacts;
using services::PublishedPort;

// Beside who listens, in questions, plans and the record.
constexpr const char* kWithPasswords = ", with its passwords in ~/.pgpass";

std::string AddressOf(uint16_t port) {
  return "localhost:" + std::to_string(port);
}

void SetFamilies(const std::vector<Listener>& listeners,
                 LocalService* service) {
  service->four = service->six = false;
  for (const Listener& listener : listeners) {
    service->four |= listener.socket.four;
    service->six |= listener.socket.six;
  }
}

// What the engines of this machine say of published ports, asked once, and only
// when something listens that may be a container's.
class Containers {
 public:
  Containers(const ProcessFacts& facts,
             const std::vector<std::string>& writable)
      : facts_(facts),
        writable_(writable),
        deadline_us_(MonotonicUs() + kPublishedPatienceMs * 1000) {}

  // Whether there is an engine to ask.
  bool HasEngine() {
    if (sockets_) return !sockets_->empty();
    sockets_.emplace();
    for (const char* program : {"docker", "podman"})
      if (auto socket = FindEngineSocket(facts_, program, writable_))
        sockets_->emplace_back(program, std::move(*socket));
    return !sockets_->empty();
  }

  // The one that `listener` listens for; null where none is known to.
  const PublishedPort* Of(const Listener& listener) {
    if (!services::MayBePublished(listener, services::Facts())) return nullptr;
    Ask();
    return services::PublishedBy(listener, published_, services::Facts());
  }

  const std::vector<PublishedPort>& published() {
    Ask();
    return published_;
  }

  // Why it may be more than a container; empty when it is not.
  const std::string& DoubtOf(const PublishedPort& port) {
    const auto [doubt, is_new] = doubts_.try_emplace(port.container);
    if (!is_new) return doubt->second;
    const uint64_t now = MonotonicUs();
    const uint64_t left = now < deadline_us_ ? (deadline_us_ - now) / 1000 : 0;
    doubt->second = EngineDoubt(
        facts_,
        {{{EngineThing::kContainer, port.container, engines_[port.container]}},
         ""},
        writable_, left);
    return doubt->second;
  }

 private:
  void Ask() {
    if (std::exchange(asked_, true) || !HasEngine()) return;
    for (const auto& [program, socket] : *sockets_) {
      const auto answer = AskEngine(socket, "/containers/json", deadline_us_,
                                    EngineBody::kList);
      if (!answer || answer->status != 200) continue;
      auto ports = services::ParsePublished(answer->body);
      if (!ports) continue;
      for (PublishedPort& port : *ports) {
        engines_[port.container] = program;
        published_.push_back(std::move(port));
      }
    }
  }

  const ProcessFacts& facts_;
  const std::vector<std::string>& writable_;
  uint64_t deadline_us_;
  bool asked_ = false;
  // Of engines, by the name of their client.
  std::optional<std::vector<std::pair<const char*, std::string>>> sockets_;
  std::vector<PublishedPort> published_;
  std::map<std::string, std::string> engines_, doubts_;  // by container
};

// Who listens on any of `ports`.
std::vector<Listener> ListenersOn(
    const services::ProcPlace& proc,
    const std::vector<services::ListeningSocket>& sockets,
    const std::vector<uint16_t>& ports) {
  std::vector<services::ListeningSocket> here;
  std::ranges::copy_if(sockets, std::back_inserter(here),
                       [&](const services::ListeningSocket& socket) {
                         return std::ranges::find(ports, socket.port) !=
                                ports.end();
                       });
  return services::FindHolders(proc, here);
}

std::vector<Listener> OfPort(const std::vector<Listener>& all, uint16_t port) {
  std::vector<Listener> listeners;
  std::ranges::copy_if(
      all, std::back_inserter(listeners),
      [&](const Listener& one) { return one.socket.port == port; });
  return listeners;
}

struct Origin {
  bool container = false;  // every listener is the engine's for one
  bool harmless = false;   // …that has nothing of this machine
  std::string shown;       // who it is, for people
  std::string doubt;       // why it is not harmless
};

Origin OriginOf(const std::vector<Listener>& listeners,
                Containers* containers) {
  Origin origin;
  origin.shown = services::Describe(listeners);
  origin.container = origin.harmless = true;
  for (const Listener& listener : listeners) {
    const PublishedPort* port = containers->Of(listener);
    if (port == nullptr) {
      origin.container = origin.harmless = false;
      return origin;
    }
    origin.shown = "the container " + Visible(port->name);
    if (const std::string& doubt = containers->DoubtOf(*port); !doubt.empty()) {
      origin.harmless = false;
      origin.doubt = doubt;
    }
  }
  return origin;
}

// Whether the person's settings name every one who listens.
bool IsListed(const LocalServicesSetting& setting,
              const std::vector<Listener>& listeners) {
  if (setting.mode != LocalServicesSetting::Mode::kListed) return false;
  return std::ranges::all_of(listeners, [&](const Listener& listener) {
    return std::ranges::any_of(
        setting.listed, [&](const ListedService& listed) {
          if (listed.port != listener.socket.port) return false;
          if (!listed.user.empty() &&
              UserName(listener.socket.uid) != listed.user)
            return false;
          if (listed.program.empty()) return true;
          if (!listener.process) return false;
          const std::string& program = listener.process->program;
          return listed.program.starts_with('/')
                     ? program == listed.program
                     : BaseName(program) == listed.program;
        });
  });
}

// A server that a line of the session is still starting, where the session runs
// something with this machine's network (`npm run dev & `, and in the next line
// `sleep 2; curl localhost:3000`). Where it runs something in another network,
// its own, the server may be there, and the line stays in that.
std::optional<LocalService> ServerToCome(uint16_t port,
                                         const std::string& private_tmp) {
  const auto runs = services::FindSessionProcesses(private_tmp);
  if (!runs.open || runs.closed) return std::nullopt;
  LocalService service;
  service.port = port;
  service.identity = services::SessionIdentity(private_tmp);
  service.shown = "a server that this session runs";
  return service;
}

// Whether a person said yes to it in this workspace, and it still listens.
bool IsApproved(const ProcessFacts& facts, const std::string& workspace,
                const std::string& identity) {
  const auto kept = ListStandingApprovals(facts.places.state, NowMs());
  return kept &&
         std::ranges::any_of(*kept, [&](const StandingApproval& approval) {
           return approval.scope == kServiceScope &&
                  approval.workspace == workspace &&
                  approval.rules == std::vector<std::string>{identity};
         });
}

// Keeps a person's yes to a service until another one listens there. Without
// it the person is asked again.
void RememberService(const ProcessFacts& facts,
                     const Authorization& authorization,
                     const LocalService& service) {
  const std::string& state = facts.places.state;
  const std::string& workspace = authorization.session.workspace;
  if (workspace.empty() || IsApproved(facts, workspace, service.identity))
    return;
  StandingApproval approval;
  approval.id = NewUuid(NowMs());
  approval.scope = kServiceScope;
  approval.command = AddressOf(service.port) + ": " + service.shown;
  approval.cwd = approval.workspace = workspace;
  approval.rules = {service.identity};
  approval.approved_ms = NowMs();
  approval.expires_ms = approval.approved_ms + kLongestApprovalMs;
  // Of one that listened there before nothing is left to say yes to.
  if (const auto kept = ListStandingApprovals(state, NowMs()))
    for (const StandingApproval& old : *kept)
      if (old.scope == kServiceScope && old.workspace == workspace &&
          old.command.starts_with(AddressOf(service.port) + ":"))
        (void)Revoke(state, old.id, NowMs());
  (void)Remember(state, approval);
}

std::string WhatIsAsked(const LocalService& service, const Origin& origin) {
  std::string text = AddressOf(service.port) + " of this machine, where " +
                     origin.shown + " listens";
  if (!origin.container)
    text += ": it runs outside the sandbox and does what it is sent";
  else if (!origin.doubt.empty())
    text += ": " + origin.doubt;
  if (const auto* closed =
          services::FindClosed(services::Facts(), service.port))
    text += "; usually that is " + closed->what + ", and what is sent to it " +
            closed->then;
  return text;
}

// Whether a line runs code that nobody read: tests, builds, scripts.
bool RunsProjectCode(const parser::Analysis& analysis) {
  return std::ranges::any_of(analysis.effects,
                             [](const parser::Effect& effect) {
                               return effect.kind ==
                                      parser::EffectKind::kExecuteFile;
                             }) ||
         std::ranges::any_of(
             analysis.invocations, [](const parser::Invocation& invocation) {
               if (invocation.builtin || invocation.guessed ||
                   !parser::IsDescribed(invocation.program))
                 return false;
               const parser::OptionsRead read =
                   invocation.read ? *invocation.read
                                   : parser::OptionsOf(parser::ReadArguments(
                                         invocation.argv));
               return read.acts.described &&
                      (read.acts.possible & parser::Bit(parser::Act::kCode)) !=
                          0;
             });
}

// Whether a database or a broker has that port, by what is known of clients.
bool IsDataPort(uint16_t port) {
  const PortFacts& facts = services::Facts();
  return std::ranges::any_of(
             facts.clients,
             [&](const auto& client) { return client.second.port == port; }) ||
         std::ranges::any_of(facts.schemes, [&](const auto& scheme) {
           return scheme.second == port && scheme.second > 1023;
         });
}

// Who listens on `port` now; nobody where that cannot be told.
std::vector<Listener> ListenersAt(uint16_t port) {
  const services::ProcPlace proc;
  const auto sockets = services::FindListening(proc, port);
  return sockets ? services::FindHolders(proc, *sockets)
                 : std::vector<Listener>();
}

// The databases and brokers of harmless containers.
void AddDataOfContainers(const ProcessFacts& facts, Containers* containers,
                         std::vector<LocalService>* services) {
  std::vector<uint16_t> ports;
  for (const PublishedPort& port : containers->published())
    if (IsDataPort(port.inner) &&
        services::FindClosed(services::Facts(), port.port) == nullptr &&
        std::ranges::find(*services, port.port, &LocalService::port) ==
            services->end() &&
        std::ranges::find(ports, port.port) == ports.end())
      ports.push_back(port.port);
  if (ports.empty()) return;
  const services::ProcPlace proc;
  const auto sockets = services::FindListening(proc);
  if (!sockets) return;
  const std::vector<Listener> all = ListenersOn(proc, *sockets, ports);
  for (const uint16_t port : ports) {
    if (services->size() >= services::kMaxForwardedPorts) return;
    const std::vector<Listener> listeners = OfPort(all, port);
    if (listeners.empty()) continue;
    const Origin origin = OriginOf(listeners, containers);
    if (!origin.harmless) continue;
    LocalService service;
    service.port = port;
    service.identity = services::IdentityOf(proc, listeners);
    service.shown = origin.shown;
    if (HasPasswordFor(facts, port)) service.shown += kWithPasswords;
    SetFamilies(listeners, &service);
    services->push_back(std::move(service));
  }
}

// Gives code of the project the databases of containers. A line that leaves
// something in the background is not given them: it could not go on then.
void GiveDataOfContainers(const ProcessFacts& facts, Containers* containers,
                          Authorization* authorization) {
  std::vector<LocalService>& services = authorization->plan.profile.services;
  std::optional<parser::Analysis> again;
  const parser::Analysis& analysis = AnalysisOf(facts, *authorization, &again);
  if (!RunsProjectCode(analysis)) return;
  const bool none_named = services.empty();
  AddDataOfContainers(facts, containers, &services);
  if (!none_named || services.empty()) return;
  const Background background = FindBackground(LineOf(authorization->request));
  if (!background.any || IsEndedByLine(analysis, background)) return;
  for (const LocalService& service : services)
    authorization->not_forwarded.push_back(service.port);
  services.clear();
}

}  // namespace

LocalServices FindLocalServices(const ProcessFacts& facts,
                                const parser::Analysis& analysis,
                                const LocalServicesSetting& setting,
                                const std::string& workspace,
                                const std::string& private_tmp,
                                const std::vector<std::string>& writable) {
  LocalServices found;
  if (!services::MayNamePorts(analysis)) return found;
  const std::vector<uint16_t> named =
      services::NamedPorts(analysis, services::Facts());
  if (named.empty()) return found;
  const services::ProcPlace proc;
  const auto sockets = services::FindListening(proc);
  // What cannot be seen is not given.
  if (!sockets) return found;
  const std::vector<Listener> all = ListenersOn(proc, *sockets, named);
  Containers containers(facts, writable);
  for (const uint16_t port : named) {
    const std::vector<Listener> listeners = OfPort(all, port);
    if (listeners.empty()) {
      if (auto service = ServerToCome(port, private_tmp))
        found.ports.push_back(std::move(*service));
      continue;
    }
    LocalService service;
    service.port = port;
    const std::string session = services::SessionIdentity(private_tmp);
    const bool own = services::AreNamedBy(proc, listeners, session);
    service.identity = own ? session : services::IdentityOf(proc, listeners);
    SetFamilies(listeners, &service);
    const bool said = own || IsListed(setting, listeners) ||
                      IsApproved(facts, workspace, service.identity);
    Origin origin;
    if (said)
      origin.shown = services::Describe(listeners) +
                     (own ? ", which this session runs" : "");
    else
      origin = OriginOf(listeners, &containers);
    service.shown = origin.shown;
    service.asked =
        !said && (!origin.harmless ||
                  services::FindClosed(services::Facts(), port) != nullptr);
    if (service.asked) {
      found.why += (found.why.empty() ? "contacts " : ", and ") +
                   WhatIsAsked(service, origin);
      if (HasPasswordFor(facts, port))
        found.why += "; with it go the passwords that ~/.pgpass has for it";
      found.mark += service.identity + "\n";
    }
    if (HasPasswordFor(facts, port)) service.shown += kWithPasswords;
    found.ports.push_back(std::move(service));
  }
  if (!found.mark.empty()) found.mark = Hex(Sha256(found.mark));
  return found;
}

Result<std::optional<services::Forwarder>> OfferLocalServices(
    Gateway& gateway, Authorization* authorization) {
  const ProcessFacts& facts = gateway.facts();
  backends::Profile& profile = authorization->plan.profile;
  const LocalServicesSetting& setting = gateway.settings().local_services;
  if (!ForwardsPorts(authorization->plan)) {
    profile.services.clear();
    return std::nullopt;
  }
  // Between the question, or the ticket, and the run somebody else may have
  // taken the port.
  std::vector<LocalService> kept;
  for (LocalService& service : profile.services) {
    const std::vector<Listener> now = ListenersAt(service.port);
    const bool to_come =
        now.empty() &&
        service.identity ==
            services::SessionIdentity(authorization->plan.profile.private_tmp);
    if (to_come || services::AreNamedBy({}, now, service.identity)) {
      if (service.asked &&
          authorization->decision.action == rules::Action::kAsk)
        RememberService(facts, *authorization, service);
      kept.push_back(std::move(service));
    } else if (!now.empty()) {
      authorization->forwarded.push_back({service.port, 0, 0, 0, 0, true});
    }
  }
  profile.services = std::move(kept);
  // `gate sandbox` asks no policy.
  if (setting.mode != LocalServicesSetting::Mode::kNone &&
      !authorization->policy_revision.empty()) {
    const std::vector<std::string> writable =
        gateway.WritablePlaces(authorization->session);
    Containers containers(facts, writable);
    // The line is read, where it has to be, only if there is an engine.
    if (containers.HasEngine())
      GiveDataOfContainers(facts, &containers, authorization);
  }
  if (profile.services.empty()) return std::nullopt;
  std::vector<services::Forward> ports;
  for (const LocalService& service : profile.services)
    ports.push_back({service.port, service.identity});
  auto forwarder = services::Forwarder::Start(ports);
  if (!forwarder) {
    profile.services.clear();
    return std::unexpected(forwarder.error());
  }
  return std::optional<services::Forwarder>(std::move(*forwarder));
}

}  // namespace gate::app
