// Bringing one entry of a preview to its place in a real root, while commands
// may run in the same workspace that would like to have a hand in it.
//
// New content is written to a file without a name, which nobody can find, and
// is hashed on the way. An added file gets its one name at once. A modified one
// has a second name in the staging directory until it is exchanged with what it
// replaces; from before that name until after the exchange a lease tells
// whether somebody opened it for writing, and afterwards it is looked at
// whether it is the file at the place, under this name alone. When it is not,
// what was there is put back, by its descriptor.
#pragma once

#include <functional>
#include <string>

#include "base/file.h"
#include "preview/preview.h"

namespace gate::backends {

// A root of a commit.
struct Place {
  Fd root, upper, stage;
  std::string stage_name;
  std::string path;         // of the root
  bool keep_stage = false;  // something is in it that is nowhere else
};

// Where an entry goes.
struct Target {
  Place* place = nullptr;
  const PreviewEntry* entry = nullptr;
  int parent = -1;        // its directory
  std::string name;       // in it
  std::string temporary;  // in the staging directory: StagedName
  const std::function<void()>* exchanging = nullptr;  // of the request
};

// Without the change time, which a rename changes.
bool SameFile(const LowerState& want, const LowerState& now);

Status MakeStage(Place* place);
// Removes the staging directory, or gives it the name under which it stays.
void EndStage(Place* place, const Kept& kept);

// The name in the staging directory of what belongs to the manifest's entry
// with this index.
std::string StagedName(size_t index);
// Removes the staging directory of a commit that was killed: the preview's
// content that was on its way, and what the manifest says that it replaced.
// Anything else is somebody's own and nowhere else: it stays in
// `.gate-left-ID`. `place`: its root, path and stage_name.
Status ClearStage(const Place& place, const PreviewManifest& manifest,
                  const Kept& kept);

// The preview's content of `entry` in a file without a name, with its owner,
// mode and times; for reading. kCorrupt when it is not what was shown.
Result<Fd> CopyUnnamed(const Place& place, const PreviewEntry& entry);
// Whether the content is what was shown, without making the copy.
Status CheckContent(const Place& place, const PreviewEntry& entry);

// Each does one thing and answers why it could not; empty when it is done. What
// is there must be what the entry says it replaces. `content`: of CopyUnnamed.
std::string PutFile(const Target& target, int content);
std::string PutLink(const Target& target);
std::string PutDirectory(const Target& target);
std::string Remove(const Target& target);
std::string ChangeMode(const Target& target);
// Owner and mode of a directory that was made, when it is full.
std::string FinishDirectory(const Place& place, const PreviewEntry& entry);

// What errno says.
std::string ErrnoText();

}  // namespace gate::backends
