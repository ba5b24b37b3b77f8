// A line run on a copy of what it may write, and the commit of what it changed.
// Nothing here prints or asks: the caller shows the changes and says which.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/gateway.h"
#include "preview/kept.h"

namespace gate::app {

enum class PreviewEnd : uint8_t {
  kRefused,     // the plan's backend makes no previews; nothing ran
  kNotMade,     // nothing ran
  kNotStarted,  // the command could not be started; `outcome` says why
  kThrownAway,  // it ran; what it changed cannot be kept
  kUnchanged,   // it ran and changed nothing
  kKept,
};

struct PreviewRun {
  PreviewEnd end = PreviewEnd::kNotMade;
  std::string problem;  // of kRefused, kNotMade and kThrownAway
  // How the command ended; it is on record. Not there where nothing ran, or
  // where the record could not be written (kThrownAway).
  std::optional<backends::Outcome> outcome;
  KeptPreview preview;
  Fd lock;  // held: nobody else commits or removes it
};

// Runs `authorization->plan` on overlays and records the outcome under
// `parent`. `authorization->preview` is set as soon as it ran. `told` hears of
// files that somebody else wrote in the moment of an exchange.
PreviewRun RunPreview(Gateway& gateway, Authorization* authorization,
                      const std::string& parent, const backends::Kept& told);

// How many of the manifest's entries can never be committed.
size_t RefusedEntries(const backends::PreviewManifest& manifest);
// Where the entry belongs.
std::string FullPath(const backends::PreviewManifest& manifest,
                     const backends::PreviewEntry& entry);
// The first of `paths` (absolute) at and below which the preview changes
// nothing; empty when there is none.
std::string NotInPreview(const KeptPreview& preview,
                         const std::vector<std::string>& paths);

struct PreviewCommit {
  std::string refused;   // why nothing was changed; empty: it was done
  size_t before = 0;     // changes that earlier commits made
  size_t committed = 0;  // by this one
  // What was asked for and left alone: the path, and why.
  std::vector<std::pair<std::string, std::string>> left;
  std::vector<std::string> troubles;  // what else did not work
  // Done, each of the paths at least in part (without paths: everything that
  // can be).
  bool complete = false;
};

// Commits `paths` (absolute; none: everything) of a preview that the caller has
// locked and shown. `who` is for the record, which is written before the first
// change. Removes the preview when nothing more of it can be committed.
PreviewCommit CommitKept(Gateway& gateway, const KeptPreview& preview,
                         const std::vector<std::string>& paths,
                         const std::string& who, const backends::Kept& told);

}  // namespace gate::app
