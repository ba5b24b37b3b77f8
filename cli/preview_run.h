// gate run --preview, and committing what it kept: what people see of it.
#pragma once

#include <string>
#include <vector>

#include "gateway/preview_run.h"

namespace gate::app {

struct PreviewOptions {
  bool person = false;     // a person can be asked here and now
  bool automatic = false;  // commit without asking: only where the command
                           // could have run without a preview
  bool json = false;
};

// Runs `authorization->plan` on overlays, asks the person where there is one,
// and tells on stderr what became of the changes. The exit code: the command's;
// 125 when the preview or its commit failed.
int PreviewAndTell(Gateway& gateway, Authorization* authorization,
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

// Commits `paths` (absolute; none: everything) of a preview that the caller
// has locked and shown, and tells on stderr what was done and what was left.
// True when it was complete.
bool CommitAndTell(Gateway& gateway, const KeptPreview& preview,
                   const std::vector<std::string>& paths,
                   const std::string& who);

// Says on stderr where something is that somebody else wrote in the moment in
// which a commit exchanged a file (backends::Kept).
void TellKept(const std::string& path, const std::string& of);

}  // namespace gate::app
