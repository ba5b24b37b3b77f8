// What a client's settings say of gate; nothing is changed.
#pragma once

#include <string>
#include <vector>

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
  // Codex trusts an entry by where it stands, as the end of a key, and by a
  // hash of what it says (codex-rs/hooks/src/engine/discovery.rs and
  // codex-rs/config/src/fingerprint.rs of openai/codex; the same from 0.129 to
  // 0.160.1).
  std::string codex_place;  // ":pre_tool_use:0:0"
  std::string codex_hash;   // "sha256:…"
};

// Looks for the entry in the file that PlanInstall(options) would change, in
// either mode; of several for the one that does most. kInvalid when the file is
// not valid JSON or its hooks have another shape.
Result<Installed> FindInstalled(const InstallOptions& options);

// Whether the Claude Code settings at `path` say disableAllHooks. False when
// there is no such file; kInvalid when it is not valid JSON.
Result<bool> DisablesHooks(const std::string& path);

}  // namespace gate::hooks
