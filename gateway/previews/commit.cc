#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/json_writer.h"
#include "base/paths.h"
#include "base/text.h"
#include "gateway/preview_run.h"

namespace gate::app {
namespace {

using backends::PreviewEntry;
using backends::PreviewManifest;

constexpr size_t kRecordedPaths = 200;

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

}  // namespace

std::string FullPath(const PreviewManifest& manifest,
                     const PreviewEntry& entry) {
  return manifest.roots[entry.root].root + "/" + entry.path;
}

size_t RefusedEntries(const PreviewManifest& manifest) {
  size_t count = 0;
  for (const PreviewEntry& entry : manifest.entries)
    count += entry.refused.empty() ? 0 : 1;
  return count;
}

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

PreviewCommit CommitKept(Gateway& gateway, const KeptPreview& preview,
                         const std::vector<std::string>& paths,
                         const std::string& who, const backends::Kept& told) {
  PreviewCommit commit;
  const std::string& state = gateway.facts().places.state;
  if (const std::string path = NotInPreview(preview, paths); !path.empty()) {
    commit.refused = Visible(path) + " is not in the preview";
    return commit;
  }
  for (const std::string& path : paths) {
    const std::string why = RefusedWhole(preview, path);
    if (why.empty()) continue;
    commit.refused = Visible(path) + " is refused: " + Visible(why);
    return commit;
  }
  Session session;
  session.workspace = preview.workspace;
  auto profile = router::MakeProfile(rules::ProfileKind::kWorkspaceWrite,
                                     gateway.MakeProfileInputs(session),
                                     backends::Network::kNone);
  if (!profile) {
    commit.refused = profile.error().message;
    return commit;
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
  request.kept = told;
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
      commit.troubles.push_back("what is committed cannot be noted: " +
                                noted.error().message);
  }
  // Nothing was changed, but by a commit before that was killed.
  if (result || !preview.interrupted) CommitEnded(state, preview);
  if (!result) {
    commit.refused = result.error().message;
    return commit;
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
    commit.troubles.push_back("the commit could not be recorded: " +
                              stored.error().message);
  commit.before = preview.committed.size();
  commit.committed = now.committed.size() - commit.before;
  commit.left = result->left;
  const size_t seen = now.committed.size() + RefusedEntries(preview.manifest);
  const bool all = seen >= preview.manifest.entries.size();
  if (all) DropPreview(state, preview, told);
  commit.complete = paths.empty() ? all : Failures(preview, *result) == 0;
  return commit;
}

}  // namespace gate::app
