#include <string>
#include <utility>

#include "base/json_writer.h"
#include "base/text.h"
#include "gateway/execute.h"
#include "gateway/line.h"
#include "gateway/preview_run.h"
#include "git/roots.h"

namespace gate::app {
namespace {

// Whether the plan's backend makes overlays here; why not.
std::string Objection(Gateway& gateway, const std::string& backend) {
  for (const router::Candidate& candidate : gateway.candidates())
    if (candidate.name == backend &&
        candidate.availability.features.Has(backends::Feature::kOverlay))
      return "";
  return "there is no preview: " + backend +
         " cannot give the required feature overlay";
}

std::vector<std::string> KeptRoots(const Authorization& authorization) {
  std::vector<std::string> roots;
  const std::string& workspace = authorization.plan.profile.workspace;
  if (workspace.empty()) return roots;
  roots.push_back(workspace);
  for (std::string& directory : WritableGitDirectories(workspace))
    roots.push_back(std::move(directory));
  return roots;
}

KeptPreview NewPreview(const Authorization& authorization,
                       const std::string& id) {
  KeptPreview preview;
  preview.id = id;
  preview.command = LineOf(authorization.request);
  preview.cwd = authorization.request.cwd;
  preview.agent = authorization.request.agent;
  preview.workspace = authorization.plan.profile.workspace;
  preview.policy_revision = authorization.policy_revision;
  preview.action = Name(authorization.decision.action);
  preview.made_ms = NowMs();
  return preview;
}

}  // namespace

PreviewRun RunPreview(Gateway& gateway, Authorization* authorization,
                      const std::string& parent, const backends::Kept& told) {
  const std::string& state = gateway.facts().places.state;
  PreviewRun run;
  run.problem = Objection(gateway, authorization->plan.backend);
  if (!run.problem.empty()) {
    run.end = PreviewEnd::kRefused;
    return run;
  }
  run.preview = NewPreview(*authorization, parent);
  KeptPreview& preview = run.preview;
  auto lock = MakePreview(state, preview.id, preview.made_ms, told);
  if (!lock) {
    run.problem = "the preview cannot be made: " + lock.error().message;
    return run;
  }
  run.lock = std::move(*lock);
  const auto give_up = [&](PreviewEnd end, std::string problem) {
    DropPreview(state, preview, told);
    run.end = end;
    run.problem = std::move(problem);
  };
  if (auto prepared = backends::PreparePreview(
          &authorization->plan.profile, PreviewDirectory(state, preview.id),
          KeptRoots(*authorization), &preview.manifest);
      !prepared) {
    give_up(PreviewEnd::kNotMade,
            "the preview cannot be made: " + prepared.error().message);
    return run;
  }

  gateway.CloseLog();
  backends::Outcome outcome = RunPlanned(
      gateway, authorization, backends::Permit::Given(), Leftovers::kEnd);
  const bool ran = outcome.status != backends::OutcomeStatus::kSetupFailed;
  // From here on nothing of the command runs any more.
  Status listed;
  if (ran)
    listed =
        backends::FillManifest(authorization->plan.profile, &preview.manifest);
  const bool whole = listed && preview.manifest.too_large.empty();
  Status kept;
  if (ran && whole && !preview.manifest.entries.empty())
    kept = KeepPreview(state, &preview);
  JsonWriter what;
  what.BeginObject().Field("manifest", preview.hash);
  what.Field("changes", static_cast<int64_t>(preview.manifest.entries.size()));
  what.Field("refused", static_cast<int64_t>(RefusedEntries(preview.manifest)));
  what.EndObject();
  authorization->preview = what.text();
  if (auto stored =
          gateway.RecordOutcome(parent, *authorization, outcome, "run");
      !stored) {
    give_up(PreviewEnd::kThrownAway,
            "the outcome could not be recorded, so nothing is kept: " +
                stored.error().message);
    return run;
  }
  run.outcome = std::move(outcome);
  if (!ran) {
    give_up(PreviewEnd::kNotStarted, "");
  } else if (!listed || !kept) {
    give_up(PreviewEnd::kThrownAway,
            "the changes cannot be listed, so they are thrown away: " +
                (listed ? kept : listed).error().message);
  } else if (!whole) {
    give_up(PreviewEnd::kThrownAway,
            "the changes are more than a preview holds, so they are thrown "
            "away: " +
                Visible(preview.manifest.too_large));
  } else if (preview.manifest.entries.empty()) {
    give_up(PreviewEnd::kUnchanged, "");
  } else {
    run.end = PreviewEnd::kKept;
  }
  return run;
}

}  // namespace gate::app
