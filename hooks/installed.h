// What a client's settings say of gate; nothing is changed.
#pragma once

#include <string>

#include "base/result.h"
#include "hooks/install.h"

namespace gate::hooks {

enum class Entry : unsigned char {
  kNone,     // gate is not in the file
  kThis,     // as PlanInstall writes it, with or without onFailure
  kChanged,  // of this program, but another line, matcher or time, or without
             // an entry for each event
  kOther,    // of another gate
  kGone,     // of a program that is not there, so that everything is refused
};

struct Installed {
  std::string path;  // the settings file; it need not be there
  Entry entry = Entry::kNone;
  std::string program;      // of the entry, as its line names it
  bool intent = false;      // its line says --mode intent
  std::string why_changed;  // kChanged: what the next install mends
  // By which the client knows the entry again that its person has reviewed
  // (Adapter::MarkForReview): where it stands, and what it says.
  std::string review_place;  // ":pre_tool_use:0:0"
  std::string review_hash;   // "sha256:…"
};

// Whether the client runs an entry, by its own settings.
struct HookReview {
  bool certain = false;  // else `why` is what may be wrong
  std::string why;       // empty: it runs it
};

// Looks for the entry in the file that PlanInstall(options) would change, in
// either mode; of several for the one that does most. kInvalid when the file is
// not valid JSON or its hooks have another shape.
Result<Installed> FindInstalled(const InstallOptions& options);

// Whether the settings at `path` say disableAllHooks. False when
// there is no such file; kInvalid when it is not valid JSON.
Result<bool> DisablesHooks(const std::string& path);

}  // namespace gate::hooks
