// The order of questions: may it run at all, does it need a place, which
// profile (the strictest asked), what that profile requires, and which of the
// backends that give it comes first. Every question that has no answer ends in
// a refusal or an error.
#include "router/plan.h"

#include <algorithm>

#include "base/paths.h"

namespace gate::router {
namespace {

using backends::Feature;
using backends::FeatureSet;
using backends::Network;
using backends::Profile;
using backends::Strength;
using rules::ProfileKind;

FeatureSet RequiredFeatures(const Profile& profile) {
  FeatureSet required = {Feature::kPrivateTmp, Feature::kProcessIsolation,
                         Feature::kSeccomp, Feature::kCleanEnvironment};
  const bool everything = std::find(profile.write.begin(), profile.write.end(),
                                    "/") != profile.write.end();
  if (!everything) required.Add(Feature::kReadOnlyRoot);
  if (!profile.deny_read.empty()) required.Add(Feature::kReadDeny);
  if (!profile.write.empty() &&
      (!profile.protect.empty() || !profile.protect_names.empty()))
    required.Add(Feature::kProtectedPaths);
  if (profile.network == Network::kNone) required.Add(Feature::kNetworkNone);
  if (profile.network == Network::kLoopback ||
      profile.network == Network::kDomains)
    required.Add(Feature::kNetworkLoopback);
  if (profile.network == Network::kDomains)
    required.Add(Feature::kNetworkDomains);
  if (!profile.lend.empty()) required.Add(Feature::kLending);
  const backends::Limits& limits = profile.limits;
  if ((limits.cpu_s | limits.memory_bytes | limits.processes |
       limits.open_files | limits.file_bytes | limits.wall_ms |
       limits.written_bytes | limits.output_bytes | limits.files) != 0)
    required.Add(Feature::kLimits);
  if ((limits.cpu_s | limits.memory_bytes | limits.processes |
       limits.written_bytes) != 0)
    required.Add(Feature::kTreeLimits);
  return required;
}

std::string Names(const std::vector<Feature>& features) {
  std::string text;
  for (const Feature feature : features)
    text += (text.empty() ? "" : ", ") + std::string(Name(feature));
  return text;
}

// Why `candidate` cannot be used; empty when it can. A missing feature excludes
// it unless its loss is accepted. Without kNetworkDomains there would be no
// telling which network a command gets, so that loss is accepted from nobody.
std::string Objection(const Candidate& candidate, Strength required,
                      FeatureSet features, FeatureSet accept_loss) {
  if (candidate.strength == Strength::kNone) return "contains nothing";
  if (candidate.strength < required)
    return std::string("is weaker than ") + Name(required);
  if (!candidate.availability.available)
    return candidate.availability.why.empty() ? "is not available"
                                              : candidate.availability.why;
  std::vector<Feature> missing =
      features.Without(candidate.availability.features);
  std::erase_if(missing, [&](Feature feature) {
    return accept_loss.Has(feature) && feature != Feature::kNetworkDomains;
  });
  if (!missing.empty()) return "cannot give " + Names(missing);
  return "";
}

Result<const Candidate*> Choose(const std::vector<Candidate>& candidates,
                                const Settings& settings, FeatureSet features) {
  Strength required = std::max(settings.required, Strength::kLandlock);
  for (const std::string& name : settings.overridden) {
    const auto at = std::find_if(
        candidates.begin(), candidates.end(),
        [&](const Candidate& candidate) { return candidate.name == name; });
    if (at == candidates.end())
      return Fail(ErrorCode::kUnavailable,
                  "no backend is called `" + name + "`");
    required = std::max(required, at->strength);
  }
  if (!settings.backend.empty()) {
    for (const Candidate& candidate : candidates) {
      if (candidate.name != settings.backend) continue;
      const std::string objection =
          Objection(candidate, required, features, settings.accept_loss);
      if (objection.empty()) return &candidate;
      const bool weaker = candidate.strength < required;
      return Fail(weaker ? ErrorCode::kInvalid : ErrorCode::kUnavailable,
                  "backend `" + settings.backend + "`: " + objection);
    }
    return Fail(ErrorCode::kUnavailable,
                "no backend is called `" + settings.backend + "`");
  }
  const Candidate* best = nullptr;
  std::string objections;
  const auto better = [&](const Candidate& a, const Candidate& b) {
    const size_t loss_a = features.Without(a.availability.features).size();
    const size_t loss_b = features.Without(b.availability.features).size();
    if (loss_a != loss_b) return loss_a < loss_b;
    if (settings.hardened && a.strength != b.strength)
      return a.strength > b.strength;
    return a.priority < b.priority;
  };
  for (const Candidate& candidate : candidates) {
    const std::string objection =
        Objection(candidate, required, features, settings.accept_loss);
    if (!objection.empty()) {
      objections +=
          (objections.empty() ? "" : "; ") + candidate.name + ": " + objection;
      continue;
    }
    if (best == nullptr || better(candidate, *best)) best = &candidate;
  }
  if (best == nullptr)
    return Fail(ErrorCode::kUnavailable,
                "no backend can contain this command (" + objections + ")");
  return best;
}

// The first of `programs` that `list` names; when there may be others than the
// known ones, any list of names could name them.
std::string Listed(const std::vector<std::string>& list,
                   const Programs& programs) {
  if (list.empty()) return "";
  for (const std::string& program : programs.names)
    if (std::find(list.begin(), list.end(), program) != list.end())
      return program;
  return programs.complete ? "" : list.front();
}

}  // namespace

Result<Plan> MakePlan(const engine::Decision& decision, bool approved,
                      const std::vector<Candidate>& candidates,
                      const Settings& settings, const ProfileInputs& inputs,
                      const Programs& programs) {
  using rules::Action;
  Plan plan;
  if (decision.action == Action::kAsk && !approved) {
    plan.why = "not approved: " + decision.reason;
    return plan;
  }
  if (decision.action != Action::kAllow &&
      decision.action != Action::kSandbox && decision.action != Action::kAsk) {
    plan.why = decision.reason;
    return plan;
  }
  // Whoever names a profile or a backend wants the command contained.
  const bool contain =
      decision.contain || decision.action == Action::kSandbox ||
      settings.profile != ProfileKind::kUnsaid || !settings.backend.empty() ||
      !Listed(settings.always_sandbox, programs).empty();
  if (!contain) {
    plan.mode = Mode::kDirect;
    plan.why = decision.reason;
    // Nothing contains it, but its time and output are counted all the same.
    plan.profile.limits.wall_ms = settings.limits.wall_ms;
    plan.profile.limits.output_bytes = settings.limits.output_bytes;
    return plan;
  }

  // Only what is known to be in the list: the rest is contained, as asked.
  const Programs known = {programs.names, true};
  if (const std::string never = Listed(settings.never_sandbox, known);
      !never.empty()) {
    plan.why =
        "`" + never +
        "` is never run in a sandbox (never_sandbox), and no rule allows "
        "it without one";
    return plan;
  }

  ProfileKind kind = decision.profile;
  if (settings.profile != ProfileKind::kUnsaid) {
    kind = settings.profile;
    if (JoinProfiles(decision.profile, kind) != kind)
      return Fail(ErrorCode::kInvalid,
                  "profile `" + std::string(rules::Name(kind)) +
                      "` is not as strict as `" +
                      std::string(rules::Name(decision.profile)) +
                      "`, which the policy asks for");
  }
  GATE_TRY(plan.profile, MakeProfile(kind, inputs,
                                     JoinNetworks(NetworkOf(decision.network),
                                                  settings.network)));
  GATE_TRY(plan.profile.domains,
           MakeDomainFilter(decision, settings, plan.profile.network));
  // Whoever asks for a stricter profile than writes the workspace wants no
  // more.
  if (!inputs.opened.empty() && !plan.profile.write.empty() &&
      plan.profile.write.front() != "/") {
    GATE_CHECK(OpenPlaces(inputs.opened, &plan.profile));
    for (const std::string& place : inputs.made)
      plan.profile.made.push_back(Normalise(place, "/"));
    plan.opened = inputs.opened;
    plan.profile.environment_set.insert(inputs.opened_variables.begin(),
                                        inputs.opened_variables.end());
  }
  plan.profile.limits = settings.limits;
  plan.profile.required = RequiredFeatures(plan.profile);
  GATE_TRY(const Candidate* chosen,
           Choose(candidates, settings, plan.profile.required));

  // What the chosen one does not give has been accepted by policy: it is said,
  // and not demanded of it again.
  const FeatureSet given = chosen->availability.features;
  FeatureSet kept;
  for (int i = 0; i < backends::kFeatures; ++i) {
    const auto feature = static_cast<Feature>(i);
    if (!plan.profile.required.Has(feature)) continue;
    if (given.Has(feature))
      kept.Add(feature);
    else
      plan.lost.push_back(std::string("not given: ") + Name(feature));
  }
  plan.profile.required = kept;
  if (!given.Has(Feature::kLending)) {
    plan.profile.lend.clear();
    plan.profile.environment_lend.clear();
  }
  plan.lost.insert(plan.lost.end(), chosen->availability.lost.begin(),
                   chosen->availability.lost.end());
  if (plan.profile.network == Network::kOpen &&
      !plan.profile.domains.deny.empty()) {
    std::string denied;
    for (const std::string& host : plan.profile.domains.deny)
      denied += (denied.empty() ? "" : ", ") + host;
    plan.lost.push_back("the open network reaches hosts that rules deny (" +
                        denied + ")");
  }
  const auto on_top = [&](bool wanted, Feature feature, bool Profile::* field) {
    if (!wanted) return;
    if (given.Has(feature))
      plan.profile.*field = true;
    else
      plan.lost.push_back(std::string("not given: ") + Name(feature));
  };
  on_top(settings.watch_execs, Feature::kWatchExecs, &Profile::watch_execs);
  on_top(settings.report_blocked, Feature::kReportBlocked,
         &Profile::report_blocked);
  on_top(settings.report_reads, Feature::kReportBlocked,
         &Profile::report_reads);
  plan.mode = Mode::kSandbox;
  plan.backend = chosen->name;
  plan.why = "profile " + plan.profile.name + ", network " +
             Name(plan.profile.network) + ": " + chosen->name +
             (settings.backend.empty() ? "" : " (asked for)");
  if (chosen->strength == Strength::kContainer && !settings.image.empty()) {
    plan.profile.image = settings.image;
    plan.why += ", image " + settings.image;
  }
  return plan;
}

}  // namespace gate::router
