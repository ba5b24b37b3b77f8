// Previews that are kept: <state>/previews/ID, mode 0700, for a day.
//
// ID is the decision's. The directory holds the overlays' places and
// `manifest`, signed with the state key, which no sandbox can read. A lock on
// the directory is held while the command runs and while it is committed.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "preview/preview.h"

namespace gate::app {

inline constexpr uint64_t kPreviewLifetimeMs = 24ull * 60 * 60 * 1000;
inline constexpr size_t kMaxPreviews = 32;

struct KeptPreview {
  std::string id;
  std::string command, cwd, agent, workspace, policy_revision;
  std::string action;  // of the decision
  uint64_t made_ms = 0;
  backends::PreviewManifest manifest;
  std::string hash;            // hex SHA-256 of what is signed
  bool interrupted = false;    // a commit began and did not end
  std::set<size_t> committed;  // which entries earlier commits applied
};

std::string PreviewDirectory(const std::string& state_dir,
                             const std::string& id);

// Makes the directory of a new preview and locks it. Sweeps: what is older
// than a day, what a killed run left, and the oldest beyond kMaxPreviews, a
// bounded part per call. `told`: where something is that somebody else wrote in
// the moment in which a commit exchanged a file.
Result<Fd> MakePreview(const std::string& state_dir, const std::string& id,
                       uint64_t now_ms, const backends::Kept& told);

// Signs the preview; sets its hash.
Status KeepPreview(const std::string& state_dir, KeptPreview* preview);

// All that are whole and not expired, oldest first.
Result<std::vector<KeptPreview>> ListPreviews(const std::string& state_dir,
                                              uint64_t now_ms);
// By id, or a unique prefix of at least 8 characters.
Result<KeptPreview> FindPreview(const std::string& state_dir,
                                const std::string& id, uint64_t now_ms);

// kTimeout when another process runs or commits it.
Result<Fd> LockPreview(const std::string& state_dir, const std::string& id);

// Notes that a commit begins.
Status NoteCommit(const std::string& state_dir, const KeptPreview& preview);

// Keeps `preview->committed`, for people: a commit looks at the files.
Status NoteCommitted(const std::string& state_dir, const KeptPreview& preview);

// Takes NoteCommit back: the commit ended, whatever it did.
void CommitEnded(const std::string& state_dir, const KeptPreview& preview);

// Removes it and what a killed commit left in the workspace, but for what is
// somebody else's (`told`). The caller holds the lock.
void DropPreview(const std::string& state_dir, const KeptPreview& preview,
                 const backends::Kept& told);

}  // namespace gate::app
