#include "cli/preview_run.h"
#include "cli/output/report.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "approvals/prompt_text.h"
#include "approvals/terminal.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/output/decision_json.h"
#include "gateway/execute.h"
#include "gateway/line.h"
#include "git/roots.h"

namespace gate::app {
namespace {

using backends::PreviewChange;
using backends::PreviewEntry;
using backends::PreviewManifest;

constexpr size_t kShownLines = 40;
constexpr size_t kRecordedPaths = 200;

int GateFailed(const std::string& message) {
  Complain(message);
  return kExitGateFailed;
}

std::string FullPath(const PreviewManifest& manifest,
                     const PreviewEntry& entry) {
  return manifest.roots[entry.root].root + "/" + entry.path;
}

size_t Refused(const PreviewManifest& manifest) {
  size_t count = 0;
  for (const PreviewEntry& entry : manifest.entries)
    count += entry.refused.empty() ? 0 : 1;
  return count;
}

std::string Octal(uint32_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", mode);
  return text;
}

// The mode, where saying yes to it without seeing it would be a mistake: one
// that changes, or a new one with what no plain umask gives. Empty otherwise.
std::string ShownMode(const PreviewEntry& entry) {
  constexpr uint32_t kUnusual = 07002;
  if (entry.change == PreviewChange::kDeleted ||
      entry.type == backends::PreviewType::kLink)
    return "";
  if (entry.lower.exists && entry.lower.type == entry.type)
    return entry.mode == entry.lower.mode
               ? ""
               : " " + Octal(entry.lower.mode) + " -> " + Octal(entry.mode);
  return (entry.mode & kUnusual) == 0 ? "" : " mode " + Octal(entry.mode);
}

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

Status RecordCommit(const std::string& state_dir, const KeptPreview& preview,
                    const std::string& reason, const std::string& detail) {
  GATE_TRY(auto log, audit::Log::Open(state_dir, {}));
  audit::Record record;
  record.kind = audit::Kind::kConfig;
  record.id = NewUuid(NowMs());
  record.parent = preview.id;
  record.time_ns = NowNs();
  record.mode = "commit";
  record.command = preview.command;
  record.cwd = preview.cwd;
  record.agent = preview.agent;
  record.reason = reason;
  record.policy_revision = preview.policy_revision;
  record.detail = detail;
  return log.Append(&record);
}

void WriteBytes(JsonWriter* json, const char* name, const std::string& bytes) {
  json->Field(name, bytes);
  if (!IsUtf8(bytes)) json->Field(std::string(name) + "_b64", Base64(bytes));
}

// Whether nothing at and below `path` could be committed, and why of the first;
// empty otherwise.
std::string RefusedWhole(const KeptPreview& preview, const std::string& path) {
  std::string why;
  for (const PreviewEntry& entry : preview.manifest.entries) {
    if (!IsWithin(FullPath(preview.manifest, entry), path)) continue;
    if (entry.refused.empty()) return "";
    if (why.empty()) why = entry.refused;
  }
  return why;
}

// What a commit left that the manifest did not refuse already.
size_t Failures(const KeptPreview& preview,
                const backends::CommitResult& result) {
  std::set<std::string> refused;
  for (const PreviewEntry& entry : preview.manifest.entries)
    if (!entry.refused.empty())
      refused.insert(FullPath(preview.manifest, entry));
  size_t count = 0;
  for (const auto& [path, why] : result.left)
    count += refused.contains(path) ? 0 : 1;
  return count;
}

enum class Standing : uint8_t { kRefused, kOpen, kCommitted };

Standing StandingOf(const KeptPreview& preview, size_t index) {
  if (preview.committed.contains(index)) return Standing::kCommitted;
  return preview.manifest.entries[index].refused.empty() ? Standing::kOpen
                                                         : Standing::kRefused;
}

// What the person at the terminal wants. False: nothing at all; `*keep`:
// later.
bool AskCommit(const KeptPreview& preview, std::vector<std::string>* paths,
               bool* keep) {
  const auto answer = AskChoice(RenderPreview(preview, kShownLines) +
                                    "Commit? [a]ll, [s]ome, [k]eep for a day, "
                                    "[N]othing: ",
                                {"all", "some", "keep"});
  if (!answer) {
    *keep = true;
    return false;
  }
  if (*answer == 'a') return true;
  *keep = *answer == 'k';
  if (*answer != 's') return false;
  *keep = true;
  while (const auto line = AskLine("Path (an empty line ends): ")) {
    if (line->empty()) break;
    const std::string path = Normalise(*line, preview.workspace);
    if (NotInPreview(preview, {path}).empty()) {
      paths->push_back(path);
      std::fputs(RenderChoice(preview, {path}).c_str(), stderr);
    } else
      Complain(Visible(path) + " is not in the preview");
  }
  return !paths->empty();
}

}  // namespace

std::string NotInPreview(const KeptPreview& preview,
                         const std::vector<std::string>& paths) {
  const auto& entries = preview.manifest.entries;
  for (const std::string& path : paths)
    if (std::none_of(entries.begin(), entries.end(), [&](const auto& entry) {
          return IsWithin(FullPath(preview.manifest, entry), path);
        }))
      return path;
  return "";
}

std::string CountChanges(const KeptPreview& preview) {
  std::string text =
      std::to_string(preview.manifest.entries.size()) + " changes";
  if (!preview.committed.empty())
    text += ", " + std::to_string(preview.committed.size()) + " committed";
  return text;
}

std::string RenderChoice(const KeptPreview& preview,
                         const std::vector<std::string>& paths) {
  const auto& entries = preview.manifest.entries;
  std::string text;
  std::set<size_t> counted = preview.committed;
  for (const std::string& path : paths) {
    // New directories above what is chosen come with it.
    size_t above = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      const std::string full = FullPath(preview.manifest, entries[i]);
      if (entries[i].change == PreviewChange::kAdded && full != path &&
          IsWithin(path, full) && counted.insert(i).second)
        ++above;
    }
    text += "only " + Visible(path);
    if (above > 0)
      text += " (and " + std::to_string(above) +
              (above == 1 ? " new directory" : " new directories") + " above)";
    text += "\n";
  }
  return text;
}

std::string RenderPreview(const KeptPreview& preview, size_t most) {
  return RenderChosen(preview, {}, most);
}

std::string RenderChosen(const KeptPreview& preview,
                         const std::vector<std::string>& paths, size_t most) {
  const auto& entries = preview.manifest.entries;
  std::string text = "preview " + preview.id + ": " + CountChanges(preview) +
                     " by\n" +
                     ShownCommand(preview.command, PersonsScreen().columns);
  size_t shown = 0, others = 0;
  const auto is_chosen = [&](const PreviewEntry& entry) {
    const std::string full = FullPath(preview.manifest, entry);
    const bool made = entry.change == PreviewChange::kAdded &&
                      entry.type == backends::PreviewType::kDirectory;
    return paths.empty() || std::any_of(paths.begin(), paths.end(),
                                        [&](const std::string& path) {
                                          return IsWithin(full, path) ||
                                                 (made && IsWithin(path, full));
                                        });
  };
  // What will not be committed first, so that no length hides it; last what is.
  for (const Standing standing :
       {Standing::kRefused, Standing::kOpen, Standing::kCommitted}) {
    for (size_t i = 0; i < entries.size(); ++i) {
      const PreviewEntry& entry = entries[i];
      if (StandingOf(preview, i) != standing) continue;
      if (!is_chosen(entry)) {
        ++others;
        continue;
      }
      if (++shown > most) continue;
      const bool refused = standing == Standing::kRefused;
      std::string line = "  ";
      line += refused ? "REFUSED " : "";
      line += Name(entry.change);
      line += std::string(" ") + Name(entry.type) + " ";
      line += Visible(FullPath(preview.manifest, entry));
      if (!entry.target.empty()) line += " -> " + Visible(entry.target);
      if (entry.change != PreviewChange::kMode &&
          entry.type == backends::PreviewType::kFile)
        line += " (" + std::to_string(entry.size) + " bytes)";
      line += ShownMode(entry);
      if (refused) line += ": " + Visible(entry.refused);
      if (standing == Standing::kCommitted) line += ": committed already";
      text += line + "\n";
    }
  }
  if (shown > most)
    text += "  … and " + std::to_string(shown - most) +
            " more: gate pending show " + preview.id + "\n";
  if (others > 0)
    text += "  not chosen: " + std::to_string(others) + " others\n";
  return text;
}

std::string PreviewToJson(const KeptPreview& preview,
                          const std::string& state) {
  JsonWriter json;
  json.BeginObject().Field("schema", "gate.preview/1");
  json.Field("id", preview.id).Field("manifest", preview.hash);
  json.Field("state", state);
  json.Field("expires_ms",
             static_cast<int64_t>(preview.made_ms + kPreviewLifetimeMs));
  WriteBytes(&json, "command", preview.command);
  json.Field("action", preview.action);
  json.Key("changes").BeginArray();
  for (size_t i = 0; i < preview.manifest.entries.size(); ++i) {
    const PreviewEntry& entry = preview.manifest.entries[i];
    json.BeginObject();
    WriteBytes(&json, "path", FullPath(preview.manifest, entry));
    json.Field("change", Name(entry.change)).Field("type", Name(entry.type));
    json.Field("size", static_cast<int64_t>(entry.size));
    json.Field("mode", int64_t{entry.mode});
    if (!entry.sha256.empty()) json.Field("sha256", entry.sha256);
    if (!entry.target.empty()) WriteBytes(&json, "target", entry.target);
    if (entry.names > 1 && entry.type == backends::PreviewType::kFile)
      json.Field("hard_links", static_cast<int64_t>(entry.names));
    if (entry.lower.exists) {
      json.Key("replaces").BeginObject();
      json.Field("type", Name(entry.lower.type));
      json.Field("size", static_cast<int64_t>(entry.lower.size));
      json.Field("mode", int64_t{entry.lower.mode});
      json.Field("mtime_ns", entry.lower.mtime_ns);
      if (!entry.lower.sha256.empty()) json.Field("sha256", entry.lower.sha256);
      json.EndObject();
    }
    if (!entry.refused.empty()) json.Field("refused", entry.refused);
    if (preview.committed.contains(i)) json.Flag("committed", true);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

bool CommitKept(Gateway& gateway, const KeptPreview& preview,
                const std::vector<std::string>& paths, const std::string& who) {
  const std::string& state = gateway.facts().places.state;
  if (const std::string path = NotInPreview(preview, paths); !path.empty()) {
    Complain("not committed: " + Visible(path) + " is not in the preview");
    return false;
  }
  for (const std::string& path : paths) {
    const std::string why = RefusedWhole(preview, path);
    if (why.empty()) continue;
    Complain("not committed: " + Visible(path) +
             " is refused: " + Visible(why));
    return false;
  }
  Session session;
  session.workspace = preview.workspace;
  auto profile =
      router::MakeProfile("workspace-write", gateway.MakeProfileInputs(session),
                          backends::Network::kNone);
  if (!profile) {
    Complain(profile.error().message);
    return false;
  }
  JsonWriter what;
  what.BeginObject().Field("preview", preview.id);
  what.Field("manifest", preview.hash);
  what.Field("changes", static_cast<int64_t>(preview.manifest.entries.size()));
  what.Key("paths").BeginArray();
  for (size_t i = 0; i < paths.size() && i < kRecordedPaths; ++i)
    what.String(paths[i]);
  what.EndArray().EndObject();
  backends::CommitRequest request;
  request.tag = preview.id;
  request.paths = paths;
  request.kept = TellKept;
  request.before_first_change = [&]() -> Status {
    GATE_CHECK(NoteCommit(state, preview));
    return RecordCommit(state, preview, who + " commits a preview",
                        what.text());
  };
  const auto result =
      backends::CommitPreview(*profile, preview.manifest, request);
  KeptPreview now = preview;
  if (result) {
    now.committed.insert(result->done.begin(), result->done.end());
    if (auto noted = NoteCommitted(state, now); !noted)
      Complain("what is committed cannot be noted: " + noted.error().message);
  }
  // Nothing was changed, but by a commit before that was killed.
  if (result || !preview.interrupted) CommitEnded(state, preview);
  if (!result) {
    Complain("not committed: " + result.error().message);
    return false;
  }
  JsonWriter done;
  done.BeginObject().Field("preview", preview.id);
  done.Field("manifest", preview.hash);
  done.Field("committed", static_cast<int64_t>(result->committed));
  done.Key("left").BeginArray();
  for (size_t i = 0; i < result->left.size() && i < kRecordedPaths; ++i)
    done.BeginObject()
        .Field("path", result->left[i].first)
        .Field("why", result->left[i].second)
        .EndObject();
  done.EndArray().EndObject();
  if (auto stored =
          RecordCommit(state, preview, "a preview was committed", done.text());
      !stored)
    Complain("the commit could not be recorded: " + stored.error().message);
  const size_t before = preview.committed.size();
  Complain("committed " + std::to_string(now.committed.size() - before) +
           " of " + std::to_string(preview.manifest.entries.size()) +
           " changes" +
           (before == 0 ? "" : "; " + std::to_string(before) + " were before"));
  for (size_t i = 0; i < result->left.size(); ++i) {
    if (i == kShownLines) {
      Complain("and " + std::to_string(result->left.size() - i) + " more");
      break;
    }
    Complain("left out " + Visible(result->left[i].first) + ": " +
             Visible(result->left[i].second));
  }
  const size_t seen = now.committed.size() + Refused(preview.manifest);
  const bool all = seen >= preview.manifest.entries.size();
  if (all) DropPreview(state, preview, TellKept);
  return paths.empty() ? all : Failures(preview, *result) == 0;
}

int RunPreview(Gateway& gateway, Authorization* authorization,
               const std::string& parent, const PreviewOptions& options) {
  const std::string& state = gateway.facts().places.state;
  if (const std::string why = Objection(gateway, authorization->plan.backend);
      !why.empty()) {
    Complain(why);
    return kExitRefused;
  }
  KeptPreview preview;
  preview.id = parent;
  preview.command = LineOf(authorization->request);
  preview.cwd = authorization->request.cwd;
  preview.agent = authorization->request.agent;
  preview.workspace = authorization->plan.profile.workspace;
  preview.policy_revision = authorization->policy_revision;
  preview.action = Name(authorization->decision.action);
  preview.made_ms = NowMs();
  const auto lock = MakePreview(state, preview.id, preview.made_ms, TellKept);
  if (!lock)
    return GateFailed("the preview cannot be made: " + lock.error().message);
  const auto give_up = [&](const std::string& message) {
    DropPreview(state, preview, TellKept);
    return GateFailed(message);
  };
  if (auto prepared = backends::PreparePreview(
          &authorization->plan.profile, PreviewDirectory(state, preview.id),
          KeptRoots(*authorization), &preview.manifest);
      !prepared)
    return give_up("the preview cannot be made: " + prepared.error().message);

  gateway.CloseLog();
  const backends::Outcome outcome = RunPlanned(
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
  what.Field("refused", static_cast<int64_t>(Refused(preview.manifest)));
  what.EndObject();
  authorization->preview = what.text();
  if (auto stored =
          gateway.RecordOutcome(parent, *authorization, outcome, "run");
      !stored)
    return give_up("the outcome could not be recorded, so nothing is kept: " +
                   stored.error().message);
  if (options.json)
    std::fprintf(stderr, "%s\n", DecisionToJson(*authorization).c_str());
  const int code = Report(outcome, parent);
  if (!ran) {
    DropPreview(state, preview, TellKept);
    return code;
  }
  if (!listed || !kept)
    return give_up("the changes cannot be listed, so they are thrown away: " +
                   (listed ? kept : listed).error().message);
  if (!whole)
    return give_up(
        "the changes are more than a preview holds, so they are "
        "thrown away: " +
        Visible(preview.manifest.too_large));
  if (preview.manifest.entries.empty()) {
    Complain("preview: nothing was changed");
    if (options.json)
      std::fprintf(stderr, "%s\n", PreviewToJson(preview, "empty").c_str());
    DropPreview(state, preview, TellKept);
    return code;
  }

  std::vector<std::string> paths;
  bool keep = !options.person, commit = false;
  const bool automatic = options.automatic && outcome.EndedByItself();
  if (options.automatic && !automatic)
    Complain(
        "the command did not end by itself, so --preview=auto commits "
        "nothing of what it left");
  if (automatic && Refused(preview.manifest) == 0)
    commit = true;
  else if (options.person)
    commit = AskCommit(preview, &paths, &keep);
  std::string outcome_of_it = "kept";
  int result = code;
  if (commit) {
    const bool done = CommitKept(gateway, preview, paths,
                                 options.person ? "a person" : "the policy");
    outcome_of_it = done ? "committed" : "kept";
    if (!done) result = kExitGateFailed;
  } else if (!keep) {
    DropPreview(state, preview, TellKept);
    outcome_of_it = "discarded";
  }
  if (options.json)
    std::fprintf(stderr, "%s\n", PreviewToJson(preview, outcome_of_it).c_str());
  if (outcome_of_it == "kept") {
    if (!options.person && !options.json)
      std::fputs(RenderPreview(preview, kShownLines).c_str(), stderr);
    Complain(
        "nothing more is committed; a person can, within a day, with: "
        "gate pending commit " +
        preview.id);
  } else if (outcome_of_it == "discarded") {
    Complain("nothing was committed; the changes are thrown away");
  }
  return result;
}

void TellKept(const std::string& path, const std::string& of) {
  Complain("somebody changed " + (of.empty() ? "a file" : Visible(of)) +
           " in the moment in which a commit exchanged it; what they wrote is "
           "in " +
           Visible(path));
}

}  // namespace gate::app
