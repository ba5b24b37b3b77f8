// Preview, then commit: a command runs on overlays of its writable roots; what
// it changed is listed; all of it, a part, or nothing is then applied.
//
//   PreviewManifest manifest;
//   PreparePreview(&profile, directory, kept, &manifest);   before the run
//   backend->Run(profile, …);
//   FillManifest(profile, &manifest);       no process of the run is left
//   CommitPreview(profile, manifest, …);    now or later
//   RemoveTree(…);                          when it is over
//
// Promises:
// - While the command runs no root of `profile.write` is written.
// - What is committed is what the manifest says: content is hashed again before
//   anything is changed, and copied to files without names, so that no other
//   process can change or link what is not in its place yet
//   (preview_place.h).
// - A file that somebody else changed since the run began, a protected name
//   (ProtectedPaths's lists), a set-id file, a device, a FIFO or a socket is
//   never committed.
// - Every step is relative to the root's descriptor and follows no link. A
//   file is replaced by a rename that is checked afterwards and undone when
//   what was there was not what the manifest says. Killed in the middle, each
//   file is old or new, and the same commit called again does the rest.
//
// Limits: extended attributes, access lists and hard links between files are
// not carried over (a modified file is a new one with its mode and times). A
// file of another user or group than the command's cannot be changed inside
// (EOVERFLOW). The file system of a root must be able to exchange two names
// and to hold files without names (ext4, xfs, btrfs, tmpfs, f2fs; not NFS), and
// none may be mounted below it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace gate::backends {

inline constexpr size_t kMaxPreviewEntries = 50000;
inline constexpr uint64_t kMaxPreviewBytes = uint64_t{4} << 30;
inline constexpr size_t kMaxPreviewPath = 4000;
inline constexpr size_t kMaxManifestBytes = size_t{64} << 20;

enum class PreviewChange : uint8_t { kAdded, kModified, kMode, kDeleted };
const char* Name(PreviewChange change);
enum class PreviewType : uint8_t { kFile, kDirectory, kLink, kOther };
const char* Name(PreviewType type);

// What stood, or stands, at a path of the real root.
struct LowerState {
  bool exists = false;
  PreviewType type = PreviewType::kOther;
  uint64_t device = 0, inode = 0, size = 0;
  uint32_t mode = 0;
  int64_t mtime_ns = 0, ctime_ns = 0;
  std::string sha256;  // hex, of a file that is modified; of a link's target
};

struct PreviewEntry {
  size_t root = 0;   // index into the manifest's roots
  std::string path;  // below it; any bytes but NUL
  PreviewChange change = PreviewChange::kAdded;
  PreviewType type = PreviewType::kFile;
  uint64_t size = 0;
  uint32_t mode = 0, uid = 0, gid = 0;
  int64_t mtime_ns = 0;
  uint64_t names = 1;  // hard links of the file in the preview
  std::string sha256;  // hex, of the content or of the link's target
  std::string target;  // of a link
  LowerState lower;
  std::string refused;  // not empty: it is never committed, and why
};

struct PreviewRoot {
  std::string root;   // the real directory
  std::string place;  // of its overlay
  bool keep = false;  // false: a cache, whose changes are thrown away
  uint64_t device = 0, inode = 0;
};

struct PreviewManifest {
  std::vector<PreviewRoot> roots;
  int64_t start_ns = 0;
  std::vector<PreviewEntry> entries;  // by root and path
  std::string too_large;  // not empty: the limit that kept it from being whole;
                          // nothing of it can be committed
};

// Makes the overlays' places in `directory` (which exists, 0700) and puts them
// into `profile`, which then requires Feature::kOverlay. `kept`: the roots
// whose changes can be committed. kInvalid for a profile without a preview.
Status PreparePreview(Profile* profile, const std::string& directory,
                      const std::vector<std::string>& kept,
                      PreviewManifest* manifest);

// Lists what changed. Call when no process of the run is left.
Status FillManifest(const Profile& profile, PreviewManifest* manifest);

// One JSON object; the same manifest gives the same bytes.
std::string ManifestToText(const PreviewManifest& manifest);
Result<PreviewManifest> ManifestFromText(const std::string& text);

struct CommitResult {
  size_t committed = 0;
  std::vector<size_t> done;  // which of the manifest's entries these are
  // Paths that were asked for and left alone, with the reason.
  std::vector<std::pair<std::string, std::string>> left;
};

// Hears of what somebody else wrote in the moment of an exchange and what could
// not go back to its place: where it is now, and what it was written to (empty:
// not known).
using Kept =
    std::function<void(const std::string& path, const std::string& of)>;

struct CommitRequest {
  std::string tag;                 // names the staging directories; hex
  std::vector<std::string> paths;  // absolute; these and what is below them.
                                   // Empty: everything
  // Called when all is checked and copied, before the first change. Its
  // failure ends the commit.
  std::function<Status()> before_first_change;
  Kept kept;  // may be empty
  // For tests: called while something has a name in the staging directory.
  std::function<void()> exchanging;
};

// kInvalid: a conflict, nothing was changed, the message names it. kIo: the
// disk (nothing was changed). Otherwise what was done.
Result<CommitResult> CommitPreview(const Profile& profile,
                                   const PreviewManifest& manifest,
                                   const CommitRequest& request);

// Removes what a killed commit with this tag left in the roots, but for what
// is not the commit's own: `kept` hears of that.
void RemoveStages(const PreviewManifest& manifest, const std::string& tag,
                  const Kept& kept);

// Removes `name` below `directory`, at most `*budget` entries of it, without
// following links. True when nothing of it is left.
bool RemoveTree(int directory, const std::string& name, size_t* budget);

}  // namespace gate::backends
