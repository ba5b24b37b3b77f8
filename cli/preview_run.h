// gate run --preview, and committing what it kept.
#pragma once

#include <string>
#include <vector>

#include "gateway/gateway.h"
#include "preview/kept.h"

namespace gate::app {

struct PreviewOptions {
  bool person = false;     // a person can be asked here and now
  bool automatic = false;  // commit without asking: only where the command
                           // could have run without a preview
  bool json = false;
};

// Runs `authorization->plan` on overlays, records the outcome under `parent`,
// and commits, keeps or discards what changed. The exit code: the command's;
// 125 when the preview or its commit failed.
int RunPreview(Gateway& gateway, Authorization* authorization,
               const std::string& parent, const PreviewOptions& options);

// "3 changes, 1 committed".
std::string CountChanges(const KeptPreview& preview);
// The list of changes for people, at most `most` lines of it.
std::string RenderPreview(const KeptPreview& preview, size_t most);
// One object, schema gate.preview/1. `state`: kept, committed, ….
std::string PreviewToJson(const KeptPreview& preview, const std::string& state);

// What `paths` (absolute) choose of a preview, for people, with the new
// directories above it; how much is left.
std::string RenderChosen(const KeptPreview& preview,
                         const std::vector<std::string>& paths, size_t most);

// What of it `paths` (absolute) choose, a line each.
std::string RenderChoice(const KeptPreview& preview,
                         const std::vector<std::string>& paths);

// The first of `paths` (absolute) at and below which the preview changes
// nothing; empty when there is none.
std::string NotInPreview(const KeptPreview& preview,
                         const std::vector<std::string>& paths);

// Commits `paths` (absolute; none: everything) of a preview that the caller
// has locked and shown. `who` is for the record. True when it was done, each of
// `paths` at least in part; what was left is told on stderr, and the preview is
// removed when nothing more of it can be committed.
bool CommitKept(Gateway& gateway, const KeptPreview& preview,
                const std::vector<std::string>& paths, const std::string& who);

// Says on stderr where something is that somebody else wrote in the moment in
// which a commit exchanged a file (backends::Kept).
void TellKept(const std::string& path, const std::string& of);

}  // namespace gate::app
